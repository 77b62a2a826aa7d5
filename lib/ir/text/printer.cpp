// Prints operations of our dialects in the formats of forms.def, which reader.cpp parses.
#include "lib/ir/text/reading.h"

#include "mlir/CAPI/Support.h"

using namespace mlir;
using namespace cute;

// Printed without its name: `[0, 1]`, `4`, `add`.
static bool isPositional(Attribute value)
{
    if (auto number = dyn_cast_or_null<IntegerAttr>(value)) return number.getType().isSignlessInteger(32);
    if (auto word = dyn_cast_or_null<StringAttr>(value)) {
        StringRef text = word.getValue();
        return !text.empty() && llvm::isAlpha(text[0]) &&
               llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; }) && text != "true" &&
               text != "false" && text != "unit" && text != "dense" && text != "array";
    }
    return isa_and_nonnull<DenseI32ArrayAttr>(value);
}

static void printValue(Attribute value, OpAsmPrinter &p)
{
    if (auto array = dyn_cast<DenseI32ArrayAttr>(value))
        array.print(p);
    else if (auto word = dyn_cast<StringAttr>(value); word && isPositional(value))
        p << word.getValue();
    else if (isPositional(value))
        p.printAttributeWithoutType(value);
    else
        p << value;
}

// Operand segment sizes, if the parser would not infer them from the number of operands.
static void addSegments(Operation *op, StringAttr name, SmallVectorImpl<NamedAttribute> &all)
{
    auto sizes = name ? dyn_cast_or_null<DenseI32ArrayAttr>(op->getAttr(name)) : DenseI32ArrayAttr();
    if (!sizes) return;
    for (auto [i, size] : llvm::enumerate(sizes.asArrayRef()))
        if (size != (i < op->getNumOperands() ? 1 : 0)) return all.push_back({name, sizes});
}

// True when there is a place for attributes between the name and the operands.
static bool printAttributes(Operation *op, const Spelling &spelling, OpAsmPrinter &p)
{
    SmallVector<NamedAttribute> all;
    bool positional = true;
    StringAttr letter = spelling[Place::Letter];
    if (Attribute value = letter ? op->getAttr(letter) : Attribute()) {
        auto number = dyn_cast<IntegerAttr>(value);
        uint64_t i = number ? number.getValue().getLimitedValue(letters.size()) : letters.size();
        if (i < letters.size())
            p << ' ' << letters[i];
        else
            all.push_back({letter, value});
    }
    addSegments(op, spelling[Place::Segments], all);
    positional = all.empty();
    bool left_out = false; // positional attributes: only trailing ones may be omitted
    for (StringAttr name : spelling.angle) {
        Attribute value = op->getAttr(name);
        positional = positional && (!value || (isPositional(value) && !left_out));
        left_out = !value;
        if (value) all.push_back({name, value});
    }
    if (all.empty()) return letter || !spelling.angle.empty();
    p << (positional ? "<" : "<{");
    llvm::interleaveComma(all, p, [&](NamedAttribute attribute) {
        if (!positional) p << attribute.getName().getValue();
        if (isa<UnitAttr>(attribute.getValue())) return;
        if (!positional) p << " = ";
        if (auto array = dyn_cast<DenseI32ArrayAttr>(attribute.getValue()); array && !positional)
            p << array;
        else if (positional)
            printValue(attribute.getValue(), p);
        else
            p << attribute.getValue();
    });
    p << (positional ? ">" : "}>");
    return true;
}

// A string among the operands: a format, or the text of a #cute.coord.
static void printText(Operation *op, StringAttr name, bool &first, OpAsmPrinter &p)
{
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

static void printOneType(OpAsmPrinter &p, Type type, int bare)
{
    bool short_ = bare >= 0 && cute_type_row_of(wrap(type)) == cute_type_row_at((cute_type_index)bare);
    MlirStringRef text = short_ ? cute_type_text(wrap(type)) : MlirStringRef{};
    if (!short_)
        p << type;
    else if (failed(p.printAlias(type)))
        cute::printText(p, StringRef(text.data, text.length));
}

static void printTypes(Operation *op, const Spelling &spelling, OpAsmPrinter &p)
{
    Types types = spelling.form.types;
    p << (types == Types::FUNCTION ? " : (" : " : ");
    if (types != Types::RESULT)
        for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
            if (i) p << ", ";
            printOneType(p, type, spelling.bare(i));
        }
    if (types == Types::FUNCTION) p << ')';
    if (types == Types::OPERANDS || types == Types::LEADING) return;
    if (types != Types::RESULT) p << " -> ";
    if (op->getNumResults() == 1) return printOneType(p, op->getResult(0).getType(), spelling.form.result);
    p << '(' << op->getResultTypes() << ')';
}

void cute::printOperation(Operation *op, OpAsmPrinter &p)
{
    const Spelling &spelling = spellingOf(op->getName());
    Types types = spelling.form.types;
    if (printAttributes(op, spelling, p) && types != Types::RESULT) p << ' ';
    if (types != Types::RESULT) {
        bool first = true;
        p << '(';
        ::printText(op, spelling[Place::First], first, p);
        for (Value operand : op->getOperands()) {
            if (!std::exchange(first, false)) p << ", ";
            p << operand;
        }
        ::printText(op, spelling[Place::Last], first, p);
        p << ')';
    }
    if (StringAttr name = spelling[Place::Cta]) p << (op->hasAttr(name) ? " [cta_2]" : " [cta_1]");
    SmallVector<NamedAttribute> others(op->getRawDictionaryAttrs().getValue());
    if (StringAttr name = spelling[Place::Behind])
        if (Attribute value = op->getAttr(name)) others.push_back({name, value});
    if (types != Types::LEADING && !others.empty()) p.printOptionalAttrDict(others);
    printTypes(op, spelling, p);
    if (types == Types::LEADING && !others.empty()) p.printOptionalAttrDict(others);
}
