// See creation.h.
#include "lib/ir/mlir/creation.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpDefinition.h"
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
} // namespace

bool cute_op_can_create(MlirContext context, MlirStringRef text, intptr_t operands, MlirAttribute dictionary,
                        MlirLocation location)
{
    OperationName name(unwrap(text), unwrap(context));
    Location place = unwrap(location);
    auto error = [&] { return emitError(place) << "'" << name << "' "; };
    if (!name.isRegistered())
        return emitError(place) << "'" << name << "' is no operation that is known", false;
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

bool cute_op_infers(MlirContext context, MlirStringRef name)
{
    return OperationName(unwrap(name), unwrap(context)).hasInterface<InferTypeOpInterface>();
}
