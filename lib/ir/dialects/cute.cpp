// The generated classes of the dialect cute, which forward to C. See cute.td.
#include "lib/ir/dialects/cute_nvgpu.h"
#include "lib/ir/mlir/llvm_compat.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cute;

FailureOr<std::string> cute::parseTypeText(AsmParser &parser, cute_type_index index)
{
    const cute_type_row *row = cute_type_row_at(index);
    CuteScratch scratch;
    const char *canonical = nullptr;
    if (parser.parseLess()) return failure();
    SMLoc start = parser.getCurrentLocation();
    std::string text;
    SmallVector<int64_t> values(1);
    if (index == CUTE_TYPE_INDEX_Swizzle && succeeded(parser.parseOptionalKeyword("mode"))) {
        FailureOr<std::string> mode = readSwizzleMode(parser);
        if (failed(mode) || parser.parseGreater()) return failure();
        return mode;
    }
    if (succeeded(parser.parseOptionalString(&text))) {
        size_t offset = 0;
        if (row->canonical(row, scratch.arena, text.data(), text.size(), &canonical, &offset, scratch.diag))
            // One past the opening quote: a text that parses up to the error contains no escapes.
            return parser.emitError(SMLoc::getFromPointer(start.getPointer() + 1 + offset))
                   << scratch.message();
    } else {
        if (OptionalParseResult first = parser.parseOptionalInteger(values[0]); !first.has_value())
            values.clear();
        else if (failed(*first))
            return failure();
        while (!values.empty() && succeeded(parser.parseOptionalComma()))
            if (parser.parseInteger(values.emplace_back())) return failure();
        if (cute_type_sugar(row, scratch.arena, values.data(), values.size(), &canonical, scratch.diag))
            return parser.emitError(start) << scratch.message();
    }
    if (parser.parseGreater()) return failure();
    return std::string(canonical);
}

bool cute::isScalar(Type type)
{
    auto tuple = dyn_cast<IntTupleType>(type);
    return tuple && !tuple.getText().starts_with("(");
}

void cute::printText(AsmPrinter &printer, StringRef text)
{
    printer << '<';
    printer.printString(text);
    printer << '>';
}

LogicalResult cute::verifyText(function_ref<InFlightDiagnostic()> error, cute_type_index index,
                               StringRef text)
{
    const cute_type_row *row = cute_type_row_at(index);
    CuteScratch scratch;
    const char *canonical = nullptr;
    size_t offset = 0;
    if (row->canonical(row, scratch.arena, text.data(), text.size(), &canonical, &offset, scratch.diag))
        return error() << scratch.message();
    if (text != canonical) return error() << "'" << text << "' is not canonical: write '" << canonical << "'";
    return success();
}

LogicalResult cute::inferVia(const cute_op_row *row, MLIRContext *context, std::optional<Location> location,
                             ValueRange operands, DictionaryAttr attributes, SmallVectorImpl<Type> &out,
                             bool dsl, bool follows)
{
    if (!row || !row->infer) return failure();
    SmallVector<MlirValue> values;
    for (Value v : operands) values.push_back(wrap(v));
    cute_op_query query = {wrap(context),
                           wrap(location ? *location : UnknownLoc::get(context)),
                           (intptr_t)values.size(),
                           values.data(),
                           wrap(Attribute(attributes)),
                           dsl,
                           follows};
    cute_op_types types = {nullptr, 0, 0};
    auto release = atExit([&] { free(types.items); });
    if (!row->infer(row, &query, &types)) return failure();
    for (intptr_t i = 0; i < types.count; i++) out.push_back(unwrap(types.items[i]));
    return success();
}

// A pure operation with a single static result type folds to a constant.
OpFoldResult cute::foldVia(const cute_op_row *row, Operation *op, ArrayRef<Attribute>)
{
    if (row && row->fold) return unwrap(row->fold(row, wrap(op)));
    if (op->getNumResults() != 1 || !cute_type_is_static(wrap(op->getResult(0).getType()))) return {};
    return TypeAttr::get(op->getResult(0).getType());
}

// The verifier stops at the first invalid function. With -verify-diagnostics (recognized by operations not
// being printed) the following functions are verified too, so that a test can expect errors in several
// functions.
static void verifyFunctionsBehind(ValueRange operands)
{
    MLIRContext *context = operands.empty() ? nullptr : operands[0].getContext();
    if (!context || context->shouldPrintOpOnDiagnostic() || context->isMultithreadingEnabled()) return;
    Operation *function = operands[0].getParentRegion()->getParentOp();
    while (function && !isa_and_nonnull<ModuleOp>(function->getParentOp()))
        function = function->getParentOp();
    while (function && (function = function->getNextNode()))
        if (failed(verify(function))) return; // which has called this function itself
}

LogicalResult cute::refineVia(StringRef name, std::optional<Location> location, ValueRange operands,
                              llvm::function_ref<LogicalResult(SmallVectorImpl<Type> &, bool dsl)> infer,
                              ArrayRef<Type> stated)
{
    SmallVector<Type> inferred, dsl;
    // Only CuTe DSL has a composed layout that equals its layout.
    auto composed = stated.empty() ? ComposedLayoutType() : dyn_cast<ComposedLayoutType>(stated[0]);
    LogicalResult result = infer(inferred, composed && !composed.getText().contains(" o "));
    if (succeeded(result) && inferred != stated && (!inferred.empty() || stated.empty()) &&
        (failed(infer(dsl, true)) || dsl != stated))
        result = emitOptionalError(location, "'", name, "' op inferred type(s) ", inferred,
                                   " are incompatible with return type(s) of operation ", stated);
    if (failed(result)) verifyFunctionsBehind(operands);
    return result;
}

// Leading indices, coordinates and shapes are only dividends; extents and strides of layouts are divisors.
Speculation::Speculatability cute::divisionVia(Operation *op)
{
    bool divides = isa<LayoutType, ComposedLayoutType>(op->getOperand(0).getType());
    for (Value operand : op->getOperands().drop_front(divides ? 0 : 1))
        if (!cute_type_is_static(wrap(operand.getType()))) return Speculation::NotSpeculatable;
    return Speculation::Speculatable;
}

LogicalResult cute::verifyVia(const cute_op_row *row, Operation *op)
{
    return success(!row || !row->verify || row->verify(row, wrap(op)));
}

void cute::noteRows(Dialect *dialect, OpRows &rows)
{
    struct Notes {
        Dialect *dialect;
        OpRows &rows;
    } notes = {dialect, rows};
    cute_op_rows_each(
        [](const cute_op_row *row, void *context) {
            auto *notes = static_cast<Notes *>(context);
            auto name = RegisteredOperationName::lookup(row->name, notes->dialect->getContext());
            if (name && &name->getDialect() == notes->dialect)
                notes->rows.try_emplace(name->getAsOpaquePointer(), row);
            return true;
        },
        &notes);
}

namespace cute::detail
{
// Storage of the types whose text is in quotes: one class each.
template <cute_type_index row> struct TextStorage : TypeText {
    using KeyTy = StringRef;
    explicit TextStorage(StringRef text) : TypeText(row, text) {}
    bool operator==(StringRef key) const { return key == text; }
    static TextStorage *construct(TypeStorageAllocator &allocator, StringRef key)
    {
        return new (allocator.allocate<TextStorage>()) TextStorage(allocator.copyInto(key));
    }
};
} // namespace cute::detail

#include "lib/ir/dialects/cute_dialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "lib/ir/dialects/cute_types.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "lib/ir/dialects/cute_attrs.cpp.inc"

void CuteDialect::initialize()
{
    addTypes<
#define GET_TYPEDEF_LIST
#include "lib/ir/dialects/cute_types.cpp.inc"
        , TextOf>();
    addAttributes<
#define GET_ATTRDEF_LIST
#include "lib/ir/dialects/cute_attrs.cpp.inc"
        >();
    registerCuteDialectOperations(this);
    noteRows(this, rows);
    addSpellings(*this, rows, spellings);
}

Operation *CuteDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location)
{
    if (isa<IntegerAttr>(value)) return create<arith::ConstantOp>(builder, location, cast<TypedAttr>(value));
    return create<StaticOp>(builder, location, type);
}

// All types of these dialects have a text; IntType is parsed as another type and has no instances.
const TypeText *cute::textOf(Type type)
{
    if (!isa<CuteDialect, cute_nvgpu::CuteNvgpuDialect>(type.getDialect())) return nullptr;
    return static_cast<const TypeText *>(static_cast<const TypeStorage *>(type.getAsOpaquePointer()));
}

Type CuteDialect::parseType(DialectAsmParser &parser) const
{
    SMLoc place = parser.getCurrentLocation();
    StringRef mnemonic;
    Type type;
    OptionalParseResult parsed = generatedTypeParser(parser, &mnemonic, type);
    if (parsed.has_value()) return succeeded(*parsed) ? type : Type();
    return parseTextType<CuteDialect>(parser, place, mnemonic);
}

void CuteDialect::printType(Type type, DialectAsmPrinter &printer) const
{
    if (failed(generatedTypePrinter(type, printer))) printTextType(type, printer);
}

extern "C" {

MlirType cute_type_get(MlirContext context, cute_type_index index, MlirStringRef text)
{
    using Get = Type (*)(MLIRContext *, StringRef);
    static const Get getters[] = {
#define CUTE_IR_TYPE(cls, ...) [](MLIRContext *c, StringRef t) -> Type { return cls##Type::get(c, t); },
#define CUTE_IR_TEXT(cls, dialect, ...)                                                                      \
    [](MLIRContext *c, StringRef t) -> Type { return dialect::TextOf::get(c, CUTE_TYPE_INDEX_##cls, t); },
#include "lib/ir/dialects/types.def"
    };
    return wrap(getters[index](unwrap(context), unwrap(text)));
}

MlirStringRef cute_coord_text(MlirAttribute attribute)
{
    auto coord = dyn_cast<CoordAttr>(unwrap(attribute));
    return wrap(coord ? coord.getText() : StringRef());
}

MlirStringRef cute_shape_text(MlirAttribute attribute)
{
    auto shape = dyn_cast<ShapeAttr>(unwrap(attribute));
    return wrap(shape ? shape.getText() : StringRef());
}

MlirStringRef cute_word_text(MlirAttribute attribute)
{
    auto word = dyn_cast<cute_nvgpu::WordAttr>(unwrap(attribute));
    return wrap(word ? word.getWord() : StringRef());
}

const cute_op_row *cute_op_row_of(MlirOperation op)
{
    OperationName name = unwrap(op)->getName();
    Dialect *dialect = name.getDialect();
    if (auto *cute = dyn_cast_or_null<CuteDialect>(dialect))
        return cute->rows.lookup(name.getAsOpaquePointer());
    auto *nvgpu = dyn_cast_or_null<cute_nvgpu::CuteNvgpuDialect>(dialect);
    return nvgpu ? nvgpu->rows.lookup(name.getAsOpaquePointer()) : nullptr;
}

void cute_op_types_add(cute_op_types *types, MlirType type)
{
    if (types->count == types->capacity) {
        types->capacity = types->capacity ? 2 * types->capacity : 4;
        types->items = (MlirType *)llvm::safe_realloc(types->items, types->capacity * sizeof *types->items);
    }
    types->items[types->count++] = type;
}

void cute_dialect_insert(MlirDialectRegistry registry)
{
    unwrap(registry)->insert<CuteDialect>();
}
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Cute, cute, CuteDialect)

extern "C" MlirDialectHandle cute_dialect_handle(void)
{
    return mlirGetDialectHandle__cute__();
}
