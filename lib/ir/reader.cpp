// See reader.h. What is read, of every operation, in this order, all but the name optional:
//
//     cute.name A <attributes> ("text", %x, %y) <attributes> [cta_1] {attr-dict} : types {attr-dict}
//
// and as types: nothing; `(X, Y) -> (R, ...)`; `X, Y -> R` (also `to R`); `X, Y` alone, the operands'; `R` alone. What
// is printed is one of these forms: forms.def.
#include "lib/ir/reader.h"

#include "lib/ir/cute.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/Support.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace cute;

namespace
{
using Operands = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;
using Unresolved = ArrayRef<OpAsmParser::UnresolvedOperand>;

// ---- forms.def ----

enum class Types { FUNCTION, ARROW, OPERANDS, RESULT, LEADING };
constexpr int CUTE_TYPE_INDEX_None = -1;
constexpr unsigned formOperands = 3;
struct Form {
    Types types = Types::FUNCTION;
    int operands[formOperands] = {CUTE_TYPE_INDEX_None, CUTE_TYPE_INDEX_None, CUTE_TYPE_INDEX_None};
    int result = CUTE_TYPE_INDEX_None;
    int operand(size_t i) const { return i < formOperands ? operands[i] : CUTE_TYPE_INDEX_None; }
};

const Form &formOf(OperationName name)
{
    static const llvm::StringMap<Form> forms = {
#define CUTE_FORM(op, types, a, b, c, r)                                                                     \
    {"cute." #op,                                                                                            \
     {Types::types, {CUTE_TYPE_INDEX_##a, CUTE_TYPE_INDEX_##b, CUTE_TYPE_INDEX_##c}, CUTE_TYPE_INDEX_##r}},
#include "lib/ir/forms.def"
#undef CUTE_FORM
    };
    static const Form usual;
    auto found = forms.find(name.getStringRef());
    return found == forms.end() ? usual : found->second;
}

// ---- where attributes of a name stand ----

enum class Place {
    Angle,    // `<[0, 1]>`, `<1, 3>`, `<{only_dynamic}>`
    Letter,   // `A` before the operands
    First,    // `"text"` before the first operand
    Last,     // `"(1,_)"` behind the last operand
    Cta,      // `[cta_1]`
    Segments, // follows from the operands
};

Place placeOf(StringRef name)
{
    static const struct {
        const char *name;
        Place place;
    } places[] = {
        {"operand_id", Place::Letter}, {"fmt", Place::First},      {"proj", Place::Last},
        {"coord", Place::Last},        {"is_two_cta", Place::Cta}, {"operandSegmentSizes", Place::Segments},
    };
    for (auto &row : places)
        if (name == row.name) return row.place;
    return Place::Angle;
}

// The attribute of this operation that stands at `place`, or null.
StringAttr nameAt(OperationName operation, Place place)
{
    for (StringAttr name : operation.getAttributeNames())
        if (placeOf(name) == place) return name;
    return {};
}

constexpr llvm::StringLiteral letters = "ABCD";

// ---- diagnostics ----

// Keeps what is reported while it lives, in this thread.
struct Caught {
    std::string text;
    Type type; // the last that is named
    ScopedDiagnosticHandler handler;
    explicit Caught(MLIRContext *context)
        : handler(context, [this, thread = llvm::get_threadid()](Diagnostic &d) {
              if (llvm::get_threadid() != thread) return failure();
              if (!text.empty()) text += "; ";
              text += d.str();
              for (DiagnosticArgument &a : d.getArguments())
                  if (a.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Type) type = a.getAsType();
              return success();
          })
    {
    }
};

// ---- the types of values by their names ----

// The types that names had where they were used or defined last. Wrong where another function has the same name, which
// costs time only.
struct Guesses {
    explicit Guesses(MLIRContext *context)
        : dialect(context->getLoadedDialect<CuteDialect>()), lock(dialect->guessing)
    {
    }
    Type &of(StringRef name, unsigned number)
    {
        if (!number) return dialect->guesses[name];
        return dialect->guesses[(name + "#" + Twine(number)).str()];
    }
    CuteDialect *dialect;
    std::lock_guard<std::mutex> lock;
};
} // namespace

// The parser gives a value for a name and a type only. Asked for a type that no value has, it says which one the value
// has in its error; a value that is not defined yet comes back as a placeholder, which nothing uses so far.
FailureOr<Type> cute::typeOf(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand, Type guess)
{
    SmallVector<Value> value;
    Type none = guess ? guess : Type(FunctionType::get(parser.getContext(), {}, {}));
    std::string text;
    {
        Caught caught(parser.getContext());
        if (failed(parser.resolveOperand(operand, none, value))) {
            if (caught.type && caught.type != none) return caught.type;
            text = caught.text;
        }
    }
    if (!text.empty()) return parser.emitError(operand.location) << text;
    Operation *placeholder = value.empty() ? nullptr : value[0].getDefiningOp();
    if (placeholder && !placeholder->getBlock() && placeholder->use_empty())
        return parser.emitError(operand.location)
               << "'" << operand.name
               << "' is not defined above: the types of this operation must be written";
    return none;
}

static ParseResult resolve(OpAsmParser &parser, const Operands &operands, SmallVectorImpl<Value> &values)
{
    for (auto &operand : operands) {
        Type guess;
        if (operands.size()) guess = Guesses(parser.getContext()).of(operand.name, operand.number);
        FailureOr<Type> type = typeOf(parser, operand, guess);
        if (failed(type) || parser.resolveOperand(operand, *type, values)) return failure();
        if (*type != guess) Guesses(parser.getContext()).of(operand.name, operand.number) = *type;
    }
    return success();
}

// ---- attributes ----

// A value in angle brackets.
static Attribute parseValue(OpAsmParser &parser)
{
    Builder &builder = parser.getBuilder();
    if (*parser.getCurrentLocation().getPointer() == '[') return DenseI32ArrayAttr::parse(parser, {});
    int64_t number;
    OptionalParseResult integer = parser.parseOptionalInteger(number);
    if (!integer.has_value()) {
        Attribute value;
        return failed(parser.parseAttribute(value)) ? Attribute() : value;
    }
    Type type = builder.getI32Type();
    if (failed(*integer) || (succeeded(parser.parseOptionalColon()) && parser.parseType(type))) return {};
    auto whole = dyn_cast<IntegerType>(type);
    if (!whole || !llvm::isIntN(whole.getWidth(), number)) {
        parser.emitError(parser.getCurrentLocation(), "expects a number that fits into ") << type;
        return {};
    }
    return builder.getIntegerAttr(type, number);
}

// `{name, name = value}`, behind the brace.
static ParseResult parseNamed(OpAsmParser &parser, OperationState &state)
{
    while (failed(parser.parseOptionalRBrace())) {
        StringRef name;
        if (parser.parseKeyword(&name)) return failure();
        Attribute value = parser.getBuilder().getUnitAttr();
        if (succeeded(parser.parseOptionalEqual())) value = parseValue(parser);
        if (!value) return failure();
        state.attributes.set(name, value);
        (void)parser.parseOptionalComma(); // some printers leave it out
    }
    return success();
}

static ParseResult parseAngle(OpAsmParser &parser, OperationState &state)
{
    if (failed(parser.parseOptionalLess())) return success();
    if (succeeded(parser.parseOptionalLBrace())) {
        if (parseNamed(parser, state)) return failure();
        return parser.parseGreater();
    }
    bool first = true;
    for (StringAttr name : state.name.getAttributeNames()) {
        if (placeOf(name) != Place::Angle) continue;
        if (!first && failed(parser.parseOptionalComma())) break;
        Attribute value = parseValue(parser);
        if (!value) return failure();
        state.attributes.set(name, value);
        first = false;
    }
    return parser.parseGreater();
}

// `A` before the operands.
static ParseResult parseLetter(OpAsmParser &parser, OperationState &state)
{
    StringAttr name = nameAt(state.name, Place::Letter);
    if (!name) return success();
    for (size_t i = 0; i < letters.size(); i++)
        if (succeeded(parser.parseOptionalKeyword(letters.substr(i, 1))))
            state.addAttribute(name, parser.getBuilder().getI32IntegerAttr(i));
    return success();
}

static ParseResult parseCta(OpAsmParser &parser, OperationState &state)
{
    StringAttr name = nameAt(state.name, Place::Cta);
    if (!name || failed(parser.parseOptionalLSquare())) return success();
    StringRef which;
    if (parser.parseKeyword(&which) || parser.parseRSquare()) return failure();
    if (which == "cta_2") state.addAttribute(name, parser.getBuilder().getUnitAttr());
    if (which == "cta_1" || which == "cta_2") return success();
    return parser.emitError(parser.getNameLoc(), "expects cta_1 or cta_2, got ") << which;
}

static Attribute coordOf(OpAsmParser &parser, StringRef text)
{
    Attribute coord;
    {
        Caught caught(parser.getContext());
        coord = mlir::parseAttribute(("#cute.coord<\"" + text + "\">").str(), parser.getContext());
    }
    if (!coord)
        parser.emitError(parser.getCurrentLocation(), "expects a coordinate such as \"(1,_)\" in quotes");
    return coord;
}

// `(%x, %y)`, with texts between them; `%x, %y` without parentheses; nothing.
static ParseResult parseOperands(OpAsmParser &parser, OperationState &state, Operands &operands)
{
    bool parens = succeeded(parser.parseOptionalLParen());
    for (bool first = true;; first = false) {
        if (parens && succeeded(parser.parseOptionalRParen())) return success();
        if (!first && failed(parser.parseOptionalComma())) return parens ? parser.parseRParen() : success();
        std::string text;
        if (parens && succeeded(parser.parseOptionalString(&text))) {
            StringAttr name = nameAt(state.name, first ? Place::First : Place::Last);
            if (!name) return parser.emitError(parser.getCurrentLocation(), "expects operands, not a text");
            Attribute value = first ? parser.getBuilder().getStringAttr(text) : coordOf(parser, text);
            if (!value) return failure();
            state.addAttribute(name, value);
            continue;
        }
        OpAsmParser::UnresolvedOperand operand;
        OptionalParseResult one = parser.parseOptionalOperand(operand);
        if (!one.has_value()) {
            if (first && !parens) return success();
            if (parens && succeeded(parser.parseOptionalRParen())) return success(); // `("text", )`
            return parser.emitError(parser.getCurrentLocation(), "expected SSA operand");
        }
        if (failed(*one)) return failure();
        operands.push_back(operand);
    }
}

// ---- types ----

namespace
{
// What stands behind the colon.
struct Written {
    SmallVector<Type> operands, results;
    bool hasOperands = false, hasResults = false;
    SMLoc location;
};
} // namespace

// A type; of a place that `index` says, also without its dialect and mnemonic.
static ParseResult parseOneType(OpAsmParser &parser, int index, SmallVectorImpl<Type> &types)
{
    if (index == CUTE_TYPE_INDEX_None || *parser.getCurrentLocation().getPointer() != '<')
        return parser.parseType(types.emplace_back());
    FailureOr<std::string> text = parseTypeText(parser, (cute_type_index)index);
    if (failed(text)) return failure();
    types.push_back(unwrap(
        cute_type_get(wrap(parser.getContext()), (cute_type_index)index, {text->data(), text->size()})));
    return success();
}

static ParseResult parseResultTypes(OpAsmParser &parser, const Form &form, Written &written)
{
    written.hasResults = true;
    if (failed(parser.parseOptionalLParen())) return parseOneType(parser, form.result, written.results);
    if (succeeded(parser.parseOptionalRParen())) return success();
    do {
        if (parseOneType(parser, form.result, written.results)) return failure();
    } while (succeeded(parser.parseOptionalComma()));
    return parser.parseRParen();
}

static bool parseArrow(OpAsmParser &parser)
{
    return succeeded(parser.parseOptionalArrow()) || succeeded(parser.parseOptionalKeyword("to"));
}

static ParseResult parseTypes(OpAsmParser &parser, const Form &form, size_t operands, Written &written)
{
    if (failed(parser.parseOptionalColon())) return success();
    written.location = parser.getCurrentLocation();
    written.hasOperands = true;
    SmallVector<Type> &types = written.operands;
    if (succeeded(parser.parseOptionalLParen())) {
        if (failed(parser.parseOptionalRParen())) {
            do {
                if (parseOneType(parser, form.operand(types.size()), types)) return failure();
            } while (succeeded(parser.parseOptionalComma()));
            if (parser.parseRParen()) return failure();
        }
        return parseArrow(parser) ? parseResultTypes(parser, form, written) : success();
    }
    if (!operands && form.types != Types::RESULT) { // `cute.print("text", ) :`
        Type first;
        OptionalParseResult any = parser.parseOptionalType(first);
        if (!any.has_value()) return success();
        if (failed(*any)) return failure();
        types.push_back(first);
        if (failed(parser.parseOptionalComma()))
            return parseArrow(parser) ? parseResultTypes(parser, form, written) : success();
    }
    do {
        if (parseOneType(parser, form.operand(types.size()), types)) return failure();
    } while (succeeded(parser.parseOptionalComma()));
    if (parseArrow(parser)) return parseResultTypes(parser, form, written);
    if (form.types != Types::RESULT) return success();
    written.results = std::exchange(types, {});
    std::swap(written.hasOperands, written.hasResults);
    return success();
}

// ---- inference ----

// How many operands the definition allows: from, to.
static std::pair<size_t, size_t> operandCount(OperationName name)
{
    if (name.hasTrait<OpTrait::OneOperand>()) return {1, 1};
    if (name.hasTrait<OpTrait::NOperands<2>::Impl>()) return {2, 2};
    if (name.hasTrait<OpTrait::NOperands<3>::Impl>()) return {3, 3};
    if (name.hasTrait<OpTrait::NOperands<4>::Impl>()) return {4, 4};
    if (name.hasTrait<OpTrait::ZeroOperands>()) return {0, 0};
    if (name.hasTrait<OpTrait::AtLeastNOperands<1>::Impl>()) return {1, SIZE_MAX};
    if (name.hasTrait<OpTrait::AtLeastNOperands<2>::Impl>()) return {2, SIZE_MAX};
    if (name.hasTrait<OpTrait::AtLeastNOperands<3>::Impl>()) return {3, SIZE_MAX};
    if (name.hasTrait<OpTrait::AtLeastNOperands<4>::Impl>()) return {4, SIZE_MAX};
    return {0, SIZE_MAX};
}

// Who sees no types is told those of the operands.
static ParseResult failWithTypes(const OperationState &state, Unresolved operands, const Twine &message)
{
    InFlightDiagnostic error = emitError(state.location) << message;
    for (auto [operand, value] : llvm::zip(operands, state.operands)) {
        auto &note = error.attachNote(value.getLoc()) << operand.name;
        if (operand.number) note << "#" << operand.number;
        note << " is a " << value.getType();
    }
    return error;
}

static ParseResult checkOperandCount(const OperationState &state, Unresolved operands)
{
    auto [least, most] = operandCount(state.name);
    size_t count = state.operands.size();
    if (count >= least && count <= most) return success();
    return failWithTypes(state, operands,
                         "'" + state.name.getStringRef() + "' op expects " +
                             (least == most ? "" : "at least ") + Twine(least) +
                             (least == 1 ? " operand" : " operands") + ", but got " + Twine(count));
}

static ParseResult inferTypes(OpAsmParser &parser, OperationState &state, Unresolved operands)
{
    auto *rule = state.name.getInterface<InferTypeOpInterface>();
    if (!rule) {
        if (state.name.hasTrait<OpTrait::ZeroResults>()) return success();
        return emitError(state.location)
               << "'" << state.name << "' op expects its result types: they do not follow from operands";
    }
    if (checkOperandCount(state, operands)) return failure();
    MLIRContext *context = parser.getContext();
    std::string text;
    {
        Caught caught(context);
        if (succeeded(rule->inferReturnTypes(context, state.location, state.operands,
                                             state.attributes.getDictionary(context), nullptr, {},
                                             state.types)))
            return success();
        text = caught.text;
    }
    return failWithTypes(state, operands, text);
}

// ---- reading ----

// Sizes of the groups of operands, each of one as long as there are any; more are the last one's.
static void addSegments(OperationState &state)
{
    StringAttr name = nameAt(state.name, Place::Segments);
    if (!name || state.attributes.get(name)) return;
    // How many groups there are is known to the operation alone.
    OperationState empty(state.location, state.name);
    Operation *op = Operation::create(empty);
    auto properties = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
    auto sizes = properties ? properties.getAs<DenseI32ArrayAttr>(name) : DenseI32ArrayAttr();
    op->destroy();
    if (!sizes || sizes.empty()) return;
    SmallVector<int32_t> groups(sizes.size());
    for (size_t i = 0; i < state.operands.size(); i++) groups[std::min(i, groups.size() - 1)]++;
    state.addAttribute(name, DenseI32ArrayAttr::get(state.getContext(), groups));
}

static ParseResult resolveWritten(OpAsmParser &parser, OperationState &state, const Form &form,
                                  const Operands &operands, Written &written)
{
    // `X, Y` alone are operand types where they can be. Of one operand and one result both are possible.
    bool open = written.hasOperands && !written.hasResults && form.types == Types::FUNCTION;
    if (open && written.operands.size() == operands.size()) {
        if (resolve(parser, operands, state.operands)) return failure();
        open = ValueRange(state.operands).getTypes() != TypeRange(written.operands);
        if (!open) return success();
        state.operands.clear();
    }
    if (open) {
        written.results = std::exchange(written.operands, {});
        std::swap(written.hasOperands, written.hasResults);
    }
    if (!written.hasOperands) return resolve(parser, operands, state.operands);
    return parser.resolveOperands(operands, written.operands, written.location, state.operands);
}

static ParseResult readOperation(OpAsmParser &parser, OperationState &state)
{
    const Form &form = formOf(state.name);
    SmallVector<OpAsmParser::UnresolvedOperand> operands;
    Written written;
    if (parseLetter(parser, state) || parseAngle(parser, state) || parseOperands(parser, state, operands) ||
        parseAngle(parser, state) || parseCta(parser, state) ||
        parser.parseOptionalAttrDict(state.attributes) ||
        parseTypes(parser, form, operands.size(), written) ||
        parser.parseOptionalAttrDict(state.attributes) ||
        resolveWritten(parser, state, form, operands, written))
        return failure();
    addSegments(state);
    if (written.hasResults)
        state.addTypes(written.results);
    else if (inferTypes(parser, state, written.hasOperands ? Unresolved() : Unresolved(operands)))
        return failure();
    size_t named = parser.getNumResults();
    if (written.hasResults || written.hasOperands || !named) return success();
    if (named != state.types.size())
        return emitError(state.location) << "'" << state.name << "' op gives " << state.types.size()
                                         << (state.types.size() == 1 ? " result" : " results") << ", but "
                                         << named << (named == 1 ? " is named" : " are named");
    Guesses guesses(parser.getContext());
    for (size_t i = 0; i < named; i++) {
        auto [name, number] = parser.getResultName(i);
        guesses.of(name, number) = state.types[i];
    }
    return success();
}

std::optional<Dialect::ParseOpHook> cute::readerOf(MLIRContext *context, StringRef operation)
{
    if (!RegisteredOperationName::lookup(operation, context)) return std::nullopt;
    return readOperation;
}

// ---- printing ----

// True when there is a place for attributes between the name and the operands.
static bool printAttributes(Operation *op, OpAsmPrinter &p)
{
    SmallVector<NamedAttribute> all;
    bool place = false, positional = true;
    for (StringAttr name : op->getName().getAttributeNames()) {
        Attribute value = op->getAttr(name);
        if (placeOf(name) == Place::Letter) {
            auto letter = dyn_cast_or_null<IntegerAttr>(value);
            uint64_t i = letter ? letter.getValue().getLimitedValue(letters.size()) : letters.size();
            place = true;
            if (i < letters.size())
                p << ' ' << letters[i];
            else if (value)
                all.push_back({name, value}), positional = false;
        }
        if (placeOf(name) != Place::Angle) continue;
        place = true;
        if (value) all.push_back({name, value});
        positional = positional && (isa_and_nonnull<DenseI32ArrayAttr>(value) ||
                                    (isa_and_nonnull<IntegerAttr>(value) &&
                                     cast<IntegerAttr>(value).getType().isSignlessInteger(32)));
    }
    if (all.empty()) return place;
    p << '<';
    if (!positional) p << '{';
    llvm::interleaveComma(all, p, [&](NamedAttribute attribute) {
        Attribute value = attribute.getValue();
        if (!positional) p << attribute.getName().getValue();
        if (isa<UnitAttr>(value)) return;
        if (!positional) p << " = ";
        if (auto array = dyn_cast<DenseI32ArrayAttr>(value))
            array.print(p);
        else if (positional)
            p.printAttributeWithoutType(value);
        else
            p.printAttribute(value);
    });
    if (!positional) p << '}';
    p << '>';
    return true;
}

// A text among the operands: a format, or what stands in the quotes of a #cute.coord.
static void printText(Operation *op, Place place, bool &first, OpAsmPrinter &p)
{
    StringAttr name = nameAt(op->getName(), place);
    Attribute value = name ? op->getAttr(name) : Attribute();
    if (!value) return;
    if (!std::exchange(first, false)) p << ", ";
    if (auto text = dyn_cast<StringAttr>(value))
        p.printString(text.getValue());
    else if (auto coord = dyn_cast<CoordAttr>(value))
        p.printString(coord.getText());
    else
        p << value;
}

static void printOneType(OpAsmPrinter &p, Type type, int index)
{
    bool bare = index != CUTE_TYPE_INDEX_None &&
                cute_type_row_of(wrap(type)) == cute_type_row_at((cute_type_index)index);
    if (!bare)
        p << type;
    else if (failed(p.printAlias(type)))
        cute::printText(p, {cute_type_text(wrap(type)).data, cute_type_text(wrap(type)).length});
}

static void printTypes(Operation *op, const Form &form, OpAsmPrinter &p)
{
    p << " : ";
    if (form.types == Types::FUNCTION) p << '(';
    if (form.types != Types::RESULT)
        for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
            if (i) p << ", ";
            printOneType(p, type, form.operand(i));
        }
    if (form.types == Types::FUNCTION) p << ')';
    if (form.types == Types::OPERANDS || form.types == Types::LEADING) return;
    if (form.types != Types::RESULT) p << " -> ";
    if (op->getNumResults() == 1) return printOneType(p, op->getResult(0).getType(), form.result);
    p << '(' << op->getResultTypes() << ')';
}

void cute::printOperation(Operation *op, OpAsmPrinter &p)
{
    const Form &form = formOf(op->getName());
    if (printAttributes(op, p)) p << ' ';
    if (form.types != Types::RESULT) {
        bool first = true;
        p << '(';
        ::printText(op, Place::First, first, p);
        for (Value operand : op->getOperands()) {
            if (!std::exchange(first, false)) p << ", ";
            p << operand;
        }
        ::printText(op, Place::Last, first, p);
        p << ')';
    }
    if (StringAttr name = nameAt(op->getName(), Place::Cta))
        p << (op->hasAttr(name) ? " [cta_2]" : " [cta_1]");
    ArrayRef<NamedAttribute> others = op->getDiscardableAttrDictionary().getValue();
    if (form.types != Types::LEADING) p.printOptionalAttrDict(others);
    printTypes(op, form, p);
    if (form.types == Types::LEADING) p.printOptionalAttrDict(others);
}
