// Literal operands, `4` or `(4, (%n, _))`, and the arguments of make_shape and similar operations. The
// operations that make them are inserted after the last definition of a value that the operation uses.
#include "lib/ir/mlir/llvm_compat.h"
#include "lib/ir/text/reading.h"

#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace cute;

static constexpr const char *leaves =
    "an integer of 32 or 64 bits, or a tuple of the dialect cute, as part of a tuple";

Reader::~Reader()
{
    for (Operation *op : llvm::reverse(detached)) op->destroy();
    cute_arena_destroy(arena);
}

// ---- reading ----

// Digits, a point and digits: which operations of tile programs take.
static bool isReal(const char *text)
{
    if (*text == '-') text++;
    if (!isdigit((unsigned char)*text)) return false;
    while (isdigit((unsigned char)*text)) text++;
    return *text == '.' && isdigit((unsigned char)text[1]);
}

OptionalParseResult Reader::readOptionalLiteral(Literal &literal)
{
    literal.location = parser.getCurrentLocation();
    literal.kind = Literal::Real;
    if (isReal(literal.location.getPointer())) return parser.parseFloat(literal.real);
    literal.kind = Literal::Number;
    OptionalParseResult number = parser.parseOptionalInteger(literal.number);
    if (number.has_value()) return number;
    literal.kind = Literal::Text;
    if (succeeded(parser.parseOptionalString(&literal.text))) return success();
    literal.kind = Literal::Open;
    if (succeeded(parser.parseOptionalKeyword("_"))) return success();
    if (succeeded(parser.parseOptionalLParen())) return readTuple(literal, AsmParser::Delimiter::Paren);
    literal.kind = Literal::Constant;
    if (*parser.getCurrentLocation().getPointer() == '!') return parser.parseType(literal.type);
    return parser.parseOptionalType(literal.type); // of another dialect: f16
}

ParseResult Reader::readLiteral(Literal &literal)
{
    Operand operand;
    OptionalParseResult one = parser.parseOptionalOperand(operand);
    if (!one.has_value()) {
        one = readOptionalLiteral(literal);
        if (one.has_value()) return *one;
        return parser.emitError(parser.getCurrentLocation(),
                                "expects a value, a number, `_` or a tuple of these");
    }
    if (failed(*one)) return failure();
    literal.location = operand.location;
    return give(literal, operand);
}

// Resolves a named value.
ParseResult Reader::give(Literal &literal, const Operand &operand)
{
    SmallVector<Value, 1> value;
    if (resolveAll(operand, value)) return failure();
    seen.push_back({operand, value[0]});
    literal.kind = Literal::Given;
    literal.value = value[0];
    return success();
}

// Parses a tuple after its opening bracket. A single item in square brackets, or a single type, is not a
// tuple.
ParseResult Reader::readTuple(Literal &literal, AsmParser::Delimiter close)
{
    if (nesting >= CUTE_MAX_DEPTH)
        return parser.emitError(literal.location, "expects at most ")
               << CUTE_MAX_DEPTH << " levels of parentheses";
    nesting++;
    bool square = close == AsmParser::Delimiter::Square;
    literal.kind = Literal::Tuple;
    do {
        if (readLiteral(literal.items.emplace_back())) return failure();
    } while (succeeded(parser.parseOptionalComma()));
    nesting--;
    if (literal.items.size() == 1 && (square || literal.items[0].kind == Literal::Constant)) {
        Literal only = std::move(literal.items[0]);
        literal = std::move(only);
    }
    return square ? parser.parseRSquare() : parser.parseRParen();
}

// Turns a parsed operand list `(4, %n)` into a first operand that is a tuple.
ParseResult Reader::regroup()
{
    Literal tuple;
    tuple.kind = Literal::Tuple;
    size_t next = 0;
    for (auto [i, operand] : llvm::enumerate(operands)) {
        if (!i) tuple.location = operand.location;
        Literal &item = tuple.items.emplace_back();
        if (next < literals.size() && literals[next].first == i)
            item = std::move(literals[next++].second);
        else if (item.location = operand.location, give(item, operand))
            return failure();
    }
    if (tuple.items.size() == 1 && tuple.items[0].kind == Literal::Constant) { // `(!cute.shape<"4">)`
        Literal only = std::move(tuple.items[0]);
        tuple = std::move(only);
    }
    operands.assign(1, Operand{tuple.location, {}, 0});
    literals.clear();
    literals.push_back({0, std::move(tuple)});
    return success();
}

// ---- insertion points ----

// After the last definition in the text. All definitions are visible here, so every region that contains one
// is still open. Regions and blocks cannot be compared, as they are not attached to operations before these
// are complete.
void Reader::setAnchor()
{
    std::pair<unsigned, unsigned> last;
    for (auto &[name, value] : seen) {
        Operation *op = value.getDefiningOp();
        Block *block = op ? op->getBlock() : cast<BlockArgument>(value).getOwner();
        if (!block) continue;
        auto place = seen.size() > 1 ? definitionOf(parser, name) : last;
        if (anchor.block && place <= last) continue;
        last = place;
        anchor.block = block;
        anchor.point = op ? std::next(op->getIterator()) : block->begin();
    }
    seen.clear();
}

Operation *Reader::insert(StringRef name, ValueRange operands, Type stated,
                          ArrayRef<NamedAttribute> attributes)
{
    OperationState made(state.location, name);
    made.addOperands(operands);
    made.addAttributes(attributes);
    auto *rule = made.name.getInterface<InferTypeOpInterface>();
    if (stated)
        made.addTypes(stated);
    else if (!rule || failed(rule->inferReturnTypes(state.getContext(), made.location, made.operands,
                                                    made.attributes.getDictionary(state.getContext()),
                                                    nullptr, {}, made.types)))
        return nullptr;
    return place(Operation::create(made));
}

Operation *Reader::place(Operation *op)
{
    if (!seen.empty()) setAnchor();
    if (anchor.block)
        anchor.block->getOperations().insert(anchor.point, op);
    else
        detached.push_back(op);
    return op;
}

// Without an insertion point all operands are constants, so the result must be a constant too.
ParseResult Reader::settle()
{
    if (detached.empty()) return success();
    if (state.types.size() != 1 || !cute_type_is_static(wrap(state.types[0])))
        return emitError(state.location) << "'" << state.name
                                         << "' op expects at least one operand that is not a literal: write "
                                            "the constant as a cute.static before it";
    becomeStatic();
    return success();
}

void Reader::becomeStatic()
{
    state.name = OperationName("cute.static", state.getContext());
    state.operands.clear();
    state.attributes.clear();
}

// ---- values of lib/layout with SSA values as handles ----

static cute_tree *leaf(cute_arena *arena, cute_tree_kind kind)
{
    auto *tree = static_cast<cute_tree *>(cute_arena_array(arena, 1, sizeof(cute_tree)));
    if (!tree) return nullptr;
    *tree = {};
    tree->kind = kind;
    tree->leaves = 1;
    return tree;
}

// The first `count` items of a tile go from `n` to `n:1`.
static const cute_tree *slotOf(cute_arena *arena, const cute_tree *extent)
{
    cute_tree *slot = leaf(arena, CUTE_TREE_LAYOUT);
    if (!slot || !extent) return nullptr;
    slot->layout = {extent, cute_tree_number(arena, 1)};
    return slot;
}

// A dynamic leaf whose handle is an integer or a scalar int_tuple.
const cute_tree *Reader::unknownOf(Value value, const cute_int &leaf)
{
    cute_int bound = leaf;
    if (!isa<IntTupleType>(value.getType()) && cute_type_peek(wrap(value.getType()))->type != CUTE_INTEGER) {
        Operation *number = insert("cute.to_int_tuple", value);
        if (!number) return nullptr;
        value = number->getResult(0);
    }
    bound.handle = const_cast<void *>(value.getAsOpaquePointer());
    return cute_tree_scalar(arena, bound);
}

// Binds the leaves of `tree` to the results of get_leaves, starting at `next`.
const cute_tree *Reader::bindLeaves(const cute_tree *tree, ResultRange parts, size_t &next)
{
    if (tree->kind != CUTE_TREE_TUPLE) {
        Value part = parts[next++];
        return tree->value.known || tree->kind != CUTE_TREE_INT ? tree : unknownOf(part, tree->value);
    }
    SmallVector<const cute_tree *> items;
    for (uint32_t i = 0; i < tree->count; i++) {
        items.push_back(bindLeaves(tree->items[i], parts, next));
        if (!items.back()) return nullptr;
    }
    return cute_tree_tuple(arena, items.data(), items.size());
}

const cute_tree *Reader::treeOfValue(Value value, SMLoc location, cute_type kind)
{
    auto fail = [&](const Twine &more = "") -> const cute_tree * {
        parser.emitError(location, "expects ") << leaves << ", got " << value.getType() << more;
        return nullptr;
    };
    Type type = value.getType();
    if (isa<IndexType>(type)) return fail(": convert it to i32 or i64 with arith.index_cast");
    if (type.isSignlessInteger(32) || type.isSignlessInteger(64))
        return cute_tree_unknown(arena, (int)type.getIntOrFloatBitWidth(),
                                 const_cast<void *>(value.getAsOpaquePointer()));
    const cute_value *known = cute_type_peek(wrap(type));
    if (known && kind == CUTE_TILE && known->type == CUTE_LAYOUT && cute_value_is_static(known)) {
        cute_tree *slot = leaf(arena, CUTE_TREE_LAYOUT);
        if (slot) slot->layout = known->layout;
        return slot;
    }
    bool tuple =
        known && (known->type == CUTE_INT_TUPLE || known->type == CUTE_SHAPE || known->type == CUTE_STRIDE ||
                  known->type == CUTE_COORD || known->type == CUTE_INTEGER);
    if (!tuple) return fail();
    if (cute_value_is_static(known)) return known->tree;
    if (known->tree->kind == CUTE_TREE_INT) return unknownOf(value, known->tree->value);
    if (known->tree->kind != CUTE_TREE_TUPLE) return fail(": not a number");
    Operation *parts = insert("cute.get_leaves", value);
    size_t next = 0;
    return parts ? bindLeaves(known->tree, parts->getResults(), next) : nullptr;
}

// Null after an error.
const cute_tree *Reader::treeOf(const Literal &literal, cute_type kind)
{
    bool tile = kind == CUTE_TILE;
    const cute_tree *tree = nullptr;
    switch (literal.kind) {
    case Literal::Open:
        if (tile || kind == CUTE_COORD) return leaf(arena, CUTE_TREE_UNDERSCORE);
        parser.emitError(literal.location, "expects a number: only coordinates and tiles can contain `_`");
        return nullptr;
    case Literal::Number: tree = cute_tree_number(arena, literal.number); break;
    case Literal::Given: tree = treeOfValue(literal.value, literal.location, kind); break;
    case Literal::Constant:
    case Literal::Text: {
        cute_value value;
        if (valueOf(literal, CUTE_TYPE_INDEX_None, value)) return nullptr;
        if (value.type == CUTE_LAYOUT && tile) {
            cute_tree *slot = leaf(arena, CUTE_TREE_LAYOUT);
            if (slot) slot->layout = value.layout;
            return slot;
        }
        if (value.tree) return value.tree;
        parser.emitError(literal.location, "expects ") << leaves;
        return nullptr;
    }
    case Literal::Part:
        parser.emitError(literal.location, "expects ") << leaves << ", got a slice";
        return nullptr;
    case Literal::Real:
        parser.emitError(literal.location, "expects ") << leaves << ", got a real number";
        return nullptr;
    case Literal::Tuple: {
        SmallVector<const cute_tree *> items;
        for (const Literal &item : literal.items) {
            items.push_back(treeOf(item, kind));
            if (!items.back()) return nullptr;
        }
        tree = cute_tree_tuple(arena, items.data(), items.size());
        if (!tree)
            parser.emitError(literal.location, "expects a tuple of at most ") << CUTE_MAX_DEPTH << " levels";
        return tree;
    }
    }
    return tree && tile && tree->kind == CUTE_TREE_INT ? slotOf(arena, tree) : tree;
}

// Converts a literal to a value of the kind `index`.
ParseResult Reader::valueOf(const Literal &literal, int index, cute_value &out)
{
    if (!arena) arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    auto release = atExit([&] { cute_diag_destroy(diag); });
    auto fail = [&](size_t offset) {
        SMLoc place = SMLoc::getFromPointer(literal.location.getPointer() + offset);
        return parser.emitError(place)
               << (cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "not a value");
    };
    if (literal.kind == Literal::Text) {
        size_t offset = 0;
        StringRef text = literal.text;
        if (cute_value_parse_any(arena, text.data(), text.size(), &out, &offset, diag))
            return fail(1 + offset);
        bool open = out.type == CUTE_INT_TUPLE || out.type == CUTE_COORD || out.type == CUTE_STRIDE;
        cute_type kind = index >= 0 ? (cute_type)cute_type_row_at((cute_type_index)index)->kind : out.type;
        if (open && index == CUTE_TYPE_INDEX_Tiler) kind = CUTE_SHAPE;
        if (open && kind != out.type &&
            cute_value_parse(arena, kind, text.data(), text.size(), &out, &offset, diag))
            return fail(1 + offset);
        if (cute_value_is_static(&out)) return success();
        return parser.emitError(literal.location, "expects a text without `?`: dynamic leaves need values");
    }
    if (literal.kind == Literal::Constant) {
        const cute_value *constant = cute_type_peek(wrap(literal.type));
        if (!constant)
            return parser.emitError(literal.location, "expects a type of the dialect cute as a constant");
        out = *constant;
        if (cute_value_is_static(constant)) return success();
        return parser.emitError(literal.location, "expects a value: the dynamic leaves of ")
               << literal.type << " have none";
    }
    if (index == CUTE_TYPE_INDEX_Tiler)
        index = literal.kind == Literal::Tuple ? CUTE_TYPE_INDEX_Tile : CUTE_TYPE_INDEX_Shape;
    auto kind = (cute_type)cute_type_row_at((cute_type_index)index)->kind;
    if (kind > CUTE_INT_TUPLE && kind != CUTE_TILE)
        return parser.emitError(literal.location, "expects a ")
               << cute_type_name(kind) << ", like the other operand, but got a tuple or number";
    const cute_tree *tree = treeOf(literal, kind);
    if (!tree) return failure();
    out = cute_value_of_tree(kind, tree);
    cute_value again;
    const char *text = cute_value_text(arena, &out);
    return text && !cute_value_parse(arena, kind, text, strlen(text), &again, nullptr, diag)
               ? ParseResult(success())
               : fail(0);
}

// ---- operands ----

Type Reader::typeOfValue(const cute_value &value)
{
    return unwrap(cute_type_of_value(wrap(state.getContext()), arena, &value));
}

// The handles of the dynamic leaves of a value.
static SmallVector<Value> handlesOf(const cute_value &value)
{
    SmallVector<cute_int> unknown(cute_value_unknowns(&value, nullptr, 0));
    cute_value_unknowns(&value, unknown.data(), unknown.size());
    SmallVector<Value> handles;
    for (const cute_int &one : unknown) handles.push_back(Value::getFromOpaquePointer(one.handle));
    return handles;
}

// The operation that makes it.
FailureOr<Value> Reader::build(const Literal &literal, int index)
{
    cute_value value;
    if (literal.kind == Literal::Part) {
        FailureOr<Value> coord = build(literal.items[1], CUTE_TYPE_INDEX_Coord);
        Operation *slice =
            succeeded(coord) ? insert("cute.slice", {literal.items[0].value, *coord}, {}) : nullptr;
        if (!slice) return failure();
        return slice->getResult(0);
    }
    if (valueOf(literal, index, value)) return failure();
    std::string name = "cute.static";
    if (!cute_value_is_static(&value)) name = std::string("cute.make_") + cute_type_name(value.type);
    return insert(name, handlesOf(value), typeOfValue(value))->getResult(0);
}

// Conversion of an integer to the expected kind, or of an int_tuple to another kind of tuple: the type that
// `index` converts a value of this type to, if any.
static const char *conversion(Type type, int index)
{
    if (index == CUTE_TYPE_INDEX_None || !isa<IntTupleType>(type)) return nullptr;
    return index == CUTE_TYPE_INDEX_Shape    ? "cute.to_shape"
           : index == CUTE_TYPE_INDEX_Stride ? "cute.to_stride"
           : index == CUTE_TYPE_INDEX_Coord  ? "cute.to_coord"
                                             : nullptr;
}

// Whether the type is an integer, possibly with a divisor.
static bool isNumber(Type type)
{
    return isa<IntegerType, IndexType>(type) || isKind(type, CUTE_INTEGER);
}

// Whether some values need conversion.
bool Reader::converts(ArrayRef<Value> values)
{
    for (auto [i, value] : llvm::enumerate(values)) {
        int index = spelling->literal(i);
        if (index == CUTE_TYPE_INDEX_None || index == CUTE_TYPE_INDEX_Word) continue;
        if (isNumber(value.getType()) || conversion(value.getType(), index)) return true;
    }
    return false;
}

FailureOr<Value> Reader::convert(Value value, int index, SMLoc location)
{
    if (index != CUTE_TYPE_INDEX_None && isNumber(value.getType())) {
        Literal number;
        number.kind = Literal::Given;
        number.location = location;
        number.value = value;
        return build(number, index);
    }
    const char *name = conversion(value.getType(), index);
    if (!name) return value;
    Operation *op = insert(name, value);
    if (!op) return failure();
    return op->getResult(0);
}

// Converts a literal or value to an operand of the kind `index`.
FailureOr<Value> Reader::wordOf(const Literal &item)
{
    if (item.kind == Literal::Given) return item.value;
    if (item.kind != Literal::Number || !(llvm::isInt<32>(item.number) || llvm::isUInt<32>(item.number)))
        return parser.emitError(item.location, "expects a number that fits in 'i32'");
    OpBuilder builder(state.getContext());
    auto number = builder.getI32IntegerAttr((int32_t)(uint32_t)item.number);
    return place(create<arith::ConstantOp>(builder, state.location, number))->getResult(0);
}

FailureOr<Value> Reader::operandOf(const Literal &item, int index)
{
    if (index == CUTE_TYPE_INDEX_Word) return wordOf(item);
    return item.kind == Literal::Given ? convert(item.value, index, item.location) : build(item, index);
}

// The kind of the first operand that has one, for literals of kind Same.
static int sameAs(ArrayRef<Literal> items)
{
    for (const Literal &item : items) {
        const TypeText *text = item.kind == Literal::Given ? textOf(item.value.getType()) : nullptr;
        if (text && !isKind(item.value.getType(), CUTE_INTEGER)) return text->index;
    }
    return CUTE_TYPE_INDEX_IntTuple;
}

// Combines `values` with the literals, which replace null values.
std::vector<Literal> Reader::itemsOf(ArrayRef<Value> values)
{
    std::vector<Literal> items;
    size_t next = 0;
    for (auto [i, value] : llvm::enumerate(values)) {
        if (!value) {
            items.push_back(std::move(literals[next++].second));
            continue;
        }
        Literal &item = items.emplace_back();
        item.kind = Literal::Given;
        item.location = operands[i].location;
        item.value = value;
    }
    return items;
}

ParseResult Reader::makeOperands(std::vector<Literal> &items)
{
    if (!state.types.empty() && items.empty()) return becomeStatic(), success();
    if (spelling->form.types == Types::RESULT) return readStatic(items);
    bool literal = llvm::any_of(items, [](const Literal &item) { return item.kind != Literal::Given; });
    if (spelling->form.makes != CUTE_TYPE_INDEX_None && (!written.hasResults || literal))
        return construct(items);
    for (auto [i, item] : llvm::enumerate(items)) {
        int index = spelling->literal(i);
        if (index == CUTE_TYPE_INDEX_Same) index = sameAs(items);
        if (index == CUTE_TYPE_INDEX_None && item.kind != Literal::Given && item.kind != Literal::Text &&
            item.kind != Literal::Constant && item.kind != Literal::Part)
            return parser.emitError(item.location, "expects an SSA value as operand #") << i;
        FailureOr<Value> made = operandOf(item, index);
        if (failed(made)) return failure();
        state.operands.push_back(*made);
    }
    TypeRange types = ValueRange(state.operands).getTypes();
    if (state.name.hasTrait<OpTrait::ZeroResults>() && written.operands.size() < types.size())
        types = types.take_back(written.operands.size()); // the others are inferred
    if (!written.hasOperands || TypeRange(written.operands) == types) return success();
    return emitError(state.location) << "'" << state.name << "' op has operands of types "
                                     << ValueRange(state.operands).getTypes() << ", but " << written.operands
                                     << " are written";
}

// make_shape and similar: a single argument is the tuple, several are its items; all arguments of make_tile
// are slots.
ParseResult Reader::construct(std::vector<Literal> &items)
{
    bool tile = spelling->form.makes == CUTE_TYPE_INDEX_Tile;
    if (items.empty())
        return emitError(state.location) << "'" << state.name << "' op expects operands, or its type";
    bool whole =
        items.size() == 1 && (!tile || items[0].kind == Literal::Text || items[0].kind == Literal::Constant);
    Literal all;
    all.kind = Literal::Tuple;
    all.location = parser.getNameLoc();
    if (whole)
        all = std::move(items[0]);
    else
        all.items = std::move(items);
    cute_value value;
    if (valueOf(all, spelling->form.makes, value)) return failure();
    Type type = typeOfValue(value);
    if (written.hasResults && (written.results.size() != 1 || written.results[0] != type))
        return emitError(state.location)
               << "'" << state.name << "' op gives " << type << ", but " << written.results << " is written";
    state.addTypes(type);
    if (cute_value_is_static(&value))
        becomeStatic();
    else
        state.addOperands(handlesOf(value));
    return success();
}

// `cute.static "(4,8):(8,1)"`.
ParseResult Reader::readStatic(std::vector<Literal> &items)
{
    if (items.empty()) {
        if (written.hasResults) return success();
        return parser.emitError(parser.getNameLoc(),
                                "expects `: ` and its type, or a text such as \"(4,8):(8,1)\"");
    }
    cute_value value;
    if (items.size() != 1 || items[0].kind != Literal::Text || written.hasResults)
        return parser.emitError(items[0].location, "expects no operands");
    if (valueOf(items[0], CUTE_TYPE_INDEX_None, value)) return failure();
    if (value.type == CUTE_INT_TUPLE || value.type == CUTE_COORD || value.type == CUTE_STRIDE)
        return parser.emitError(items[0].location,
                                "expects a text other than a tuple, which needs an explicit type: "
                                "cute.make_shape(4, 8), `cute.static : !cute.shape<..>`");
    state.addTypes(typeOfValue(value));
    return success();
}
