/* Prints a module only after passes that changed it, since printing takes most of the time of a dump. */
#include "lib/ptx/passdump.h"

#include <string.h>

#include "lib/base/system/file.h"
#include "lib/ir/diagnostics/locations.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/text/spellings.h"

typedef struct printing {
    cute_pass_dump *dump;
    cute_map_builder map;
} printing;

static void on_write(const char *bytes, size_t length, void *context)
{
    printing *p = context;
    cute_spellings_write(bytes, length, &p->dump->text);
}

static void on_printed(unsigned line, MlirLocation location, MlirBlock entry, void *context)
{
    cute_locations_note(line, location, entry, &((printing *)context)->map);
}

/* Prints the module; returns whether its text changed, ignoring the source map, whose places may change
 * invisibly. `verified`: known to be valid; else the printer verifies it, and prints an invalid module in
 * generic form. */
static bool print_ir(cute_pass_dump *dump, bool verified)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer before = dump->text;
    size_t bytes = dump->ir_bytes;
    if (!arena) {
        dump->status = cute_fail_memory(dump->source->diag);
        return false;
    }
    dump->text = (cute_buffer){0};
    *dump->hash = '\0';
    printing p = {.dump = dump, .map = {.origin = dump->source->origin, .map = {.arena = arena}}};
    cute_opt_hooks hooks = {.write = on_write, .printed = dump->lineinfo ? NULL : on_printed, .context = &p};
    dump->operations = cute_print_placed(dump->module, dump->lineinfo, verified, &hooks);
    dump->ir_bytes = dump->text.length;
    cute_source_map_finish(&p.map.map, &dump->text);
    cute_arena_destroy(arena);
    if (!cute_buffer_ok(&dump->text)) dump->status = cute_fail_memory(dump->source->diag);
    bool changed = bytes != dump->ir_bytes ||
                   memcmp(cute_buffer_text(&before), cute_buffer_text(&dump->text), bytes) != 0;
    cute_buffer_release(&before);
    return changed;
}

static void save_text(cute_pass_dump *dump, const char *name, const cute_buffer *text)
{
    const char *path = name ? cute_arena_printf(dump->arena, "%s/%s", dump->folder, name) : NULL;
    if (dump->status) return;
    dump->status = path ? cute_file_write(path, cute_buffer_text(text), text->length, dump->source->diag)
                        : cute_fail_memory(dump->source->diag);
}

/* Saves the IR; several files may have the same text. */
static void save_module(cute_pass_dump *dump, const char *name)
{
    save_text(dump, name, &dump->text);
    if (dump->status) return;
    if (!*dump->hash) cute_sha256(cute_buffer_text(&dump->text), dump->text.length, dump->hash);
    json_array_append_new(dump->files, json_pack("{sssIss}", "file", name, "bytes",
                                                 (json_int_t)dump->text.length, "sha256", dump->hash));
}

static json_t *text_of(MlirAttribute a)
{
    MlirStringRef text = mlirStringAttrGetValue(a);
    return json_stringn(text.data, text.length);
}

static void note_function(MlirOperation op, void *functions)
{
    MlirAttribute name = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
    if (mlirAttributeIsNull(name) || !cute_op_has(op, "function_type")) return;
    MlirOperation module = cute_op_parent(op, "gpu.module");
    bool kernel = cute_kernel_is(op) || cute_op_has(op, "kernel");
    const char *kind = kernel ? "kernel" : mlirOperationIsNull(module) ? "host" : "device";
    json_t *entry = json_pack("{soss}", "name", text_of(name), "kind", kind);
    json_object_set_new(entry, "mangled", text_of(name));
    if (!mlirOperationIsNull(module))
        json_object_set_new(entry, "module",
                            text_of(mlirOperationGetAttributeByName(module, cute_text("sym_name"))));
    json_array_append_new(functions, entry);
}

cute_status cute_pass_dump_begin(cute_pass_dump *dump)
{
    dump->passes = json_array();
    dump->files = json_array();
    dump->steps = json_array();
    dump->functions = json_array();
    cute_op_each(dump->module, NULL, note_function, dump->functions);
    dump->status = cute_make_directory(dump->folder, dump->source->diag);
    if (!dump->status) print_ir(dump, true);
    save_module(dump, "00-before.mlir");
    return dump->status;
}

/* The length of a step, up to a comma outside parentheses, braces and quotes. */
static size_t step_length(const char *text)
{
    int depth = 0;
    char quote = 0;
    for (size_t i = 0;; i++) {
        char c = text[i];
        if (!c || (!quote && !depth && c == ',')) return i;
        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else if (!quote)
            depth += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
    }
}

static void add_steps(cute_pass_dump *dump, const char *text)
{
    static const char whole[] = "builtin.module(";
    size_t length = strlen(text);
    while (length && strchr(" \t\n", text[length - 1])) length--;
    if (!strncmp(text, whole, sizeof whole - 1) && text[length - 1] == ')') {
        text = cute_arena_copy(dump->arena, text + sizeof whole - 1, length - sizeof whole);
        if (!text) return;
    }
    while (*text) {
        size_t one = step_length(text);
        json_array_append_new(dump->steps, json_stringn(text, one));
        text += one + (text[one] != '\0');
    }
}

/* Advances to the step after `pass`. A nested pipeline, or a pass that runs others, is repeated as a whole on
 * resumption, which is idempotent. */
static void advance_step(cute_pass_dump *dump, const char *pass)
{
    size_t length = strlen(pass);
    for (size_t i = dump->next; i < json_array_size(dump->steps); i++) {
        const char *step = json_string_value(json_array_get(dump->steps, i));
        step += strspn(step, " \t\n");
        if (strncmp(step, pass, length) != 0 || (step[length] && !strchr("{ \t\n", step[length]))) continue;
        dump->next = i + 1;
        return;
    }
}

static void after_pass(const char *pass, const cute_passed *done, void *context)
{
    cute_pass_dump *dump = context;
    if (dump->status) return;
    size_t before = dump->ir_bytes, index = json_array_size(dump->passes);
    bool changed = (done->changed || done->failed) && print_ir(dump, !done->failed);
    json_t *entry = json_pack("{sssfsb}", "name", pass, "seconds", done->seconds, "changed", changed);
    if (!done->nested) advance_step(dump, pass);
    json_object_set_new(entry, "next", json_integer((json_int_t)dump->next));
    json_object_set_new(entry, "bytes", json_integer((json_int_t)dump->ir_bytes));
    json_object_set_new(entry, "bytes_before", json_integer((json_int_t)before));
    json_object_set_new(entry, "operations", json_integer((json_int_t)dump->operations));
    if (done->failed) json_object_set_new(entry, "failed", json_true());
    bool only = changed && !done->failed && strcmp(pass, "cute-only") == 0;
    if (only) { /* the list covers the remaining functions only */
        json_array_clear(dump->functions);
        cute_op_each(dump->module, NULL, note_function, dump->functions);
    }
    bool wanted =
        dump->each == CUTE_DUMP_ALL || done->failed || only || (dump->each == CUTE_DUMP_CHANGED && changed);
    if (wanted) {
        const char *name = cute_arena_printf(dump->arena, "pass-%03zu-%s.mlir", index, pass);
        json_object_set_new(entry, "file", json_string(name ? name : ""));
        save_module(dump, name);
    }
    json_array_append_new(dump->passes, entry);
    dump->failed = dump->failed || done->failed;
}

void cute_pass_dump_observe(cute_pass_dump *dump, MlirPassManager manager, const char *pipeline)
{
    add_steps(dump, pipeline + strspn(pipeline, " \t\n"));
    cute_pass_manager_observe(manager, after_pass, dump);
}

cute_status cute_pass_dump_end(cute_pass_dump *dump, bool whole)
{
    /* Passes of a failed pipeline are listed, too. */
    cute_status status = dump->status;
    cute_buffer list = {0};
    /* Without a hash, since cubins may still be added to this file. */
    if (whole && !dump->failed) save_text(dump, "zz-after.mlir", &dump->text);
    json_t *all = json_pack("{sOsOsOsO}", "functions", dump->functions, "steps", dump->steps, "passes",
                            dump->passes, "files", dump->files);
    cute_json_dump(all, true, &list);
    json_decref(all);
    if (!status) save_text(dump, "passes.json", &list);
    cute_buffer_release(&list);
    return dump->status || !dump->failed ? dump->status : CUTE_INVALID;
}

void cute_pass_dump_release(cute_pass_dump *dump)
{
    json_decref(dump->passes);
    json_decref(dump->files);
    json_decref(dump->steps);
    json_decref(dump->functions);
    cute_buffer_release(&dump->text);
    *dump = (cute_pass_dump){0};
}
