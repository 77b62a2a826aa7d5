// Parses operations of our dialects. Every operation accepts this form, in which everything but the name is
// optional:
//
//     cute.name A <attributes> ("text", %x, (4, %n)) <attributes> [cta_1] {attr-dict} : types {attr-dict}
//
// Types are absent, `(X, Y) -> (R, ...)`, `X, Y -> R` (or `to R`), `X, Y` (operands) or `R` (result).
// Parentheses around operands are optional. The printer writes one of these forms: forms.def, printer.cpp.
#include "lib/ir/dialects/cute_nvgpu.h"
#include "lib/ir/text/reading.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/Support.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace cute;

// ---- assembly formats ----

static constexpr struct {
    const char *name;
    Place place;
} places[] = {
    {"operand_id", Place::Letter}, {"fmt", Place::First},      {"proj", Place::Last},
    {"coord", Place::Last},        {"is_two_cta", Place::Cta}, {"operandSegmentSizes", Place::Segments},
    {"zero_fill", Place::Behind},
};

static llvm::StringMap<Form> readForms()
{
    llvm::StringMap<Form> forms;
#define CUTE_FORM(op, form, a, b, c, r)                                                                      \
    forms["cute." #op].types = Types::form;                                                                  \
    llvm::copy(std::initializer_list<int>{CUTE_TYPE_INDEX_##a, CUTE_TYPE_INDEX_##b, CUTE_TYPE_INDEX_##c},    \
               forms["cute." #op].bare);                                                                     \
    forms["cute." #op].result = CUTE_TYPE_INDEX_##r;
#define CUTE_MAKES(op, kind) forms["cute." #op].makes = CUTE_TYPE_INDEX_##kind;
#define CUTE_LITERALS(op, a, b, c, d)                                                                        \
    llvm::copy(std::initializer_list<int>{CUTE_TYPE_INDEX_##a, CUTE_TYPE_INDEX_##b, CUTE_TYPE_INDEX_##c,     \
                                          CUTE_TYPE_INDEX_##d},                                              \
               forms["cute." #op].literals);
#define CUTE_ARCH_LITERALS(op, a, b, c, d)                                                                   \
    llvm::copy(std::initializer_list<int>{CUTE_TYPE_INDEX_##a, CUTE_TYPE_INDEX_##b, CUTE_TYPE_INDEX_##c,     \
                                          CUTE_TYPE_INDEX_##d},                                              \
               forms["cute_nvgpu.arch." #op].literals);
#define CUTE_ATOM_LITERALS(op, a, b, c, d)                                                                   \
    llvm::copy(std::initializer_list<int>{CUTE_TYPE_INDEX_##a, CUTE_TYPE_INDEX_##b, CUTE_TYPE_INDEX_##c,     \
                                          CUTE_TYPE_INDEX_##d},                                              \
               forms["cute_nvgpu.atom." #op].literals);
#include "lib/ir/text/forms.def"
    return forms;
}

void cute::addSpellings(Dialect &dialect, const OpRows &rows, Spellings &spellings)
{
    static const llvm::StringMap<Form> forms = readForms();
    for (RegisteredOperationName name : dialect.getContext()->getRegisteredOperations()) {
        if (&name.getDialect() != &dialect) continue;
        auto spelling = std::make_shared<Spelling>();
        spelling->form = forms.lookup(name.getStringRef());
        for (StringAttr attribute : name.getAttributeNames()) {
            auto *place = llvm::find_if(places, [&](auto &p) { return attribute == p.name; });
            if (place == std::end(places))
                spelling->angle.push_back(attribute);
            else
                spelling->at[(size_t)place->place] = attribute;
        }
        spelling->row = rows.lookup(name.getAsOpaquePointer());
        const Sugar *sugar = sugarOf(name.getStringRef());
        spelling->sugared = sugar && sugar->operation == name.getStringRef();
        spellings[name.getAsOpaquePointer()] = spelling;
    }
}

static CuteDialect *dialectOf(OperationName name)
{
    auto *dialect = dyn_cast_or_null<CuteDialect>(name.getDialect());
    return dialect ? dialect : name.getContext()->getLoadedDialect<CuteDialect>();
}

const Spelling &cute::spellingOf(OperationName name)
{
    return *dialectOf(name)->spellings.find(name.getAsOpaquePointer())->second;
}

// ---- guessing the types of values from their names ----

Caught::Caught(MLIRContext *context)
    : note(UnknownLoc::get(context)), handler(context, [this, thread = llvm::get_threadid()](Diagnostic &d) {
          if (llvm::get_threadid() != thread) return failure();
          for (DiagnosticArgument &a : d.getArguments())
              if (a.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Type) type = a.getAsType();
          for (Diagnostic &n : d.getNotes()) note = n.getLocation();
          if (!wantsText) return success();
          if (!text.empty()) text += "; ";
          text += d.str();
          return success();
      })
{
}

namespace
{
// The types that names had at their last use or definition. A wrong guess, as for the same name in another
// function, only costs time.
struct Guesses {
    explicit Guesses(const OperationState &state) : dialect(dialectOf(state.name)), lock(dialect->guessing) {}
    Type &of(StringRef name, unsigned number)
    {
        if (!number) return dialect->guesses[name];
        return dialect->guesses[(name + "#" + Twine(number)).str()];
    }
    CuteDialect *dialect;
    std::lock_guard<std::mutex> lock;
};
} // namespace

// A placeholder of a value that is defined later and has no uses yet.
static bool isPlaceholder(Value value)
{
    Operation *op = value.getDefiningOp();
    return op && !op->getBlock() && op->use_empty() && isa<UnrealizedConversionCastOp>(op);
}

static ParseResult failUndefined(OpAsmParser &parser, const Operand &operand)
{
    return parser.emitError(operand.location)
           << "'" << operand.name << "' is not defined above: write the types of this operation explicitly";
}

// A type that no value has.
static Type noType(OpAsmParser &parser)
{
    return FunctionType::get(parser.getContext(), {}, {});
}

// MLIR's parser resolves a name only together with a type. Asked for a type that no value has, it reports the
// actual type in its error; an undefined value is returned as a placeholder.
FailureOr<Type> cute::typeOf(OpAsmParser &parser, const Operand &operand)
{
    SmallVector<Value, 1> value;
    Type none = noType(parser);
    {
        Caught caught(parser.getContext());
        caught.wantsText = false;
        if (failed(parser.resolveOperand(operand, none, value)) && caught.type && caught.type != none)
            return caught.type;
    }
    if (value.empty()) { // once more, to emit the error
        (void)parser.resolveOperand(operand, none, value);
        return failure();
    }
    if (isPlaceholder(value[0])) return failUndefined(parser, operand);
    return none;
}

// The location of the definition, from the note of the same error.
std::pair<unsigned, unsigned> cute::definitionOf(OpAsmParser &parser, const Operand &operand)
{
    Caught caught(parser.getContext());
    caught.wantsText = false;
    SmallVector<Value, 1> value;
    (void)parser.resolveOperand(operand, noType(parser), value);
    auto place = caught.note->findInstanceOf<FileLineColLoc>();
    return place ? std::pair(place.getLine(), place.getColumn()) : std::pair(0u, 0u);
}

ParseResult Reader::resolveAll(ArrayRef<Operand> names, SmallVectorImpl<Value> &values)
{
    if (names.empty()) return success();
    size_t first = values.size();
    SmallVector<Type, 4> guesses;
    {
        Guesses all(state);
        all.dialect->guesses_wanted = true;
        for (const Operand &name : names)
            guesses.push_back(name.name.empty() ? Type() : all.of(name.name, name.number));
    }
    {
        Caught caught(parser.getContext());
        caught.wantsText = false;
        for (auto [name, guess] : llvm::zip(names, guesses))
            if (!guess || failed(parser.resolveOperand(name, guess, values))) values.push_back({});
    }
    for (auto [i, name] : llvm::enumerate(names)) {
        Value &value = values[first + i];
        if (name.name.empty()) continue;
        if (value && isPlaceholder(value)) return failUndefined(parser, name);
        if (value) continue;
        FailureOr<Type> type = typeOf(parser, name);
        SmallVector<Value, 1> resolved;
        if (failed(type) || parser.resolveOperand(name, *type, resolved)) return failure();
        value = resolved[0];
        Guesses(state).of(name.name, name.number) = *type;
    }
    return success();
}

void Reader::remember()
{
    if (!dialectOf(state.name)->guesses_wanted) return;
    Guesses guesses(state);
    for (size_t i = 0, named = std::min(parser.getNumResults(), state.types.size()); i < named; i++) {
        auto [name, number] = parser.getResultName(i);
        guesses.of(name, number) = state.types[i];
    }
}

// ---- attributes ----

// An attribute value in angle brackets.
static Attribute readValue(OpAsmParser &parser, StringRef operation)
{
    Builder &builder = parser.getBuilder();
    char next = *parser.getCurrentLocation().getPointer();
    if (next == '[' && operation.contains("im2col")) return DenseI64ArrayAttr::parse(parser, {});
    if (next == '[') return DenseI32ArrayAttr::parse(parser, {});
    if (next == '<') { // `kind = <sm_90>`
        StringRef word;
        if (parser.parseLess() || parser.parseKeyword(&word) || parser.parseGreater()) return {};
        const char *mnemonic = operation.ends_with("reduce") ? "tma_reduce_kind" : "tiled_tma_load";
        return mlir::parseAttribute(("#cute_nvgpu." + Twine(mnemonic) + "<" + word + ">").str(),
                                    parser.getContext());
    }
    SMLoc location = parser.getCurrentLocation();
    const char *text = location.getPointer();
    if (!strncmp(text, "true", 4) || !strncmp(text, "false", 5)) { // MLIR would parse them as integers
        Attribute value;
        return failed(parser.parseAttribute(value)) ? Attribute() : value;
    }
    int64_t number;
    OptionalParseResult integer; // not `false`
    if (next == '-' || isdigit((unsigned char)next)) integer = parser.parseOptionalInteger(number);
    if (!integer.has_value()) {
        Attribute value;
        if (!strncmp(location.getPointer(), "array<", 6))
            return failed(parser.parseAttribute(value)) ? Attribute() : value;
        OptionalParseResult other = parser.parseOptionalAttribute(value);
        if (other.has_value()) return failed(*other) ? Attribute() : value;
        StringRef word;
        return failed(parser.parseKeyword(&word)) ? Attribute() : builder.getStringAttr(word);
    }
    Type type = builder.getI32Type();
    if (failed(*integer) || (succeeded(parser.parseOptionalColon()) && parser.parseType(type))) return {};
    auto whole = dyn_cast<IntegerType>(type);
    if (!whole || whole.getWidth() < 1 || !(llvm::isIntN(std::min(whole.getWidth(), 64u), number))) {
        parser.emitError(location, "expects a number that fits in ") << type;
        return {};
    }
    return builder.getIntegerAttr(type, number);
}

// `{name, name = value}`, after the brace.
ParseResult Reader::readNamed()
{
    while (failed(parser.parseOptionalRBrace())) {
        StringRef name;
        if (parser.parseKeyword(&name)) return failure();
        Attribute value = parser.getBuilder().getUnitAttr();
        if (succeeded(parser.parseOptionalEqual())) value = readValue(parser, state.name.getStringRef());
        if (!value) return failure();
        // For atoms a bare word is an enumerator of words.def: `field = tma_bar`.
        if (auto word = dyn_cast<StringAttr>(value); word && ofAtoms())
            if (Attribute one = cute_nvgpu::findWord(parser.getContext(), word)) value = one;
        state.attributes.set(name, value);
        (void)parser.parseOptionalComma(); // some printers omit it
    }
    return success();
}

// Operations whose attributes may be bare words.
bool Reader::ofAtoms() const
{
    return state.name.getStringRef().starts_with("cute_nvgpu.atom.");
}

// `{name = value}` after the operands.
ParseResult Reader::readAttributes()
{
    if (!ofAtoms()) return parser.parseOptionalAttrDict(state.attributes);
    return succeeded(parser.parseOptionalLBrace()) ? readNamed() : ParseResult(success());
}

ParseResult Reader::readAngle()
{
    if (failed(parser.parseOptionalLess())) return success();
    if (succeeded(parser.parseOptionalLBrace())) {
        if (readNamed()) return failure();
        return parser.parseGreater();
    }
    for (auto *name = spelling->angle.begin(); name != spelling->angle.end(); name++) {
        if (name != spelling->angle.begin() && failed(parser.parseOptionalComma())) break;
        Attribute value = readValue(parser, state.name.getStringRef());
        if (!value) return failure();
        // A type is what elements are converted to, whatever is omitted before it: `tile.load<[64, 32], f32>`.
        auto *to = isa<TypeAttr>(value) ? llvm::find(spelling->angle, "to") : spelling->angle.end();
        if (to > name && to != spelling->angle.end()) name = to;
        state.attributes.set(*name, value);
    }
    return parser.parseGreater();
}

// `A` before the operands.
ParseResult Reader::readLetter()
{
    StringAttr name = (*spelling)[Place::Letter];
    if (!name) return success();
    for (size_t i = 0; i < letters.size(); i++)
        if (succeeded(parser.parseOptionalKeyword(letters.substr(i, 1))))
            state.addAttribute(name, parser.getBuilder().getI32IntegerAttr(i));
    return success();
}

ParseResult Reader::readCta()
{
    StringAttr name = (*spelling)[Place::Cta];
    if (!name || failed(parser.parseOptionalLSquare())) return success();
    SMLoc location = parser.getCurrentLocation();
    StringRef which;
    if (parser.parseKeyword(&which) || parser.parseRSquare()) return failure();
    if (which == "cta_2") state.addAttribute(name, parser.getBuilder().getUnitAttr());
    if (which == "cta_1" || which == "cta_2") return success();
    return parser.emitError(location, "expects cta_1 or cta_2, got ") << which;
}

// ---- operands ----

static Attribute coordOf(OpAsmParser &parser, StringRef text, SMLoc location)
{
    Attribute coord;
    {
        Caught caught(parser.getContext());
        coord = mlir::parseAttribute(("#cute.coord<\"" + text + "\">").str(), parser.getContext());
    }
    if (!coord) parser.emitError(location, "expects a coordinate such as \"(1,_)\" in quotes");
    return coord;
}

// `%x : T`; without parentheses the colon may instead begin the types of all operands.
ParseResult Reader::readAnnotation(bool parens)
{
    SMLoc location = parser.getCurrentLocation();
    Type type;
    if (parser.parseType(type)) return failure();
    bool more = succeeded(parser.parseOptionalComma());
    bool others = operands.size() > 1 && literals.size() + 1 == operands.size(); // have one
    bool named = !operands.back().name.empty(); // not indexed: `%t[%i] : f32`
    if (named && (parens || others || (more && *parser.getCurrentLocation().getPointer() == '%'))) {
        SmallVector<Value, 1> value;
        if (parser.resolveOperand(operands.back(), type, value)) return failure();
        seen.push_back({operands.back(), value[0]});
        Literal given;
        given.kind = Literal::Given;
        given.location = operands.back().location;
        given.value = value[0];
        operands.back().name = {};
        literals.push_back({operands.size() - 1, given});
        return more ? readItem(parens) : success();
    }
    written.started = true;
    written.hasOperands = true;
    written.location = location;
    written.operands.push_back(type);
    return more ? readTypeList() : success();
}

// Whether the literal contains `_`.
static bool isOpen(const Literal &literal)
{
    return literal.kind == Literal::Open || llvm::any_of(literal.items, isOpen);
}

// An operand: a value, optionally followed by an index or slice coordinate, a string, or another literal.
ParseResult Reader::readItem(bool parens)
{
    SMLoc location = parser.getCurrentLocation();
    bool first = operands.empty();
    Literal literal;
    Operand operand;
    operand.location = location;
    OptionalParseResult one = parser.parseOptionalOperand(operand);
    if (one.has_value()) {
        if (failed(*one)) return failure();
        operands.push_back(operand);
        literal.location = parser.getCurrentLocation();
        if (succeeded(parser.parseOptionalLSquare())) { // %t[%i, %j]
            if (readTuple(literal, AsmParser::Delimiter::Square)) return failure();
            if (isOpen(literal)) { // %t[_, %j]
                Literal part, whole;
                part.kind = Literal::Part;
                part.location = location;
                whole.location = location;
                if (give(whole, operands.back())) return failure();
                part.items.push_back(std::move(whole));
                part.items.push_back(std::move(literal));
                operands.back().name = {};
                literals.push_back({operands.size() - 1, std::move(part)});
            } else {
                operands.push_back(Operand{location, {}, 0});
                literals.push_back({operands.size() - 1, std::move(literal)});
            }
        }
        return succeeded(parser.parseOptionalColon()) ? readAnnotation(parens) : success();
    }
    one = readOptionalLiteral(literal);
    if (!one.has_value()) return parser.emitError(location, "expected SSA operand");
    if (failed(*one)) return failure();
    if (literal.kind == Literal::Text) {
        StringAttr name = (*spelling)[first ? Place::First : Place::Last];
        bool value = !name || state.attributes.get(name) ||
                     (!first && StringRef(literal.text).find_first_of(":[<") != StringRef::npos);
        if (!value) {
            Attribute text = first ? parser.getBuilder().getStringAttr(literal.text)
                                   : coordOf(parser, literal.text, location);
            if (text) state.addAttribute(name, text);
            return success(bool(text));
        }
    }
    operands.push_back(Operand{location, {}, 0});
    literals.push_back({operands.size() - 1, std::move(literal)});
    return success();
}

ParseResult Reader::readList(bool parens)
{
    do {
        if (parens && succeeded(parser.parseOptionalRParen())) return success(); // `("text", )`
        if (readItem(parens)) return failure();
    } while (!written.started && succeeded(parser.parseOptionalComma()));
    return parens ? parser.parseRParen() : success();
}

// `f16, ...`: a type operand without parentheses; no other syntax after a name begins with a type.
static bool isTypeOperand(const char *at)
{
    while (isalnum((unsigned char)*at)) at++;
    return *at == ',';
}

// `(%x, %y)`, including strings and literals; `%x, 4` without parentheses on the line of the name; or
// nothing.
ParseResult Reader::readOperands()
{
    if (failed(parser.parseOptionalLParen())) {
        const char *next = parser.getCurrentLocation().getPointer(), *before = next - 1;
        while (*before == ' ' || *before == '\t' || *before == '\r') before--;
        bool operand = *before != '\n' && *next &&
                       (strchr("%\"-!", *next) || isdigit((unsigned char)*next) ||
                        (isalpha((unsigned char)*next) && isTypeOperand(next)));
        return operand ? readList(false) : success();
    }
    if (readList(true)) return failure();
    if (failed(parser.parseOptionalComma())) return success();
    return success(succeeded(regroup()) && succeeded(readList(false))); // `(4, 8), (1, 4)`
}

// ---- types ----

// A type; with `bare`, optionally without dialect and mnemonic.
ParseResult Reader::readOneType(int bare, SmallVectorImpl<Type> &types)
{
    if (bare == CUTE_TYPE_INDEX_None || *parser.getCurrentLocation().getPointer() != '<')
        return parser.parseType(types.emplace_back());
    FailureOr<std::string> text = parseTypeText(parser, (cute_type_index)bare);
    if (failed(text)) return failure();
    types.push_back(unwrap(
        cute_type_get(wrap(parser.getContext()), (cute_type_index)bare, {text->data(), text->size()})));
    return success();
}

ParseResult Reader::readResultTypes()
{
    written.hasResults = true;
    if (failed(parser.parseOptionalLParen())) return readOneType(spelling->form.result, written.results);
    if (succeeded(parser.parseOptionalRParen())) return success();
    do {
        if (readOneType(spelling->form.result, written.results)) return failure();
    } while (succeeded(parser.parseOptionalComma()));
    return parser.parseRParen();
}

bool Reader::readArrow()
{
    return succeeded(parser.parseOptionalArrow()) || succeeded(parser.parseOptionalKeyword("to"));
}

ParseResult Reader::readTypeList()
{
    do {
        if (readOneType(spelling->bare(written.operands.size()), written.operands)) return failure();
    } while (succeeded(parser.parseOptionalComma()));
    return success();
}

ParseResult Reader::readTypes()
{
    if (!written.started) {
        if (failed(parser.parseOptionalColon())) return success();
        written.location = parser.getCurrentLocation();
        written.hasOperands = true;
        if (succeeded(parser.parseOptionalLParen())) {
            if (failed(parser.parseOptionalRParen()) && (readTypeList() || parser.parseRParen()))
                return failure();
            return readArrow() ? readResultTypes() : success();
        }
        if (operands.empty() && spelling->form.types != Types::RESULT) { // `cute.print("text", ) :`
            Type first;
            OptionalParseResult any = parser.parseOptionalType(first);
            if (!any.has_value()) return success();
            if (failed(*any)) return failure();
            written.operands.push_back(first);
            if (succeeded(parser.parseOptionalComma()) && readTypeList()) return failure();
        } else if (readTypeList())
            return failure();
    }
    if (readArrow()) return readResultTypes();
    if (spelling->form.types != Types::RESULT) return success();
    written.results = std::exchange(written.operands, {});
    std::swap(written.hasOperands, written.hasResults);
    return success();
}

// ---- inference ----

// Adds notes with the operand types, which the text omits.
ParseResult Reader::failWithTypes(const Twine &message)
{
    InFlightDiagnostic error = emitError(state.location) << message;
    for (auto [operand, value] : llvm::zip(operands, state.operands)) {
        if (written.hasOperands || operand.name.empty()) continue;
        auto &note = error.attachNote(value.getLoc()) << operand.name;
        if (operand.number) note << "#" << operand.number;
        note << " is a " << value.getType();
    }
    return error;
}

// The minimum and maximum number of operands by the definition.
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

ParseResult Reader::checkOperandCount()
{
    auto [least, most] = operandCount(state.name);
    size_t count = state.operands.size();
    if (count >= least && count <= most) return success();
    return failWithTypes("'" + state.name.getStringRef() + "' op expects " +
                         (least == most ? "" : "at least ") + Twine(least) +
                         (least == 1 ? " operand" : " operands") + ", but got " + Twine(count));
}

ParseResult Reader::infer()
{
    auto *rule = state.name.getInterface<InferTypeOpInterface>();
    if (!rule && state.name.hasTrait<OpTrait::ZeroResults>()) return success();
    if (!rule && !(spelling->row && spelling->row->infer))
        return failWithTypes("'" + state.name.getStringRef() +
                             "' op expects explicit result types: they cannot be inferred");
    if (checkOperandCount()) return failure();
    MLIRContext *context = parser.getContext();
    std::string text;
    {
        Caught caught(context);
        DictionaryAttr attributes = state.attributes.getDictionary(context);
        // Only CuTe DSL's printer writes operand types and omits inferred result types.
        bool dsl = written.hasOperands && !written.hasResults &&
                   (spelling->form.types == Types::FUNCTION || spelling->form.types == Types::ARROW);
        bool own = spelling->row && spelling->row->infer;
        if (succeeded(own ? inferVia(spelling->row, context, state.location, state.operands, attributes,
                                     state.types, dsl, true)
                          : rule->inferReturnTypes(context, state.location, state.operands, attributes,
                                                   nullptr, {}, state.types)))
            return success();
        text = caught.text;
    }
    bool bare = !spelling->angle.empty() && state.attributes.empty();
    if (bare && StringRef(text).contains("attribute"))
        text += ": attributes follow the name in angle brackets";
    if (text.empty()) text = ("'" + state.name.getStringRef() + "' op does not accept these operands").str();
    return failWithTypes(text);
}

// With explicit operand types MLIR checks this itself.
ParseResult Reader::checkResultCount()
{
    size_t named = parser.getNumResults(), count = state.types.size();
    if (!named || named == count || written.hasOperands) return success();
    if (!count && !state.name.hasTrait<OpTrait::ZeroResults>())
        return failWithTypes(
            "'" + state.name.getStringRef() +
            "' op expects an explicit result type: it cannot be inferred from these operands");
    return failWithTypes("'" + state.name.getStringRef() + "' op gives " + Twine(count) +
                         (count == 1 ? " result" : " results") + ", but " + Twine(named) +
                         (named == 1 ? " is named" : " are named"));
}

// ---- reading ----

// Operand segment sizes: one operand per segment while there are any; the last segment takes the rest.
void Reader::addSegments()
{
    StringAttr name = (*spelling)[Place::Segments];
    if (!name || state.attributes.get(name)) return;
    // Only the operation knows the number of segments.
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

// Types after the colon without an arrow are those of the operands if they match, otherwise of the result.
ParseResult Reader::sortTypes(ArrayRef<Value> values)
{
    SmallVector<Type, 4> &types = written.operands;
    bool resultless = state.name.hasTrait<OpTrait::ZeroResults>();
    // Without results they may be those of the last operands, in order or in the order of a store.
    size_t some = resultless ? std::min(types.size(), values.size()) : values.size();
    auto match = [&](size_t from) {
        bool same = some == types.size();
        for (size_t i = 0; same && i < some; i++) {
            Value value = values[from + i];
            for (auto &[at, literal] : literals)
                if (at == from + i) value = literal.value;
            // The type of a literal belongs to the dialect.
            same = value ? value.getType() == types[i] : isa<CuteDialect>(types[i].getDialect());
        }
        return same;
    };
    bool same = match(values.size() - some) || (sugar && match(0));
    // If results cannot be inferred, the same number of types are result types.
    bool follow = state.name.getInterface<InferTypeOpInterface>() || (spelling->row && spelling->row->infer);
    if (!follow && !resultless && types.size() == parser.getNumResults()) same = false;
    if (same || types.empty()) return success();
    if (resultless && literals.empty() &&
        parser.resolveOperands(operands, types, written.location, state.operands))
        return failure();
    if (resultless)
        return emitError(state.location)
               << "'" << state.name << "' op has operands whose types differ from the written types";
    written.results = std::exchange(types, {});
    std::swap(written.hasOperands, written.hasResults);
    return success();
}

ParseResult Reader::resolve()
{
    Types form = spelling->form.types;
    bool open =
        written.hasOperands && !written.hasResults && (form == Types::FUNCTION || form == Types::ARROW);
    if (written.hasOperands && !open && literals.empty() && !sugar)
        return parser.resolveOperands(operands, written.operands, written.location, state.operands);
    SmallVector<Value, 4> values;
    if (resolveAll(operands, values)) return failure();
    if (open && sortTypes(values)) return failure();
    if (!sugar && spelling->sugared && !written.hasOperands) sugar = sugarOf(spelled);
    bool special = !literals.empty() || (sugar && sugar->rewrite) ||
                   spelling->form.makes != CUTE_TYPE_INDEX_None || spelling->form.types == Types::RESULT;
    if (!special && !converts(values)) {
        state.addOperands(values);
        return success();
    }
    for (auto [name, value] : llvm::zip(operands, values))
        if (value) seen.push_back({name, value});
    std::vector<Literal> items = itemsOf(values);
    if (sugar && sugar->rewrite && (this->*sugar->rewrite)(items)) return failure();
    return finished ? ParseResult(success()) : makeOperands(items);
}

// Sets properties from attributes: MLIR then rejects attributes of the wrong kind, which it would otherwise
// drop.
void Reader::setProperties()
{
    if (state.attributes.empty()) return;
    NamedAttrList properties;
    for (StringAttr name : state.name.getAttributeNames())
        if (Attribute value = state.attributes.erase(name)) properties.append(name, value);
    if (!properties.empty()) state.propertiesAttr = properties.getDictionary(state.getContext());
}

ParseResult Reader::read()
{
    spelled = shown = state.name.getStringRef();
    if (!state.name.isRegistered()) {
        sugar = sugarOf(spelled);
        if (sugar) state.getContext()->getOrLoadDialect(StringRef(sugar->operation).split('.').first);
        if (!sugar || !RegisteredOperationName::lookup(sugar->operation, state.getContext()))
            return parser.emitError(parser.getNameLoc(), "is unknown");
        shown = sugar->written;
        state.name = OperationName(sugar->operation, state.getContext());
        if (!sugar->rewrite) sugar = nullptr;
    }
    spelling = &spellingOf(state.name);
    if (readLetter() || readAngle() || readOperands() || readAngle() || readCta() || readAttributes() ||
        readTypes() ||
        (spelling->form.types == Types::LEADING && parser.parseOptionalAttrDict(state.attributes)) ||
        resolve())
        return failure();
    if (finished) {
        remember();
        return checkResultCount();
    }
    addSegments();
    if (written.results.size() == 1 && parser.getNumResults() > 1) // `X, Y -> R` of results of one type
        written.results.append(parser.getNumResults() - 1, Type(written.results[0]));
    if (state.types.empty() && written.hasResults)
        state.addTypes(written.results);
    else if ((state.types.empty() && infer()) || checkResultCount())
        return failure();
    if (settle()) return failure();
    setProperties();
    remember();
    return success();
}

ParseResult cute::readOperation(OpAsmParser &parser, OperationState &state)
{
    return Reader(parser, state).read();
}
