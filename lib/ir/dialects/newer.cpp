// The operations of newer.td, and their registration in LLVM's dialects.
#include "lib/ir/dialects/newer.h"
#include "lib/ir/dialects/cuda.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "lib/ir/dialects/newer_ops.h.inc"
#define GET_OP_CLASSES
#include "lib/ir/dialects/newer_ops.cpp.inc"

namespace
{
// Adds operations that the dialect does not have itself.
template <class D> struct Join {
    D *dialect;
    template <class Op> void one()
    {
        StringRef name = Op::getOperationName();
        if (name.starts_with((D::getDialectNamespace() + ".").str()) &&
            !RegisteredOperationName::lookup(name, dialect->getContext()))
            RegisteredOperationName::insert<Op>(*dialect);
    }
    template <class... Ops> void all() { (one<Ops>(), ...); }
};
template <class D> void join(MLIRContext *, D *dialect)
{
    Join<D>{dialect}
        .template all<
#define GET_OP_LIST
#include "lib/ir/dialects/newer_ops.cpp.inc"
            >();
}

LogicalResult verifyConversion(Operation *op, bool wider)
{
    auto in = cast<VectorType>(op->getOperand(0).getType()),
         out = cast<VectorType>(op->getResult(0).getType());
    if (in.getShape() != out.getShape())
        return op->emitOpError() << "expected vectors of one shape, got " << in << " and " << out;
    unsigned from = in.getElementTypeBitWidth(), to = out.getElementTypeBitWidth();
    if (wider ? to <= from : to >= from)
        return op->emitOpError() << "expected a result with " << (wider ? "wider" : "narrower")
                                 << " elements than " << in << ", got " << out;
    return success();
}
} // namespace

LogicalResult cute::newer::CvtTrunc::verify()
{
    return verifyConversion(*this, false);
}

LogicalResult cute::newer::CvtExt::verify()
{
    return verifyConversion(*this, true);
}

extern "C" void cute_newer_insert(MlirDialectRegistry registry)
{
    // Their attributes belong to cuda, which must be loaded to parse them.
    unwrap(registry)->addExtension(+[](MLIRContext *context, NVVM::NVVMDialect *dialect) {
        context->getOrLoadDialect<cute::cuda::CUDADialect>();
        join(context, dialect);
    });
    unwrap(registry)->addExtension(+[](MLIRContext *context, nvgpu::NVGPUDialect *dialect) {
        context->getOrLoadDialect<cute::cuda::CUDADialect>();
        join(context, dialect);
    });
}
