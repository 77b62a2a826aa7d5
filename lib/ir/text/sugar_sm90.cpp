// Alternative spellings (sugar.def): warpgroup MMA, TMA loads of a box.
#include "lib/atoms/atoms.h"
#include "lib/atoms/tma.h"
#include "lib/ir/mlir/llvm_compat.h"
#include "lib/ir/text/reading.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace cute;

// A, B and C of a product.
struct Reader::Product {
    const cute_value *operand[3]; // their types
    int64_t shape[3] = {0, 0, 0}; // M, N, K of tiles in shared memory; 0: unknown
};

// Elements of a shape, or of a mode of a tile; 0: unknown.
static int64_t sizeOf(const cute_tree *shape)
{
    int64_t size = 1;
    llvm::SmallVector<const cute_tree *> todo = {shape};
    while (!todo.empty()) {
        const cute_tree *tree = todo.pop_back_val();
        if (tree->kind == CUTE_TREE_LAYOUT)
            todo.push_back(tree->layout.shape);
        else if (tree->kind == CUTE_TREE_TUPLE)
            todo.append(tree->items, tree->items + tree->count);
        else if (tree->kind != CUTE_TREE_INT || !tree->value.known ||
                 __builtin_mul_overflow(size, tree->value.value, &size))
            return 0;
    }
    return size;
}

// Whether M or N is contiguous, by the first stride of mode 0.
static bool isMnMajor(const cute_layout &layout)
{
    const cute_tree *stride = layout.stride;
    while (stride->kind == CUTE_TREE_TUPLE && stride->count) stride = stride->items[0];
    return stride->kind == CUTE_TREE_INT && stride->value.known && stride->value.value == 1;
}

static bool isWhole(const cute_value *tensor)
{
    return tensor->pointer->space == CUTE_SPACE_SMEM && tensor->layout.shape->kind == CUTE_TREE_TUPLE &&
           tensor->layout.shape->count == 2;
}

// Removes `{m = 128, n = 128, k = 64}`; false if incomplete.
bool Reader::takeTile(int64_t (&tile)[3])
{
    static constexpr StringLiteral names[3] = {"m", "n", "k"};
    int found = 0;
    for (int i = 0; i < 3; i++) {
        auto number = dyn_cast_or_null<IntegerAttr>(state.attributes.get(names[i]));
        if (!number || number.getValue().getSignificantBits() > 64) continue;
        tile[i] = number.getInt();
        state.attributes.erase(names[i]);
        found++;
    }
    return found == 3;
}

static std::string textOfTile(const int64_t (&tile)[3])
{
    return (Twine(tile[0]) + "x" + Twine(tile[1]) + "x" + Twine(tile[2])).str();
}

// The nvgpu form: descriptors of A and B, and an accumulator.
ParseResult Reader::productByDescriptors(std::vector<Literal> &items)
{
    bool three = items.size() == 3 && items[1].kind == Literal::Given && items[2].kind == Literal::Given;
    auto a = cast<nvgpu::WarpgroupMatrixDescriptorType>(items[0].value.getType());
    auto b = three ? dyn_cast<nvgpu::WarpgroupMatrixDescriptorType>(items[1].value.getType())
                   : nvgpu::WarpgroupMatrixDescriptorType();
    auto c = three ? dyn_cast<nvgpu::WarpgroupAccumulatorType>(items[2].value.getType())
                   : nvgpu::WarpgroupAccumulatorType();
    if (expect(b && c, "descriptors of A and B and a !nvgpu.warpgroup.accumulator, and no mbarrier: use "
                       "nvgpu.mbarrier.arrive after it"))
        return failure();
    bool plain =
        a.getTensor().getRank() == 2 && b.getTensor().getRank() == 2 && c.getFragmented().getRank() == 2;
    int64_t stated[3], has[3] = {0, 0, 0};
    if (plain)
        has[0] = c.getFragmented().getDimSize(0), has[1] = c.getFragmented().getDimSize(1),
        has[2] = a.getTensor().getDimSize(1);
    bool tiled = takeTile(stated);
    if (expect(!tiled || std::equal(stated, stated + 3, has),
               "m, n and k of its operands, " + textOfTile(has)))
        return failure();
    written.results.clear();
    OpBuilder builder(state.getContext());
    auto mma = create<nvgpu::WarpgroupMmaOp>(
        builder, state.location, TypeRange{c}, items[0].value, items[1].value,
        builder.getIntegerAttr(builder.getIntegerType(LLVM_VERSION_MAJOR >= 20 ? 64 : 32), 0), UnitAttr(),
        UnitAttr(), items[2].value);
    return become(mma), success();
}

// The type of the one-warpgroup tiled MMA for tiles of A and B in shared memory; if unsupported, `text`
// describes it.
Type Reader::tiledProduct(const Product &p, std::string &text)
{
    auto element = [](StringRef name) { return name.starts_with("i") ? "s" + name.str() : name.str(); };
    int64_t n = std::min<int64_t>(p.shape[1] - p.shape[1] % 8, 256);
    while (n > 8 && p.shape[1] % n) n -= 8;
    int64_t k = 256 / std::max(p.operand[0]->pointer->bits, 1);
    auto major = [&](int i) { return isMnMajor(p.operand[i]->layout) ? "mn" : "k"; };
    auto name = [&](int i) { return element(p.operand[i]->pointer->element); };
    text = ("!cute_nvgpu.sm90.mma<64x" + Twine(n) + "x" + Twine(k) + ", ab_major = (" + major(0) + ", " +
            major(1) + "), elem_type = (" + name(0) + ", " + name(1) + ", " + name(2) + "), frag_kind = ss>")
               .str();
    Caught caught(state.getContext());
    return mlir::parseType("!cute.tiled_mma<" + text + ", atom_layout_MNK = <\"(1,1,1):(0,0,0)\">>",
                           state.getContext());
}

// The fragment of A or B: the value itself if it is a fragment, otherwise that of a tile in shared memory.
FailureOr<Value> Reader::fragmentOf(const Product &p, int which, Value mma, Value tensor)
{
    if (!isWhole(p.operand[which])) return tensor;
    Builder &builder = parser.getBuilder();
    NamedAttribute letter = builder.getNamedAttr("operand_id", builder.getI32IntegerAttr(which));
    Type coord = mlir::parseType("!cute.coord<\"0\">", state.getContext());
    Operation *thread = insert("cute.static", {}, coord);
    Operation *part = insert("cute.tiled.mma.partition", {mma, tensor, thread->getResult(0)}, {}, letter);
    Operation *made =
        part ? insert("cute.mma.make_fragment", {mma, part->getResult(0)}, {}, letter) : nullptr;
    if (!made) return failure();
    return made->getResult(0);
}

// nvgpu.mbarrier.arrive %barrier, without an index in its group.
ParseResult Reader::sugarArrive(std::vector<Literal> &items)
{
    bool given = items.size() == 1 && items[0].kind == Literal::Given;
    if (expect(given, "an mbarrier")) return failure();
    auto group = dyn_cast<nvgpu::MBarrierGroupType>(items[0].value.getType());
    if (!group) return success();
    FailureOr<Value> first = indexOf(Literal());
    if (failed(first)) return failure();
    OpBuilder builder(state.getContext());
    Type token = nvgpu::MBarrierTokenType::get(state.getContext());
    return become(create<nvgpu::MBarrierArriveOp>(builder, state.location, token, items[0].value, *first)),
           success();
}

// warpgroup_mma %a, %b, %c, %barrier : !cute_nvgpu.tiled_mma<128,128,64>, or with {m, n, k}, or with neither.
// A and B are tiles in shared memory or their fragments, C is the accumulator.
ParseResult Reader::sugarWarpgroupMma(std::vector<Literal> &items)
{
    if (!items.empty() && items[0].kind == Literal::Given &&
        isa<nvgpu::WarpgroupMatrixDescriptorType>(items[0].value.getType()))
        return productByDescriptors(items);
    if (expect(items.size() == 3 || items.size() == 4,
               "A, B, C and an optional mbarrier, but got " + Twine(items.size()) + " operands") ||
        expect(written.results.size() <= 1, "one type after its operands"))
        return failure();
    Product p;
    SmallVector<Value, 5> values = {Value()};
    for (auto [i, item] : llvm::enumerate(items)) {
        bool value = item.kind == Literal::Given || item.kind == Literal::Part;
        FailureOr<Value> made = value ? operandOf(item, CUTE_TYPE_INDEX_None) : FailureOr<Value>(failure());
        if (value && failed(made)) return failure();
        const cute_value *type = value ? cute_type_peek(wrap(made->getType())) : nullptr;
        bool fits = type && type->type == (i == 3 ? CUTE_PTR : CUTE_MEMREF) &&
                    (i != 2 || type->pointer->space == CUTE_SPACE_RMEM);
        if (expect(fits, i == 3   ? Twine("a pointer to an mbarrier after C")
                         : i == 2 ? Twine("an accumulator, a tensor in registers, as C")
                                  : "a tensor as " + Twine(letters[i])))
            return failure();
        if (i < 3) p.operand[i] = type;
        values.push_back(*made);
    }
    Type stated = written.results.empty() ? Type() : std::exchange(written.results, {})[0];
    const cute_value *mma = stated ? cute_type_peek(wrap(stated)) : nullptr;
    if (expect(!stated || (mma && mma->type == CUTE_TILED_MMA && mma->atom && mma->atom->known),
               "a tiled MMA type after its operands: `: !cute_nvgpu.tiled_mma<128,128,64>`"))
        return failure();
    bool whole = true;
    for (int i = 0; i < 2; i++)
        if (isWhole(p.operand[i]))
            p.shape[i] = sizeOf(p.operand[i]->layout.shape->items[0]),
            p.shape[2] = sizeOf(p.operand[i]->layout.shape->items[1]);
        else
            whole = false;
    int64_t tile[3] = {0, 0, 0};
    bool tiled = takeTile(tile);
    if (mma && mma->atom->wgmma) {
        int64_t groups = sizeOf(mma->layout.shape);
        if (expect(groups == 1 || (!isWhole(p.operand[0]) && !isWhole(p.operand[1])),
                   "fragments of A and B, cute.mma.make_fragment, if its type has more than one warpgroup"))
            return failure();
    } else {
        if (expect(whole && p.shape[0] && p.shape[1] && p.shape[2],
                   "tiles of A, (M,K), and B, (N,K), in shared memory; for other operands, write the "
                   "!cute.tiled_mma of a wgmma"))
            return failure();
        // !cute_nvgpu.tiled_mma<M,N,K> is a warp-level type: only its tile and element type are used here.
        if (mma && !tiled && mma->tree && mma->tree->count == 3) {
            for (int i = 0; i < 3; i++) tile[i] = sizeOf(mma->tree->items[i]);
            tiled = true;
        }
        const char *element = mma ? mma->atom->operand[CUTE_ATOM_A].type : p.operand[0]->pointer->element;
        if (expect(StringRef(element) == p.operand[0]->pointer->element,
                   Twine("elements of A like its type, ") + element + ", but got " +
                       p.operand[0]->pointer->element + "; it follows the tile: tiled_mma<128,128,64," +
                       p.operand[0]->pointer->element + ">"))
            return failure();
        std::string text;
        stated = tiledProduct(p, text);
        if (expect(bool(stated), "operands that a wgmma supports, but there is no " + text)) return failure();
    }
    if (expect(!tiled || !whole || std::equal(tile, tile + 3, p.shape),
               "the tile of its operands, " + textOfTile(p.shape) + ", but got " + textOfTile(tile)))
        return failure();
    Operation *atom = insert("cute.make_atom", {},
                             mlir::parseType(cute_type_peek(wrap(stated))->atom->text, state.getContext()));
    values[0] = insert("cute.make_tiled_mma", atom->getResult(0), stated)->getResult(0);
    state.addTypes(values[3].getType());
    items.clear();
    for (auto [i, value] : llvm::enumerate(values)) {
        bool factor = i == 1 || i == 2;
        FailureOr<Value> operand = factor ? fragmentOf(p, (int)i - 1, values[0], value) : value;
        if (failed(operand)) return failure();
        Literal &item = items.emplace_back();
        item.kind = Literal::Given;
        item.location = parser.getNameLoc();
        item.value = *operand;
    }
    return success();
}

// ---- the tensor memory accelerator ----

// Groups all modes of a tensor into one.
Operation *Reader::grouped(Value tensor)
{
    const cute_tree *shape = cute_type_peek(wrap(tensor.getType()))->layout.shape;
    int32_t rank = shape->kind == CUTE_TREE_TUPLE ? (int32_t)shape->count : 1;
    Builder &builder = parser.getBuilder();
    return insert("cute.group_modes", tensor, {},
                  {builder.getNamedAttr("begin", builder.getI32IntegerAttr(0)),
                   builder.getNamedAttr("end", builder.getI32IntegerAttr(rank))});
}

// `%atom, %tile` or `%atom[%i, %j], %tile`: partitions the atom's box at coordinates in the modes of the
// tensor (default 0), and the tile, for a copy without multicast.
ParseResult Reader::placeBox(std::vector<Literal> &items, const cute_atom *atom)
{
    const cute_layout &box = atom->tma->basis;
    bool several = box.shape->kind == CUTE_TREE_TUPLE;
    size_t rank = several ? box.shape->count : 1, dimensions = 0;
    SmallVector<size_t> at; // for each mode of the tensor, its coordinate
    for (size_t i = 0; i < rank; i++) {
        const cute_tree *stride = several ? box.stride->items[i] : box.stride;
        while (stride->kind == CUTE_TREE_TUPLE && stride->count) stride = stride->items[0];
        bool flat = stride->kind == CUTE_TREE_BASIS && stride->count == 1 && stride->path[0] >= 0;
        if (expect(flat && !atom->tma->multicast,
                   "a tensor of coordinates from cute_nvgpu.atom.tma_partition after an atom with multicast "
                   "or with nested modes"))
            return failure();
        at.push_back(stride->path[0]);
        dimensions = std::max(dimensions, at.back() + 1);
    }
    Literal where;
    where.kind = Literal::Tuple;
    where.location = items[0].location;
    where.items.resize(dimensions);
    for (Literal &zero : where.items) zero.location = where.location;
    if (items.size() == 4) {
        bool tuple = items[1].kind == Literal::Tuple;
        size_t count = tuple ? items[1].items.size() : 1;
        if (expect(count == rank, Twine(rank) + " coordinates, but got " + Twine(count))) return failure();
        for (size_t i = 0; i < count; i++) where.items[at[i]] = tuple ? items[1].items[i] : items[1];
        items.erase(items.begin() + 1);
    }
    FailureOr<Value> tuple = operandOf(where, CUTE_TYPE_INDEX_IntTuple);
    FailureOr<Value> tile = operandOf(items[1], CUTE_TYPE_INDEX_None);
    if (failed(tuple) || failed(tile)) return failure();
    const cute_value *to = cute_type_peek(wrap(tile->getType()));
    if (expect(to && to->type == CUTE_MEMREF && to->pointer->space == CUTE_SPACE_SMEM,
               "a tensor in shared memory after the atom"))
        return failure();
    if (!arena) arena = cute_arena_create();
    Operation *begin = insert("cute.make_arith_tuple_iter", *tuple);
    Operation *layout = insert("cute.static", {}, typeOfValue(cute_value_of_layout(box)));
    Operation *from = begin ? insert("cute.make_view", {begin->getResult(0), layout->getResult(0)}) : nullptr;
    Operation *from1 = from ? grouped(from->getResult(0)) : nullptr, *to1 = grouped(*tile);
    Operation *alone = insert("cute.static", {}, mlir::parseType("!cute.coord<\"0\">", state.getContext()));
    Operation *one =
        insert("cute.static", {}, mlir::parseType("!cute.layout<\"(1):(0)\">", state.getContext()));
    if (expect(from1 && to1, "a tensor in shared memory of the atom's tile")) return failure();
    OperationState made(state.location, "cute_nvgpu.atom.tma_partition");
    made.addOperands(
        {items[0].value, alone->getResult(0), one->getResult(0), to1->getResult(0), from1->getResult(0)});
    std::string said;
    {
        Caught caught(state.getContext());
        if (failed(inferVia(spellingOf(made.name).row, state.getContext(), state.location, made.operands,
                            DictionaryAttr::get(state.getContext()), made.types, true)))
            said = caught.text.empty() ? "expects the atom's tile" : caught.text;
    }
    if (!said.empty()) return emitError(state.location) << "'" << shown << "' op " << said;
    Operation *parts = place(Operation::create(made));
    items[1].kind = Literal::Given;
    items[1].value = parts->getResult(0);
    Literal source = items[1];
    source.value = parts->getResult(1);
    items.insert(items.begin() + 1, source);
    return success();
}
