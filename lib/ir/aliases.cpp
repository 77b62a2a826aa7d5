// Names for types that are long: registers of a wgmma are a structure of up to 256 numbers, and each of them is taken
// out of it by an operation that says the whole type.
#include "lib/ir/aliases.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace
{
struct Aliases : public OpAsmDialectInterface {
    using OpAsmDialectInterface::OpAsmDialectInterface;

    AliasResult getAlias(Type type, raw_ostream &os) const override
    {
        constexpr size_t few = 8;
        auto structure = dyn_cast<LLVM::LLVMStructType>(type);
        if (!structure || structure.isIdentified() || structure.getBody().size() <= few)
            return AliasResult::NoAlias;
        os << "registers";
        return AliasResult::FinalAlias;
    }
};
} // namespace

extern "C" void cute_aliases_insert(MlirDialectRegistry registry)
{
    unwrap(registry)->addExtension(
        +[](MLIRContext *, NVVM::NVVMDialect *dialect) { dialect->addInterfaces<Aliases>(); });
}
