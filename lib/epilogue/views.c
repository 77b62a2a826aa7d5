/* A tree as text, JSON and a picture: each node with its operation, name, shape, element type, implementation and kernel's stage. */
#include <stdio.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/epilogue/implement.h"

static void put_operation(const epilogue_node *n, cute_buffer *out)
{
    switch (n->op) {
    case EPILOGUE_COMPUTE: cute_buffer_puts(out, n->function->name); break;
    case EPILOGUE_CONSTANT: cute_buffer_printf(out, "%.9g", n->value); break;
    case EPILOGUE_SLICE:
        cute_buffer_printf(out, "columns %lld::%lld", (long long)n->first, (long long)n->step);
        break;
    case EPILOGUE_REPEAT: cute_buffer_printf(out, "each column %lld times", (long long)n->step); break;
    case EPILOGUE_PLACES: cute_buffer_printf(out, "of %lld columns", (long long)n->step); break;
    case EPILOGUE_CAST: cute_buffer_printf(out, "to %s", cute_dtype_get(n->dtype)->name); break;
    case EPILOGUE_REDUCE:
        cute_buffer_printf(out, "%s of ", epilogue_kind_name(n->kind));
        if (n->group)
            cute_buffer_printf(out, "%lld columns", (long long)n->group);
        else
            cute_buffer_puts(out, n->axis < 0 ? "all" : n->axis == 0 ? "rows" : "columns");
        break;
    case EPILOGUE_COMMUNICATE:
        cute_buffer_printf(out, "%s, %s", epilogue_collective_name(n->collective),
                           epilogue_level_name(n->level));
        break;
    default: break;
    }
}

static const char *node_element(const epilogue_node *n)
{
    return n->condition ? "i1" : n->op == EPILOGUE_LOAD ? cute_dtype_get(n->dtype)->name : "f32";
}

static void put_place(const epilogue_tree *t, const epilogue_node *n, cute_buffer *out)
{
    if (!t->stages) return;
    cute_buffer_printf(out, "%s, kernel %d", epilogue_impl_name(n->impl), n->stage);
    if (n->materialized) cute_buffer_puts(out, ", in memory");
}

void epilogue_text(const epilogue_tree *t, cute_buffer *out)
{
    cute_buffer_puts(out, "passes:");
    for (int i = 0; i < t->pass_count; i++) cute_buffer_printf(out, "%s %s", i ? "," : "", t->passes[i]);
    cute_buffer_puts(out, "\n\nnode op           operation             name        arguments  shape        "
                          "type  implementation\n");
    for (int i = 0; i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        cute_buffer operation = {0}, args = {0}, shape = {0}, place = {0};
        put_operation(n, &operation);
        for (int a = 0; a < n->count; a++)
            cute_buffer_printf(&args, "%s%d", a ? "," : "", n->args[a]->number);
        if (n->batched) cute_buffer_puts(&shape, "L x ");
        if (n->shaped || n->op == EPILOGUE_LOAD) epilogue_shape_text(n->shape, &shape);
        put_place(t, n, &place);
        cute_buffer_printf(out, "%-4d %-12s %-21s %-11s %-10s %-12s %-5s %s\n", n->number,
                           epilogue_op_name(n->op), cute_buffer_text(&operation), n->name ? n->name : "-",
                           args.length ? cute_buffer_text(&args) : "-",
                           shape.length ? cute_buffer_text(&shape) : "-", node_element(n),
                           place.length ? cute_buffer_text(&place) : "-");
        cute_buffer_release(&operation);
        cute_buffer_release(&args);
        cute_buffer_release(&shape);
        cute_buffer_release(&place);
    }
    cute_buffer_puts(out, "\n");
    for (int i = 0; i < t->output_count; i++) {
        const epilogue_output *o = &t->outputs[i];
        cute_buffer shape = {0};
        if (o->node->shaped) epilogue_shape_text(o->node->shape, &shape);
        cute_buffer_printf(out, "store node %d to %s%s%s, %s\n", o->node->number, o->name,
                           shape.length ? ", " : "", cute_buffer_text(&shape),
                           cute_dtype_get(o->dtype)->name);
        cute_buffer_release(&shape);
    }
    for (int i = 0; i < t->step_count; i++)
        cute_buffer_printf(out, "step of the launch plan: %s of %s at the level devices: %s\n",
                           epilogue_collective_name(t->steps[i].collective), t->steps[i].name,
                           epilogue_step_text(&t->steps[i]));
}

static json_t *shape_json(const epilogue_tree *t, const epilogue_node *n)
{
    cute_buffer text = {0};
    epilogue_shape_text(n->shape, &text);
    json_t *out = json_pack("{s:s}", "symbols", cute_buffer_text(&text));
    cute_buffer_release(&text);
    if (t->problem.m)
        json_object_set_new(out, "extents",
                            json_pack("[II]", (json_int_t)epilogue_rows(t, n->shape),
                                      (json_int_t)epilogue_columns(t, n->shape)));
    return out;
}

json_t *epilogue_json(const epilogue_tree *t)
{
    json_t *nodes = json_array(), *outputs = json_array(), *passes = json_array();
    for (int i = 0; i < t->pass_count; i++) json_array_append_new(passes, json_string(t->passes[i]));
    for (int i = 0; i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        cute_buffer operation = {0};
        json_t *args = json_array();
        put_operation(n, &operation);
        for (int a = 0; a < n->count; a++) json_array_append_new(args, json_integer(n->args[a]->number));
        cute_place place = epilogue_place(t, n->offset, n->length);
        json_t *node =
            json_pack("{s:i,s:s,s:s,s:s?,s:o,s:s,s:i,s:i}", "node", n->number, "op", epilogue_op_name(n->op),
                      "operation", cute_buffer_text(&operation), "name", n->name, "args", args, "element",
                      node_element(n), "line", place.line, "column", place.column);
        if (n->shaped) json_object_set_new(node, "shape", shape_json(t, n));
        if (t->stages) {
            json_object_set_new(node, "implementation", json_string(epilogue_impl_name(n->impl)));
            json_object_set_new(node, "kernel", json_integer(n->stage));
            json_object_set_new(node, "in_memory", json_boolean(n->materialized));
        }
        json_array_append_new(nodes, node);
        cute_buffer_release(&operation);
    }
    for (int i = 0; i < t->output_count; i++)
        json_array_append_new(outputs, json_pack("{s:s,s:i,s:s}", "name", t->outputs[i].name, "node",
                                                 t->outputs[i].node->number, "element",
                                                 cute_dtype_get(t->outputs[i].dtype)->name));
    json_t *steps = json_array();
    for (int i = 0; i < t->step_count; i++)
        json_array_append_new(steps, json_pack("{s:s,s:s,s:s,s:s}", "collective",
                                               epilogue_collective_name(t->steps[i].collective), "level",
                                               "devices", "name", t->steps[i].name, "lowering",
                                               epilogue_step_text(&t->steps[i])));
    return json_pack("{s:s,s:o,s:o,s:o,s:o}", "text", t->text, "passes", passes, "nodes", nodes, "outputs",
                     outputs, "steps", steps);
}

/* ---- the picture: a row for each distance from the leaves ---- */

enum { BOX_WIDTH = 180, BOX_HEIGHT = 48, GAP_X = 16, GAP_Y = 36 };

typedef struct box {
    int level, column;
} box;

static int box_x(const box *b)
{
    return GAP_X + b->column * (BOX_WIDTH + GAP_X);
}

static int box_y(const box *b)
{
    return GAP_Y / 2 + b->level * (BOX_HEIGHT + GAP_Y);
}

static void draw_box(const box *b, const char *colour, const char *first, const char *second,
                     cute_buffer *out)
{
    cute_buffer_printf(
        out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" stroke=\"#444\"/>\n",
        box_x(b), box_y(b), BOX_WIDTH, BOX_HEIGHT, colour);
    for (int line = 0; line < 2; line++) {
        const char *text = line ? second : first;
        cute_buffer_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", box_x(b) + BOX_WIDTH / 2,
                           box_y(b) + 19 + 18 * line);
        cute_text_xml(text, strlen(text), out);
        cute_buffer_puts(out, "</text>\n");
    }
}

static void draw_edge(const box *from, const box *to, cute_buffer *out)
{
    cute_buffer_printf(out, "<path d=\"M%d %d L%d %d\" stroke=\"#888\" fill=\"none\"/>\n",
                       box_x(from) + BOX_WIDTH / 2, box_y(from) + BOX_HEIGHT, box_x(to) + BOX_WIDTH / 2,
                       box_y(to));
}

void epilogue_svg(const epilogue_tree *t, cute_buffer *out)
{
    static const char *const colours[] = {"#cfe8ff", "#ffe3b3", "#d5f0d0", "#f5d0e0"};
    box boxes[EPILOGUE_NODES + EPILOGUE_OUTPUTS];
    int columns[EPILOGUE_NODES + 2] = {0}, widest = 1, deepest = 0;
    for (int i = 0; i < t->count + t->output_count; i++) {
        const epilogue_node *n = i < t->count ? t->nodes[i] : t->outputs[i - t->count].node;
        boxes[i].level = 0;
        if (i >= t->count) boxes[i].level = boxes[n->number].level + 1;
        for (int a = 0; i < t->count && a < n->count; a++)
            if (boxes[n->args[a]->number].level >= boxes[i].level)
                boxes[i].level = boxes[n->args[a]->number].level + 1;
        boxes[i].column = columns[boxes[i].level]++;
        if (columns[boxes[i].level] > widest) widest = columns[boxes[i].level];
        if (boxes[i].level > deepest) deepest = boxes[i].level;
    }
    int width = GAP_X + widest * (BOX_WIDTH + GAP_X), height = GAP_Y + (deepest + 1) * (BOX_HEIGHT + GAP_Y);
    cute_buffer_printf(out,
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 "
                       "%d %d\" font-family=\"sans-serif\" "
                       "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                       width, height, width, height);
    for (int i = 0; i < t->count; i++)
        for (int a = 0; a < t->nodes[i]->count; a++)
            draw_edge(&boxes[t->nodes[i]->args[a]->number], &boxes[i], out);
    for (int i = 0; i < t->output_count; i++)
        draw_edge(&boxes[t->outputs[i].node->number], &boxes[t->count + i], out);
    for (int i = 0; i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        cute_buffer first = {0}, second = {0};
        put_operation(n, &first);
        cute_buffer_printf(&first, "%s%s", first.length ? "  " : "", n->name ? n->name : "");
        epilogue_shape_text(n->shape, &second);
        cute_buffer_printf(&second, "  %s", node_element(n));
        if (t->stages) cute_buffer_printf(&second, "  kernel %d", n->stage);
        draw_box(&boxes[i], colours[n->stage & 3], cute_buffer_text(&first), cute_buffer_text(&second), out);
        cute_buffer_release(&first);
        cute_buffer_release(&second);
    }
    for (int i = 0; i < t->output_count; i++) {
        cute_buffer name = {0};
        cute_buffer_printf(&name, "store %s", t->outputs[i].name);
        draw_box(&boxes[t->count + i], "#eeeeee", cute_buffer_text(&name),
                 cute_dtype_get(t->outputs[i].dtype)->name, out);
        cute_buffer_release(&name);
    }
    cute_buffer_puts(out, "</svg>\n");
}
