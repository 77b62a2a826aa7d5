// C++ side of the dialect cute_nvgpu. Types have a text like those of cute (text.h); attributes have one
// enumerator.
#ifndef CUTE_LIB_IR_DIALECTS_CUTE_NVGPU_H
#define CUTE_LIB_IR_DIALECTS_CUTE_NVGPU_H

#include "lib/ir/dialects/cute.h"

namespace cute_nvgpu
{
using namespace mlir;

enum WordIndex {
#define CUTE_IR_WORD(cls, ...) CUTE_WORD_INDEX_##cls,
#include "lib/ir/dialects/words.def"
#undef CUTE_IR_WORD
};
struct WordStorage;
// `#cute_nvgpu.mnemonic<word>`.
class WordAttr : public Attribute::AttrBase<WordAttr, Attribute, WordStorage>
{
  public:
    using Base::Base;
    static constexpr StringLiteral name = "cute_nvgpu.word";
    unsigned getIndex() const;
    StringRef getWord() const;
};
inline bool isWord(Attribute attribute, WordIndex index)
{
    auto word = dyn_cast<WordAttr>(attribute);
    return word && word.getIndex() == index;
}
// The first attribute with that enumerator, or null.
Attribute findWord(MLIRContext *context, StringRef word);
// Whether a string attribute is one of several words.
inline bool isOneOf(Attribute attribute, StringRef words)
{
    auto text = dyn_cast<StringAttr>(attribute);
    SmallVector<StringRef> all;
    words.split(all, ' ');
    return text && llvm::is_contained(all, text.getValue());
}
#define CUTE_IR_WORD(cls, ...) using cls##Attr = WordAttr;
#include "lib/ir/dialects/words.def"
#undef CUTE_IR_WORD
} // namespace cute_nvgpu

#include "lib/ir/dialects/cute_nvgpu_dialect.h.inc"
namespace cute_nvgpu
{
using TextOf = cute::TextType<CuteNvgpuDialect>;
} // namespace cute_nvgpu
#define CUTE_IR_TEXT(cls, dialect, ...)                                                                      \
    namespace dialect                                                                                        \
    {                                                                                                        \
    using cls##Type = TextOf;                                                                                \
    }
#include "lib/ir/dialects/types.def"
#define GET_OP_CLASSES
#include "lib/ir/dialects/cute_ops.h.inc"
#define GET_OP_CLASSES
#include "lib/ir/dialects/cute_nvgpu_ops.h.inc"

#endif
