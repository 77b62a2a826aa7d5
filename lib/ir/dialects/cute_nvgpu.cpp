// The dialect cute_nvgpu: generated classes, its types (rows of types.def) and attributes (words.def).
#include "lib/ir/dialects/cute_nvgpu.h"

#include "mlir/CAPI/Registration.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cute_nvgpu;

namespace cute_nvgpu
{
struct WordStorage : AttributeStorage {
    using KeyTy = std::pair<unsigned, StringRef>; // the row of words.def, the word
    WordStorage(unsigned index, StringRef word) : index(index), word(word) {}
    bool operator==(const KeyTy &key) const { return key.first == index && key.second == word; }
    static WordStorage *construct(AttributeStorageAllocator &allocator, const KeyTy &key)
    {
        return new (allocator.allocate<WordStorage>()) WordStorage(key.first, allocator.copyInto(key.second));
    }
    unsigned index;
    StringRef word;
};
} // namespace cute_nvgpu

static const struct {
    const char *mnemonic, *words;
} words[] = {
#define CUTE_IR_WORD(cls, mnemonic, words) {#mnemonic, words},
#include "lib/ir/dialects/words.def"
#undef CUTE_IR_WORD
};

unsigned WordAttr::getIndex() const
{
    return getImpl()->index;
}

StringRef WordAttr::getWord() const
{
    return getImpl()->word;
}

Attribute cute_nvgpu::findWord(MLIRContext *context, StringRef word)
{
    for (unsigned i = 0; i < std::size(words); i++) {
        SmallVector<StringRef> all;
        StringRef(words[i].words).split(all, ' ');
        if (llvm::is_contained(all, word)) return WordAttr::get(context, i, word);
    }
    return {};
}

#include "lib/ir/dialects/cute_nvgpu_dialect.cpp.inc"
#define GET_OP_CLASSES
#include "lib/ir/dialects/cute_nvgpu_ops.cpp.inc"

void CuteNvgpuDialect::initialize()
{
    addTypes<TextOf>();
    addAttributes<WordAttr>();
    addOperations<
#define GET_OP_LIST
#include "lib/ir/dialects/cute_nvgpu_ops.cpp.inc"
        >();
    cute::noteRows(this, rows);
    cute::addSpellings(*this, rows, getContext()->getLoadedDialect<cute::CuteDialect>()->spellings);
}

Type CuteNvgpuDialect::parseType(DialectAsmParser &parser) const
{
    SMLoc place = parser.getCurrentLocation();
    StringRef mnemonic;
    if (parser.parseKeyword(&mnemonic)) return {};
    return cute::parseTextType<CuteNvgpuDialect>(parser, place, mnemonic);
}

void CuteNvgpuDialect::printType(Type type, DialectAsmPrinter &printer) const
{
    cute::printTextType(type, printer);
}

Attribute CuteNvgpuDialect::parseAttribute(DialectAsmParser &parser, Type) const
{
    SMLoc place = parser.getCurrentLocation();
    StringRef mnemonic, word;
    if (parser.parseKeyword(&mnemonic)) return {};
    const auto *found = llvm::find_if(words, [&](const auto &row) { return mnemonic == row.mnemonic; });
    if (found == std::end(words)) {
        parser.emitError(place) << "unknown attribute '#cute_nvgpu." << mnemonic << "'";
        return {};
    }
    if (parser.parseLess()) return {};
    place = parser.getCurrentLocation();
    if (parser.parseKeyword(&word) || parser.parseGreater()) return {};
    SmallVector<StringRef> known;
    StringRef(found->words).split(known, ' ');
    if (!llvm::is_contained(known, word)) {
        parser.emitError(place) << "expected one of " << llvm::join(known, ", ") << " in '#cute_nvgpu."
                                << mnemonic << "', got '" << word << "'";
        return {};
    }
    return WordAttr::get(parser.getContext(), (unsigned)(found - words), word);
}

void CuteNvgpuDialect::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const
{
    auto word = cast<WordAttr>(attribute);
    printer << words[word.getIndex()].mnemonic << '<' << word.getWord() << '>';
}

extern "C" void cute_nvgpu_dialect_insert(MlirDialectRegistry registry)
{
    unwrap(registry)->insert<CuteNvgpuDialect>();
}

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(CuteNvgpu, cute_nvgpu, CuteNvgpuDialect)

extern "C" MlirDialectHandle cute_nvgpu_dialect_handle(void)
{
    return mlirGetDialectHandle__cute_nvgpu__();
}
