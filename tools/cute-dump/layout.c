/* cute-dump layout: expressions of the layout algebra in, answers, tables and pictures out. Lines are
 * answered as they come, so that it can be talked to through a pipe or at a terminal. */
#include "tools/cute-dump/layout.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/options/tool.h"
#include "lib/base/system/file.h"
#include "lib/base/text/json.h"
#include "lib/calculator/atoms.h"
#include "lib/calculator/calculator.h"
#include "lib/calculator/picture.h"

/* A table scrolls, an SVG zooms; TeX as it is installed runs out of memory at some 5,000 cells. */
enum {
    MOST_CELLS = 65536,
    MOST_TEX_CELLS = 4096,
    MOST_TEX_SIDE = 500,
    MOST_BITS = 65536,
    CHUNK = 64 << 10,
    MOST_LINE = 16 << 20
};

typedef struct settings {
    const char *output, *tv, *colour, *atom, *operand;
    int64_t element_bits;
    bool json, table, svg, tex;
} settings;

typedef struct session {
    settings s;
    cute_calculator *calculator;
    cute_arena *arena; /* of the whole run */
    cute_diag *diag;
    cute_diag_format format;
    cute_picture_options picture;
    void (*draw)(const cute_picture *picture, cute_buffer *out); /* NULL: no document */
    bool quiet;    /* what stands on stdout in place is not repeated on stderr */
    bool terminal; /* stdout and stderr are one: only the caret is added to what stands there */
    bool drawn;
    cute_buffer out;
    cute_status status; /* the worst so far */
} session;

static void worsen(session *s, cute_status status)
{
    if (status > s->status) s->status = status;
}

/* ---- pictures of atoms, tiled copies and tiled MMAs ---- */

static bool is_tiling(const cute_value *v)
{
    return v->type == CUTE_ATOM || v->type == CUTE_TILED_COPY || v->type == CUTE_TILED_MMA;
}

/* The number of an operand by its name; its count where all are wanted. */
static cute_status choose_operand(const session *s, const cute_atom *atom, size_t *out, cute_diag *diag)
{
    static const char *const mma[] = {"a", "b", "c"}, *const copy[] = {"source", "destination"};
    size_t count = cute_atom_pictures(atom);
    const char *const *names = atom->kind == CUTE_ATOM_MMA ? mma : copy;
    for (*out = 0; s->s.operand && *out < count; ++*out)
        if (!strcasecmp(s->s.operand, names[*out])) return CUTE_OK;
    if (!s->s.operand || !count) return *out = count, CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "unknown operand '%s'; '%s' has %s", s->s.operand, atom->name,
                     atom->kind == CUTE_ATOM_MMA ? "a, b and c" : "source and destination");
}

/* One operand, or all: as tables one after the other, in a document together. */
static cute_status draw_tiling(session *s, cute_arena *arena, const cute_value *value, cute_diag *diag)
{
    cute_picture pictures[3];
    size_t chosen, count = 1;
    if (s->picture.tile)
        return cute_fail(diag, CUTE_INVALID, NULL, "%s knows its tile; --tv is not for it",
                         value->type == CUTE_ATOM ? "an atom" : "a tiling");
    CUTE_TRY(choose_operand(s, value->atom, &chosen, diag));
    if (chosen < cute_atom_pictures(value->atom))
        CUTE_TRY(cute_atom_picture(arena, value, chosen, &s->picture, pictures, diag));
    else if (s->draw)
        CUTE_TRY(cute_atom_whole_picture(arena, value, &s->picture, pictures, diag));
    else
        CUTE_TRY(cute_atom_all_pictures(arena, value, &s->picture, pictures, &count, diag));
    for (size_t i = 0; i < count; i++) {
        if (!s->draw) cute_buffer_printf(&s->out, "%s\n", pictures[i].title);
        (s->draw ? s->draw : cute_picture_table)(&pictures[i], &s->out);
    }
    return CUTE_OK;
}

/* ---- lines ---- */

/* What lib/report says of a picture has no place: it is said at the line. */
static void place_messages(session *s, const cute_diag *from, const cute_place *place)
{
    for (size_t i = 0; i < cute_diag_count(from); i++) {
        const cute_message *message = cute_diag_get(from, i);
        cute_report(s->diag, message->severity, i ? NULL : place, "%s", message->text);
    }
}

static bool is_shape(const cute_value *v)
{
    return (v->type == CUTE_INT_TUPLE || v->type == CUTE_SHAPE) && v->tree->kind == CUTE_TREE_TUPLE;
}

/* A shape alone is the compact layout; of a tensor its layout is drawn. */
static void as_layout(cute_arena *arena, const cute_value *value, cute_value *out)
{
    const char *text = is_shape(value) ? cute_value_text(arena, value) : NULL;
    *out = *value;
    if (value->type == CUTE_MEMREF || value->type == CUTE_COORD_TENSOR)
        cute_apply(arena, NULL, CUTE_OP_GET_LAYOUT, value, 1, NULL, out, NULL);
    if (text && cute_value_parse(arena, CUTE_LAYOUT, text, strlen(text), out, NULL, NULL) != CUTE_OK)
        *out = *value;
}

static void draw(session *s, cute_arena *arena, const cute_answer *answer, const cute_place *place)
{
    cute_diag *diag = cute_diag_create();
    cute_picture picture;
    cute_value layout;
    as_layout(arena, &answer->value, &layout);
    bool layouts = layout.type == CUTE_LAYOUT || layout.type == CUTE_COMPOSED_LAYOUT;
    if (s->s.table && !layouts && !is_tiling(&layout)) {
        cute_diag_destroy(diag);
        return;
    }
    if (s->draw && s->drawn) {
        cute_report(s->diag, CUTE_ERROR, place,
                    "there is one picture in a document, and this is the second layout");
        worsen(s, CUTE_INVALID);
        cute_diag_destroy(diag);
        return;
    }
    if (s->s.operand && !is_tiling(&layout)) {
        cute_report(s->diag, CUTE_ERROR, place,
                    "a layout has no operands; --operand is for atoms, tiled copies and MMAs");
        worsen(s, CUTE_USAGE);
        cute_diag_destroy(diag);
        return;
    }
    cute_picture_options options = s->picture;
    if (!options.element_bits && answer->value.pointer) options.element_bits = answer->value.pointer->bits;
    bool tiling = is_tiling(&layout);
    cute_status status = !diag    ? CUTE_SYSTEM
                         : tiling ? draw_tiling(s, arena, &layout, diag)
                                  : cute_picture_create(arena, &layout, &options, &picture, diag);
    s->drawn = true;
    if (status == CUTE_OK && !tiling) {
        (s->draw ? s->draw : cute_picture_table)(&picture, &s->out);
        if (picture.hidden)
            cute_report(s->diag, CUTE_WARNING, place,
                        "%zu values lie where another one is; the first is shown", picture.hidden);
    } else if (diag && status != CUTE_OK) {
        const cute_message *message = cute_diag_get(diag, 0);
        if (s->s.table) cute_buffer_printf(&s->out, "error: %s\n", message ? message->text : "out of memory");
        if (!s->s.table || !(s->quiet || s->terminal)) place_messages(s, diag, place);
    }
    worsen(s, status);
    cute_diag_destroy(diag);
}

/* Of the message about the line its source and caret, which at a terminal follow the answer. */
static void point(session *s)
{
    char *text = cute_diag_render(s->diag, CUTE_DIAG_TEXT, false);
    const char *source = text ? strchr(text, '\n') : NULL;
    if (source && !s->s.json) cute_buffer_puts(&s->out, source + 1);
    free(text);
    cute_diag_clear(s->diag);
}

static void answer_line(session *s, const cute_calculator_line *line)
{
    cute_arena *arena = cute_arena_create();
    cute_answer answer;
    if (!arena) {
        worsen(s, cute_fail_memory(s->diag));
        return;
    }
    cute_status status = cute_calculator_eval(s->calculator, arena, line, &answer, s->quiet ? NULL : s->diag);
    worsen(s, status);
    cute_place place = {.file = line->file,
                        .line = line->number,
                        .column = 1,
                        .text = line->text,
                        .text_length = line->length};
    if (s->quiet && answer.warning && !s->s.json)
        cute_report(s->diag, CUTE_WARNING, &place, "%s", answer.warning);
    if (s->s.json)
        cute_answer_json(arena, &answer, &s->out);
    else if (!s->draw)
        cute_answer_print(arena, &answer, &s->out);
    if (s->terminal && answer.kind == CUTE_ANSWER_ERROR) point(s);
    if ((s->draw || s->s.table) && answer.kind == CUTE_ANSWER_VALUE) draw(s, arena, &answer, &place);
    cute_arena_destroy(arena);
}

/* Answers so far go out, then what there is to say about them. A document waits until it is whole. */
static void flush(session *s)
{
    if (!cute_buffer_ok(&s->out)) worsen(s, cute_fail_memory(s->diag));
    bool waits = s->s.output || s->draw;
    if (!waits && s->out.length) {
        worsen(s, cute_file_write(NULL, cute_buffer_text(&s->out), s->out.length, s->diag));
        cute_buffer_release(&s->out);
        s->out = (cute_buffer){0};
    }
    cute_tool_finish("cute-dump", s->status, s->diag, s->format);
    cute_diag_clear(s->diag);
}

/* The whole lines of `text`, and with `last` what is left behind them; returns how many bytes that was. */
static size_t answer_lines(session *s, const char *file, int *number, const char *text, size_t length,
                           bool last)
{
    size_t at = 0;
    while (at < length) {
        const char *newline = memchr(text + at, '\n', length - at);
        if (!newline && !last) break;
        size_t end = newline ? (size_t)(newline - text) : length;
        answer_line(s, &(cute_calculator_line){file, ++*number, text + at, end - at});
        at = end + (newline != NULL);
    }
    return at;
}

/* Waits for input; false: who read the answers has gone. */
static bool has_reader(const session *s)
{
    bool answers = !s->s.output && !s->draw;
    struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = STDOUT_FILENO}};
    while (poll(ends, answers ? 2 : 1, -1) < 0 && errno == EINTR) {
    }
    return !(answers && ends[1].revents & POLLERR);
}

static void answer_stdin(session *s)
{
    const char *file = cute_file_label("-");
    char *chunk = cute_arena_alloc(s->arena, CHUNK);
    cute_buffer text = {0};
    int number = 0;
    if (!chunk) worsen(s, cute_fail_memory(s->diag));
    for (bool more = chunk != NULL; more && has_reader(s);) {
        ssize_t got = read(STDIN_FILENO, chunk, CHUNK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            worsen(s, cute_fail(s->diag, CUTE_SYSTEM, NULL, "cannot read '%s': %s", file, strerror(errno)));
        more = got > 0;
        if (more) cute_buffer_append(&text, chunk, (size_t)got);
        if (!cute_buffer_ok(&text)) break;
        if (text.length > MOST_LINE) {
            worsen(s, cute_fail(s->diag, CUTE_INVALID, &(cute_place){.file = file, .line = number + 1},
                                "expected a line of %d bytes at most", MOST_LINE));
            break;
        }
        size_t done = answer_lines(s, file, &number, cute_buffer_text(&text), text.length, !more);
        if (done) memmove(text.data, text.data + done, text.length - done);
        text.length -= done;
        flush(s);
        if (s->status == CUTE_SYSTEM) break;
    }
    if (!cute_buffer_ok(&text)) worsen(s, cute_fail_memory(s->diag));
    cute_buffer_release(&text);
}

static void answer_all(session *s, const cute_option_list *operands)
{
    if (!operands->count) answer_stdin(s);
    for (size_t i = 0; i < operands->count && s->status != CUTE_SYSTEM; i++) {
        const char *text = operands->items[i];
        int number = 0;
        const char *file = cute_arena_printf(s->arena, "<argument %zu>", i + 1);
        if (!strcmp(text, "-")) {
            answer_stdin(s);
            continue;
        }
        cute_status before = s->status;
        s->status = CUTE_OK;
        answer_lines(s, file ? file : "<argument>", &number, text, strlen(text), true);
        if (s->status == CUTE_INVALID && cute_file_exists(text))
            cute_note(s->diag, NULL, "there is a file '%s'; its lines are read from standard input", text);
        worsen(s, before);
        flush(s);
    }
    if (s->draw && !s->drawn && s->status == CUTE_OK)
        worsen(s, cute_fail(s->diag, CUTE_INVALID, NULL, "there is no layout to draw"));
    if ((s->draw || s->s.output) && s->status != CUTE_SYSTEM && (!s->draw || s->status == CUTE_OK))
        worsen(s, cute_file_write(s->s.output, cute_buffer_text(&s->out), s->out.length, s->diag));
}

/* ---- atoms ---- */

static void put_json(session *s, json_t *value)
{
    cute_json_dump(value, false, &s->out);
    cute_buffer_putc(&s->out, '\n');
    json_decref(value);
}

static cute_status answer_atom(session *s, const char *name)
{
    const cute_atom *atom;
    CUTE_TRY(cute_atom_find(s->arena, name, &atom, s->diag));
    if (s->s.json) return put_json(s, cute_atom_json(s->arena, atom)), CUTE_OK;
    cute_value value = {.type = CUTE_ATOM, .atom = atom};
    size_t chosen;
    CUTE_TRY(choose_operand(s, atom, &chosen, s->diag));
    if (!s->draw) cute_atom_describe(s->arena, atom, &s->out);
    return s->draw || cute_atom_pictures(atom) ? draw_tiling(s, s->arena, &value, s->diag) : CUTE_OK;
}

static cute_status answer_atoms(session *s, const cute_option_list *operands)
{
    const char *first = s->s.atom;
    cute_status status = CUTE_OK;
    if (!*first && operands->count) first = NULL;
    size_t names = operands->count + (first != NULL);
    if (s->draw && names > 1)
        return cute_fail(s->diag, CUTE_USAGE, NULL,
                         "there is one picture in a document, not those of %zu atoms", names);
    for (size_t i = 0; i < names && status == CUTE_OK; i++) {
        const char *name = first ? i == 0 ? first : operands->items[i - 1] : operands->items[i];
        bool list = !*name || !strcmp(name, "list");
        if (list && s->draw)
            status =
                cute_fail(s->diag, CUTE_USAGE, NULL, "a list of atoms is no picture; --atom=NAME draws one");
        else if (list && s->s.json)
            put_json(s, cute_atoms_list_json(s->arena));
        else if (list)
            cute_atoms_list(s->arena, &s->out);
        else
            status = answer_atom(s, name);
    }
    if (status == CUTE_OK && !cute_buffer_ok(&s->out)) return cute_fail_memory(s->diag);
    if (status != CUTE_OK) return status;
    return cute_file_write(s->s.output, cute_buffer_text(&s->out), s->out.length, s->diag);
}

/* ---- the command line ---- */

static const struct {
    const char *name;
    cute_picture_colour colour;
} colours[] = {
    {"index", CUTE_COLOUR_INDEX}, {"thread", CUTE_COLOUR_THREAD}, {"warp", CUTE_COLOUR_WARP},
    {"bank", CUTE_COLOUR_BANK},   {"none", CUTE_COLOUR_NONE},
};

static cute_status choose_picture(session *s)
{
    const settings *o = &s->s;
    if (o->json + o->table + o->svg + o->tex > 1)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "one of --json, --table, --svg and --tex at a time");
    if (o->operand && !o->atom && !o->table && !o->svg && !o->tex)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "--operand is for --atom, --table, --svg and --tex");
    if (o->atom && o->tv)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "--atom knows the tile; --tv is not for it");
    if (o->tv && !o->table && !o->svg && !o->tex)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "--tv is for --table, --svg and --tex");
    if ((o->colour || o->element_bits) && !o->svg && !o->tex)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "%s is for --svg and --tex",
                         o->colour ? "--color" : "--element-bits");
    s->draw = o->svg ? cute_picture_svg : o->tex ? cute_picture_tex : NULL;
    s->picture.most_cells = o->tex ? MOST_TEX_CELLS : MOST_CELLS;
    s->picture.most_side = o->tex ? MOST_TEX_SIDE : MOST_CELLS;
    if (o->element_bits < 0 || o->element_bits > MOST_BITS)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "--element-bits is from 1 to %d", MOST_BITS);
    s->picture.element_bits = o->element_bits;
    for (size_t i = 0; o->colour && i < sizeof colours / sizeof *colours; i++)
        if (!strcmp(o->colour, colours[i].name)) s->picture.colour = colours[i].colour;
    if (o->colour && s->picture.colour == CUTE_COLOUR_DEFAULT)
        return cute_fail(s->diag, CUTE_USAGE, NULL,
                         "unknown colours '%s'; there are index, thread, warp, bank and none", o->colour);
    return CUTE_OK;
}

static cute_status choose_tile(session *s)
{
    cute_value tile;
    const char *text = s->s.tv;
    if (!text) return CUTE_OK;
    /* As a layout, so that its extents are checked. */
    cute_status status = cute_value_parse(s->arena, CUTE_LAYOUT, text, strlen(text), &tile, NULL, NULL);
    if (status == CUTE_OK && cute_tree_is_static(tile.layout.shape)) {
        s->picture.tile = tile.layout.shape;
        return CUTE_OK;
    }
    return cute_fail(s->diag, CUTE_USAGE, NULL,
                     "--tv expects the shape of a tile, for example --tv='(8,8)', got '%s'", text);
}

/* stdout and stderr are one pipe, file or terminal: an error would be in it twice. */
static bool one_sink(void)
{
    struct stat out, err;
    return fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev &&
           out.st_ino == err.st_ino;
}

static void list_functions(cute_buffer *out)
{
    enum { SCREEN = 100 };
    cute_buffer_puts(
        out,
        "Functions (the manual has their arguments; '#' starts a comment, 'let a = ...' names a value):\n ");
    size_t column = 1;
    for (size_t i = 0; cute_calculator_function(i); i++) {
        const char *name = cute_calculator_function(i);
        if (column + 1 + strlen(name) > SCREEN) {
            cute_buffer_puts(out, "\n ");
            column = 1;
        }
        cute_buffer_printf(out, " %s", name);
        column += 1 + strlen(name);
    }
    cute_buffer_puts(
        out, "\n\nExamples:\n"
             "  cute-dump layout 'composition((4,8):(8,1), 8:2)'\n"
             "  cute-dump layout --table 'S<2,0,3> o 0 o (8,8):(8,1)'\n"
             "  cute-dump layout --svg --tv='(8,8)' '((4,8),2):((16,1),8)' -o tv.svg\n"
             "  cute-dump layout --atom SM80_16x8x16_F32F16F16F32_TN\n"
             "  cute-dump layout --table 'make_tiled_copy(UniversalCopy, (8,4):(4,1), (1,4):(0,1))'\n"
             "  printf 'let a = (8,8):(8,1)\\nlogical_divide(a, (2,4))\\n' | cute-dump layout --json\n");
}

static cute_status work(cute_tool *tool, void *context)
{
    session *s = context;
    s->arena = tool->arena;
    s->diag = tool->diag;
    s->format = tool->format;
    s->calculator = cute_calculator_create();
    if (!s->calculator) return cute_fail_memory(s->diag);
    s->status = choose_picture(s);
    if (s->status == CUTE_OK) s->status = choose_tile(s);
    bool once = !s->draw && !s->s.output && one_sink();
    s->terminal = once && isatty(STDOUT_FILENO) && s->format == CUTE_DIAG_TEXT;
    s->quiet = once && !isatty(STDOUT_FILENO);
    if (s->status == CUTE_OK && s->s.atom)
        s->status = answer_atoms(s, &tool->operands);
    else if (s->status == CUTE_OK)
        answer_all(s, &tool->operands);
    cute_buffer_release(&s->out);
    cute_calculator_destroy(s->calculator);
    return s->status;
}

int cute_dump_layout(int argc, char **argv)
{
    session s = {0};
    settings *o = &s.s;
    const cute_option options[] = {
        {CUTE_OPTION_GROUP, "Answers", 0, NULL, NULL, NULL},
        {CUTE_OPTION_FLAG, "json", 0, NULL,
         "an object a line: input, result, error, size, cosize, injective, contiguous", &o->json},
        {CUTE_OPTION_FLAG, "table", 't', NULL,
         "layouts with the table of their indices, tiled copies and MMAs with those of their threads",
         &o->table},
        {CUTE_OPTION_FLAG, "svg", 0, NULL, "one layout, tiled copy or MMA as an SVG picture", &o->svg},
        {CUTE_OPTION_FLAG, "tex", 0, NULL, "one layout as a LaTeX document (TikZ)", &o->tex},
        {CUTE_OPTION_STRING, "output", 'o', "FILE", "output file (default: stdout)", &o->output},
        {CUTE_OPTION_MAYBE, "atom", 0, "NAME",
         "an instruction and who holds what of it; without a name all there are", &o->atom},
        {CUTE_OPTION_GROUP, "Pictures", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "tv", 0, "TILE",
         "the layout takes threads and values to places of a tile of this shape", &o->tv},
        {CUTE_OPTION_STRING, "operand", 0, "a|b|c|source|destination",
         "of an atom, a tiled copy or MMA only this one", &o->operand},
        {CUTE_OPTION_STRING, "color", 0, "index|thread|warp|bank|none",
         "what colours mean (default index; with --tv thread)", &o->colour},
        {CUTE_OPTION_STRING, "colour", 0, "WHAT", NULL, &o->colour},
        {CUTE_OPTION_INT, "element-bits", 0, "N", "size of an element for --color=bank (default 32)",
         &o->element_bits},
        {CUTE_OPTION_GROUP, "Other", 0, NULL, NULL, NULL},
        {0},
    };
    cute_buffer epilogue = {0};
    list_functions(&epilogue);
    const cute_command command = {
        .name = "cute-dump layout",
        .synopsis = "[options] [expression...]",
        .summary =
            "Evaluates expressions of the layout algebra, one a line of standard input where none is given.",
        .options = options,
        .epilogue = cute_buffer_text(&epilogue)};
    int code = cute_tool_run(&command, NULL, work, &s, argc, argv);
    cute_buffer_release(&epilogue);
    return code;
}
