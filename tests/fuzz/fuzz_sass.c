/* Listings of nvdisasm: any text becomes code whose parts fit together, and every view of it ends. What is slow in it is told as
 * if it were the code of the kernel `k`. */
#include "lib/cubin/module.h"
#include "lib/report/code/view.h"
#include "lib/report/explain/explain.h"
#include "tests/unit/elf_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const cute_code_function *f)
{
    size_t covered = 0;
    for (size_t b = 0; b < f->block_count; b++) {
        if (f->blocks[b].first != covered || !f->blocks[b].count) __builtin_trap();
        covered += f->blocks[b].count;
        for (uint32_t e = 0; e < f->blocks[b].edge_count; e++)
            if (f->blocks[b].edges[e].to >= f->block_count) __builtin_trap();
    }
    if (covered != f->count) __builtin_trap();
    for (size_t l = 0; l < f->loop_count; l++)
        if (!cute_code_in_loop(f, f->loops[l].header, (uint32_t)l)) __builtin_trap();
}

static cute_module *kernel(void)
{
    static cute_module *module; /* of all inputs */
    built_section section = {".text.k", SHT_PROGBITS, 0, 3, 14u << 24, "code", 4};
    cute_buffer file = {0};
    if (module) return module;
    build_elf(&file, &section, 1, "k", 1);
    if (cute_module_open("fuzz.cubin", cute_buffer_text(&file), file.length, NULL, &module, NULL) != CUTE_OK)
        __builtin_trap();
    cute_buffer_release(&file);
    return module;
}

static void explain(cute_arena *arena, cute_code *code)
{
    const explain_input input = {.label = "fuzz.cubin", .module = kernel(), .code = code};
    explain_report report;
    cute_buffer out = {0};
    if (explain_create(arena, &input, &report, NULL) != CUTE_OK) __builtin_trap();
    explain_print(&report, true, false, &out);
    explain_html(&report, &out);
    json_decref(explain_json(&report));
    cute_buffer_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const cute_sass_options options[] = {{0}, {true, true, false}, {true, true, true}};
    cute_arena *arena = cute_arena_create();
    cute_buffer out = {0};
    cute_code code;
    json_t *json = NULL;
    if (cute_code_parse(arena, (const char *)data, size, &code, NULL) == CUTE_OK) {
        for (size_t k = 0; k < code.count; k++) check(&code.functions[k]);
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            cute_code_print_sass(&code, NULL, &options[k], &out);
            json_decref(cute_code_json_sass(&code, NULL, &options[k]));
        }
        cute_code_print_cfg(&code, NULL, &out);
        cute_code_dot_cfg(&code, NULL, &out);
        cute_code_svg_cfg(&code, NULL, &out);
        json_decref(cute_code_json_cfg(&code, NULL));
        (void)!cute_code_print_histogram(&code, NULL, &out, NULL);
        if (cute_code_json_histogram(&code, NULL, &json, NULL) == CUTE_OK) json_decref(json);
        explain(arena, &code);
        (void)!cute_code_print_lines("fuzz", &code, NULL, NULL, &out, NULL);
        if (cute_code_json_lines("fuzz", &code, NULL, NULL, &json, NULL) == CUTE_OK) json_decref(json);
    }
    cute_buffer_release(&out);
    cute_arena_destroy(arena);
    return 0;
}
