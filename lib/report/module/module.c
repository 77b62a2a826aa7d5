/* A module's kernels as text. */
#include "lib/report/module/module.h"

#include <elf.h>
#include <string.h>

#include "cute/report.h"
#include "lib/base/text/demangle.h"
#include "lib/cubin/module.h"
#include "lib/launch/plan/hostplan.h"
#include "lib/report/report.h"
#include "lib/report/table.h"

static const char *format_count(cute_arena *arena, int64_t value)
{
    return value < 0 ? "-" : cute_arena_printf(arena, "%lld", (long long)value);
}

/* The columns of the resource table. */
static const char *const heads[] = {"kernel", "registers", "spill stores", "spill loads", "stack",
                                    "shared", "barriers",  "constant",     "code"};
enum { FIGURES = sizeof heads / sizeof *heads - 1 };

static void read_figures(const cute_kernel *k, int64_t out[FIGURES])
{
    const cute_resources *r = &k->resources;
    const int64_t values[FIGURES] = {r->registers,   r->spill_stores, r->spill_loads, r->max_stack,
                                     k->static_smem, r->barriers,     r->constant,    r->code_bytes};
    memcpy(out, values, sizeof values);
}

void cute_report_resources(const cute_module *module, cute_buffer *out)
{
    cute_arena *arena = cute_arena_create();
    cute_table table = {.arena = arena, .columns = sizeof heads / sizeof *heads};
    if (!arena) return;
    cute_table_row(&table, heads);
    for (size_t i = 0; i < cute_module_kernel_count(module); i++) {
        const cute_kernel *k = cute_module_kernel(module, i);
        int64_t values[FIGURES];
        const char *row[FIGURES + 1] = {cute_symbol_name(arena, k->name)};
        read_figures(k, values);
        for (size_t c = 0; c < FIGURES; c++) row[c + 1] = format_count(arena, values[c]);
        cute_table_row(&table, row);
    }
    cute_table_print(&table, 1, "", out);
    cute_arena_destroy(arena);
}

static bool is_set(const int64_t dims[3])
{
    return dims[0] > 0;
}

static void put_dims(cute_buffer *out, const char *name, const int64_t dims[3])
{
    if (is_set(dims))
        cute_buffer_printf(out, "%s %lld x %lld x %lld", name, (long long)dims[0], (long long)dims[1],
                           (long long)dims[2]);
}

static void put_list(cute_buffer *out, const char *name, const int64_t *list, size_t count)
{
    if (!list) return;
    cute_buffer_printf(out, "%s(", name);
    for (size_t i = 0; i < count; i++) {
        if (i) cute_buffer_putc(out, ',');
        if (list[i] == CUTE_DYNAMIC)
            cute_buffer_putc(out, '?');
        else
            cute_buffer_printf(out, "%lld", (long long)list[i]);
    }
    cute_buffer_putc(out, ')');
}

static const char *arg_details(cute_arena *arena, const cute_arg *arg)
{
    cute_buffer text = {0};
    put_list(&text, "shape ", arg->shape, arg->rank);
    put_list(&text, " strides ", arg->strides, arg->rank);
    if (arg->layout) cute_buffer_printf(&text, " layout %s", arg->layout);
    put_list(&text, " box ", arg->box, arg->box_rank);
    if (arg->swizzle) cute_buffer_printf(&text, " %s", arg->swizzle);
    if (arg->in_memory) cute_buffer_puts(&text, " in memory");
    if (arg->align) cute_buffer_printf(&text, " align %lld", (long long)arg->align);
    if (arg->reads || arg->writes)
        cute_buffer_puts(&text, arg->reads && arg->writes ? " read, written"
                                : arg->reads              ? " read"
                                                          : " written");
    const char *start = cute_buffer_text(&text);
    start += *start == ' ';
    const char *copy = cute_arena_copy(arena, start, strlen(start));
    cute_buffer_release(&text);
    return copy;
}

static void put_args(cute_arena *arena, const cute_kernel *k, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 6};
    cute_table_row(&table, (const char *[]){"argument", "kind", "type", "offset", "bytes", ""});
    for (size_t i = 0; i < k->arg_count; i++) {
        const cute_arg *a = &k->args[i];
        int64_t offset = a->first < k->param_count ? k->params[a->first].offset : -1;
        const char *kind = a->kind == CUTE_ARG_UNKNOWN ? "-" : cute_arg_kind_name(a->kind);
        const char *type = a->type ? a->type : a->dtype ? a->dtype : "-";
        cute_table_row(&table, (const char *[]){a->name, kind, type, format_count(arena, offset),
                                                format_count(arena, a->size), arg_details(arena, a)});
    }
    if (k->arg_count) cute_table_print(&table, 1 | 2 | 4 | 32, "    ", out);
}

CUTE_PRINTF(2, 3) static void add_words(cute_buffer *line, const char *format, ...)
{
    va_list args;
    if (line->length) cute_buffer_puts(line, ", ");
    va_start(args, format);
    cute_buffer_vprintf(line, format, args);
    va_end(args);
}

static void put_bounds(const cute_kernel *k, cute_buffer *line)
{
    if (k->max_cluster > 0) add_words(line, "at most %lld blocks per cluster", (long long)k->max_cluster);
    if (k->explicit_cluster) add_words(line, "cluster size required");
    if (k->blocks_are_clusters) add_words(line, "grid in units of clusters");
    if (k->min_blocks > 0)
        add_words(line, "at least %lld block%s per multiprocessor", (long long)k->min_blocks,
                  k->min_blocks == 1 ? "" : "s");
}

/* Launch bounds and sizes that the source states. */
static void put_launch(const cute_kernel *k, const char *indent, cute_buffer *out)
{
    cute_buffer line = {0};
    const struct {
        const char *name;
        const int64_t *dims;
    } all[] = {{"block", k->reqntid}, {"at most", k->maxntid}, {"cluster", k->cluster}, {"grid", k->grid}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (line.length && is_set(all[i].dims)) cute_buffer_puts(&line, ", ");
        put_dims(&line, all[i].name, all[i].dims);
    }
    if (!is_set(k->reqntid) && is_set(k->block)) {
        if (line.length) cute_buffer_puts(&line, ", ");
        put_dims(&line, "block", k->block);
    }
    put_bounds(k, &line);
    if (line.length) cute_buffer_printf(out, "%slaunch: %s\n", indent, cute_buffer_text(&line));
    cute_buffer_release(&line);
    if (k->max_registers > 0)
        cute_buffer_printf(out, "%scompiled for at most %lld registers\n", indent,
                           (long long)k->max_registers);
    if (k->dynamic_smem >= 0)
        cute_buffer_printf(out, "%sdynamic shared memory: %lld bytes\n", indent, (long long)k->dynamic_smem);
    else if (k->uses_dynamic_smem)
        cute_buffer_printf(out, "%sdynamic shared memory: size set at launch\n", indent);
}

void cute_report_kernel_resources(cute_arena *arena, const cute_kernel *k, const char *indent,
                                  cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = FIGURES};
    int64_t values[FIGURES];
    const char *row[FIGURES];
    read_figures(k, values);
    for (size_t i = 0; i < FIGURES; i++) row[i] = format_count(arena, values[i]);
    cute_table_row(&table, heads + 1);
    cute_table_row(&table, row);
    cute_table_print(&table, 0, indent, out);
    put_launch(k, indent, out);
}

static void put_limits(const cute_module *module, const cute_kernel *k, cute_buffer *out)
{
    put_launch(k, "    ", out);
    cute_occupancy o;
    if (!cute_kernel_occupancy(module, k, &o)) return;
    cute_buffer_printf(
        out, "    occupancy with %lld threads%s: %lld blocks, %lld of %lld warps (%.0f%%), limited by %s\n",
        (long long)cute_kernel_threads(k),
        k->uses_dynamic_smem && k->dynamic_smem < 0 ? " and no dynamic shared memory" : "",
        (long long)o.blocks, (long long)o.warps, (long long)o.max_warps, o.fraction * 100, o.limit);
}

static void put_sections(cute_arena *arena, const cute_elf *elf, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 4};
    cute_table_row(&table, (const char *[]){"section", "offset", "bytes", "kind"});
    for (size_t i = 1; i < elf->section_count; i++) {
        const cute_elf_section *s = &elf->sections[i];
        cute_table_row(&table, (const char *[]){
                                   s->name, cute_arena_printf(arena, "0x%llx", (unsigned long long)s->offset),
                                   cute_arena_printf(arena, "%llu", (unsigned long long)s->size),
                                   cute_section_kind(s->type)});
    }
    cute_buffer_puts(out, "\n");
    cute_table_print(&table, 1 | 8, "", out);
}

/* ---- summary for a launch ---- */

static void text_shape(const char *label, const int64_t *v, cute_buffer *out)
{
    if (is_set(v))
        cute_buffer_printf(out, "  %s %lldx%lldx%lld\n", label, (long long)v[0], (long long)v[1],
                           (long long)v[2]);
}

static void text_kernel(cute_arena *arena, const cute_kernel *k, cute_buffer *out)
{
    const char *name = cute_symbol_name(arena, k->name);
    cute_buffer_printf(out, "%s(", name);
    for (size_t i = 0; i < k->arg_count; i++) {
        const cute_arg *arg = &k->args[i];
        cute_buffer_printf(out, "%s%s", i ? ", " : "", arg->name);
        if (arg->type)
            cute_buffer_printf(out, ": %s", arg->type);
        else if (arg->size > 0)
            cute_buffer_printf(out, ": %lld bytes", (long long)arg->size);
    }
    cute_buffer_puts(out, ")\n");
    if (name != k->name) cute_buffer_printf(out, "  symbol %s\n", k->name);
    text_shape("block (required)", k->reqntid, out);
    text_shape("block (at most)", k->maxntid, out);
    text_shape("cluster", k->cluster, out);
    text_shape("grid", k->grid, out);
    if (!is_set(k->reqntid)) text_shape("block", k->block, out);
    if (k->static_smem > 0)
        cute_buffer_printf(out, "  static shared memory %lld bytes\n", (long long)k->static_smem);
    if (k->dynamic_smem > 0)
        cute_buffer_printf(out, "  dynamic shared memory %lld bytes\n", (long long)k->dynamic_smem);
    else if (k->uses_dynamic_smem)
        cute_buffer_puts(out, "  dynamic shared memory, size set at launch\n");
    if (k->resources.registers > 0)
        cute_buffer_printf(out, "  %lld registers\n", (long long)k->resources.registers);
}

static void text_temporaries(const host_plan *plan, const char *indent, cute_buffer *out)
{
    cute_buffer one = {0};
    for (size_t i = 0; host_temporary_text(plan, i, &one); i++) {
        cute_buffer_printf(out, "%stemporary %zu: %s\n", indent, i, cute_buffer_text(&one));
        cute_buffer_release(&one);
    }
}

/* A host function, with the options of cute-run that pass its arguments. */
static void text_plan(cute_arena *arena, const char *line, size_t length, cute_buffer *out)
{
    json_t *json = NULL;
    host_plan plan;
    if (cute_json_parse("<plan>", line, length, &json, NULL) != CUTE_OK) return;
    if (host_plan_read(arena, "<plan>", json, &plan, NULL) == CUTE_OK && !plan.refused) {
        cute_buffer_printf(out, "host function %s(", plan.name);
        for (size_t i = 0; i < plan.param_count; i++)
            cute_buffer_printf(out, "%s%s%s%s", i ? ", " : "", plan.params[i].name,
                               plan.params[i].type ? ": " : "",
                               plan.params[i].type ? plan.params[i].type : "");
        cute_buffer_printf(out, ")\n  launch it with --plan %s", plan.name);
        for (size_t i = 0; i < plan.param_count; i++) {
            const host_param *p = &plan.params[i];
            const char *dtype = p->dtype ? p->dtype : "DTYPE";
            if (p->kind == HOST_MEMREF || p->kind == HOST_POINTER)
                cute_buffer_printf(out, " --tensor %s=%s%s", p->name, dtype,
                                   p->text && !strchr(p->text, '?') ? "" : ":SHAPE");
            else if (p->leaf_count && p->kind != HOST_OTHER)
                cute_buffer_printf(out, " -D %s=%s", p->name,
                                   p->kind == HOST_SCALAR ? dtype
                                   : p->text              ? p->text
                                                          : "[...]");
        }
        cute_buffer_putc(out, '\n');
        text_temporaries(&plan, "  ", out);
    }
    json_decref(json);
}

/* A host function that needs memory, with its temporaries. */
static void text_plan_memory(cute_arena *arena, const char *line, size_t length, cute_buffer *out)
{
    json_t *json = NULL;
    host_plan plan;
    if (cute_json_parse("<plan>", line, length, &json, NULL) != CUTE_OK) return;
    if (host_plan_read(arena, "<plan>", json, &plan, NULL) == CUTE_OK && !plan.refused &&
        json_array_size(json_object_get(json, "temporaries"))) {
        cute_buffer_printf(out, "\nhost function %s\n", plan.name);
        text_temporaries(&plan, "    ", out);
    }
    json_decref(json);
}

typedef void plan_writer(cute_arena *arena, const char *line, size_t length, cute_buffer *out);

/* Several modules contain the same plans: print each once. */
static void text_plans(cute_arena *arena, const cute_module *module, plan_writer *write, cute_buffer *out)
{
    const char *line, *other;
    size_t length, other_length;
    for (size_t i = 0; cute_module_plan_at(module, i, &line, &length); i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = cute_module_plan_at(module, k, &other, &other_length) && other_length == length &&
                   memcmp(other, line, length) == 0;
        if (!seen) write(arena, line, length, out);
    }
}

char *cute_module_describe(const cute_module *module, bool json)
{
    cute_buffer out = {0};
    size_t count = cute_module_kernel_count(module);
    if (json) return cute_json_finish(cute_report_module_json(NULL, module, NULL, false), true, &out);
    cute_arena *arena = cute_arena_create();
    for (size_t i = 0; arena && i < count; i++) text_kernel(arena, cute_module_kernel(module, i), &out);
    if (arena) text_plans(arena, module, text_plan, &out);
    cute_arena_destroy(arena);
    if (count == 0) cute_buffer_puts(&out, "no kernels\n");
    return cute_json_finish(NULL, false, &out);
}

const char *cute_module_format_name(cute_module_format format)
{
    static const char *const names[] = {"cubin", "ptx", "fatbin"};
    return names[format];
}

void cute_report_module(const char *label, const cute_module *module, const char *only, bool sections,
                        cute_buffer *out)
{
    cute_arena *arena = cute_arena_create();
    const char *arch = cute_module_arch(module);
    size_t count = cute_module_kernel_count(module);
    if (!arena) return;
    cute_buffer_printf(out, "%s: %s%s%s, %zu kernel%s\n", label,
                       cute_module_format_name(cute_module_get_container(module)), *arch ? " for " : "", arch,
                       count, count == 1 ? "" : "s");
    if (count) {
        cute_buffer_putc(out, '\n');
        cute_report_resources(module, out);
    }
    for (size_t i = 0; i < count; i++) {
        const cute_kernel *k = cute_module_kernel(module, i);
        if (only && strcmp(only, k->name) != 0) continue;
        cute_demangled names;
        if (cute_demangle(arena, k->name, &names))
            cute_buffer_printf(out, "\n%s\n    symbol %s", names.full, k->name);
        else
            cute_buffer_printf(out, "\n%s", k->name);
        if (k->source.file && k->source.line)
            cute_buffer_printf(out, "  (%s:%d:%d)", k->source.file, k->source.line, k->source.column);
        cute_buffer_putc(out, '\n');
        put_limits(module, k, out);
        for (size_t d = 0; d < k->define_count; d++)
            cute_buffer_printf(out, "    -D %s=%s\n", k->define_names[d], k->define_values[d]);
        put_args(arena, k, out);
    }
    if (!only) text_plans(arena, module, text_plan_memory, out);
    if (sections && cute_module_elf(module)) put_sections(arena, cute_module_elf(module), out);
    cute_arena_destroy(arena);
}
