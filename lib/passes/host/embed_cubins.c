/* cute-embed-cubins: replaces each gpu.module by a gpu.binary with its cubin from a folder.
 *
 * Requires: a target on each gpu.module. The file is NAME.cubin, as written to cubin/ by the run script of
 * cute-dump; characters that are invalid in file names are replaced by '_'.
 *
 *     gpu.module @m [#nvvm.target<chip = "sm_90a">] { llvm.func @k() attributes {nvvm.kernel} { ... } }
 * ->
 *     gpu.binary @m [#gpu.object<#nvvm.target<chip = "sm_90a">, bin = "...">]
 */
#include "lib/base/system/file.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/host/binary.h"
#include "lib/passes/passes.h"

enum { FOLDER };
static const cute_pass_option options[] = {
    [FOLDER] = {"folder", CUTE_PASS_TEXT, "Folder with the cubins", 0, "."},
};

typedef struct work {
    cute_pass_run *pass;
    cute_arena *arena;
} work;

static void fail_module(work *w, MlirOperation module, const char *message)
{
    cute_emit_error(mlirOperationGetLocation(module), message ? message : "out of memory");
    cute_pass_fail(w->pass);
}

static void embed_cubin(MlirOperation module, void *context)
{
    work *w = context;
    MlirAttribute name = mlirOperationGetAttributeByName(module, cute_text("sym_name"));
    MlirAttribute targets = mlirOperationGetAttributeByName(module, cute_text("targets"));
    MlirStringRef folder = cute_pass_text(w->pass, FOLDER), symbol = mlirStringAttrGetValue(name);
    const char *copy = cute_arena_copy(w->arena, symbol.data, symbol.length);
    const char *plain = copy ? cute_file_plain_name(w->arena, copy) : NULL;
    const char *path =
        plain ? cute_arena_printf(w->arena, "%.*s/%s.cubin", (int)folder.length, folder.data, plain) : NULL;
    cute_buffer bytes = {0};
    if (!path) {
        fail_module(w, module, NULL);
    } else if (mlirAttributeIsNull(targets) || mlirArrayAttrGetNumElements(targets) != 1) {
        fail_module(
            w, module,
            "cute-embed-cubins expects one target on each gpu.module; attach it with 'attach-nvvm-target'");
    } else if (cute_file_read(path, &bytes, NULL) != CUTE_OK) {
        fail_module(w, module, cute_arena_printf(w->arena, "cute-embed-cubins cannot read '%s'", path));
    } else if (bytes.length < 4 || memcmp(bytes.data,
                                          "\x7f"
                                          "ELF",
                                          4) != 0) {
        fail_module(w, module,
                    cute_arena_printf(w->arena, "cute-embed-cubins expects a cubin, got '%s'", path));
    } else {
        MlirAttribute object =
            cute_binary_object(mlirArrayAttrGetElement(targets, 0), CUTE_OBJECT_CUBIN, &bytes);
        if (mlirAttributeIsNull(object))
            cute_pass_fail(w->pass);
        else if (!cute_binary_replace(module, mlirArrayAttrGet(mlirOperationGetContext(module), 1, &object)))
            fail_module(w, module, NULL);
    }
    cute_buffer_release(&bytes);
}

static void run_embed_cubins(MlirOperation root, cute_pass_run *pass)
{
    work w = {.pass = pass, .arena = cute_arena_create()};
    if (w.arena)
        cute_op_each(root, "gpu.module", embed_cubin, &w);
    else
        fail_module(&w, root, NULL);
    cute_arena_destroy(w.arena);
}

const cute_pass cute_pass_embed_cubins = {
    .name = "cute-embed-cubins",
    .help = "Replace each gpu.module by a gpu.binary with its cubin from a folder",
    .anchor = "builtin.module",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .dialects = CUTE_DIALECT_GPU | CUTE_DIALECT_NVVM,
    .run = run_embed_cubins,
};
