/* Cubins, fatbins, objects, programs and archives: any bytes open or are refused, and so does each image in them. Input that begins with '!' is the contents of .nv.info.k, .nv.info and
 * .cute.metadata (separated by bytes 0xff 0xfe) of a cubin that is otherwise well formed. */
#include "cute/cubin.h"
#include "lib/cubin/containers/images.h"
#include "lib/cubin/module.h"
#include "lib/report/module/elfview.h"
#include "lib/report/module/module.h"
#include "lib/report/resources/resources.h"
#include "tests/unit/elf_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { IMAGES = 16 /* that are looked into */ };

static void look_at_resources(const cute_module *module)
{
    const resource_question question = RESOURCE_AS_IS;
    cute_arena *arena = cute_arena_create();
    cute_buffer out = {0};
    resource_report report;
    if (cute_resource_report_create(arena, "fuzz", module, NULL, &question, &report, NULL) == CUTE_OK) {
        cute_resources_print(arena, &report, true, &out);
        json_decref(cute_resources_json(&report));
    }
    cute_buffer_release(&out);
    cute_arena_destroy(arena);
}

static void look(const void *bytes, size_t length)
{
    cute_diag *diag = cute_diag_create();
    cute_module *module = NULL;
    cute_buffer out = {0}, added = {0};
    json_t *json = NULL;
    if (cute_module_open("fuzz.cubin", bytes, length, NULL, &module, diag) == CUTE_OK) {
        const cute_elf *elf = cute_module_elf(module);
        cute_report_module("fuzz.cubin", module, NULL, true, &out);
        json_decref(cute_report_module_json("fuzz.cubin", module, NULL, true));
        cute_elf_addition addition = {".cute.test", "contents", 8};
        if (elf) {
            if (cute_report_elf(elf, &out, diag) == CUTE_OK &&
                cute_report_elf_json(elf, &json, diag) == CUTE_OK)
                json_decref(json);
            /* What was added can be read again, and is there. */
            if (cute_elf_add_sections(elf, &addition, 1, &added, diag) == CUTE_OK) {
                cute_arena *arena = cute_arena_create();
                cute_elf again;
                if (cute_elf_read(arena, "again", added.data, added.length, &again, NULL) != CUTE_OK)
                    __builtin_trap();
                const cute_elf_section *section = cute_elf_find(&again, ".cute.test");
                if (!section || section->size != 8 || memcmp(section->data, "contents", 8) != 0)
                    __builtin_trap();
                cute_arena_destroy(arena);
            }
        }
        look_at_resources(module);
        cute_module_close(module);
    } else if (cute_diag_errors(diag) == 0) {
        __builtin_trap(); /* a refusal says why */
    }
    cute_buffer_release(&out);
    cute_buffer_release(&added);
    cute_diag_destroy(diag);
}

/* As 'images' lists them, and as --image chooses one. */
static void look_at_images(const void *bytes, size_t length)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_image *images;
    size_t count = 0;
    if (cute_images_read(arena, "fuzz", bytes, length, &images, &count, diag) != CUTE_OK &&
        cute_diag_errors(diag) == 0)
        __builtin_trap();
    for (size_t n = 1; n <= count && n <= IMAGES; n++) {
        const void *image = bytes;
        size_t size = length;
        cute_diag_clear(diag);
        if (cute_images_choose(arena, "fuzz", (int64_t)n, NULL, NULL, &image, &size, diag) == CUTE_OK)
            look(image, size);
        else if (cute_diag_errors(diag) == 0)
            __builtin_trap();
    }
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || *data != '!') {
        look(data, size);
        look_at_images(data, size);
        return 0;
    }
    static const char *const names[] = {".nv.info.k", ".nv.info", ".cute.metadata"};
    built_section sections[5] = {{".text.k", SHT_PROGBITS, 0, 3, 14u << 24, "code", 4}};
    size_t count = 1;
    for (const uint8_t *at = data + 1, *stop = data + size; at <= stop && count < 4; count++) {
        const uint8_t *end = memmem(at, (size_t)(stop - at), "\xff\xfe", 2);
        size_t length = (size_t)((end ? end : stop) - at);
        sections[count] = (built_section){
            names[count - 1], SHT_PROGBITS, 0, 0, 0, length ? at : (const uint8_t *)"", length};
        at = end ? end + 2 : stop + 1;
    }
    cute_buffer file = {0};
    build_elf(&file, sections, count, "k", 1);
    look(cute_buffer_text(&file), file.length);
    cute_buffer_release(&file);
    return 0;
}
