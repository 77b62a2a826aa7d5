/* cute-line-info: source lines without more debug information.
 *
 * Requires: nothing. Ensures: the module's location carries a compile unit of `.loc` directives alone, which
 * the debug information of functions (ensure-debug-info-scope-on-llvm-func) then belongs to; nvcc's -lineinfo
 * means the same.
 */
#include <mlir-c/Dialect/LLVM.h>

#include "lib/ir/util.h"
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

static void run(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    enum { dwarf_lang_c = 2 };
    MlirContext c = mlirOperationGetContext(root);
    MlirLocation location = mlirOperationGetLocation(root);
    MlirAttribute id = mlirDisctinctAttrCreate(mlirUnitAttrGet(c));
    MlirAttribute unit = mlirLLVMDICompileUnitAttrGet(
        c, id, dwarf_lang_c, file_of(c, location), cute_string_attribute(c, "libcute"), true,
        MlirLLVMDIEmissionKindDebugDirectivesOnly, MlirLLVMDINameTableKindDefault);
    cute_op_set_location(root, mlirLocationFusedGet(c, 1, &location, unit));
}

const cute_pass cute_pass_line_info = {
    .name = "cute-line-info",
    .help = "Have debug information be .loc directives alone",
    .anchor = "builtin.module",
    .dialects = CUTE_DIALECT_LLVM,
    .run = run,
};
