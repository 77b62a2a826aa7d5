/* See target.h. */
#include "lib/passes/target.h"

#include <mlir-c/Diagnostics.h>

#include "lib/ir/util.h"

bool cute_pass_arch(cute_pass_run *run, int i, MlirOperation root, const cute_arch **out)
{
    MlirStringRef name = cute_pass_text(run, i);
    *out = NULL;
    if (!name.length) return true;
    cute_buffer text = {0};
    cute_buffer_append(&text, name.data, name.length);
    *out = cute_arch_find(cute_buffer_text(&text));
    if (!*out) {
        cute_buffer message = {0};
        cute_buffer_printf(&message, "expected an architecture such as sm_90a, got '%s'",
                           cute_buffer_text(&text));
        mlirEmitError(mlirOperationGetLocation(root), cute_buffer_text(&message));
        cute_buffer_release(&message);
        cute_pass_fail(run);
    }
    cute_buffer_release(&text);
    return *out;
}
