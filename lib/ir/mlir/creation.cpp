// See creation.h.
#include "lib/ir/mlir/creation.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;

namespace
{
// The number of operands that the operation's traits allow: inference and verifiers access operands by position.
struct Count {
    unsigned least = 0, most = ~0u;
};

template <unsigned N> void lookFor(OperationName name, Count &count)
{
    static_assert(N > 1, "one operand has a trait of its own");
    if (name.hasTrait<OpTrait::NOperands<N>::template Impl>()) count = {N, N};
    if (name.hasTrait<OpTrait::AtLeastNOperands<N>::template Impl>()) count.least = N;
}

Count countOf(OperationName name)
{
    Count count;
    if (name.hasTrait<OpTrait::ZeroOperands>()) return {0, 0};
    if (name.hasTrait<OpTrait::OneOperand>()) return {1, 1};
    if (name.hasTrait<OpTrait::AtLeastNOperands<1>::Impl>()) count.least = 1;
    lookFor<2>(name, count);
    lookFor<3>(name, count);
    lookFor<4>(name, count);
    lookFor<5>(name, count);
    lookFor<6>(name, count);
    lookFor<7>(name, count);
    lookFor<8>(name, count);
    // Variadic operands, whose first one has the type of the result.
    if (!count.least && name.hasTrait<OpTrait::SameOperandsAndResultType>()) count.least = 1;
    return count;
}

bool hasRegions(OperationName name)
{
    return name.hasTrait<OpTrait::OneRegion>() || name.hasTrait<OpTrait::NRegions<2>::Impl>() ||
           name.hasTrait<OpTrait::NRegions<3>::Impl>() || name.hasTrait<OpTrait::VariadicRegions>();
}

// Operations that no kernel has; some of their verifiers read operands that are missing.
bool isOfOtherMachines(StringRef name)
{
    static const char *const prefixes[] = {"affine.dma_", "amdgpu.", "amx.", "arm_", "rocdl.", "x86vector."};
    return llvm::any_of(prefixes, [&](const char *prefix) { return name.starts_with(prefix); });
}
} // namespace

bool cute_op_can_create(MlirContext context, MlirStringRef text, intptr_t operands, MlirAttribute dictionary,
                        MlirLocation location)
{
    OperationName name(unwrap(text), unwrap(context));
    Location place = unwrap(location);
    auto error = [&] { return emitError(place) << "'" << name << "' "; };
    if (!name.isRegistered())
        return emitError(place) << "'" << name << "' is not an operation of a known dialect", false;
    if (isOfOtherMachines(name.getStringRef())) return error() << "is an operation of other machines", false;
    if (name.hasTrait<OpTrait::IsTerminator>())
        return error() << "ends a block: regions are closed by cute_ir_end", false;
    if (hasRegions(name)) return error() << "has regions: build it as text", false;
    Count count = countOf(name);
    if ((unsigned)operands < count.least || (unsigned)operands > count.most) {
        error() << "expects " << (count.least == count.most ? "" : "at least ") << count.least << " operand"
                << (count.least == 1 ? "" : "s") << ", got " << operands;
        return false;
    }
    auto attributes = dyn_cast_or_null<DictionaryAttr>(unwrap(dictionary));
    NamedAttrList list(attributes);
    return succeeded(name.verifyInherentAttrs(list, error));
}

bool cute_op_can_infer(const cute_builder *b, MlirStringRef text, cute_operands operands,
                       MlirAttribute dictionary)
{
    MLIRContext *context = unwrap(b->context);
    Location location = unwrap(b->location);
    OperationName name(unwrap(text), context);
    if (!name.hasInterface<InferTypeOpInterface>())
        return emitError(location) << "the result types of '" << name << "' cannot be inferred: state them",
               false;
    // Verifiers check attributes, then operands, then results, which are of a wrong type here.
    OperationState state(location, name);
    for (intptr_t i = 0; i < operands.count; i++) state.operands.push_back(unwrap(operands.items[i]));
    if (auto attributes = dyn_cast_or_null<DictionaryAttr>(unwrap(dictionary)))
        state.addAttributes(attributes.getValue());
    if (name.hasTrait<OpTrait::OneResult>()) state.addTypes(NoneType::get(context));
    if (name.hasTrait<OpTrait::NResults<2>::Impl>()) state.types.append(2, NoneType::get(context));
    std::string message;
    {
        ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
            if (message.empty()) message = diagnostic.str();
            return success();
        });
        Operation *op = Operation::create(state);
        if (succeeded(mlir::verify(op))) message.clear();
        op->destroy();
    }
    StringRef of(message);
    if (!of.contains(" operand #") && !of.contains("requires attribute")) return true;
    emitError(location) << message;
    return false;
}
