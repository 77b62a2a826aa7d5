/* cute-line-info: restricts debug information to source lines.
 *
 * Requires: nothing. Ensures: the module's location carries a compile unit that emits `.loc` directives
 * only, to which the debug information of its functions belongs; ensure-debug-info-scope-on-llvm-func adds
 * that of inlined code. Operations from a file other than their function's have a lexical scope with that
 * file. Equivalent to nvcc's -lineinfo.
 */
#include <llvm/Config/llvm-config.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

static MlirAttribute file_of(MlirContext c, MlirLocation location)
{
    MlirStringRef path = cute_text("<unknown>");
    unsigned line, column;
    cute_location_place(location, &path, &line, &column);
    size_t folder = path.length;
    while (folder > 0 && path.data[folder - 1] != '/') folder--;
    MlirStringRef name = mlirStringRefCreate(path.data + folder, path.length - folder);
    MlirStringRef directory = mlirStringRefCreate(path.data, folder ? folder - 1 : 0);
    return mlirLLVMDIFileAttrGet(c, mlirStringAttrGet(c, name), mlirStringAttrGet(c, directory));
}

/* ---- operations from other files: includes and line directives ---- */

typedef struct function_files {
    MlirAttribute subprogram, scope; /* of the last other file */
    MlirStringRef own, other;
} function_files;

/* Upstream creates the scopes of inlined code. */
static bool is_inlined(MlirLocation location)
{
    MlirStringRef name;
    char *text = NULL;
    bool inlined =
        cute_location_form(location, 0, &name, &text) == CUTE_LOCATION_OTHER && !strncmp(text, "callsite", 8);
    free(text);
    return inlined;
}

static void set_file(MlirOperation op, void *context)
{
    function_files *f = context;
    MlirContext c = mlirOperationGetContext(op);
    MlirLocation location = mlirOperationGetLocation(op);
    MlirStringRef path;
    unsigned line, column;
    if (!cute_location_place(location, &path, &line, &column) || path.data == f->own.data ||
        mlirStringRefEqual(path, f->own) || is_inlined(location))
        return;
    if (!f->other.data || !mlirStringRefEqual(path, f->other)) {
        f->other = path;
        f->scope = mlirLLVMDILexicalBlockFileAttrGet(c, f->subprogram, file_of(c, location), 0);
    }
    cute_op_set_location(op, mlirLocationFusedGet(c, 1, &location, f->scope));
}

typedef struct units {
    MlirAttribute unit, type; /* the compile unit; the (unused) type of functions */
} units;

static MlirAttribute subprogram_of(MlirContext c, const units *u, MlirAttribute file, MlirAttribute name,
                                   unsigned line)
{
    enum { definition = 1 << 3, optimized = 1 << 4 };
    MlirAttribute id = mlirDisctinctAttrCreate(mlirUnitAttrGet(c));
#if LLVM_VERSION_MAJOR >= 20
    return mlirLLVMDISubprogramAttrGet(c, id, false, id, u->unit, file, name, name, file, line, line,
                                       definition | optimized, u->type, 0, NULL, 0, NULL);
#else
    return mlirLLVMDISubprogramAttrGet(c, id, u->unit, file, name, name, file, line, line,
                                       definition | optimized, u->type);
#endif
}

/* Creates the subprogram of a function. Upstream's has the column as the line of its scope. */
static void set_subprogram(MlirOperation function, void *context)
{
    const units *u = context;
    MlirContext c = mlirOperationGetContext(function);
    MlirLocation location = mlirOperationGetLocation(function);
    MlirRegion body = mlirOperationGetRegion(function, 0);
    MlirStringRef path;
    unsigned line, column;
    if (mlirBlockIsNull(mlirRegionGetFirstBlock(body)) ||
        !cute_location_place(location, &path, &line, &column))
        return;
    MlirAttribute name = mlirOperationGetAttributeByName(function, cute_text("sym_name"));
    MlirAttribute subprogram = subprogram_of(c, u, file_of(c, location), name, line);
    cute_op_each(function, NULL, set_file, &(function_files){.subprogram = subprogram, .own = path});
    cute_op_set_location(function, mlirLocationFusedGet(c, 1, &location, subprogram));
}

static void run_line_info(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    enum { dwarf_lang_c = 2 };
    MlirContext c = mlirOperationGetContext(root);
    MlirLocation location = mlirOperationGetLocation(root);
    MlirAttribute id = mlirDisctinctAttrCreate(mlirUnitAttrGet(c));
    MlirAttribute unit = mlirLLVMDICompileUnitAttrGet(
        c, id, dwarf_lang_c, file_of(c, location), cute_string_attribute(c, "libcute"), true,
        MlirLLVMDIEmissionKindDebugDirectivesOnly, MlirLLVMDINameTableKindDefault
#if LLVM_VERSION_MAJOR >= 22
        ,
        cute_string_attribute(c, "") /* no split debug information */
#endif
    );
    cute_op_set_location(root, mlirLocationFusedGet(c, 1, &location, unit));
    units u = {unit, mlirLLVMDISubroutineTypeAttrGet(c, 0, 0, NULL)};
    cute_op_each(root, "llvm.func", set_subprogram, &u);
}

const cute_pass cute_pass_line_info = {
    .name = "cute-line-info",
    .help = "Restrict debug information to .loc directives",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_LLVM,
    .run = run_line_info,
};
