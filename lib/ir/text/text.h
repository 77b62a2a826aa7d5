// Storage, parsing and printing of types whose parameter is a text. The text is interpreted by types.c.
#ifndef CUTE_LIB_IR_TEXT_TEXT_H
#define CUTE_LIB_IR_TEXT_TEXT_H

#include "lib/ir/dialects/types.h"
#include "lib/ir/text/reader.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/DialectImplementation.h"

// An arena and a diag for one call to C.
struct CuteScratch {
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    ~CuteScratch();
    std::string message() const;
};

namespace cute
{
using namespace mlir;

// Storage of a type: its row, its canonical text, and the value that the text describes, parsed once.
struct TypeText : TypeStorage {
    using KeyTy = std::pair<unsigned, StringRef>; // the row's index, the canonical text
    TypeText(cute_type_index index, StringRef text);
    ~TypeText() { cute_arena_destroy(arena); }
    bool operator==(const KeyTy &key) const { return key.first == (unsigned)index && key.second == text; }
    static TypeText *construct(TypeStorageAllocator &allocator, const KeyTy &key)
    {
        return new (allocator.allocate<TypeText>())
            TypeText((cute_type_index)key.first, allocator.copyInto(key.second));
    }
    StringRef text;
    cute_type_index index;
    cute_arena *arena = nullptr;
    cute_value value;
    bool valid = false;
};

// All CUTE_IR_TEXT types of one dialect.
template <class Dialect> class TextType : public Type::TypeBase<TextType<Dialect>, Type, TypeText>
{
  public:
    using Type::TypeBase<TextType<Dialect>, Type, TypeText>::Base::Base;
    static constexpr StringLiteral name = Dialect::textTypeName;
    static TextType get(MLIRContext *context, cute_type_index index, StringRef text)
    {
        return Type::TypeBase<TextType<Dialect>, Type, TypeText>::Base::get(context, (unsigned)index, text);
    }
};

// The storage of a CUTE_IR_TEXT type of any dialect; NULL for other types.
const TypeText *textOf(Type type);
// Whether the type has that row.
inline bool isRow(Type type, cute_type_index index)
{
    const TypeText *text = textOf(type);
    return text && text->index == index;
}

// Parses the text between `<` and `>` (may be absent) to its canonical form, or emits an error at the
// offending token.
FailureOr<std::string> parseText(AsmParser &parser, cute_type_index index);
// The row of `mnemonic` in `dialect`, or an error that suggests the nearest mnemonic.
FailureOr<cute_type_index> parseRow(AsmParser &parser, SMLoc place, StringRef dialect, StringRef mnemonic);
// Parses a type of the dialect after its mnemonic.
template <class Dialect> Type parseTextType(AsmParser &parser, SMLoc place, StringRef mnemonic)
{
    if (std::optional<Type> other = readOtherType(parser, place, Dialect::getDialectNamespace(), mnemonic))
        return *other;
    FailureOr<cute_type_index> index = parseRow(parser, place, Dialect::getDialectNamespace(), mnemonic);
    if (failed(index)) return {};
    FailureOr<std::string> text = parseText(parser, *index);
    return failed(text) ? Type() : TextType<Dialect>::get(parser.getContext(), *index, *text);
}
void printTextType(Type type, AsmPrinter &printer);
} // namespace cute

#endif
