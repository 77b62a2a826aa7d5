// C++ side of the dialect cute: generated classes and the functions that they call. The logic is in types.c
// and ops/.
#ifndef CUTE_LIB_IR_DIALECTS_CUTE_H
#define CUTE_LIB_IR_DIALECTS_CUTE_H

#include "lib/ir/dialects/types.h"
#include "lib/ir/ops/ops.h"
#include "lib/ir/text/reader.h"
#include "lib/ir/text/text.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"

#include <atomic>
#include <mutex>

namespace cute
{
using namespace mlir;

// Parses `<"...">` or `<2>` to a canonical text, or emits an error.
FailureOr<std::string> parseTypeText(AsmParser &parser, cute_type_index index);
void printText(AsmPrinter &printer, StringRef text);
LogicalResult verifyText(function_ref<InFlightDiagnostic()> error, cute_type_index index, StringRef text);
template <class T, class Base> Base parseQuoted(AsmParser &parser, cute_type_index index)
{
    FailureOr<std::string> text = parseTypeText(parser, index);
    return failed(text) ? Base() : Base(T::get(parser.getContext(), *text));
}

// Rows of operations (lib/ir/ops), by the uniqued operation name of a context.
using OpRows = llvm::DenseMap<const void *, const cute_op_row *>;
// Adds the rows of the operations of `dialect`.
void noteRows(Dialect *dialect, OpRows &rows);

// Whether values of the type have that kind.
inline bool isKind(Type type, cute_type kind)
{
    cute_type own;
    return cute_type_is(wrap(type), &own) && own == kind;
}
// Whether the type is an int_tuple of depth 0.
bool isScalar(Type type);

LogicalResult inferVia(const cute_op_row *row, MLIRContext *context, std::optional<Location> location,
                       ValueRange operands, DictionaryAttr attributes, SmallVectorImpl<Type> &out,
                       bool dsl = false, bool follows = false);
OpFoldResult foldVia(const cute_op_row *row, Operation *op, ArrayRef<Attribute> operands);
LogicalResult verifyVia(const cute_op_row *row, Operation *op);
// Checks explicit result types against inferred ones.
LogicalResult refineVia(StringRef name, std::optional<Location> location, ValueRange operands,
                        llvm::function_ref<LogicalResult(SmallVectorImpl<Type> &, bool dsl)> infer,
                        ArrayRef<Type> stated);
template <class Op> const cute_op_row *rowOf()
{
    static const cute_op_row *row =
        cute_op_row_find(Op::getOperationName().data(), Op::getOperationName().size());
    return row;
}

template <class ConcreteOp> class CuteHooks : public OpTrait::TraitBase<ConcreteOp, CuteHooks>
{
  public:
    static LogicalResult verifyTrait(Operation *op) { return verifyVia(rowOf<ConcreteOp>(), op); }
    // The multi-result form: MLIR's single-result form applies to one-result operations only.
    static LogicalResult foldTrait(Operation *op, ArrayRef<Attribute> operands,
                                   SmallVectorImpl<OpFoldResult> &results)
    {
        OpFoldResult folded = foldVia(rowOf<ConcreteOp>(), op, operands);
        if (!folded) return failure();
        results.push_back(folded);
        return success();
    }
    static LogicalResult inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          ValueRange operands, DictionaryAttr attributes,
                                          OpaqueProperties properties, RegionRange,
                                          SmallVectorImpl<Type> &out)
    {
        return inferReturns(context, location, operands, attributes, properties, out, false);
    }
    static LogicalResult inferReturns(MLIRContext *context, std::optional<Location> location,
                                      ValueRange operands, DictionaryAttr attributes,
                                      OpaqueProperties properties, SmallVectorImpl<Type> &out, bool dsl)
    {
        if constexpr (ConcreteOp::hasProperties())
            if (properties)
                attributes = dyn_cast_or_null<DictionaryAttr>(ConcreteOp::getPropertiesAsAttr(
                    context, *properties.as<typename ConcreteOp::Properties *>()));
        return inferVia(rowOf<ConcreteOp>(), context, location, operands, attributes, out, dsl);
    }
    static LogicalResult refineTypes(MLIRContext *context, std::optional<Location> location,
                                     ValueRange operands, DictionaryAttr attributes,
                                     OpaqueProperties properties, RegionRange regions,
                                     SmallVectorImpl<Type> &types)
    {
        auto infer = [&](SmallVectorImpl<Type> &out, bool dsl) {
            return inferReturns(context, location, operands, attributes, properties, out, dsl);
        };
        return refineVia(ConcreteOp::getOperationName(), location, operands, infer, types);
    }
};

// A division is speculatable if no divisor is dynamic.
Speculation::Speculatability divisionVia(Operation *op);
template <class ConcreteOp> class CuteDivides : public OpTrait::TraitBase<ConcreteOp, CuteDivides>
{
  public:
    Speculation::Speculatability getSpeculatability() { return divisionVia(this->getOperation()); }
};
} // namespace cute

namespace cute
{
class CuteDialect;
using TextOf = TextType<CuteDialect>;
} // namespace cute

namespace cute::detail
{
template <cute_type_index index> struct TextStorage; // in cute.cpp
} // namespace cute::detail

#include "lib/ir/dialects/cute_dialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "lib/ir/dialects/cute_types.h.inc"
#define GET_ATTRDEF_CLASSES
#include "lib/ir/dialects/cute_attrs.h.inc"

#endif
