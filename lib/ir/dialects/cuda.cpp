// The dialect cuda: custom assembly formats and verifiers of cuda.td.
#include "lib/ir/dialects/cuda.h"
#include "lib/ir/mlir/dialects.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cute::cuda;

#include "lib/ir/dialects/cuda_dialect.cpp.inc"
#include "lib/ir/dialects/cuda_enums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "lib/ir/dialects/cuda_types.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "lib/ir/dialects/cuda_attrs.cpp.inc"
#define GET_OP_CLASSES
#include "lib/ir/dialects/cuda_ops.cpp.inc"

void CUDADialect::initialize()
{
    addTypes<
#define GET_TYPEDEF_LIST
#include "lib/ir/dialects/cuda_types.cpp.inc"
        >();
    addAttributes<
#define GET_ATTRDEF_LIST
#include "lib/ir/dialects/cuda_attrs.cpp.inc"
        >();
    addOperations<
#define GET_OP_LIST
#include "lib/ir/dialects/cuda_ops.cpp.inc"
        >();
}

LogicalResult LaunchCfgType::verify(function_ref<InFlightDiagnostic()> error, int64_t count)
{
    if (count < 0 || count > INT32_MAX) return error() << "expected 0 or more attributes, got " << count;
    return success();
}

// ---- kernels ----

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result)
{
    auto type = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                   function_interface_impl::VariadicFlag,
                   std::string &) { return builder.getFunctionType(arguments, results); };
    return function_interface_impl::parseFunctionOp(
        parser, result, false, getFunctionTypeAttrName(result.name), type, getArgAttrsAttrName(result.name),
        getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer)
{
    function_interface_impl::printFunctionOp(printer, *this, false, getFunctionTypeAttrName(),
                                             getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult KernelOp::verify()
{
    if (getFunctionType().getNumResults())
        return emitOpError() << "expected no results, got " << getFunctionType().getNumResults();
    return success();
}

// ---- launches ----

LogicalResult LaunchCfgCreateOp::verify()
{
    int64_t of_type = getCfg().getType().getMaxAttrs(), stated = getMaxNumAttrs();
    if (of_type != stated)
        return emitOpError() << "expected a result with max_attrs = " << stated << ", got " << of_type;
    return success();
}

LogicalResult LaunchExOp::verifySymbolUses(SymbolTableCollection &symbols)
{
    Operation *callee = symbols.lookupNearestSymbolFrom(getOperation(), getCallee());
    if (!callee) return emitOpError() << "expected a kernel, but there is no " << getCallee();
    if (!isa<KernelOp, gpu::GPUFuncOp>(callee))
        return emitOpError() << "expected a cuda.kernel or gpu.func, got " << callee->getName() << " "
                             << getCallee();
    if (!isa<KernelOp>(callee)) return success(); // already lowered: its signature may differ
    ArrayRef<Type> wanted = cast<FunctionOpInterface>(callee).getArgumentTypes();
    if (wanted.size() != getArgs().size())
        return emitOpError() << "expected " << wanted.size() << " argument(s) for " << getCallee() << ", got "
                             << getArgs().size();
    for (auto [index, want, got] : llvm::enumerate(wanted, getArgs().getTypes()))
        if (want != got)
            return emitOpError() << "expected argument " << index << " of " << getCallee() << " to be "
                                 << want << ", got " << got;
    return success();
}

LogicalResult CastOp::verify()
{
    Type from = getInput().getType(), to = getOutput().getType();
    auto pair = [&](auto is, unsigned width) {
        return (is(from) && to.isInteger(width)) || (is(to) && from.isInteger(width));
    };
    if (pair([](Type t) { return isa<StreamType>(t); }, 64) ||
        pair([](Type t) { return isa<ResultType>(t); }, 32))
        return success();
    return emitOpError() << "expected i64 and !cuda.stream, or i32 and !cuda.result, got " << from << " and "
                         << to;
}

LogicalResult ReturnIfErrorOp::verify()
{
    auto function = getOperation()->getParentOfType<FunctionOpInterface>();
    if (!function || function.getResultTypes().size() != 1 || !function.getResultTypes()[0].isInteger(32))
        return emitOpError() << "expected an enclosing function with a single i32 result";
    return success();
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(CUDA, cuda, CUDADialect)

extern "C" MlirDialectHandle cute_cuda_dialect_handle(void)
{
    return mlirGetDialectHandle__cuda__();
}
