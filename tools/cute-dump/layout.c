/* cute-dump layout: evaluates layout-algebra expressions and prints values, tables or pictures. Input is answered line by line, so
 * that it also works interactively, at a terminal or through a pipe. */
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

/* Limits of pictures and input, in cells, bits and bytes. A default TeX installation runs out of memory at about 5,000 cells. */
enum {
    MAX_CELLS = 65536,
    MAX_TEX_CELLS = 4096,
    MAX_TEX_SIDE = 500,
    MAX_ELEMENT_BITS = 65536,
    READ_CHUNK = 64 << 10,
    MAX_LINE_LENGTH = 16 << 20
};

typedef struct layout_settings {
    const char *output, *tv, *colour, *atom, *operand;
    int64_t element_bits;
    bool json, table, svg, tex;
} layout_settings;

typedef struct layout_session {
    layout_settings s;
    cute_calculator *calculator;
    cute_arena *arena; /* of the whole run */
    cute_diag *diag;
    cute_diag_format format;
    cute_picture_options picture;
    void (*draw)(const cute_picture *picture, cute_buffer *out); /* NULL: no document */
    bool quiet;    /* stdout and stderr are one pipe or file: errors are printed with the answers only */
    bool terminal; /* stdout and stderr are one terminal: source and caret follow the answer */
    bool drawn;
    cute_buffer out;
    cute_status status; /* the worst so far */
} layout_session;

static void raise_status(layout_session *s, cute_status status)
{
    if (status > s->status) s->status = status;
}

/* ---- pictures of atoms, tiled copies and tiled MMAs ---- */

static bool is_tiling(const cute_value *v)
{
    return v->type == CUTE_ATOM || v->type == CUTE_TILED_COPY || v->type == CUTE_TILED_MMA;
}

/* Finds the operand of --operand; *out is the number of operands if all are selected. */
static cute_status choose_operand(const layout_session *s, const cute_atom *atom, size_t *out,
                                  cute_diag *diag)
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

/* Draws one operand or all: several tables, or one picture. */
static cute_status draw_tiling(layout_session *s, cute_arena *arena, const cute_value *value, cute_diag *diag)
{
    cute_picture pictures[3];
    size_t chosen, count = 1;
    if (s->picture.tile)
        return cute_fail(diag, CUTE_INVALID, NULL, "--tv does not apply to %s, which defines its own tile",
                         value->type == CUTE_ATOM ? "an atom" : "a tiled copy or MMA");
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

/* Copies messages of lib/calculator, which have no location, to the line being answered. */
static void place_messages(layout_session *s, const cute_diag *from, const cute_place *place)
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

/* The layout to draw: the compact layout of a shape, the layout of a tensor. */
static void layout_of_value(cute_arena *arena, const cute_value *value, cute_value *out)
{
    const char *text = is_shape(value) ? cute_value_text(arena, value) : NULL;
    *out = *value;
    if (value->type == CUTE_MEMREF || value->type == CUTE_COORD_TENSOR)
        cute_apply(arena, NULL, CUTE_OP_GET_LAYOUT, value, 1, NULL, out, NULL);
    if (text && cute_value_parse(arena, CUTE_LAYOUT, text, strlen(text), out, NULL, NULL) != CUTE_OK)
        *out = *value;
}

static void draw_answer(layout_session *s, cute_arena *arena, const cute_answer *answer,
                        const cute_place *place)
{
    cute_diag *diag = cute_diag_create();
    cute_picture picture;
    cute_value layout;
    layout_of_value(arena, &answer->value, &layout);
    bool layouts = layout.type == CUTE_LAYOUT || layout.type == CUTE_COMPOSED_LAYOUT;
    if (s->s.table && !layouts && !is_tiling(&layout)) {
        cute_diag_destroy(diag);
        return;
    }
    if (s->draw && s->drawn) {
        cute_report(s->diag, CUTE_ERROR, place, "expected one layout per picture, got a second one");
        raise_status(s, CUTE_INVALID);
        cute_diag_destroy(diag);
        return;
    }
    if (s->s.operand && !is_tiling(&layout)) {
        cute_report(s->diag, CUTE_ERROR, place,
                    "a layout has no operands; --operand applies to atoms, tiled copies and tiled MMAs");
        raise_status(s, CUTE_USAGE);
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
                        "%zu values map to an occupied cell; the first value of a cell is shown",
                        picture.hidden);
    } else if (diag && status != CUTE_OK) {
        const cute_message *message = cute_diag_get(diag, 0);
        if (s->s.table) cute_buffer_printf(&s->out, "error: %s\n", message ? message->text : "out of memory");
        if (!s->s.table || !(s->quiet || s->terminal)) place_messages(s, diag, place);
    }
    raise_status(s, status);
    cute_diag_destroy(diag);
}

/* Appends source line and caret of the message to the answer. */
static void append_caret(layout_session *s)
{
    char *text = cute_diag_render(s->diag, CUTE_DIAG_TEXT, false);
    const char *source = text ? strchr(text, '\n') : NULL;
    if (source && !s->s.json) cute_buffer_puts(&s->out, source + 1);
    free(text);
    cute_diag_clear(s->diag);
}

static void answer_line(layout_session *s, const cute_calculator_line *line)
{
    cute_arena *arena = cute_arena_create();
    cute_answer answer;
    if (!arena) {
        raise_status(s, cute_fail_memory(s->diag));
        return;
    }
    cute_status status = cute_calculator_eval(s->calculator, arena, line, &answer, s->quiet ? NULL : s->diag);
    raise_status(s, status);
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
    if (s->terminal && answer.kind == CUTE_ANSWER_ERROR) append_caret(s);
    if ((s->draw || s->s.table) && answer.kind == CUTE_ANSWER_VALUE) draw_answer(s, arena, &answer, &place);
    cute_arena_destroy(arena);
}

/* Writes pending answers, then messages. Pictures and output files are written when complete. */
static void flush_answers(layout_session *s)
{
    if (!cute_buffer_ok(&s->out)) raise_status(s, cute_fail_memory(s->diag));
    bool waits = s->s.output || s->draw;
    if (!waits && s->out.length) {
        raise_status(s, cute_file_write(NULL, cute_buffer_text(&s->out), s->out.length, s->diag));
        cute_buffer_release(&s->out);
        s->out = (cute_buffer){0};
    }
    cute_tool_finish("cute-dump", s->status, s->diag, s->format);
    cute_diag_clear(s->diag);
}

/* Answers the complete lines of `text`, and with `last` an incomplete one too; returns the number of bytes consumed. */
static size_t answer_lines(layout_session *s, const char *file, int *number, const char *text, size_t length,
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

/* Waits for input; false if the reader of the answers closed its end. */
static bool has_reader(const layout_session *s)
{
    bool answers = !s->s.output && !s->draw;
    struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = STDOUT_FILENO}};
    while (poll(ends, answers ? 2 : 1, -1) < 0 && errno == EINTR) {
    }
    return !(answers && ends[1].revents & POLLERR);
}

static void answer_stdin(layout_session *s)
{
    const char *file = cute_file_label("-");
    char *chunk = cute_arena_alloc(s->arena, READ_CHUNK);
    cute_buffer text = {0};
    int number = 0;
    if (!chunk) raise_status(s, cute_fail_memory(s->diag));
    for (bool more = chunk != NULL; more && has_reader(s);) {
        ssize_t got = read(STDIN_FILENO, chunk, READ_CHUNK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            raise_status(
                s, cute_fail(s->diag, CUTE_SYSTEM, NULL, "cannot read '%s': %s", file, strerror(errno)));
        more = got > 0;
        if (more) cute_buffer_append(&text, chunk, (size_t)got);
        if (!cute_buffer_ok(&text)) break;
        if (text.length > MAX_LINE_LENGTH) {
            raise_status(s, cute_fail(s->diag, CUTE_INVALID, &(cute_place){.file = file, .line = number + 1},
                                      "expected at most %d bytes per line", MAX_LINE_LENGTH));
            break;
        }
        size_t done = answer_lines(s, file, &number, cute_buffer_text(&text), text.length, !more);
        if (done) memmove(text.data, text.data + done, text.length - done);
        text.length -= done;
        flush_answers(s);
        if (s->status == CUTE_SYSTEM) break;
    }
    if (!cute_buffer_ok(&text)) raise_status(s, cute_fail_memory(s->diag));
    cute_buffer_release(&text);
}

static void answer_all(layout_session *s, const cute_option_list *operands)
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
            cute_note(s->diag, NULL,
                      "'%s' is a file; expressions in a file are read from standard input: < %s", text, text);
        raise_status(s, before);
        flush_answers(s);
    }
    if (s->draw && !s->drawn && s->status == CUTE_OK)
        raise_status(s, cute_fail(s->diag, CUTE_INVALID, NULL, "no layout to draw"));
    if ((s->draw || s->s.output) && s->status != CUTE_SYSTEM && (!s->draw || s->status == CUTE_OK))
        raise_status(s, cute_file_write(s->s.output, cute_buffer_text(&s->out), s->out.length, s->diag));
}

/* ---- atoms ---- */

static void write_json_line(layout_session *s, json_t *value)
{
    cute_json_dump(value, false, &s->out);
    cute_buffer_putc(&s->out, '\n');
    json_decref(value);
}

static cute_status answer_atom(layout_session *s, const char *name)
{
    const cute_atom *atom;
    CUTE_TRY(cute_atom_find(s->arena, name, &atom, s->diag));
    if (s->s.json) return write_json_line(s, cute_atom_json(s->arena, atom)), CUTE_OK;
    cute_value value = {.type = CUTE_ATOM, .atom = atom};
    size_t chosen;
    CUTE_TRY(choose_operand(s, atom, &chosen, s->diag));
    if (!s->draw) cute_atom_describe(s->arena, atom, &s->out);
    return s->draw || cute_atom_pictures(atom) ? draw_tiling(s, s->arena, &value, s->diag) : CUTE_OK;
}

static cute_status answer_atoms(layout_session *s, const cute_option_list *operands)
{
    const char *first = s->s.atom;
    cute_status status = CUTE_OK;
    if (!*first && operands->count) first = NULL;
    size_t names = operands->count + (first != NULL);
    if (s->draw && names > 1)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "expected one atom per picture, got %zu", names);
    for (size_t i = 0; i < names && status == CUTE_OK; i++) {
        const char *name = first ? i == 0 ? first : operands->items[i - 1] : operands->items[i];
        bool list = !*name || !strcmp(name, "list");
        if (list && s->draw)
            status = cute_fail(s->diag, CUTE_USAGE, NULL,
                               "cannot draw a list of atoms; select one with --atom=NAME");
        else if (list && s->s.json)
            write_json_line(s, cute_atoms_list_json(s->arena));
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

static cute_status choose_picture(layout_session *s)
{
    const layout_settings *o = &s->s;
    if (o->json + o->table + o->svg + o->tex > 1)
        return cute_fail(s->diag, CUTE_USAGE, NULL,
                         "--json, --table, --svg and --tex are mutually exclusive");
    if (o->operand && !o->atom && !o->table && !o->svg && !o->tex)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "--operand requires --atom, --table, --svg or --tex");
    if (o->atom && o->tv)
        return cute_fail(s->diag, CUTE_USAGE, NULL,
                         "--tv does not apply to --atom, which defines its own tile");
    if (o->tv && !o->table && !o->svg && !o->tex)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "--tv requires --table, --svg or --tex");
    if ((o->colour || o->element_bits) && !o->svg && !o->tex)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "%s requires --svg or --tex",
                         o->colour ? "--color" : "--element-bits");
    s->draw = o->svg ? cute_picture_svg : o->tex ? cute_picture_tex : NULL;
    s->picture.most_cells = o->tex ? MAX_TEX_CELLS : MAX_CELLS;
    s->picture.most_side = o->tex ? MAX_TEX_SIDE : MAX_CELLS;
    if (o->element_bits < 0 || o->element_bits > MAX_ELEMENT_BITS)
        return cute_fail(s->diag, CUTE_USAGE, NULL, "expected --element-bits=N from 1 to %d",
                         MAX_ELEMENT_BITS);
    s->picture.element_bits = o->element_bits;
    for (size_t i = 0; o->colour && i < sizeof colours / sizeof *colours; i++)
        if (!strcmp(o->colour, colours[i].name)) s->picture.colour = colours[i].colour;
    if (o->colour && s->picture.colour == CUTE_COLOUR_DEFAULT)
        return cute_fail(s->diag, CUTE_USAGE, NULL,
                         "unknown color '%s'; expected index, thread, warp, bank or none", o->colour);
    return CUTE_OK;
}

static cute_status choose_tile(layout_session *s)
{
    cute_value tile;
    const char *text = s->s.tv;
    if (!text) return CUTE_OK;
    /* Parsed as a layout, which checks the extents. */
    cute_status status = cute_value_parse(s->arena, CUTE_LAYOUT, text, strlen(text), &tile, NULL, NULL);
    if (status == CUTE_OK && cute_tree_is_static(tile.layout.shape)) {
        s->picture.tile = tile.layout.shape;
        return CUTE_OK;
    }
    return cute_fail(s->diag, CUTE_USAGE, NULL,
                     "--tv expects a static tile shape such as --tv='(8,8)', got '%s'", text);
}

/* True if stdout and stderr are the same pipe, file or terminal, which would get each error twice. */
static bool shares_stdout_and_stderr(void)
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
        "Functions (see the man page for arguments; '#' starts a comment, 'let a = ...' names a value):\n ");
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

static cute_status run_layout_view(cute_tool *tool, void *context)
{
    layout_session *s = context;
    s->arena = tool->arena;
    s->diag = tool->diag;
    s->format = tool->format;
    s->calculator = cute_calculator_create();
    if (!s->calculator) return cute_fail_memory(s->diag);
    s->status = choose_picture(s);
    if (s->status == CUTE_OK) s->status = choose_tile(s);
    bool once = !s->draw && !s->s.output && shares_stdout_and_stderr();
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
    layout_session s = {0};
    layout_settings *o = &s.s;
    const cute_option options[] = {
        {CUTE_OPTION_GROUP, "Output", 0, NULL, NULL, NULL},
        {CUTE_OPTION_FLAG, "json", 0, NULL,
         "Print one object per line: input, result, error, size, cosize, injective, contiguous", &o->json},
        {CUTE_OPTION_FLAG, "table", 't', NULL,
         "Print a table of indices after each layout, of threads and values after each tiled copy or MMA",
         &o->table},
        {CUTE_OPTION_FLAG, "svg", 0, NULL, "Draw one layout, tiled copy or tiled MMA as SVG", &o->svg},
        {CUTE_OPTION_FLAG, "tex", 0, NULL, "Draw one layout as a LaTeX document (TikZ)", &o->tex},
        {CUTE_OPTION_STRING, "output", 'o', "FILE", "Write to FILE (default: stdout)", &o->output},
        {CUTE_OPTION_MAYBE, "atom", 0, "NAME",
         "Describe an instruction and its thread-value layouts; without NAME, list all instructions",
         &o->atom},
        {CUTE_OPTION_GROUP, "Pictures", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "tv", 0, "TILE",
         "Read the layout as (thread, value) -> position in a tile of this shape", &o->tv},
        {CUTE_OPTION_STRING, "operand", 0, "a|b|c|source|destination",
         "Draw only this operand of an atom, tiled copy or tiled MMA", &o->operand},
        {CUTE_OPTION_STRING, "color", 0, "index|thread|warp|bank|none",
         "Select what colors encode (default index; with --tv thread)", &o->colour},
        {CUTE_OPTION_STRING, "colour", 0, "WHAT", NULL, &o->colour},
        {CUTE_OPTION_INT, "element-bits", 0, "N", "Set the element size for --color=bank (default 32)",
         &o->element_bits},
        {CUTE_OPTION_GROUP, "Other", 0, NULL, NULL, NULL},
        {0},
    };
    cute_buffer epilogue = {0};
    list_functions(&epilogue);
    const cute_command command = {
        .name = "cute-dump layout",
        .synopsis = "[options] [expression...]",
        .summary = "Evaluate layout-algebra expressions: the arguments, or each line of standard input.",
        .options = options,
        .epilogue = cute_buffer_text(&epilogue)};
    int code = cute_tool_run(&command, NULL, run_layout_view, &s, argc, argv);
    cute_buffer_release(&epilogue);
    return code;
}
