// Alternative spellings of operations (sugar.def): layouts, tensors, types.
#include "lib/ir/mlir/llvm_compat.h"
#include "lib/ir/ops/address.h"
#include "lib/ir/text/reading.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace cute;

const Sugar *cute::sugarOf(StringRef name)
{
    static const auto *rows = [] {
        auto *made = new llvm::StringMap<Sugar>;
#define CUTE_SUGAR_OF(spelling, operation, written, function)                                                \
    made->try_emplace(spelling, Sugar{operation, written, function});
#include "lib/ir/text/sugar.def"
        return made;
    }();
    auto found = rows->find(name);
    return found == rows->end() ? nullptr : &found->second;
}

// ---- helpers ----

static const cute_value *literalCuteValue(const Literal &item)
{
    return item.kind == Literal::Given ? cute_type_peek(wrap(item.value.getType())) : nullptr;
}

static bool literalIs(const Literal &item, cute_type type)
{
    const cute_value *value = literalCuteValue(item);
    return value && value->type == type;
}

static bool isIntegerLiteral(const Literal &item)
{
    return item.kind == Literal::Number ||
           (item.kind == Literal::Given && isa<IntegerType>(item.value.getType()));
}

static Literal literalOf(Operation *op, SMLoc location)
{
    Literal literal;
    literal.kind = Literal::Given;
    literal.location = location;
    literal.value = op->getResult(0);
    return literal;
}

static Literal tupleLiteral(SMLoc location, std::vector<Literal> items)
{
    Literal literal;
    literal.kind = Literal::Tuple;
    literal.location = location;
    literal.items = std::move(items);
    return literal;
}

static Literal openLiteral(SMLoc location)
{
    Literal literal;
    literal.kind = Literal::Open;
    literal.location = location;
    return literal;
}

ParseResult Reader::expect(bool condition, const Twine &what)
{
    if (condition) return success();
    return emitError(state.location) << "'" << shown << "' op expects " << what;
}

// Renames the operation.
void Reader::rename(StringRef name)
{
    state.name = OperationName(name, state.getContext());
    spelling = &spellingOf(state.name);
}

// ---- layouts ----

// make_layout %m, %n, %k: a shape alone.
ParseResult Reader::sugarMakeLayout(std::vector<Literal> &items)
{
    if (items.size() < 2 || !llvm::all_of(items, isIntegerLiteral)) return success();
    if (expect(items.size() > 2,
               "(%m, %n) for a shape of two modes: two numbers could also be a shape and a stride"))
        return failure();
    SMLoc location = items[0].location;
    Literal shape = tupleLiteral(location, std::move(items));
    items.clear();
    items.push_back(std::move(shape));
    return success();
}

ParseResult Reader::sugarComposition(std::vector<Literal> &items)
{
    return items.size() == 2 && literalIs(items[0], CUTE_SWIZZLE) ? compose(items, 0, 1) : success();
}

ParseResult Reader::sugarSwizzle(std::vector<Literal> &items)
{
    if (expect(items.size() == 2, "a layout and a swizzle")) return failure();
    return compose(items, 1, 0);
}

// A o 0 o B.
ParseResult Reader::compose(std::vector<Literal> &items, size_t a, size_t b)
{
    rename("cute.make_composed_layout");
    Literal zero;
    zero.location = items[0].location;
    std::vector<Literal> parts = {items[a], zero, items[b]};
    items = std::move(parts);
    return success();
}

// The number of modes of a value.
ParseResult Reader::sugarRank(std::vector<Literal> &items)
{
    if (expect(items.size() == 1 && literalCuteValue(items[0]), "a value of the dialect cute"))
        return failure();
    const cute_value *value = literalCuteValue(items[0]);
    const cute_tree *modes = value->layout.shape ? value->layout.shape : value->tree;
    if (expect(modes, "a tuple, a layout or a tensor")) return failure();
    Literal rank;
    rank.number = modes->kind == CUTE_TREE_TUPLE ? modes->count : 1;
    cute_value result;
    if (valueOf(rank, CUTE_TYPE_INDEX_IntTuple, result)) return failure();
    state.addTypes(typeOfValue(result));
    items.clear();
    return success();
}

// Replaces a tensor by its layout.
ParseResult Reader::layoutOf(Literal &item)
{
    if (!literalIs(item, CUTE_MEMREF) && !literalIs(item, CUTE_COORD_TENSOR)) return success();
    Operation *layout = insert("cute.get_layout", item.value);
    if (!layout) return failure();
    item = literalOf(layout, item.location);
    return success();
}

// Mode %i of a flat tuple, selected at run time: an integer of the widest mode. Modes that the tuple does not have are mode 0.
ParseResult Reader::selectMode(Value tuple, Value mode)
{
    const cute_value *value = cute_type_peek(wrap(tuple.getType()));
    const cute_tree *tree = value ? value->tree : nullptr;
    bool flat = tree && tree->kind != CUTE_TREE_LAYOUT;
    for (uint32_t i = 0; flat && tree->kind == CUTE_TREE_TUPLE && i < tree->count; i++)
        flat = tree->items[i]->kind == CUTE_TREE_INT;
    if (expect(flat && (tree->kind == CUTE_TREE_INT || tree->count > 0),
               "a flat tuple of integers for a mode that is selected at run time"))
        return failure();
    Operation *scalars = insert("cute.get_scalars", tuple);
    if (!scalars) return failure();
    OpBuilder builder(state.getContext());
    SmallVector<Value> modes(scalars->getResults());
    unsigned width = 0;
    for (Value m : modes) width = std::max(width, m.getType().getIntOrFloatBitWidth());
    Type widest = builder.getIntegerType(width);
    for (Value &m : modes)
        if (m.getType() != widest) m = insert("arith.extsi", m, widest)->getResult(0);
    Value chosen = modes[0];
    size_t first = modes.size() > 1 ? 1 : 0;
    for (size_t i = first; i < modes.size(); i++) {
        TypedAttr number = IntegerAttr::get(mode.getType(), (int64_t)i);
        Value wanted =
            insert("arith.constant", {}, mode.getType(), builder.getNamedAttr("value", number))->getResult(0);
        auto equal = arith::CmpIPredicateAttr::get(state.getContext(), arith::CmpIPredicate::eq);
        Value is = insert("arith.cmpi", {mode, wanted}, builder.getI1Type(),
                          builder.getNamedAttr("predicate", equal))
                       ->getResult(0);
        if (i + 1 < modes.size()) {
            chosen = insert("arith.select", {is, modes[i], chosen}, widest)->getResult(0);
        } else {
            become(create<arith::SelectOp>(builder, state.location, is, modes[i], chosen));
        }
    }
    return success();
}

// shape %x, 0; stride %x; coord %c, %i: a part, or a mode of it.
ParseResult Reader::sugarPart(std::vector<Literal> &items)
{
    bool indexed = items.size() == 2 && items[1].kind == Literal::Number;
    bool selected = items.size() == 2 && items[1].kind == Literal::Given &&
                    items[1].value.getType().isSignlessIntOrIndex();
    if (expect((items.size() == 1 || indexed || selected) && literalCuteValue(items[0]),
               "a value and a mode number, a constant or an integer"))
        return failure();
    SMLoc location = items[0].location;
    if (spelled != "cute.coord" && layoutOf(items[0])) return failure();
    if (selected) {
        Operation *part =
            spelled == "cute.coord" ? nullptr : insert(state.name.getStringRef(), items[0].value);
        if (spelled != "cute.coord" && !part) return failure();
        return selectMode(part ? part->getResult(0) : items[0].value, items[1].value);
    }
    if (!indexed) {
        if (expect(spelled != "cute.coord", "a coordinate and a mode number")) return failure();
        return success();
    }
    if (spelled != "cute.coord") {
        Operation *part = insert(state.name.getStringRef(), items[0].value);
        if (!part) return failure();
        items[0] = literalOf(part, location);
    }
    if (expect(items[1].number >= 0 && items[1].number <= INT32_MAX, "a mode number")) return failure();
    rename("cute.get");
    state.attributes.set("mode", DenseI32ArrayAttr::get(state.getContext(), (int32_t)items[1].number));
    items.pop_back();
    return success();
}

// tile %l, %m, %n: (tile, rest).
ParseResult Reader::sugarTile(std::vector<Literal> &items)
{
    if (expect(items.size() > 1, "a layout or tensor, and the extents of a tile")) return failure();
    if (items.size() == 2) return success();
    Literal tile = tupleLiteral(items[1].location, {items.begin() + 1, items.end()});
    items.resize(1);
    items.push_back(std::move(tile));
    return success();
}

// local_partition %tiles, %i: the tile i of (tile, rest).
ParseResult Reader::sugarLocalPartition(std::vector<Literal> &items)
{
    if (items.size() != 2) return success();
    const cute_value *value = literalCuteValue(items[0]);
    const cute_tree *shape = value ? value->layout.shape : nullptr;
    if (expect(
            shape && shape->kind == CUTE_TREE_TUPLE && shape->count == 2,
            "a layout of threads between the tensor and the index, or a tensor of two modes, (tile, rest)"))
        return failure();
    rename("cute.slice");
    SMLoc location = items[1].location;
    Literal coord = tupleLiteral(location, {openLiteral(location), items[1]});
    items[1] = std::move(coord);
    return success();
}

// composition(flatten(zipped_divide(layout, tile)), other).
ParseResult Reader::sugarFused(std::vector<Literal> &items)
{
    if (expect(items.size() == 3 && items[0].kind == Literal::Given, "a layout, a tile and a layout"))
        return failure();
    SMLoc location = items[0].location;
    FailureOr<Value> tile = operandOf(items[1], CUTE_TYPE_INDEX_Tiler);
    if (failed(tile)) return failure();
    Operation *parts = insert("cute.zipped_divide", {items[0].value, *tile});
    Operation *flat = parts ? insert("cute.flatten", parts->getResult(0)) : nullptr;
    if (!flat) return failure();
    Literal other = items[2];
    items = {literalOf(flat, location), other};
    return success();
}

// crd2idx %layout, %coord.
ParseResult Reader::sugarCrd2Idx(std::vector<Literal> &items)
{
    if (items.size() == 2 && (literalIs(items[0], CUTE_LAYOUT) || literalIs(items[0], CUTE_COMPOSED_LAYOUT)))
        std::swap(items[0], items[1]);
    return success();
}

// ---- tensors ----

// make_tensor(pointer, layout) in either order; a shape, or a shape and a stride in place of the layout.
ParseResult Reader::sugarMakeTensor(std::vector<Literal> &items)
{
    auto iterator = [](const Literal &item) {
        return literalIs(item, CUTE_PTR) || literalIs(item, CUTE_ARITH_TUPLE_ITER);
    };
    if (items.size() == 2 && !iterator(items[0]) && iterator(items[1])) std::swap(items[0], items[1]);
    bool ours = !items.empty() && items[0].kind == Literal::Given && textOf(items[0].value.getType());
    if (expect((items.size() == 2 || items.size() == 3) && ours,
               "a pointer and a layout, or a pointer, a shape and a stride"))
        return failure();
    auto tuple = [](const Literal &item) {
        return isIntegerLiteral(item) || item.kind == Literal::Tuple || literalIs(item, CUTE_INTEGER) ||
               literalIs(item, CUTE_SHAPE) || literalIs(item, CUTE_INT_TUPLE);
    };
    if (items.size() == 2 && !tuple(items[1])) return success();
    SmallVector<Value> parts;
    for (size_t i = 1; i < items.size(); i++) {
        int index = i == 1 ? CUTE_TYPE_INDEX_Shape : CUTE_TYPE_INDEX_Stride;
        FailureOr<Value> part = operandOf(items[i], index);
        if (failed(part)) return failure();
        parts.push_back(*part);
    }
    Operation *layout = insert("cute.make_layout", parts);
    if (!layout) return failure();
    items.resize(2);
    items[1] = literalOf(layout, items[1].location);
    return success();
}

// load %t[%i] of a tensor of coordinates: the coordinate at %i.
ParseResult Reader::sugarLoad(std::vector<Literal> &items)
{
    if (expect(items.size() == 2, "a tensor element: cute.load %tensor[%i]; with '_' it is a slice"))
        return failure();
    if (!literalIs(items[0], CUTE_COORD_TENSOR)) return success();
    SMLoc location = items[0].location;
    FailureOr<Value> coord = operandOf(items[1], CUTE_TYPE_INDEX_Coord);
    if (failed(coord)) return failure();
    Operation *element = insert("cute.slice", {items[0].value, *coord});
    const cute_value *left = element ? cute_type_peek(wrap(element->getResult(0).getType())) : nullptr;
    if (left && expect(!left->layout.shape->leaves, "a coordinate without '_'")) return failure();
    Operation *iterator = element ? insert("cute.get_iter", element->getResult(0)) : nullptr;
    if (!iterator) return failure();
    rename("cute.deref_arith_tuple_iter");
    items = {literalOf(iterator, location)};
    return success();
}

// store %x, %t[%i].
ParseResult Reader::sugarStore(std::vector<Literal> &items)
{
    if (expect(items.size() == 3, "a value and a tensor element: cute.store %x, %tensor[%i]"))
        return failure();
    std::rotate(items.begin(), items.begin() + 1, items.end());
    return success();
}

// ptrtoint %p, without a type.
ParseResult Reader::sugarAddress(std::vector<Literal> &items)
{
    const cute_value *pointer = items.size() == 1 ? literalCuteValue(items[0]) : nullptr;
    if (written.hasResults || !pointer || pointer->type != CUTE_PTR) return success();
    cute_space space = pointer->pointer->space;
    bool narrow = space == CUTE_SPACE_SMEM || space == CUTE_SPACE_TMEM;
    written.results = {parser.getBuilder().getIntegerType(narrow ? 32 : 64)};
    written.hasResults = true;
    return success();
}

// A number as a constant of type `element`; a value stays. Hexadecimal digits are the bits of a float, as of arith.constant.
ParseResult Reader::makeNumber(Literal &item, Type element)
{
    if (item.kind != Literal::Number && item.kind != Literal::Real) return success();
    if (!element || !element.isSignlessIntOrFloat()) return success();
    Builder builder(state.getContext());
    TypedAttr number;
    unsigned width = element.getIntOrFloatBitWidth();
    bool bits = StringRef(item.location.getPointer(), 2) == "0x";
    if (auto type = dyn_cast<FloatType>(element);
        type && bits && item.kind == Literal::Number && llvm::isUIntN(width, (uint64_t)item.number))
        number = builder.getFloatAttr(
            element, llvm::APFloat(type.getFloatSemantics(), APInt(width, (uint64_t)item.number)));
    else if (isa<FloatType>(element))
        number = builder.getFloatAttr(element, item.kind == Literal::Real ? item.real : (double)item.number);
    else if (item.kind == Literal::Number &&
             (width >= 64 || llvm::isIntN(width, item.number) || llvm::isUIntN(width, (uint64_t)item.number)))
        number = IntegerAttr::get(element, APInt(width, (uint64_t)item.number, true));
    else
        return parser.emitError(item.location, "expects a number that fits in ") << element;
    Operation *made = insert("arith.constant", {}, element, builder.getNamedAttr("value", number));
    item = literalOf(made, item.location);
    return success();
}

// atomic_add 1, %t[%i]: literals have the element type of the tensor.
ParseResult Reader::sugarAtomic(std::vector<Literal> &items)
{
    if (items.size() < 3) return success();
    const cute_value *tensor = literalCuteValue(items[items.size() - 2]);
    if (!tensor || !tensor->pointer) return success();
    Type element = unwrap(cute_element_type(wrap(state.getContext()), tensor->pointer->element));
    for (Literal &item : llvm::MutableArrayRef(items).drop_back(2))
        if (makeNumber(item, element)) return failure();
    return success();
}

// tile.add %x, 1.0: the kind is in the name, numbers are of the elements of the other operands.
ParseResult Reader::sugarTileMap(std::vector<Literal> &items)
{
    StringRef kind = spelled.drop_front(StringRef("cute.tile.").size());
    if (kind != "map") state.attributes.set("kind", parser.getBuilder().getStringAttr(kind));
    Type element;
    bool where = kind == "where" && items.size() == 3;
    for (bool tiles : {true, false})
        for (Literal &item : llvm::reverse(MutableArrayRef(items).drop_front(where)))
            if (item.kind == Literal::Given && item.value && !element &&
                (!tiles || isa<RankedTensorType>(item.value.getType())))
                element = mlir::getElementTypeOrSelf(item.value.getType());
    if (where && !element)
        return parser.emitError(items[1].location,
                                "expects a tile or a typed value, as in `%x`, as one of the two "
                                "values: two numbers have no type");
    Type condition = parser.getBuilder().getI1Type();
    for (auto [i, item] : llvm::enumerate(items))
        if (makeNumber(item, where && !i ? condition : element)) return failure();
    return success();
}

// tile.gemm %a, %b, %c {tf32 = 0}: as without it.
ParseResult Reader::sugarTileGemm(std::vector<Literal> & /*items*/)
{
    auto stated = dyn_cast_or_null<IntegerAttr>(state.attributes.get("tf32"));
    if (!stated) return success();
    if (stated.getValue().isZero())
        state.attributes.erase("tf32");
    else
        state.attributes.set("tf32", parser.getBuilder().getUnitAttr());
    return success();
}

// make_identity_tensor %t, predicate %c, %t: the shape of a tensor in place of a shape.
ParseResult Reader::sugarBounds(std::vector<Literal> &items)
{
    if (items.empty() || items.size() > 2) return success();
    Literal &bounds = items.back();
    bool tensor = literalIs(bounds, CUTE_MEMREF) || literalIs(bounds, CUTE_COORD_TENSOR);
    if (!tensor || layoutOf(bounds)) return failure(tensor);
    Operation *shape = insert("cute.get_shape", bounds.value);
    if (!shape) return failure();
    bounds = literalOf(shape, bounds.location);
    return success();
}

// copy %src, %dst: element by element.
ParseResult Reader::sugarCopy(std::vector<Literal> &items)
{
    if (items.size() != 2) return success();
    for (Literal &item : items) {
        if (item.kind != Literal::Part) continue;
        FailureOr<Value> slice = operandOf(item, CUTE_TYPE_INDEX_None);
        if (failed(slice)) return failure();
        item = literalOf(slice->getDefiningOp(), item.location);
    }
    const cute_value *from = literalCuteValue(items[0]);
    if (!from) return success();
    if (expect(from->pointer && from->pointer->bits > 0, "a copy atom, or tensors in memory"))
        return failure();
    std::string text = (llvm::Twine("!cute_nvgpu.atom.universal_copy<") + from->pointer->element + ", " +
                        llvm::Twine(from->pointer->bits) + " b>")
                           .str();
    Type type = mlir::parseType(text, state.getContext());
    Operation *atom = type ? insert("cute.make_atom", {}, type) : nullptr;
    if (expect(atom, "tensors whose elements can be copied")) return failure();
    items.insert(items.begin(), literalOf(atom, items[0].location));
    return success();
}

// tiled.mma.partition_fragment A (%mma, %t, %thread): make_fragment of tiled.mma.partition.
ParseResult Reader::sugarPartitionFragment(std::vector<Literal> &items)
{
    if (expect(items.size() == 3, "a tiled MMA, a tensor and a thread")) return failure();
    SmallVector<Value, 3> operands;
    for (auto [i, item] : llvm::enumerate(items)) {
        int index = i == 2 ? CUTE_TYPE_INDEX_Coord : CUTE_TYPE_INDEX_None;
        bool value = item.kind == Literal::Given;
        if (expect(value || i == 2 || item.kind == Literal::Part, "a tiled MMA, a tensor and a thread"))
            return failure();
        FailureOr<Value> made = operandOf(item, index);
        if (failed(made)) return failure();
        operands.push_back(*made);
    }
    SmallVector<NamedAttribute, 1> attributes;
    if (auto letter = state.attributes.getNamed("operand_id")) attributes.push_back(*letter);
    Operation *part = insert("cute.tiled.mma.partition", operands, {}, attributes);
    if (!part) return failure();
    items = {items[0], literalOf(part, items[1].location)};
    return success();
}

// `memref.alloca(%layout) : f32`, `temporary(%layout) : f32`, `recast_iter(%p) : f16`: infers the result type from its element type.
ParseResult Reader::sugarElement(std::vector<Literal> &items)
{
    if (written.results.size() != 1 || items.size() != 1 || !literalCuteValue(items[0])) return success();
    Type element = written.results[0];
    const cute_type_row *row = cute_type_row_of(wrap(element));
    if (row && row->kind != CUTE_NO_VALUE) return success(); // a descriptor is an element
    const cute_value &operand = *literalCuteValue(items[0]);
    std::string text, name;
    llvm::raw_string_ostream(name) << element;
    bool temporary = spelled == "cute.temporary";
    if (temporary || spelled == "cute.memref.alloca") {
        MlirStringRef layout = cute_type_text(wrap(items[0].value.getType()));
        text = "!cute.memref<" + name + (temporary ? ", gmem, align<256>, \"" : ", rmem, align<32>, \"") +
               std::string(layout.data, layout.length) + "\">";
    } else if (operand.type == CUTE_PTR && operand.pointer->space != CUTE_SPACE_DESC) {
        const cute_pointer &p = *operand.pointer;
        text = "!cute.ptr<" + name + ", " + cute_space_name(p.space) + ", align<" + std::to_string(p.align) +
               ">";
        if (p.swizzle.bits)
            text += ", S<" + std::to_string(p.swizzle.bits) + "," + std::to_string(p.swizzle.base) + "," +
                    std::to_string(p.swizzle.shift) + ">";
        text += ">";
    } else {
        return success();
    }
    Type type = mlir::parseType(text, state.getContext());
    if (!type) return failure();
    written.results[0] = type;
    return success();
}

// ---- types ----

// Parses the type `text`, with errors at `place`.
static Type typeOfText(AsmParser &parser, SMLoc place, const Twine &text)
{
    Type type;
    std::string said;
    {
        Caught caught(parser.getContext());
        type = mlir::parseType(text.str(), parser.getContext());
        said = caught.text;
    }
    if (!type) parser.emitError(place) << said;
    return type;
}

template <class T> static std::string textOfType(T type)
{
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
}

// !cute.tensor<f16, !cute.layout<"(4,8):(8,1)">>: in global memory. Without a layout, a vector of unknown length; without
// anything, of f32.
static Type readTensor(AsmParser &parser, SMLoc place)
{
    Type element = parser.getBuilder().getF32Type(), layout;
    std::string text = "?:1";
    bool given = succeeded(parser.parseOptionalLess());
    if (given && parser.parseType(element)) return {};
    if (!given || succeeded(parser.parseOptionalGreater()))
        return typeOfText(parser, place, "!cute.memref<" + textOfType(element) + ", gmem, \"" + text + "\">");
    if (parser.parseComma()) return {};
    if (failed(parser.parseOptionalString(&text))) {
        SMLoc at = parser.getCurrentLocation();
        if (parser.parseType(layout)) return {};
        if (!isa<LayoutType, ComposedLayoutType>(layout)) {
            parser.emitError(at) << "expects a layout, got " << layout;
            return {};
        }
        MlirStringRef of = cute_type_text(wrap(layout));
        text.assign(of.data, of.length);
    }
    if (parser.parseGreater()) return {};
    return typeOfText(parser, place, "!cute.memref<" + textOfType(element) + ", gmem, \"" + text + "\">");
}

// !cute_nvgpu.mma_atom<16,8,16,f16>: a warp MMA with the widest accumulator.
static Type readMmaAtom(AsmParser &parser, SMLoc place)
{
    int64_t m, n, k;
    Type element;
    if (parser.parseLess() || parser.parseInteger(m) || parser.parseComma() || parser.parseInteger(n) ||
        parser.parseComma() || parser.parseInteger(k) || parser.parseComma() || parser.parseType(element) ||
        parser.parseGreater())
        return {};
    std::string of = textOfType(element);
    bool byte = element.isInteger(8) || element.isInteger(4) || element.isInteger(1);
    std::string sum = byte ? "si32" : element.isF64() ? "f64" : "f32";
    if (element.isSignlessInteger(8) || element.isSignlessInteger(4)) of = "s" + of;
    bool wide = of.rfind("f8", 0) == 0;
    return typeOfText(parser, place,
                      Twine("!cute_nvgpu.") + (wide ? "sm89" : "sm80") + ".mma<" + Twine(m) + "x" + Twine(n) +
                          "x" + Twine(k) + ", elem_type = (" + of + ", " + of + ", " + sum + ")>");
}

// !cute_nvgpu.tiled_mma<128,128,64>, optionally with an element type (default f16): by 2 x 2 warps.
static Type readTiledMma(AsmParser &parser, SMLoc place)
{
    static constexpr int64_t warps[3] = {32, 16, 16}; // of 2 x 2 x 1 products of 16x8x16
    int64_t tile[3];
    Type element = parser.getBuilder().getF16Type();
    if (parser.parseLess()) return {};
    for (int i = 0; i < 3; i++) {
        SMLoc at = parser.getCurrentLocation();
        if ((i && parser.parseComma()) || parser.parseInteger(tile[i])) return {};
        if (tile[i] > 0 && tile[i] % warps[i] == 0 && tile[i] <= INT32_MAX) continue;
        parser.emitError(at) << "expects a multiple of " << warps[i] << " along " << "MNK"[i] << ", got "
                             << tile[i];
        return {};
    }
    if (succeeded(parser.parseOptionalComma()) && parser.parseType(element)) return {};
    if (parser.parseGreater()) return {};
    std::string of = textOfType(element);
    return typeOfText(parser, place,
                      "!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (" + of + ", " + of +
                          ", f32)>, atom_layout_MNK = <\"(2,2,1):(1,2,0)\">, permutation_MNK = <\"[" +
                          Twine(tile[0]) + ":1;" + Twine(tile[1]) + ":1;" + Twine(tile[2]) + ":1]\">>");
}

// !cute_nvgpu.copy_atom<16>: a copy of 16 bytes.
static Type readCopyAtom(AsmParser &parser, SMLoc place)
{
    int64_t bytes;
    if (parser.parseLess() || parser.parseInteger(bytes) || parser.parseGreater()) return {};
    if (bytes < 1 || bytes > 16) {
        parser.emitError(place) << "expects 1 to 16 bytes, got " << bytes;
        return {};
    }
    return typeOfText(parser, place, "!cute_nvgpu.atom.universal_copy<i8, " + Twine(8 * bytes) + " b>");
}

// !nvgpu.matrix<16x16xf16>: the vector of a lane's registers, as returned by ldmatrix.
static Type readMatrix(AsmParser &parser, SMLoc place)
{
    SmallVector<int64_t> shape;
    Type element;
    if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
        parser.parseType(element) || parser.parseGreater())
        return {};
    bool whole = shape.size() == 2 && (shape[0] == 8 || shape[0] == 16) && (shape[1] == 8 || shape[1] == 16);
    if (!whole || !element.isIntOrFloat() || element.getIntOrFloatBitWidth() != 16) {
        parser.emitError(place) << "expects 8x8, 16x8, 8x16 or 16x16 elements of 16 bits";
        return {};
    }
    return VectorType::get(shape[0] * shape[1] / 64, parser.getBuilder().getI32Type());
}

// !cute_nvgpu.tma_load<128x64xf16>, optionally followed by a swizzle, 128B: a tensor map with that box.
static Type readTmaLoad(AsmParser &parser, SMLoc place)
{
    SmallVector<int64_t> box;
    Type element;
    int64_t bytes = 0;
    if (parser.parseLess() || parser.parseDimensionList(box, /*allowDynamic=*/false) ||
        parser.parseType(element))
        return {};
    if (succeeded(parser.parseOptionalComma())) {
        SMLoc at = parser.getCurrentLocation();
        if (parser.parseInteger(bytes) || parser.parseKeyword("B")) return {};
        if (bytes != 32 && bytes != 64 && bytes != 128) {
            parser.emitError(at) << "expects 128B, 64B or 32B, got " << bytes << "B";
            return {};
        }
    }
    if (parser.parseGreater()) return {};
    if (box.empty() || box.size() > 5 || llvm::any_of(box, [](int64_t n) { return n < 1 || n > 256; })) {
        parser.emitError(place) << "expects a box of 1 to 5 extents from 1 to 256, such as 128x64xf16";
        return {};
    }
    std::string shape;
    for (int64_t n : box) shape += std::to_string(n) + "x";
    std::string swizzle = bytes ? "swizzle_" + std::to_string(bytes) + "b" : "none";
    return typeOfText(parser, place,
                      "!nvgpu.tensormap.descriptor<tensor = memref<" + shape + textOfType(element) +
                          ", 3>, swizzle = " + swizzle + ", l2promo = none, oob = zero, interleave = none>");
}

std::optional<Type> cute::readOtherType(AsmParser &parser, SMLoc place, StringRef dialect, StringRef mnemonic)
{
    static const struct {
        const char *dialect, *mnemonic;
        Type (*read)(AsmParser &parser, SMLoc place);
    } rows[] = {
        {"cute", "tensor", readTensor},
        {"cute", "wmatrix", readMatrix},
        {"cute_nvgpu", "mma_atom", readMmaAtom},
        {"cute_nvgpu", "tiled_mma", readTiledMma},
        {"cute_nvgpu", "copy_atom", readCopyAtom},
        {"cute_nvgpu", "tma_load", readTmaLoad},
    };
    for (auto &row : rows)
        if (dialect == row.dialect && mnemonic == row.mnemonic) return row.read(parser, place);
    return std::nullopt;
}

// `mode=128B, bits=3`, after `mode`: the swizzles of TMA.
FailureOr<std::string> cute::readSwizzleMode(AsmParser &parser)
{
    int64_t bytes, bits;
    SMLoc place = parser.getCurrentLocation();
    if (parser.parseEqual() || parser.parseInteger(bytes) || parser.parseKeyword("B")) return failure();
    int64_t of = bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
    if (!of) return parser.emitError(place) << "expects 128B, 64B or 32B, got " << bytes << "B";
    if (succeeded(parser.parseOptionalComma())) {
        if (parser.parseKeyword("bits") || parser.parseEqual() || parser.parseInteger(bits)) return failure();
        if (bits != of) return parser.emitError(place) << bytes << "B has " << of << " bits, got " << bits;
    }
    return "S<" + std::to_string(of) + ",4,3>";
}
