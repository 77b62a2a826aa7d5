/* Kernels with mbarriers, copies and wgmma, changed, through cute-atom-validation with its static checks: an answer, never a crash.
 * The first byte of an input picks one of the clean kernels of tests/static-checks, each four bytes after it change one operation:
 * it goes, comes twice, moves, takes another operand, gets another constant. What is no valid IR then is not looked at. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ir/mlir/context.h"
#include "lib/passes/passes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* LLVM's registries belong to the process. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static const struct {
    const char *name;
    const char *text;
} kernels[] = {
#define KERNEL(name, ...) {#name, (const char[]){__VA_ARGS__}},
#include "async_kernels.inc"
};
enum { KERNELS = sizeof kernels / sizeof *kernels, MOST_OPERATIONS = 2000, MOST_CHANGES = 8 };

static MlirContext context;
static MlirPassManager manager;
static MlirModule modules[KERNELS];

static MlirLogicalResult swallow(MlirDiagnostic diagnostic, void *unused)
{
    (void)diagnostic, (void)unused;
    return mlirLogicalResultSuccess();
}

static void drop_text(MlirStringRef text, void *unused)
{
    (void)text, (void)unused;
}

static void begin(void)
{
    mlirRegisterAllPasses();
    cute_passes_register();
    MlirDialectRegistry registry = cute_registry_create();
    context = mlirContextCreateWithRegistry(registry, false);
    mlirDialectRegistryDestroy(registry);
    for (int i = 0; i < KERNELS; i++) {
        modules[i] = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(kernels[i].text));
        if (mlirModuleIsNull(modules[i])) abort();
    }
    manager = mlirPassManagerCreate(context);
    MlirStringRef pass = mlirStringRefCreateFromCString("cute-atom-validation{arch=sm_90a}");
    if (mlirLogicalResultIsFailure(
            mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(manager), pass, drop_text, NULL)))
        abort();
    mlirContextAttachDiagnosticHandler(context, swallow, NULL, NULL);
}

/* ---- changes ---- */

typedef struct walk {
    MlirOperation found[MOST_OPERATIONS];
    size_t count;
} walk;

static MlirWalkResult see(MlirOperation op, void *at)
{
    walk *w = at;
    if (w->count < MOST_OPERATIONS && mlirOperationGetNumResults(op) + mlirOperationGetNumOperands(op))
        w->found[w->count++] = op;
    return MlirWalkResultAdvance;
}

static bool is_used(MlirOperation op)
{
    for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
        if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i)))) return true;
    return false;
}

static bool is_terminator(MlirOperation op)
{
    return mlirOperationEqual(mlirBlockGetTerminator(mlirOperationGetBlock(op)), op);
}

static void move(MlirOperation op, int steps)
{
    MlirBlock block = mlirOperationGetBlock(op);
    MlirOperation at = mlirBlockGetFirstOperation(block), end = mlirBlockGetTerminator(block);
    int place = 0, count = 0, own = 0;
    for (MlirOperation o = at; !mlirOperationIsNull(o); o = mlirOperationGetNextInBlock(o), count++)
        if (mlirOperationEqual(o, op)) own = count;
    place = own + steps;
    if (place < 0) place = 0;
    for (int i = 0; i < place && !mlirOperationEqual(at, end); i++) at = mlirOperationGetNextInBlock(at);
    if (mlirOperationEqual(at, op)) return;
    mlirOperationRemoveFromParent(op);
    mlirBlockInsertOwnedOperationBefore(block, at, op);
}

/* Another value of the operand's type, of an operation `which` steps on in the list. */
static void take_other(const walk *w, MlirOperation op, unsigned operand, unsigned which)
{
    intptr_t count = mlirOperationGetNumOperands(op);
    if (!count) return;
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, operand % count));
    for (size_t i = 0; i < w->count; i++) {
        MlirOperation from = w->found[(which * 7 + i) % w->count];
        if (mlirOperationEqual(from, op) || !mlirOperationGetNumResults(from)) continue;
        MlirValue value = mlirOperationGetResult(from, 0);
        if (!mlirTypeEqual(mlirValueGetType(value), type)) continue;
        mlirOperationSetOperand(op, operand % count, value);
        return;
    }
}

static void set_number(MlirOperation op, unsigned which, unsigned byte)
{
    static const int64_t numbers[] = {0,   1,   2,   3,    5,     31,      32,        33, 64,
                                      127, 128, 255, 8192, 16384, 1048576, INT32_MAX, -1, INT32_MIN};
    intptr_t count = mlirOperationGetNumAttributes(op);
    for (intptr_t i = 0; i < count; i++) {
        MlirNamedAttribute a = mlirOperationGetAttribute(op, (i + which) % count);
        MlirType type = mlirAttributeGetType(a.attribute);
        if (!mlirAttributeIsAInteger(a.attribute) || mlirTypeIsNull(type)) continue;
        int64_t value = numbers[byte % (sizeof numbers / sizeof *numbers)];
        if (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) < 32) value &= 1;
        mlirOperationSetAttributeByName(op, mlirIdentifierStr(a.name), mlirIntegerAttrGet(type, value));
        return;
    }
}

static void change(walk *w, const uint8_t *bytes)
{
    size_t at = (size_t)(bytes[0] << 8 | bytes[1]) % w->count;
    MlirOperation op = w->found[at];
    switch (bytes[2] % 5) {
    case 0:
        if (is_used(op) || is_terminator(op)) return;
        mlirOperationDestroy(op);
        w->count = 0; /* what is in it is gone, too */
        return;
    case 1:
        if (!is_terminator(op))
            mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, mlirOperationClone(op));
        return;
    case 2:
        if (!is_terminator(op)) move(op, (int8_t)bytes[3] % 16);
        return;
    case 3: take_other(w, op, bytes[3] & 3, bytes[3] >> 2); return;
    default: set_number(op, bytes[3] & 3, bytes[3] >> 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5) return 0;
    if (mlirContextIsNull(context)) begin();
    MlirOperation root = mlirOperationClone(mlirModuleGetOperation(modules[data[0] % KERNELS]));
    walk *w = malloc(sizeof *w);
    for (size_t n = 0; w && n < MOST_CHANGES && 5 + 4 * n <= size; n++) {
        w->count = 0;
        mlirOperationWalk(root, see, w, MlirWalkPreOrder);
        if (w->count) change(w, data + 1 + 4 * n);
    }
    free(w);
    if (mlirOperationVerify(root)) mlirPassManagerRunOnOp(manager, root);
    mlirOperationDestroy(root);
    return 0;
}
