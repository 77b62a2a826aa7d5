/* See spellings.h. A table maps words to replacement functions, which keep the length of the text. */
#include "lib/ir/text/spellings.h"
#include "lib/base/text/chars.h"

#include <ctype.h>
#include <string.h>

static char *skip_string(char *at, const char *end)
{
    for (at++; at < end && *at != '"' && *at != '\n'; at++)
        if (*at == '\\' && at + 1 < end) at++;
    return at < end ? at + 1 : (char *)end;
}

static char *skip_space(char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at)) at++;
    return at;
}

static char *skip_space_back(const char *start, char *at)
{
    while (at > start && isspace((unsigned char)at[-1])) at--;
    return at;
}

/* The word [word, after) of the text. */
typedef struct place {
    char *text, *word, *after;
    const char *end;
} place;

/* ---- replacement functions ---- */

/* `gpu.printf "%d\n", %x` has no comma. */
static void drop_format_comma(const place *p, const char *by)
{
    (void)by;
    char *format = skip_space(p->after, p->end);
    if (format >= p->end || *format != '"') return;
    char *comma = skip_space(skip_string(format, p->end), p->end);
    if (comma < p->end && *comma == ',') *comma = ' ';
}

/* Replaces the word by `by`, padded with blanks. */
static void replace_word(const place *p, const char *by)
{
    size_t length = strlen(by);
    memset(p->word, ' ', (size_t)(p->after - p->word));
    memcpy(p->word, by, length);
}

/* Replaces `name %x` unless an index `[%i]` follows, as in the upstream operation. */
static void replace_unless_indexed(const place *p, const char *by)
{
    char *at = skip_space(p->after, p->end);
    if (at >= p->end || *at != '%') return;
    while (at < p->end && (cute_is_mlir_name(*at) || cute_is_sigil(*at))) at++;
    at = skip_space(at, p->end);
    if (at >= p->end || *at != '[') replace_word(p, by);
}

/* `nvvm.shfl_sync` is `nvvm.shfl.sync`. */
static void replace_underscores(const place *p, const char *by)
{
    (void)by;
    for (char *at = p->word; at < p->after; at++)
        if (*at == '_') *at = '.';
}

/* The dialect of an attribute: `#nvvm.` or `#nvgpu.` becomes `#cuda.`. */
static void replace_dialect(const place *p, const char *by)
{
    (void)by;
    static const char cuda[] = "#cuda.";
    char *dot = memchr(p->word, '.', (size_t)(p->after - p->word));
    char *start = dot + 1 - strlen(cuda);
    memset(p->word, ' ', (size_t)(start - p->word));
    memcpy(start, cuda, strlen(cuda));
}

/* The end of an attribute's value: a comma or bracket that is not its own. */
static char *skip_value(char *at, const char *end)
{
    for (int depth = 0; at < end; at++) {
        if (*at == '"') {
            at = skip_string(at, end) - 1;
        } else if (strchr("<([{", *at)) {
            depth++;
        } else if (strchr(">)]},", *at)) {
            if (!depth) return at;
            if (*at != ',') depth--;
        } else if (*at == '\n' && !depth) {
            return at;
        }
    }
    return at;
}

/* Removes `name = value` with an adjacent comma from a list if the value begins with `by`; also the
 * brackets of a property list that becomes empty. */
static void drop_property(const place *p, const char *by)
{
    char *value = skip_space(p->after, p->end);
    if (value >= p->end || *value != '=') return;
    value = skip_space(value + 1, p->end);
    size_t length = strlen(by);
    if ((size_t)(p->end - value) < length || memcmp(value, by, length)) return;
    char *before = skip_space_back(p->text, p->word), *after = skip_value(value, p->end);
    memset(p->word, ' ', (size_t)(after - p->word));
    if (before == p->text || after >= p->end) return;
    if (before[-1] == ',')
        before[-1] = ' ';
    else if (*after == ',')
        *after = ' ';
    else if (before[-1] == '{' && *after == '}' && before - p->text > 1 && before[-2] == '<' &&
             after + 1 < p->end && after[1] == '>')
        before[-2] = before[-1] = after[0] = after[1] = ' ';
}

/* `constant 16 : !cute.int`; only constants of a cute type. */
static void replace_cute_constant(const place *p, const char *by)
{
    static const char dialect[] = "!cute.";
    char *at = skip_space(p->after, p->end);
    if (at < p->end && *at == '-') at++;
    char *number = at;
    while (at < p->end && cute_is_word(*at, "")) at++;
    if (at == number || !cute_is_digit(*number)) return;
    at = skip_space(at, p->end);
    if (at >= p->end || *at != ':') return;
    at = skip_space(at + 1, p->end);
    if ((size_t)(p->end - at) > sizeof dialect - 1 && !memcmp(at, dialect, sizeof dialect - 1))
        replace_word(p, by);
}

/* Narrows an i64 property to i32, in generic form. */
static void narrow_property(const place *p, const char *by)
{
    (void)by;
    static const char wide[] = ": i64", narrowed[] = ": i32";
    const char *close = memchr(p->after, '}', (size_t)(p->end - p->after));
    char *type = close ? memmem(p->after, (size_t)(close - p->after), wide, sizeof wide - 1) : NULL;
    if (type) memcpy(type, narrowed, sizeof narrowed - 1);
}

/* Removes operandSegmentSizes, which our operation does not need. Values that do not match the operands
 * are kept, so that the verifier rejects them. */
static void drop_segments(const place *p, const char *by)
{
    (void)by;
    static const char name[] = "operandSegmentSizes", *const sizes[] = {" = array<i32: 1, 0>",
                                                                        " = array<i32: 1, 1>"};
    const char *line = memchr(p->after, '\n', (size_t)(p->end - p->after));
    const char *close = line ? line : p->end;
    char *word = memmem(p->after, (size_t)(close - p->after), name, sizeof name - 1);
    if (!word) return;
    size_t operands = 0;
    for (const char *c = p->after; c < word; c++) operands += *c == '%';
    const char *value = word + sizeof name - 1,
               *expected = operands > 0 && operands < 3 ? sizes[operands - 1] : "";
    if (*expected && (size_t)(close - value) >= strlen(expected) &&
        !memcmp(value, expected, strlen(expected)))
        drop_property(&(place){p->text, word, word + sizeof name - 1, p->end}, "");
}

/* ---- the table ---- */

static const struct spelling {
    const char *word;
    size_t length;
    void (*change)(const place *p, const char *by);
    const char *by;
} spellings[] = {
#define SPELLING(word, ...) {word, sizeof(word) - 1, __VA_ARGS__}
    SPELLING("gpu.printf", drop_format_comma, NULL),
    /* parsed by sugar.def */
    SPELLING("gpu.load", replace_word, "cute.ld"),
    SPELLING("gpu.store", replace_word, "cute.st"),
    SPELLING("gpu.alloc_shared_memory", replace_word, "cute.alloc_shared"),
    SPELLING("nvgpu.warpgroup_mma", replace_word, "cute.warpgroup_mma"),
    SPELLING("nvgpu.mbarrier.arrive", replace_unless_indexed, "cute.mbarrier_arrive"),
    SPELLING("nvgpu.ldmatrix", replace_unless_indexed, "cute.ldmatrix"),
    SPELLING("!nvgpu.matrix", replace_word, "!cute.wmatrix"),
    SPELLING("constant", replace_cute_constant, "cute.int"),
    SPELLING("arith.constant", replace_cute_constant, "cute.int"),
    /* attributes of operations that lib/ir/dialects/newer.td defines */
    SPELLING("#nvvm.mbar_scope", replace_dialect, NULL),
    SPELLING("#nvvm.mbar_space", replace_dialect, NULL),
    SPELLING("#nvvm.mbar_txn_kind", replace_dialect, NULL),
    SPELLING("#nvvm.mbar_wait", replace_dialect, NULL),
    SPELLING("#nvvm.rnd", replace_dialect, NULL),
    SPELLING("#nvvm.tcgen05_group", replace_dialect, NULL),
    SPELLING("#nvvm.tcgen05_wait", replace_dialect, NULL),
    SPELLING("#nvgpu.rnd", replace_dialect, NULL),
    SPELLING("#nvgpu.subbytes_packedkind", replace_dialect, NULL),
    /* properties without semantic effect */
    SPELLING("useIntrinsic", drop_property, ""),
    SPELLING("TailCallKind", drop_property, "#llvm.tailcallkind<none>"),
    SPELLING("range", drop_property, "#llvm.constant_range<"),
    /* its group is an i32 in LLVM 19 */
    SPELLING("\"nvvm.wgmma.wait.group.sync.aligned\"", narrow_property, NULL),
    /* operations of cute in generic form, which bypasses sugar.def */
    SPELLING("\"cute.make_layout\"", drop_segments, NULL),
    SPELLING("\"cute.tuple.product\"", replace_word, "\"cute.tuple_product\""),
    SPELLING("\"cute.tuple.product_each\"", replace_word, "\"cute.tuple_product_each\""),
};

/* Non-MLIR names of nvvm operations; special registers begin with `sreg`. */
static const char nvvm[] = "nvvm.", sreg[] = "nvvm.read_ptx_sreg_";
static const struct spelling nvvm_spellings[] = {
    SPELLING("nvvm.shfl_sync", replace_underscores, NULL),
    SPELLING("nvvm.vote_ballot_sync", replace_underscores, NULL),
    SPELLING("nvvm.redux_sync", replace_underscores, NULL),
    SPELLING("nvvm.bar_warp_sync", replace_underscores, NULL),
    SPELLING("nvvm.barrier_arrive", replace_underscores, NULL),
    SPELLING("nvvm.barrier_wait", replace_word, "nvvm.barrier"),
    SPELLING("nvvm.cp_async_commit_group", replace_underscores, NULL),
    SPELLING("nvvm.cp_async_wait_group", replace_underscores, NULL),
    SPELLING("nvvm.elect_sync", replace_underscores, NULL),
    SPELLING("nvvm.barrier_cluster_arrive", replace_word, "nvvm.cluster.arrive"),
    SPELLING("nvvm.barrier_cluster_wait", replace_word, "nvvm.cluster.wait"),
    SPELLING("nvvm.fence.acq_rel.cta", replace_word, "cute_nvgpu.fence_cta"),
    SPELLING("nvvm.fence.acq_rel.cluster", replace_word, "cute_nvgpu.fence_cluster"),
    SPELLING("nvvm.fence.acq_rel.gpu", replace_word, "cute_nvgpu.fence_gpu"),
    SPELLING("nvvm.fence.acq_rel.sys", replace_word, "cute_nvgpu.fence_sys"),
    SPELLING("nvvm.fma", replace_word, "math.fma"),
    SPELLING("nvvm.sqrt", replace_word, "math.sqrt"),
};
#undef SPELLING

/* Element types that LLVM 19 lacks, as otherwise unused integer types of the same width. */
static const struct element {
    const char *name, *as;
} elements[] = {
    {"f4E2M1FN", "si4"},
    {"f6E2M3FN", "si6"},
    {"f6E3M2FN", "ui6"},
    {"f8E8M0FNU", "ui8"},
};

const char *cute_spelling_of_element(const char *name)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (!strcmp(elements[i].name, name)) return elements[i].as;
    return NULL;
}

bool cute_spelling_lacks(const char *text, size_t length, cute_buffer *out)
{
    size_t word = 0;
    while (word < length && cute_is_word(text[word], "")) word++;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const char *name = elements[i].name;
        if (strlen(name) != word || memcmp(name, text, word)) continue;
        cute_buffer_printf(
            out,
            "type '%s' is unknown to LLVM 19 and allowed only as an element of vectors and tensors: expected "
            "vector<8x%s>, !cute.memref<%s, ...>, !cute.ptr<%s, ...> or i%s, which has the same width",
            name, name, name, name, elements[i].as + 2);
        return true;
    }
    return false;
}

/* `8xf4E2M1FN` */
static void respell_elements(const place *p)
{
    char *at = p->word;
    for (;;) {
        while (at < p->after && cute_is_digit(*at)) at++;
        if (at + 1 >= p->after || *at != 'x') return;
        if (!cute_is_digit(*++at)) break;
    }
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        size_t length = strlen(elements[i].name);
        if ((size_t)(p->after - at) != length || memcmp(at, elements[i].name, length)) continue;
        replace_word(&(place){p->text, at, p->after, p->end}, elements[i].as);
        return;
    }
}

static void apply_spellings(const place *p, const struct spelling *rows, size_t count)
{
    size_t length = (size_t)(p->after - p->word);
    for (size_t i = 0; i < count; i++)
        if (length == rows[i].length && !memcmp(p->word, rows[i].word, length)) rows[i].change(p, rows[i].by);
}

static bool word_begins_with(const place *p, const char *with, size_t length)
{
    return (size_t)(p->after - p->word) > length && !memcmp(p->word, with, length);
}

static void respell_word(const place *p)
{
    if (*p->word == '%') return; /* the most frequent case */
    if (cute_is_digit(*p->word))
        respell_elements(p);
    else if (!word_begins_with(p, nvvm, sizeof nvvm - 1))
        apply_spellings(p, spellings, sizeof spellings / sizeof *spellings);
    else if (word_begins_with(p, sreg, sizeof sreg - 1))
        replace_underscores(p, NULL);
    else
        apply_spellings(p, nvvm_spellings, sizeof nvvm_spellings / sizeof *nvvm_spellings);
}

/* ---- reading and writing ---- */

/* The next word or string outside comments, [result, *after); NULL at the end. */
static char *next_word(char *at, const char *end, char **after)
{
    while (at < end) {
        if (*at == '"') {
            *after = skip_string(at, end);
            return at;
        } else if (*at == '/' && at + 1 < end && at[1] == '/') {
            char *line = memchr(at, '\n', (size_t)(end - at));
            at = line ? line + 1 : (char *)end;
        } else if (cute_is_mlir_name(*at) || cute_is_sigil(*at)) {
            char *start = at++;
            while (at < end && cute_is_mlir_name(*at)) at++;
            *after = at;
            return start;
        } else {
            at++;
        }
    }
    return NULL;
}

void cute_spellings_read(char *text, size_t length)
{
    const char *end = text + length;
    place p = {.text = text, .after = text, .end = end};
    while ((p.word = next_word(p.after, end, &p.after))) respell_word(&p);
}

void cute_spellings_write(const char *text, size_t length, cute_buffer *out)
{
    static const char name[] = "gpu.printf";
    const char *end = text + length, *done = text;
    char *after = (char *)text, *word, *ahead = (char *)text;
    while ((word = next_word(after, end, &after))) {
        /* Most texts have no gpu.printf. */
        if (ahead < after) ahead = memmem(word, (size_t)(end - word), name, sizeof name - 1);
        if (!ahead) break;
        if ((size_t)(after - word) != sizeof name - 1 || memcmp(word, name, sizeof name - 1)) continue;
        char *format = skip_space(after, end);
        if (format >= end || *format != '"') continue;
        /* Printed arguments are on the line of their format; the next line may begin with another value. */
        char *found = skip_string(format, end), *argument = found;
        while (argument < end && *argument == ' ') argument++;
        if (argument == end || *argument != '%') continue;
        cute_buffer_append(out, done, (size_t)(found - done));
        cute_buffer_puts(out, ",");
        done = found;
    }
    cute_buffer_append(out, done, (size_t)(end - done));
}
