// Reads the text between `<` and `>` of a type with MLIR's tokens, so that aliases are resolved, and maps
// positions in the text back to the tokens. See text.h.
#include "lib/ir/text/text.h"

#include "mlir/CAPI/Support.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cute;

CuteScratch::~CuteScratch()
{
    cute_arena_destroy(arena);
    cute_diag_destroy(diag);
}

std::string CuteScratch::message() const
{
    std::string text;
    for (size_t i = 0; i < cute_diag_count(diag); i++) {
        if (i) text += "; ";
        text += cute_diag_get(diag, i)->text;
    }
    return text;
}

TypeText::TypeText(cute_type_index index, StringRef text) : text(text), index(index)
{
    const cute_type_row *row = cute_type_row_at(index);
    if (row->kind == CUTE_NO_VALUE) return;
    arena = cute_arena_create();
    valid = arena &&
            cute_type_row_value(row, arena, text.data(), text.size(), &value, nullptr, nullptr) == CUTE_OK;
}

// ---- the reader ----

namespace
{
class Reader
{
  public:
    explicit Reader(AsmParser &parser) : parser(parser) {}
    // Reads up to and including the closing `>`.
    ParseResult read();
    // The source location of a byte of the text.
    SMLoc place(size_t offset) const;

    std::string text;

  private:
    // A piece of the text: copied from the source, or the expansion of an alias.
    struct Piece {
        size_t offset;
        const char *source;
        bool verbatim;
    };
    AsmParser &parser;
    std::vector<Piece> pieces;

    const char *here() { return parser.getCurrentLocation().getPointer(); }
    void add(StringRef piece, const char *source, bool verbatim = true)
    {
        pieces.push_back({text.size(), source, verbatim});
        text += piece;
    }
    ParseResult token(const char *start);
    ParseResult string(const char *start);
    ParseResult number(const char *start);
    template <class Symbol> ParseResult symbol(const char *start, Symbol &value)
    {
        std::string spelling;
        llvm::raw_string_ostream stream(spelling);
        stream << value;
        add(stream.str(), start, false);
        return success();
    }
};
} // namespace

SMLoc Reader::place(size_t offset) const
{
    const Piece *at = &pieces.front();
    for (const Piece &piece : pieces)
        if (piece.offset <= offset) at = &piece;
    return SMLoc::getFromPointer(at->source + (at->verbatim ? offset - at->offset : 0));
}

ParseResult Reader::string(const char *start)
{
    std::string value;
    if (parser.parseString(&value)) return failure();
    if (value.find_first_of("\"\\") != std::string::npos)
        return parser.emitError(SMLoc::getFromPointer(start), "expected a text without '\"' and '\\'");
    add("\"" + value + "\"", start);
    return success();
}

ParseResult Reader::number(const char *start)
{
    const char *end = start + (*start == '-');
    while (llvm::isDigit(*end)) end++;
    APInt integer;
    OptionalParseResult parsed = parser.parseOptionalInteger(integer);
    if (!parsed.has_value()) {
        double real;
        if (parser.parseFloat(real)) return failure();
        while (llvm::isAlnum(*end) || *end == '.' || ((*end == '-' || *end == '+') && (end[-1] | 32) == 'e'))
            end++;
    } else if (failed(*parsed)) {
        return failure();
    }
    add(StringRef(start, end - start), start);
    return success();
}

ParseResult Reader::token(const char *start)
{
    using Parse = ParseResult (AsmParser::*)();
    static const struct {
        char mark;
        Parse parse;
    } marks[] = {
        {',', &AsmParser::parseComma},    {'=', &AsmParser::parseEqual},   {':', &AsmParser::parseColon},
        {'?', &AsmParser::parseQuestion}, {'*', &AsmParser::parseStar},    {'+', &AsmParser::parsePlus},
        {'<', &AsmParser::parseLess},     {'>', &AsmParser::parseGreater}, {'(', &AsmParser::parseLParen},
        {')', &AsmParser::parseRParen},   {'[', &AsmParser::parseLSquare}, {']', &AsmParser::parseRSquare},
        {'{', &AsmParser::parseLBrace},   {'}', &AsmParser::parseRBrace}};
    if (*start == '"') return string(start);
    if (llvm::isDigit(*start) || (*start == '-' && llvm::isDigit(start[1]))) return number(start);
    if (*start == '!') {
        Type type;
        return failure(parser.parseType(type) || symbol(start, type));
    }
    if (*start == '#') {
        Attribute attribute;
        return failure(parser.parseAttribute(attribute) || symbol(start, attribute));
    }
    if (*start == '-') {
        add("->", start);
        return parser.parseArrow();
    }
    for (const auto &mark : marks) {
        if (*start != mark.mark) continue;
        add(StringRef(start, 1), start);
        return (parser.*mark.parse)();
    }
    StringRef word;
    if (failed(parser.parseOptionalKeyword(&word)))
        return parser.emitError(SMLoc::getFromPointer(start),
                                "expected a word, a number, a text in quotes or a type");
    add(word, start);
    return success();
}

ParseResult Reader::read()
{
    SmallVector<char> open;
    for (;;) {
        const char *start = here();
        if (!text.empty() && llvm::isSpace(start[-1])) text += ' ';
        if (*start == '>' && open.empty()) {
            pieces.push_back({text.size(), start, true});
            return parser.parseGreater();
        }
        static const char brackets[] = "<>()[]{}";
        if (const char *bracket = *start ? strchr(brackets, *start) : nullptr) {
            if ((bracket - brackets) % 2 == 0)
                open.push_back(bracket[1]);
            else if (open.empty() || open.pop_back_val() != *start)
                return parser.emitError(SMLoc::getFromPointer(start))
                       << "'" << *start << "' has no matching opening bracket";
        }
        if (token(start)) return failure();
    }
}

// ---- types ----

FailureOr<std::string> cute::parseText(AsmParser &parser, cute_type_index index)
{
    const cute_type_row *row = cute_type_row_at(index);
    SMLoc start = parser.getCurrentLocation();
    Reader reader(parser);
    bool empty = failed(parser.parseOptionalLess());
    if (!empty && reader.read()) return failure();
    CuteScratch scratch;
    const char *canonical = nullptr;
    size_t offset = 0;
    if (row->canonical(row, scratch.arena, reader.text.data(), reader.text.size(), &canonical, &offset,
                       scratch.diag))
        return parser.emitError(empty ? start : reader.place(offset)) << scratch.message();
    return std::string(canonical);
}

FailureOr<cute_type_index> cute::parseRow(AsmParser &parser, SMLoc place, StringRef dialect,
                                          StringRef mnemonic)
{
    cute_type_index index;
    std::string word = mnemonic.str(), family = dialect.str();
    if (cute_type_row_find(family.c_str(), word.c_str(), &index)) return index;
    const char *near = cute_type_row_nearest(family.c_str(), word.c_str());
    auto error = parser.emitError(place)
                 << "unknown  type `" << mnemonic << "` in dialect `" << dialect << "`";
    if (near) error << ": did you mean `" << near << "`?";
    return failure();
}

void cute::printTextType(Type type, AsmPrinter &printer)
{
    const TypeText *storage = textOf(type);
    printer << cute_type_row_at(storage->index)->mnemonic;
    if (!storage->text.empty()) printer << '<' << storage->text << '>';
}

extern "C" {

const cute_type_row *cute_type_row_of(MlirType type)
{
    const TypeText *storage = textOf(unwrap(type));
    return storage ? cute_type_row_at(storage->index) : nullptr;
}

MlirStringRef cute_type_text(MlirType type)
{
    const TypeText *storage = textOf(unwrap(type));
    return wrap(storage ? storage->text : StringRef());
}

const cute_value *cute_type_peek(MlirType type)
{
    const TypeText *storage = textOf(unwrap(type));
    return storage && storage->valid ? &storage->value : nullptr;
}
}
