// Alternative spellings (sugar.def): constants, warp instructions, mbarriers, accesses, shared memory.
#include "lib/atoms/atoms.h"
#include "lib/ir/mlir/llvm_compat.h"
#include "lib/ir/text/reading.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace cute;

// Completes parsing with `op`, an operation of another dialect that is not in a block.
void Reader::become(Operation *op)
{
    state.name = op->getName();
    state.addOperands(op->getOperands());
    state.addTypes(op->getResultTypes());
    state.attributes = op->getAttrDictionary();
    op->destroy();
    finished = true;
}

static bool isMemref(const Literal &item)
{
    return item.kind == Literal::Given && isa<MemRefType>(item.value.getType());
}

static bool isTensor(const Literal &item)
{
    return item.kind == Literal::Given && isKind(item.value.getType(), CUTE_MEMREF);
}

// ---- numbers ----

// constant 16384 : !cute.int; also cute.constant<16384>, which has the width of its type.
ParseResult Reader::sugarConstant(std::vector<Literal> &items)
{
    auto own = dyn_cast_or_null<IntegerAttr>(state.attributes.get("number"));
    bool one = own ? items.empty() : items.size() == 1 && items[0].kind == Literal::Number;
    if (expect(one && written.results.size() == 1, "a number and its type: constant 16384 : !cute.int"))
        return failure();
    const cute_value *type = cute_type_peek(wrap(written.results[0]));
    int64_t number = own ? own.getInt() : items[0].number;
    if (expect(type && type->tree && type->tree->kind == CUTE_TREE_INT &&
                   (type->type == CUTE_INTEGER || type->type == CUTE_INT_TUPLE || type->type == CUTE_SHAPE ||
                    type->type == CUTE_STRIDE || type->type == CUTE_COORD),
               "an integer type such as !cute.int or !cute.i32<divby 8>"))
        return failure();
    cute_int leaf = type->tree->value;
    items.clear();
    if (leaf.known) {
        if (expect(leaf.value == number,
                   "the number in its type, " + Twine(leaf.value) + ", but got " + Twine(number)))
            return failure();
        state.addTypes(written.results[0]);
        becomeStatic();
        return success();
    }
    if (expect(llvm::isIntN(std::min(leaf.width, 64), number),
               "a number of " + Twine(leaf.width) + " bits, but got " + Twine(number)))
        return failure();
    if (expect(leaf.divisor <= 1 || number % leaf.divisor == 0,
               "a multiple of " + Twine(leaf.divisor) + ", but got " + Twine(number)))
        return failure();
    Builder &builder = parser.getBuilder();
    state.attributes.set("number", builder.getIntegerAttr(builder.getIntegerType(leaf.width), number));
    return success();
}

// ---- warp MMA ----

// The registers of an operand that is a vector of its elements or of 32-bit words; false for other values.
bool Reader::registersOf(Value value, const cute_atom_operand &operand, SmallVectorImpl<Value> &registers)
{
    auto type = dyn_cast<VectorType>(value.getType());
    if (!type || type.isScalable()) return false;
    OpBuilder builder(state.getContext());
    int64_t count = type.getNumElements();
    Type element = type.getElementType(), word = builder.getI32Type();
    std::string name;
    llvm::raw_string_ostream(name) << element;
    bool words = element == word && count == operand.registers;
    if (!words && (name != operand.type || count != operand.values)) return false;
    auto built = [&](auto op) {
        place(op);
        return op->getResult(0);
    };
    if (type.getRank() != 1)
        value = built(
            create<vector::ShapeCastOp>(builder, state.location, VectorType::get(count, element), value));
    if (!words && operand.bits < 32)
        value = built(create<vector::BitCastOp>(builder, state.location,
                                                VectorType::get(operand.registers, word), value));
    for (int64_t i = 0; i < operand.registers; i++)
        registers.push_back(built(create<vector::ExtractOp>(builder, state.location, value, i)));
    return true;
}

// warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<16,8,16,f16>; operands are vectors of a lane's elements,
// or of 32-bit words.
ParseResult Reader::sugarWarpMma(std::vector<Literal> &items)
{
    const cute_value *value =
        written.results.size() == 1 ? cute_type_peek(wrap(written.results[0])) : nullptr;
    const cute_atom *atom = value && value->type == CUTE_ATOM ? value->atom : nullptr;
    bool half =
        atom && atom->known && atom->kind == CUTE_ATOM_MMA && atom->operand[0].type == StringRef("f16");
    bool brain =
        atom && atom->known && atom->kind == CUTE_ATOM_MMA && atom->operand[0].type == StringRef("bf16");
    if (expect(half || brain, "an f16 or bf16 MMA atom type after the operands: `: "
                              "!cute_nvgpu.mma_atom<16,8,16,f16>`") ||
        expect(items.size() == 3, "A, B and C, but got " + Twine(items.size()) + " operands"))
        return failure();
    state.getContext()->getOrLoadDialect<vector::VectorDialect>();
    // D has the type of C; the accumulator of f16 can be f16.
    cute_atom_operand operands[3] = {atom->operand[0], atom->operand[1], atom->operand[2]};
    auto sum =
        items[2].kind == Literal::Given ? dyn_cast<VectorType>(items[2].value.getType()) : VectorType();
    bool narrow = half && sum && (sum.getElementType().isF16() || sum.getElementType().isInteger(32));
    cute_atom_operand &c = operands[CUTE_ATOM_C];
    if (narrow && c.bits == 32) c.type = "f16", c.bits = 16, c.registers = (int)c.values / 2;
    SmallVector<Value> registers;
    for (int i = 0; i < 3; i++) {
        const cute_atom_operand &o = operands[i];
        if (items[i].kind == Literal::Given && registersOf(items[i].value, o, registers)) continue;
        std::string text;
        llvm::raw_string_ostream out(text);
        out << "a vector of " << o.values << ' ' << o.type;
        if (o.bits < 32) out << " or of " << o.registers << " i32";
        out << " as " << letters[i] << ", but got ";
        if (items[i].kind == Literal::Given)
            out << '\'' << items[i].value.getType() << '\'';
        else
            out << "a literal";
        if (isTensor(items[i])) out << ": cute.gemm multiplies fragments";
        return expect(false, text);
    }
    OpBuilder builder(state.getContext());
    auto shape = ("#cute.shape<\"(" + Twine(atom->shape[0]) + "," + Twine(atom->shape[1]) + "," +
                  Twine(atom->shape[2]) + ")\">")
                     .str();
    Type element = half ? Type(builder.getF16Type()) : builder.getBF16Type(), f32 = builder.getF32Type();
    OperationState product(state.location, "cute_nvgpu.arch.mma.SM80");
    product.addOperands(registers);
    product.addTypes(SmallVector<Type>(c.registers, narrow ? VectorType::get(2, element) : f32));
    product.addAttribute("a_type", TypeAttr::get(element));
    product.addAttribute("b_type", TypeAttr::get(element));
    product.addAttribute("shape_MNK", mlir::parseAttribute(shape, state.getContext()));
    product.addAttribute(
        "operandSegmentSizes",
        builder.getDenseI32ArrayAttr({operands[0].registers, operands[1].registers, operands[2].registers}));
    Operation *mma = place(Operation::create(product));
    // Assembles D in the type of C.
    SmallVector<Value> results(mma->getResults());
    if (!narrow)
        return become(create<vector::FromElementsOp>(builder, state.location, sum, results)), success();
    Type words = VectorType::get(1, builder.getI32Type());
    for (Value &result : results) {
        Operation *word = place(create<vector::BitCastOp>(builder, state.location, words, result));
        result =
            place(create<vector::ExtractOp>(builder, state.location, word->getResult(0), 0))->getResult(0);
    }
    auto all = VectorType::get(c.registers, builder.getI32Type());
    Operation *last = create<vector::FromElementsOp>(builder, state.location, all, results);
    if (sum != all && !sum.getElementType().isInteger(32)) {
        place(last);
        last = create<vector::BitCastOp>(builder, state.location, VectorType::get(c.values, element),
                                         last->getResult(0));
    }
    if (sum != last->getResult(0).getType()) {
        place(last);
        last = create<vector::ShapeCastOp>(builder, state.location, sum, last->getResult(0));
    }
    return become(last), success();
}

// layout_eval that keeps all divisors of the index, which determine the alignment.
Operation *Reader::offsetOf(Value coord, Value layout)
{
    OperationName name("cute.layout_eval", state.getContext());
    SmallVector<Type> types;
    if (failed(inferVia(spellingOf(name).row, state.getContext(), state.location, {coord, layout},
                        DictionaryAttr::get(state.getContext()), types, true)) ||
        types.size() != 1)
        return nullptr;
    return insert(name.getStringRef(), {coord, layout}, types[0]);
}

// ldmatrix<x4, trans> %p, with a pointer to a row of 16 bytes or a tensor element %t[%i, %j].
ParseResult Reader::sugarLdmatrix(std::vector<Literal> &items)
{
    Builder &builder = parser.getBuilder();
    NamedAttrList &attributes = state.attributes;
    // Words in angle brackets were parsed as the first attributes.
    auto word = [&](StringRef name) {
        auto text = dyn_cast_or_null<StringAttr>(attributes.get(name));
        if (text) attributes.erase(name);
        return text ? text.getValue() : StringRef();
    };
    StringRef first = word("matrix_shape"), second = word("num_matrices");
    int64_t matrices = 4;
    if (auto vector = written.results.size() == 1 ? dyn_cast<VectorType>(written.results[0]) : VectorType())
        matrices = vector.getNumElements();
    if (auto number = dyn_cast_or_null<IntegerAttr>(attributes.get("num_matrices")))
        matrices = number.getInt();
    for (StringRef text : {first, second}) {
        if (text.empty()) continue;
        bool count = text.size() == 2 && text[0] == 'x' && strchr("124", text[1]);
        if (expect(count || text == "trans", "x1, x2 or x4, and trans, but got '" + text + "'"))
            return failure();
        if (count)
            matrices = text[1] - '0';
        else
            attributes.set("transpose", builder.getUnitAttr());
    }
    if (expect(matrices == 1 || matrices == 2 || matrices == 4,
               "1, 2 or 4 matrices, but got " + Twine(matrices)) ||
        expect(items.size() == 1 || items.size() == 2,
               "a pointer to shared memory, or a tensor element: cute_nvgpu.ldmatrix %t[%i, %j]"))
        return failure();
    auto read = [&](StringRef text) { return mlir::parseAttribute(text, state.getContext()); };
    attributes.set("matrix_shape", read("#cute.shape<\"(8,8)\">"));
    attributes.set("sz_pattern", read("#cute_nvgpu.ldsm_sz_pattern<u16>"));
    attributes.set("num_matrices", builder.getI32IntegerAttr((int32_t)matrices));
    if (written.results.empty()) state.addTypes(VectorType::get(matrices, builder.getI32Type()));
    if (!isTensor(items[0])) return expect(items.size() == 1, "a tensor before `[`");
    Value whole = items[0].value;
    Operation *pointer = insert("cute.get_iter", whole);
    if (items.size() == 2 && pointer) {
        FailureOr<Value> coord = operandOf(items[1], CUTE_TYPE_INDEX_Coord);
        if (failed(coord)) return failure();
        Operation *layout = insert("cute.get_layout", whole);
        Operation *index = layout ? offsetOf(*coord, layout->getResult(0)) : nullptr;
        pointer = index ? insert("cute.add_offset", {pointer->getResult(0), index->getResult(0)}) : nullptr;
    }
    if (expect(pointer, "a coordinate of its tensor")) return failure();
    items.resize(1);
    items[0].kind = Literal::Given;
    items[0].value = pointer->getResult(0);
    return success();
}

// ---- mbarriers, fences, the tensor memory accelerator ----

// mbarrier_wait %b: waits for the first phase.
ParseResult Reader::sugarMbarrierWait(std::vector<Literal> &items)
{
    if (expect(!items.empty(), "an mbarrier, and the phase if it is not 0")) return failure();
    if (items.size() > 1) return success();
    Literal phase;
    phase.location = items[0].location;
    items.push_back(phase);
    return success();
}

// fence_acq_rel_cta: its scope is the end of its name.
ParseResult Reader::sugarFence(std::vector<Literal> &items)
{
    Builder &builder = parser.getBuilder();
    if (expect(items.empty(), "no operands")) return failure();
    state.attributes.set("order", builder.getStringAttr("acq_rel"));
    state.attributes.set("scope", builder.getStringAttr(spelled.rsplit('_').second));
    return success();
}

ParseResult Reader::sugarRelaxed(std::vector<Literal> &items)
{
    if (expect(items.empty(), "no operands")) return failure();
    state.attributes.set("relaxed", parser.getBuilder().getUnitAttr());
    return success();
}

// The type that the only result of an operation has.
Type Reader::inferredType(StringRef name, ValueRange operands)
{
    OperationName of(name, state.getContext());
    SmallVector<Type> types;
    bool known = succeeded(inferVia(spellingOf(of).row, state.getContext(), state.location, operands,
                                    DictionaryAttr::get(state.getContext()), types, true));
    return known && types.size() == 1 ? types[0] : Type();
}

// tma_load_execute %map[%i, %j], %tile, %barrier of nvgpu; coordinates default to 0.
ParseResult Reader::loadByMap(std::vector<Literal> &items)
{
    Value map = items[0].value;
    auto box = cast<nvgpu::TensorMapDescriptorType>(map.getType()).getTensor();
    bool placed = items.size() == 4;
    std::vector<Literal> place(box.getRank());
    for (Literal &zero : place) zero.location = items[0].location;
    if (placed && items[1].kind == Literal::Tuple)
        place = items[1].items;
    else if (placed)
        place.assign(1, items[1]);
    const Literal &tile = items[items.size() - 2], &barrier = items.back();
    bool known = tile.kind == Literal::Given && isa<MemRefType>(tile.value.getType()) &&
                 barrier.kind == Literal::Given && isa<nvgpu::MBarrierGroupType>(barrier.value.getType());
    if (expect(known, "a memref in shared memory and a !nvgpu.mbarrier.group after its tensor map") ||
        expect((int64_t)place.size() == box.getRank(),
               Twine(box.getRank()) + " coordinates, but got " + Twine(place.size())))
        return failure();
    SmallVector<Value> coordinates;
    for (const Literal &item : place) {
        FailureOr<Value> index = indexOf(item);
        if (failed(index)) return failure();
        coordinates.push_back(*index);
    }
    FailureOr<Value> first = indexOf(Literal());
    if (failed(first)) return failure();
    OpBuilder builder(state.getContext());
    auto load = create<nvgpu::TmaAsyncLoadOp>(builder, state.location, tile.value, barrier.value, map,
                                              coordinates, *first, Value(), Value());
    return become(load), success();
}

// tma_load_execute %atom, %coordinates, %tile, %barrier: a copy with the atom and mbarrier.
// Also %atom[%i, %j], %tile, %barrier.
ParseResult Reader::sugarTmaLoad(std::vector<Literal> &items)
{
    bool given = !items.empty() && items[0].kind == Literal::Given;
    Type type = given ? items[0].value.getType() : Type();
    if (given && isa<nvgpu::TensorMapDescriptorType>(type) && (items.size() == 3 || items.size() == 4))
        return loadByMap(items);
    const cute_value *atom = given ? cute_type_peek(wrap(type)) : nullptr;
    bool loads = atom && atom->type == CUTE_ATOM && strstr(atom->atom->mnemonic, "tma_load");
    if (expect(
            loads && (items.size() == 3 || items.size() == 4) && items.back().kind == Literal::Given,
            "a TMA load, coordinates, a tensor in shared memory and an mbarrier; or a tensor map, a memref "
            "and a !nvgpu.mbarrier.group"))
        return failure();
    const cute_value *from = items.size() == 4 && items[1].kind == Literal::Given
                                 ? cute_type_peek(wrap(items[1].value.getType()))
                                 : nullptr;
    bool coordinates =
        items.size() == 4 && (items[1].kind == Literal::Part || (from && from->type == CUTE_COORD_TENSOR));
    if (!coordinates && placeBox(items, atom->atom)) return failure();
    Value exec = items[0].value;
    if (strstr(atom->atom->mnemonic, "non_exec")) {
        Type runs = inferredType("cute_nvgpu.atom.make_exec_tma", exec);
        Operation *made = runs ? insert("cute_nvgpu.atom.make_exec_tma", exec, runs) : nullptr;
        if (expect(made, "an executable TMA load")) return failure();
        exec = made->getResult(0);
    }
    Builder &builder = parser.getBuilder();
    auto field = mlir::parseAttribute("#cute_nvgpu.atom_copy_field_tmaload<tma_bar>", state.getContext());
    Operation *set = insert("cute_nvgpu.atom.set_value", {exec, items[3].value}, exec.getType(),
                            builder.getNamedAttr("field", field));
    if (expect(set, "a pointer to an mbarrier")) return failure();
    items[0].value = set->getResult(0);
    items.pop_back();
    return success();
}

// ---- accesses ----

FailureOr<Value> Reader::indexOf(const Literal &item)
{
    OpBuilder builder(state.getContext());
    if (item.kind == Literal::Number)
        return place(create<arith::ConstantIndexOp>(builder, state.location, item.number))->getResult(0);
    if (item.kind == Literal::Given && isa<IndexType>(item.value.getType())) return item.value;
    if (item.kind == Literal::Given && isa<IntegerType>(item.value.getType()))
        return place(create<arith::IndexCastOp>(builder, state.location, builder.getIndexType(), item.value))
            ->getResult(0);
    return parser.emitError(item.location, "expects an integer as index of a memref");
}

// Access to a memref element; a stored value precedes the memref.
ParseResult Reader::accessMemref(std::vector<Literal> &items, StringRef name)
{
    state.getContext()->getOrLoadDialect<memref::MemRefDialect>();
    Literal &place = items.back();
    Value memref = items[items.size() - 2].value;
    auto type = cast<MemRefType>(memref.getType());
    SmallVector<Value> indices;
    bool several = place.kind == Literal::Tuple;
    for (size_t i = 0; i < (several ? place.items.size() : 1); i++) {
        FailureOr<Value> index = indexOf(several ? place.items[i] : place);
        if (failed(index)) return failure();
        indices.push_back(*index);
    }
    if (expect((int64_t)indices.size() == type.getRank(),
               Twine(type.getRank()) + " indices of its memref, but got " + Twine(indices.size())))
        return failure();
    Type element = type.getElementType();
    state.name = OperationName(name, state.getContext());
    bool stores = items.size() == 3;
    if (stores) {
        if (expect(items[0].kind == Literal::Given && items[0].value.getType() == element,
                   "a value of its memref's type"))
            return failure();
        state.addOperands(items[0].value);
    }
    state.addOperands(memref);
    state.addOperands(indices);
    if (!stores) state.addTypes(element);
    finished = true;
    return success();
}

// gpu.load %t[%i] : f32
ParseResult Reader::sugarGpuLoad(std::vector<Literal> &items)
{
    if (expect(items.size() == 2 && (isTensor(items[0]) || isMemref(items[0])),
               "an element of a tensor or memref: gpu.load %t[%i] : f32"))
        return failure();
    if (isTensor(items[0])) return success();
    Type element = cast<MemRefType>(items[0].value.getType()).getElementType();
    if (expect(written.results.empty() || (written.results.size() == 1 && written.results[0] == element),
               "the element type of its memref after the colon"))
        return failure();
    return accessMemref(items, "memref.load");
}

// gpu.store %x, %t[%i] : f32
ParseResult Reader::sugarGpuStore(std::vector<Literal> &items)
{
    if (expect(items.size() == 3 && (isTensor(items[1]) || isMemref(items[1])),
               "a value and an element of a tensor or memref: gpu.store %x, %t[%i] : f32"))
        return failure();
    return isTensor(items[1]) ? sugarStore(items) : accessMemref(items, "memref.store");
}

// {align = 128, swizzle = "S<3,4,3>"}: moves the attributes to the type of the tensor, after the memory
// space.
ParseResult Reader::takePlace(bool composed, std::string &text)
{
    int64_t align = 16;
    auto swizzle = dyn_cast_or_null<StringAttr>(state.attributes.erase("swizzle"));
    if (swizzle) {
        cute_value value;
        size_t offset;
        StringRef words = swizzle.getValue();
        bool known = !cute_value_parse_any(arena, words.data(), words.size(), &value, &offset, nullptr);
        if (expect(!composed && known && value.type == CUTE_SWIZZLE,
                   "a layout without a swizzle, and the pointer's as swizzle = \"S<3,4,3>\""))
            return failure();
        // The swizzle pattern requires that all XORed address bits are 0 at the start.
        int bits = value.swizzle.bits + value.swizzle.base + std::abs(value.swizzle.shift);
        if (value.swizzle.bits) align = std::max(align, (int64_t)1 << std::min(bits, 40));
    }
    if (Attribute given = state.attributes.erase("align")) {
        auto number = dyn_cast<IntegerAttr>(given);
        if (expect(number && number.getValue().isPowerOf2() && number.getValue().getActiveBits() < 32,
                   "a power of two in bytes as align"))
            return failure();
        align = number.getInt();
    }
    text = "align<" + std::to_string(align) + ">" + (swizzle ? ", " + swizzle.getValue().str() : "");
    return success();
}

// alloc_smem f16, "(64,64):(64,1)" {swizzle = "S<3,4,3>"} and gpu.alloc_shared_memory(1024, f16), also with a
// shape or a layout, and with the element type after a colon.
ParseResult Reader::sugarAllocShared(std::vector<Literal> &items)
{
    bool ours = spelled == "cute.alloc_smem";
    Type element;
    if (items.size() == 2 && items[ours ? 0 : 1].kind == Literal::Constant) {
        element = items[ours ? 0 : 1].type;
        items.erase(items.begin() + (ours ? 0 : 1));
    } else if (written.results.size() == 1) {
        element = std::exchange(written.results, {})[0];
    } else if (written.operands.size() == 1) { // of one literal
        element = std::exchange(written.operands, {})[0];
        written.hasOperands = false;
    }
    bool type = element && written.results.empty();
    if (expect(items.size() == 1 && type, ours ? "an element type and a shape or layout: "
                                                 "cute.alloc_smem f16, \"(64,32):(32,1)\""
                                               : "a number of elements, a shape or a layout, and an element "
                                                 "type: gpu.alloc_shared_memory(1024, f16)"))
        return failure();
    if (!arena) arena = cute_arena_create();
    cute_value value, layout;
    const cute_value *given =
        items[0].kind == Literal::Given ? cute_type_peek(wrap(items[0].value.getType())) : nullptr;
    if (given)
        value = *given;
    else if (expect(items[0].kind != Literal::Given,
                    "a static size: for a size set at launch, use cute_nvgpu.arch.get_dyn_smem"))
        return failure();
    else if (valueOf(items[0], items[0].kind == Literal::Text ? CUTE_TYPE_INDEX_None : CUTE_TYPE_INDEX_Shape,
                     value))
        return failure();
    bool composed = ours && value.type == CUTE_COMPOSED_LAYOUT, laid = composed || value.type == CUTE_LAYOUT;
    if (expect(laid || value.type == CUTE_SHAPE || value.type == CUTE_INT_TUPLE, "a shape or a layout") ||
        expect(cute_value_is_static(&value),
               "a static size: for a size set at launch, use cute_nvgpu.arch.get_dyn_smem"))
        return failure();
    if (!laid) value.type = CUTE_SHAPE;
    if (laid)
        layout = value;
    else if (cute_apply(arena, nullptr, CUTE_OP_MAKE_LAYOUT, &value, 1, nullptr, &layout, nullptr))
        return expect(false, "a shape");
    std::string text, place = "align<16>";
    if (ours && takePlace(composed, place)) return failure();
    llvm::raw_string_ostream(text) << "!cute.memref<" << element << ", smem, " << place << ", \""
                                   << cute_value_text(arena, &layout) << "\">";
    Type tensor;
    {
        Caught caught(state.getContext());
        tensor = mlir::parseType(text, state.getContext());
    }
    std::string name;
    llvm::raw_string_ostream(name) << element;
    if (expect(bool(tensor), "an element type, but got '" + name + "'")) return failure();
    state.name = OperationName("cute.memref.alloca", state.getContext());
    state.addTypes(tensor);
    finished = true;
    return success();
}
