/* The control-flow graph as text, JSON, dot, and SVG with blocks in address order, forward edges at the right and back edges at the
 * left. */
#include <string.h>

#include "lib/report/code/view.h"

#include "lib/base/diagnostics/diag.h"

static const char *const edge_names[] = {"next", "branch", "call", "return"};

static const cute_code_instruction *first_of(const cute_code_function *f, const cute_code_block *b)
{
    return &f->instructions[b->first];
}

static const cute_code_instruction *last_of(const cute_code_function *f, const cute_code_block *b)
{
    return &f->instructions[b->first + b->count - 1];
}

static bool is_selected(const cute_code_function *f, const char *only)
{
    return !only || strcmp(only, f->name) == 0;
}

/* "tensor 4, integer 2": the three largest classes. */
static void put_classes(const cute_code_function *f, const cute_code_block *b, cute_buffer *out)
{
    size_t counts[CUTE_CODE_CLASSES] = {0};
    for (size_t n = b->first; n < b->first + b->count; n++) counts[f->instructions[n].class]++;
    for (int k = 0; k < 3; k++) {
        unsigned most = 0;
        for (unsigned c = 1; c < CUTE_CODE_CLASSES; c++)
            if (counts[c] > counts[most]) most = c;
        if (!counts[most]) return;
        cute_buffer_printf(out, "%s%s %zu", k ? ", " : "", cute_code_class_table[most].name, counts[most]);
        counts[most] = 0;
    }
}

static unsigned depth_of(const cute_code_function *f, const cute_code_block *b)
{
    return b->loop == CUTE_NO_LOOP ? 0 : f->loops[b->loop].depth;
}

void cute_code_print_cfg(const cute_code *code, const char *only, cute_buffer *out)
{
    bool first = true;
    for (size_t k = 0; k < code->count; k++) {
        const cute_code_function *f = &code->functions[k];
        if (!is_selected(f, only)) continue;
        cute_buffer_printf(out, "%s%s: %zu blocks, %zu loops, %zu instructions\n", first ? "" : "\n", f->name,
                           f->block_count, f->loop_count, f->count);
        first = false;
        for (size_t b = 0; b < f->block_count; b++) {
            const cute_code_block *block = &f->blocks[b];
            cute_buffer_printf(out, "  B%-4zu %04llx..%04llx %5zu instructions  ", b,
                               (unsigned long long)first_of(f, block)->address,
                               (unsigned long long)last_of(f, block)->address, block->count);
            for (uint32_t e = 0; e < block->edge_count; e++)
                cute_buffer_printf(out, "%s%s B%u", e ? ", " : "-> ", edge_names[block->edges[e].kind],
                                   block->edges[e].to);
            if (block->leaves) cute_buffer_puts(out, block->edge_count ? ", leaves" : "-> leaves");
            if (!block->reached) cute_buffer_puts(out, "  (unreachable)");
            if (block->loop != CUTE_NO_LOOP)
                cute_buffer_printf(out, "  [loop %u, depth %u]", block->loop, depth_of(f, block));
            cute_buffer_puts(out, "\n        ");
            put_classes(f, block, out);
            cute_buffer_putc(out, '\n');
        }
        for (size_t l = 0; l < f->loop_count; l++) {
            const cute_code_loop *loop = &f->loops[l];
            cute_buffer_printf(out, "  loop %zu: header B%u, depth %u, %u blocks, %zu instructions", l,
                               loop->header, loop->depth, loop->block_count, loop->instructions);
            if (loop->parent != CUTE_NO_LOOP) cute_buffer_printf(out, ", inside loop %u", loop->parent);
            cute_buffer_putc(out, '\n');
        }
        if (f->irreducible)
            cute_buffer_printf(out, "  %zu retreating edges into cycles with several entries (irreducible)\n",
                               f->irreducible);
    }
}

static json_t *number_or_null(uint32_t value)
{
    return value == UINT32_MAX ? json_null() : json_integer(value);
}

static json_t *block_json(const cute_code_function *f, const cute_code_block *b, size_t number)
{
    json_t *edges = json_array();
    for (uint32_t e = 0; e < b->edge_count; e++)
        json_array_append_new(edges, json_pack("{s:I,s:s}", "to", (json_int_t)b->edges[e].to, "kind",
                                               edge_names[b->edges[e].kind]));
    json_t *o = json_object();
    json_object_set_new(o, "block", json_integer((json_int_t)number));
    json_object_set_new(o, "first", json_integer((json_int_t)first_of(f, b)->address));
    json_object_set_new(o, "last", json_integer((json_int_t)last_of(f, b)->address));
    json_object_set_new(o, "instructions", json_integer((json_int_t)b->count));
    json_object_set_new(o, "dominator", number_or_null(b->dominator));
    json_object_set_new(o, "loop", number_or_null(b->loop));
    json_object_set_new(o, "reached", json_boolean(b->reached));
    json_object_set_new(o, "leaves", json_boolean(b->leaves));
    json_object_set_new(o, "edges", edges);
    return o;
}

json_t *cute_code_json_cfg(const cute_code *code, const char *only)
{
    json_t *functions = json_array();
    for (size_t k = 0; k < code->count; k++) {
        const cute_code_function *f = &code->functions[k];
        if (!is_selected(f, only)) continue;
        json_t *o = json_object(), *blocks = json_array(), *loops = json_array();
        for (size_t b = 0; b < f->block_count; b++)
            json_array_append_new(blocks, block_json(f, &f->blocks[b], b));
        for (size_t l = 0; l < f->loop_count; l++) {
            const cute_code_loop *loop = &f->loops[l];
            json_t *item = json_object();
            json_object_set_new(item, "loop", json_integer((json_int_t)l));
            json_object_set_new(item, "header", json_integer(loop->header));
            json_object_set_new(item, "parent", number_or_null(loop->parent));
            json_object_set_new(item, "depth", json_integer(loop->depth));
            json_object_set_new(item, "blocks", json_integer(loop->block_count));
            json_object_set_new(item, "instructions", json_integer((json_int_t)loop->instructions));
            json_array_append_new(loops, item);
        }
        json_object_set_new(o, "name", cute_json_text(f->name));
        json_object_set_new(o, "blocks", blocks);
        json_object_set_new(o, "loops", loops);
        json_object_set_new(o, "irreducible", json_integer((json_int_t)f->irreducible));
        json_array_append_new(functions, o);
    }
    return functions;
}

/* A dot string; `\l` ends a left-aligned line. */
static void put_quoted(cute_buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') cute_buffer_putc(out, '\\');
        cute_buffer_putc(out, *text);
    }
}

void cute_code_dot_cfg(const cute_code *code, const char *only, cute_buffer *out)
{
    static const char *const styles[] = {"", " [color=blue]", " [style=dashed]", " [style=dotted]"};
    cute_buffer_puts(out, "digraph cfg {\n  node [shape=box, fontname=monospace];\n");
    for (size_t k = 0; k < code->count; k++) {
        const cute_code_function *f = &code->functions[k];
        if (!is_selected(f, only)) continue;
        cute_buffer_printf(out, "  subgraph cluster_%zu {\n    label=\"", k);
        put_quoted(out, f->name);
        cute_buffer_puts(out, "\";\n");
        for (size_t b = 0; b < f->block_count; b++) {
            const cute_code_block *block = &f->blocks[b];
            cute_buffer_printf(out, "    f%zub%zu [label=\"B%zu", k, b, b);
            if (block->loop != CUTE_NO_LOOP) cute_buffer_printf(out, ", loop %u", block->loop);
            cute_buffer_puts(out, "\\l");
            for (size_t n = block->first; n < block->first + block->count; n++) {
                cute_buffer_printf(out, "%04llx  ", (unsigned long long)f->instructions[n].address);
                put_quoted(out, f->instructions[n].text);
                cute_buffer_puts(out, "\\l");
            }
            cute_buffer_puts(out, block->reached ? "\"];\n" : "\", color=grey];\n");
        }
        for (size_t b = 0; b < f->block_count; b++)
            for (uint32_t e = 0; e < f->blocks[b].edge_count; e++)
                cute_buffer_printf(out, "    f%zub%zu -> f%zub%u%s;\n", k, b, k, f->blocks[b].edges[e].to,
                                   styles[f->blocks[b].edges[e].kind]);
        cute_buffer_puts(out, "  }\n");
    }
    cute_buffer_puts(out, "}\n");
}

/* ---- svg ---- */

enum { BOX_WIDTH = 460, BOX_HEIGHT = 52, GAP = 20, LANE = 9, LANES = 24, MARGIN = 24 + LANE * LANES };

/* The first free lane; edges are sorted by their upper end. */
static int find_lane(size_t *busy, size_t upper, size_t lower)
{
    for (int lane = 0; lane < LANES; lane++)
        if (busy[lane] <= upper) {
            busy[lane] = lower;
            return lane;
        }
    return LANES - 1;
}

static void put_edge(cute_buffer *out, size_t from, size_t to, const cute_code_edge *e, int lane, long top)
{
    bool back = to <= from;
    long x = back ? MARGIN : MARGIN + BOX_WIDTH, side = (back ? -1 : 1) * (14 + (long)lane * LANE);
    long y1 = top + (long)from * (BOX_HEIGHT + GAP) + BOX_HEIGHT - 10,
         y2 = top + (long)to * (BOX_HEIGHT + GAP) + 12;
    const char *colour = back ? "#c0392b" : e->kind >= CUTE_EDGE_CALL ? "#8e8e8e" : "#2c6fbb";
    cute_buffer_printf(out,
                       "<path d=\"M%ld %ldh%ldV%ldh%ld\" fill=\"none\" stroke=\"%s\"%s/>"
                       "<path d=\"M%ld %ldl%d -4v8z\" fill=\"%s\"/>\n",
                       x, y1, side, y2, -side, colour,
                       e->kind >= CUTE_EDGE_CALL ? " stroke-dasharray=\"3 3\"" : "", x, y2, back ? -7 : 7,
                       colour);
}

static void put_box(cute_buffer *out, const cute_code_function *f, size_t number, long top)
{
    static const char *const fills[] = {"#ffffff", "#fff3d6", "#ffe0b0", "#ffc680"};
    const cute_code_block *b = &f->blocks[number];
    unsigned depth = depth_of(f, b);
    long y = top + (long)number * (BOX_HEIGHT + GAP);
    cute_buffer_printf(
        out,
        "<rect x=\"%d\" y=\"%ld\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\" "
        "stroke=\"%s\"/>\n<text x=\"%d\" y=\"%ld\" font-weight=\"bold\">B%zu  %04llx..%04llx  %zu "
        "instruction%s",
        MARGIN, y, BOX_WIDTH, BOX_HEIGHT, b->reached ? fills[depth < 3 ? depth : 3] : "#eeeeee",
        b->reached ? "#444444" : "#aaaaaa", MARGIN + 8, y + 15, number,
        (unsigned long long)first_of(f, b)->address, (unsigned long long)last_of(f, b)->address, b->count,
        b->count == 1 ? "" : "s");
    if (depth) cute_buffer_printf(out, "  loop %u, depth %u", b->loop, depth);
    cute_buffer_printf(out, "</text>\n<text x=\"%d\" y=\"%ld\" fill=\"#666666\">", MARGIN + 8, y + 30);
    put_classes(f, b, out);
    cute_buffer_printf(out, "</text>\n<text x=\"%d\" y=\"%ld\">", MARGIN + 8, y + 45);
    cute_text_xml(last_of(f, b)->text, strnlen(last_of(f, b)->text, 68), out);
    cute_buffer_puts(out, "</text>\n");
    bool next = false;
    for (uint32_t e = 0; e < b->edge_count; e++)
        next |= b->edges[e].kind == CUTE_EDGE_NEXT && b->edges[e].to == number + 1;
    if (next)
        cute_buffer_printf(out, "<path d=\"M%d %ldv%d\" stroke=\"#444444\"/><path d=\"M%d %ldl-4 -6h8z\"/>\n",
                           MARGIN + BOX_WIDTH / 2, y + BOX_HEIGHT, GAP, MARGIN + BOX_WIDTH / 2,
                           y + BOX_HEIGHT + GAP);
}

static void put_graph(cute_buffer *out, const cute_code_function *f, long top)
{
    size_t onward[LANES] = {0}, backward[LANES] = {0};
    cute_buffer_printf(out, "<text x=\"%d\" y=\"%ld\" font-size=\"15\" font-weight=\"bold\">", MARGIN,
                       top - 12);
    cute_text_xml(f->name, strnlen(f->name, 80), out);
    cute_buffer_puts(out, "</text>\n");
    for (size_t b = 0; b < f->block_count; b++) put_box(out, f, b, top);
    for (size_t b = 0; b < f->block_count; b++)
        for (uint32_t e = 0; e < f->blocks[b].edge_count; e++) {
            const cute_code_edge *edge = &f->blocks[b].edges[e];
            if (edge->kind == CUTE_EDGE_NEXT || edge->to <= b) continue;
            put_edge(out, b, edge->to, edge, find_lane(onward, b, edge->to), top);
        }
    /* Back edges in the order of their targets, which are their upper ends. */
    for (size_t b = f->block_count; b-- > 0;)
        for (uint32_t e = 0; e < f->blocks[b].edge_count; e++) {
            const cute_code_edge *edge = &f->blocks[b].edges[e];
            if (edge->to > b) continue;
            size_t upper = f->block_count - b, lower = f->block_count - edge->to;
            put_edge(out, b, edge->to, edge, find_lane(backward, upper, lower), top);
        }
}

void cute_code_svg_cfg(const cute_code *code, const char *only, cute_buffer *out)
{
    static const struct {
        const char *stroke, *dash, *text;
    } legend[] = {{"#444444", "", "next"},
                  {"#2c6fbb", "", "branch"},
                  {"#c0392b", "", "back"},
                  {"#8e8e8e", " stroke-dasharray=\"3 3\"", "call, return"}};
    long height = 44, top = 84;
    for (size_t k = 0; k < code->count; k++)
        if (is_selected(&code->functions[k], only))
            height += 60 + (long)code->functions[k].block_count * (BOX_HEIGHT + GAP);
    cute_buffer_printf(out,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%ld\" "
                       "font-family=\"monospace\" font-size=\"11\" xml:space=\"preserve\">\n"
                       "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                       2 * MARGIN + BOX_WIDTH, height);
    int x = MARGIN;
    for (size_t i = 0; i < sizeof legend / sizeof *legend; i++) {
        cute_buffer_printf(out, "<path d=\"M%d 20h24\" stroke=\"%s\"%s/><text x=\"%d\" y=\"24\">%s</text>\n",
                           x, legend[i].stroke, legend[i].dash, x + 30, legend[i].text);
        x += 50 + 7 * (int)strlen(legend[i].text);
    }
    cute_buffer_printf(out, "<text x=\"%d\" y=\"24\">shaded: loops; grey: unreachable</text>\n", x);
    for (size_t k = 0; k < code->count; k++) {
        const cute_code_function *f = &code->functions[k];
        if (!is_selected(f, only)) continue;
        put_graph(out, f, top);
        top += 60 + (long)f->block_count * (BOX_HEIGHT + GAP);
    }
    cute_buffer_puts(out, "</svg>\n");
}
