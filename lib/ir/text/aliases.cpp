// Aliases for long types: the registers of a wgmma are a struct of up to 256 fields, and each
// llvm.extractvalue prints the whole type.
#include "lib/ir/text/aliases.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/DenseSet.h"

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

std::optional<cute::Named> cute::namedIn(ArrayRef<Operation *> operations)
{
    DialectInterfaceCollection<OpAsmDialectInterface> interfaces(operations.front()->getContext());
    auto isNamed = [&](auto what) {
        llvm::raw_null_ostream os;
        return llvm::any_of(interfaces, [&](const OpAsmDialectInterface &dialect) {
            return dialect.getAlias(what, os) != OpAsmDialectInterface::AliasResult::NoAlias;
        });
    };
    Named named;
    bool known = true;
    AttrTypeWalker walker; // visits each once
    walker.addWalk([&](Type type) {
        if (isNamed(type)) named.types.push_back(type);
    });
    walker.addWalk([&](Attribute attribute) {
        if (isa<DenseResourceElementsAttr>(attribute)) known = false;
        if (!isNamed(attribute)) return;
        known = known && isa<LLVM::LLVMDialect>(attribute.getDialect());
        named.attributes.push_back(attribute);
    });
    // Converting properties to attributes is slow, and most operations have equal ones.
    llvm::DenseSet<std::pair<const void *, uint64_t>> seen;
    for (Operation *op : operations) {
        uint64_t attributes =
            llvm::hash_combine(op->hashProperties(), op->getRawDictionaryAttrs().getAsOpaquePointer());
        if (seen.insert({op->getName().getAsOpaquePointer(), attributes}).second)
            walker.walk(op->getAttrDictionary());
        for (Type type : op->getResultTypes()) walker.walk(type);
        for (Region &region : op->getRegions())
            for (Block &block : region)
                for (Type type : block.getArgumentTypes()) walker.walk(type);
    }
    return known ? std::optional(named) : std::nullopt;
}

extern "C" void cute_aliases_insert(MlirDialectRegistry registry)
{
    unwrap(registry)->addExtension(
        +[](MLIRContext *, NVVM::NVVMDialect *dialect) { dialect->addInterfaces<Aliases>(); });
}
