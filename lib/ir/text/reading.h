// The parser of one operation, shared by reader.cpp, literals.cpp and sugar*.cpp.
#ifndef CUTE_LIB_IR_TEXT_READING_H
#define CUTE_LIB_IR_TEXT_READING_H

#include "lib/ir/dialects/cute.h"

struct cute_atom;
struct cute_atom_operand;

namespace cute
{
using Operand = OpAsmParser::UnresolvedOperand;

// ---- assembly formats (forms.def) ----

enum class Types { FUNCTION, ARROW, OPERANDS, RESULT, LEADING };

// A cute_type_index, or one of these.
enum : int {
    CUTE_TYPE_INDEX_None = -1,
    CUTE_TYPE_INDEX_Tiler = -2,
    CUTE_TYPE_INDEX_Same = -3,
    CUTE_TYPE_INDEX_Word = -4
};

constexpr unsigned formOperands = 4;
struct Form {
    Types types = Types::FUNCTION;
    int bare[formOperands] = {-1, -1, -1, -1}; // types of operands that are printed as `<"4:1">`
    int result = -1;
    int literals[formOperands] = {-1, -1, -1, -1}; // types of literal operands
    int makes = -1;                                // for make_shape and similar: the type made
};

// Position of an attribute, by its name.
enum class Place {
    Letter,   // `A` before the operands
    First,    // `"text"` before the first operand
    Last,     // `"(1,_)"` after the last operand
    Cta,      // `[cta_1]`
    Segments, // inferred from the operands
    Behind,   // `{name}` after the operands
    Angle,    // all others: `<[0, 1]>`, `<1, 3>`, `<{only_dynamic}>`
};
constexpr llvm::StringLiteral letters = "ABCD";

struct Spelling {
    Form form;
    StringAttr at[(size_t)Place::Angle];
    SmallVector<StringAttr> angle;
    const cute_op_row *row = nullptr;
    bool sugared = false; // sugar.def has a row of the same name
    StringAttr operator[](Place place) const { return at[(size_t)place]; }
    int bare(size_t i) const { return i < formOperands ? form.bare[i] : CUTE_TYPE_INDEX_None; }
    int literal(size_t i) const { return i < formOperands ? form.literals[i] : CUTE_TYPE_INDEX_None; }
};
const Spelling &spellingOf(OperationName name);

// ---- diagnostics ----

// Captures diagnostics of this thread during its lifetime.
struct Caught {
    std::string text;
    Type type;     // the last type in a diagnostic
    Location note; // location of a note
    bool wantsText = true;
    explicit Caught(MLIRContext *context);

  private:
    ScopedDiagnosticHandler handler;
};

// Line and column of the definition of `operand`.
std::pair<unsigned, unsigned> definitionOf(OpAsmParser &parser, const Operand &operand);

// ---- literals ----

struct Literal {
    enum Kind { Number, Real, Open, Given, Tuple, Text, Constant, Part } kind = Number;
    SMLoc location;
    int64_t number = 0;
    double real = 0;
    Value value; // Given
    Type type;   // Constant: a type in place of a value
    std::string text;
    std::vector<Literal> items; // Part: a tensor or layout, and the coordinate at which it is sliced
};

// ---- alternative spellings (sugar.def) ----

class Reader;
struct Sugar {
    const char *operation, *written; // written: the name in the user's text
    ParseResult (Reader::*rewrite)(std::vector<Literal> &items);
};
// NULL if `name` is not an alternative spelling.
const Sugar *sugarOf(StringRef name);

// ---- one operation ----

class Reader
{
  public:
    Reader(OpAsmParser &parser, OperationState &state) : parser(parser), state(state) {}
    ~Reader();
    ParseResult read();

  private:
    // reader.cpp
    ParseResult readAngle();
    ParseResult readNamed();
    ParseResult readAttributes();
    bool ofAtoms() const;
    ParseResult readLetter();
    ParseResult readCta();
    ParseResult readOperands();
    ParseResult readList(bool parens);
    ParseResult readItem(bool parens);
    ParseResult readAnnotation(bool parens);
    ParseResult readTypes();
    ParseResult readTypeList();
    ParseResult readResultTypes();
    ParseResult readOneType(int bare, SmallVectorImpl<Type> &types);
    bool readArrow();
    ParseResult sortTypes(ArrayRef<Value> values);
    ParseResult resolve();
    ParseResult resolveAll(ArrayRef<Operand> names, SmallVectorImpl<Value> &values);
    ParseResult checkOperandCount();
    ParseResult infer();
    ParseResult checkResultCount();
    void remember();
    void addSegments();
    void setProperties();
    ParseResult failWithTypes(const Twine &message);

    // literals.cpp
    OptionalParseResult readOptionalLiteral(Literal &literal);
    ParseResult readLiteral(Literal &literal);
    ParseResult give(Literal &literal, const Operand &operand);
    ParseResult readTuple(Literal &literal, AsmParser::Delimiter close);
    ParseResult regroup();
    void setAnchor();
    Operation *insert(StringRef name, ValueRange operands, Type stated = {},
                      ArrayRef<NamedAttribute> attributes = {});
    Operation *place(Operation *op);
    ParseResult settle();
    void becomeStatic();
    const cute_tree *unknownOf(Value value, const cute_int &leaf);
    const cute_tree *bindLeaves(const cute_tree *tree, ResultRange parts, size_t &next);
    const cute_tree *treeOfValue(Value value, SMLoc location, cute_type kind);
    const cute_tree *treeOf(const Literal &literal, cute_type kind);
    ParseResult valueOf(const Literal &literal, int index, cute_value &out);
    Type typeOfValue(const cute_value &value);
    FailureOr<Value> build(const Literal &literal, int index);
    FailureOr<Value> convert(Value value, int index, SMLoc location);
    FailureOr<Value> wordOf(const Literal &item);
    FailureOr<Value> operandOf(const Literal &item, int index);
    bool converts(ArrayRef<Value> values);
    std::vector<Literal> itemsOf(ArrayRef<Value> values);
    ParseResult makeOperands(std::vector<Literal> &items);
    ParseResult construct(std::vector<Literal> &items);
    ParseResult readStatic(std::vector<Literal> &items);

    // sugar.cpp, sugar_gpu.cpp, sugar_sm90.cpp
    ParseResult expect(bool condition, const Twine &what);
    void become(Operation *op);
    Operation *offsetOf(Value coord, Value layout);
    Type inferredType(StringRef name, ValueRange operands);
    ParseResult loadByMap(std::vector<Literal> &items);
    ParseResult takePlace(bool composed, std::string &text);
    FailureOr<Value> indexOf(const Literal &item);
    ParseResult accessMemref(std::vector<Literal> &items, StringRef name);
    bool registersOf(Value value, const cute_atom_operand &operand, SmallVectorImpl<Value> &registers);
    struct Product;
    bool takeTile(int64_t (&tile)[3]);
    ParseResult productByDescriptors(std::vector<Literal> &items);
    Type tiledProduct(const Product &p, std::string &text);
    FailureOr<Value> fragmentOf(const Product &p, int which, Value mma, Value tensor);
    Operation *grouped(Value tensor);
    ParseResult placeBox(std::vector<Literal> &items, const cute_atom *atom);
    void rename(StringRef name);
    ParseResult compose(std::vector<Literal> &items, size_t a, size_t b);
    ParseResult selectMode(Value tuple, Value mode);

  public:
    ParseResult sugarMakeLayout(std::vector<Literal> &items);
    ParseResult sugarComposition(std::vector<Literal> &items);
    ParseResult sugarSwizzle(std::vector<Literal> &items);
    ParseResult sugarRank(std::vector<Literal> &items);
    ParseResult sugarPart(std::vector<Literal> &items);
    ParseResult sugarTile(std::vector<Literal> &items);
    ParseResult sugarLocalPartition(std::vector<Literal> &items);
    ParseResult sugarFused(std::vector<Literal> &items);
    ParseResult sugarCrd2Idx(std::vector<Literal> &items);
    ParseResult sugarMakeTensor(std::vector<Literal> &items);
    ParseResult sugarLoad(std::vector<Literal> &items);
    ParseResult sugarStore(std::vector<Literal> &items);
    ParseResult sugarAddress(std::vector<Literal> &items);
    ParseResult sugarAtomic(std::vector<Literal> &items);
    ParseResult makeNumber(Literal &item, Type element);
    ParseResult sugarTileMap(std::vector<Literal> &items);
    ParseResult sugarTileGemm(std::vector<Literal> &items);
    ParseResult sugarCopy(std::vector<Literal> &items);
    ParseResult sugarBounds(std::vector<Literal> &items);
    ParseResult layoutOf(Literal &item);
    ParseResult sugarPartitionFragment(std::vector<Literal> &items);
    ParseResult sugarElement(std::vector<Literal> &items);
    ParseResult sugarConstant(std::vector<Literal> &items);
    ParseResult sugarWarpMma(std::vector<Literal> &items);
    ParseResult sugarLdmatrix(std::vector<Literal> &items);
    ParseResult sugarMbarrierWait(std::vector<Literal> &items);
    ParseResult sugarFence(std::vector<Literal> &items);
    ParseResult sugarRelaxed(std::vector<Literal> &items);
    ParseResult sugarTmaLoad(std::vector<Literal> &items);
    ParseResult sugarWarpgroupMma(std::vector<Literal> &items);
    ParseResult sugarArrive(std::vector<Literal> &items);
    ParseResult sugarGpuLoad(std::vector<Literal> &items);
    ParseResult sugarGpuStore(std::vector<Literal> &items);
    ParseResult sugarAllocShared(std::vector<Literal> &items);

  private:
    OpAsmParser &parser;
    OperationState &state;
    const Spelling *spelling = nullptr;
    const Sugar *sugar = nullptr;
    StringRef spelled;     // the name in the text, possibly an alternative spelling
    StringRef shown;       // the name before replacement by spellings.c, for messages
    bool finished = false; // `state` is complete, of another dialect

    SmallVector<Operand, 4> operands;
    SmallVector<std::pair<size_t, Literal>, 0> literals; // operands that are not names, in order
    int nesting = 0;                                     // of the literal being read

    struct {
        SmallVector<Type, 4> operands, results;
        bool started = false, hasOperands = false, hasResults = false;
        SMLoc location;
    } written;

    // Insertion point of operations that make operands: after the last definition of an operand.
    SmallVector<std::pair<Operand, Value>, 0> seen;
    struct {
        Block *block = nullptr;
        Block::iterator point;
    } anchor;
    SmallVector<Operation *, 0> detached; // without an insertion point
    cute_arena *arena = nullptr;
};
} // namespace cute

#endif
