/* cute-embed-cubins: each gpu.module becomes a gpu.binary with the cubin that a folder has of it.
 *
 * Requires a target on each gpu.module. The file is NAME.cubin, as cute-dump's run writes it into its folder cubin/; a
 * character of the name that a file may not have is '_'.
 *
 *     gpu.module @m [#nvvm.target<chip = "sm_90a">] { llvm.func @k() attributes {nvvm.kernel} { ... } }
 * ->
 *     gpu.binary @m [#gpu.object<#nvvm.target<chip = "sm_90a">, bin = "...">]
 */
#include "lib/base/file.h"
#include "lib/ir/util.h"
#include "lib/passes/passes.h"

enum { FOLDER };
static const cute_pass_option options[] = {
    [FOLDER] = {"folder", CUTE_PASS_TEXT, "Where the cubins are", 0, "."},
};

typedef struct work {
    cute_pass_run *pass;
    cute_arena *arena;
} work;

static void fail(work *w, MlirOperation module, const char *message)
{
    cute_emit_error(mlirOperationGetLocation(module), message ? message : "out of memory");
    cute_pass_fail(w->pass);
}

static void put_string(const cute_buffer *bytes, cute_buffer *out)
{
    static const char hex[] = "0123456789ABCDEF";
    cute_buffer_putc(out, '"');
    for (size_t i = 0; i < bytes->length; i++) {
        unsigned char c = (unsigned char)bytes->data[i];
        if (c >= ' ' && c < 127 && c != '"' && c != '\\')
            cute_buffer_putc(out, (char)c);
        else
            cute_buffer_append(out, (const char[]){'\\', hex[c >> 4], hex[c & 15]}, 3);
    }
    cute_buffer_putc(out, '"');
}

/* What the user said of the module stays; `name` and what only a gpu.module has does not. */
static bool stays(MlirStringRef name)
{
    return !cute_text_is(name, "sym_name") && !cute_text_is(name, "targets") &&
           !cute_text_is(name, "offloadingHandler");
}

static void make_binary(work *w, MlirOperation module, MlirAttribute objects)
{
    MlirContext context = mlirOperationGetContext(module);
    MlirOperationState state =
        mlirOperationStateGet(cute_text("gpu.binary"), mlirOperationGetLocation(module));
    intptr_t count = mlirOperationGetNumAttributes(module), n = 0;
    MlirNamedAttribute *attributes = cute_arena_array(w->arena, (size_t)count + 3, sizeof *attributes);
    if (!attributes) {
        fail(w, module, NULL);
        return;
    }
    for (intptr_t i = 0; i < count; i++) {
        MlirNamedAttribute a = mlirOperationGetAttribute(module, i);
        if (stays(mlirIdentifierStr(a.name))) attributes[n++] = a;
    }
    attributes[n++] =
        cute_attribute(context, "sym_name", mlirOperationGetAttributeByName(module, cute_text("sym_name")));
    attributes[n++] = cute_attribute(context, "objects", objects);
    MlirAttribute handler = mlirOperationGetAttributeByName(module, cute_text("offloadingHandler"));
    if (mlirAttributeIsNull(handler))
        handler = mlirAttributeParseGet(context, cute_text("#gpu.select_object"));
    attributes[n++] = cute_attribute(context, "offloadingHandler", handler);
    mlirOperationStateAddAttributes(&state, n, attributes);
    MlirOperation binary = mlirOperationCreate(&state);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(module), module, binary);
    mlirOperationDestroy(module);
}

static void embed(MlirOperation module, void *context)
{
    work *w = context;
    MlirAttribute name = mlirOperationGetAttributeByName(module, cute_text("sym_name"));
    MlirAttribute targets = mlirOperationGetAttributeByName(module, cute_text("targets"));
    MlirStringRef folder = cute_pass_text(w->pass, FOLDER), symbol = mlirStringAttrGetValue(name);
    const char *copy = cute_arena_copy(w->arena, symbol.data, symbol.length);
    const char *plain = copy ? cute_file_plain_name(w->arena, copy) : NULL;
    const char *path =
        plain ? cute_arena_printf(w->arena, "%.*s/%s.cubin", (int)folder.length, folder.data, plain) : NULL;
    cute_buffer bytes = {0}, text = {0};
    if (!path) {
        fail(w, module, NULL);
    } else if (mlirAttributeIsNull(targets) || mlirArrayAttrGetNumElements(targets) != 1) {
        fail(w, module,
             "cute-embed-cubins expects one target on each gpu.module; 'attach-nvvm-target' attaches it");
    } else if (cute_file_read(path, &bytes, NULL) != CUTE_OK) {
        fail(w, module, cute_arena_printf(w->arena, "cute-embed-cubins cannot read '%s'", path));
    } else if (bytes.length < 4 || memcmp(bytes.data,
                                          "\x7f"
                                          "ELF",
                                          4) != 0) {
        fail(w, module, cute_arena_printf(w->arena, "cute-embed-cubins expects a cubin, got '%s'", path));
    } else {
        cute_buffer_puts(&text, "#gpu.object<");
        mlirAttributePrint(mlirArrayAttrGetElement(targets, 0), cute_print_to_buffer, &text);
        cute_buffer_puts(&text, ", bin = ");
        put_string(&bytes, &text);
        cute_buffer_puts(&text, ">");
        MlirContext c = mlirOperationGetContext(module);
        MlirAttribute object = mlirAttributeParseGet(c, cute_text(cute_buffer_text(&text)));
        if (mlirAttributeIsNull(object))
            cute_pass_fail(w->pass);
        else
            make_binary(w, module, mlirArrayAttrGet(c, 1, &object));
    }
    cute_buffer_release(&bytes);
    cute_buffer_release(&text);
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass, .arena = cute_arena_create()};
    if (w.arena)
        cute_op_each(root, "gpu.module", embed, &w);
    else
        fail(&w, root, NULL);
    cute_arena_destroy(w.arena);
}

const cute_pass cute_pass_embed_cubins = {
    .name = "cute-embed-cubins",
    .help = "Replace each gpu.module by a gpu.binary with the cubin that a folder has of it",
    .anchor = "builtin.module",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .dialects = CUTE_DIALECT_GPU | CUTE_DIALECT_NVVM,
    .run = run,
};
