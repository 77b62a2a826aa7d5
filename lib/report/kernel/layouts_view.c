/* The layouts of a kernel as text, text tables, SVG, HTML and JSON. */
#include <string.h>

#include "lib/calculator/atoms.h"

#include "lib/base/diagnostics/diag.h"
#include "lib/report/kernel/layouts.h"
#include "lib/report/table.h"

/* The largest pictures on a terminal and on a page. */
enum { TEXT_ROWS = 16, TEXT_COLUMNS = 16, PAGE_ROWS = 32, PAGE_COLUMNS = 64, SVG_SIDE = 256 };

/* ---- text ---- */

static const char *format_place(cute_arena *arena, const layout_item *item)
{
    const char *slash = item->file ? strrchr(item->file, '/') : NULL;
    if (item->name) return item->name;
    if (!item->file) return "";
    return cute_arena_printf(arena, "%s:%lld", slash ? slash + 1 : item->file, (long long)item->line);
}

static const char *layout_kind_name(const layout_item *item)
{
    return layout_kind_names[item->kind];
}

static const char *format_size(cute_arena *arena, const layout_item *item)
{
    if (item->kind == LAYOUT_TENSOR)
        return item->bytes >= 0 ? cute_arena_printf(arena, "%lld bytes", (long long)item->bytes) : "";
    if (item->kind == LAYOUT_TILED_COPY && item->threads > 0)
        return cute_arena_printf(arena, "%lld threads, %lld values", (long long)item->threads,
                                 (long long)item->values);
    if (item->kind == LAYOUT_MMA && item->threads > 0)
        return cute_arena_printf(arena, "%lld threads", (long long)item->threads);
    return "";
}

static const char *format_details(cute_arena *arena, const layout_item *item)
{
    if (item->kind == LAYOUT_TENSOR)
        return cute_arena_printf(arena, "%s %s%s%s", item->space ? item->space : "",
                                 item->type ? item->type : "", item->swizzle ? ", swizzle " : "",
                                 item->swizzle ? item->swizzle : "");
    if (item->kind == LAYOUT_BOX)
        return cute_arena_printf(arena, "%s%s%s", item->type ? item->type : "", item->swizzle ? ", " : "",
                                 item->swizzle ? item->swizzle : "");
    return item->atom;
}

void cute_layouts_print(cute_arena *arena, const layout_report *report, cute_buffer *out)
{
    for (size_t k = 0; k < report->count; k++) {
        const layout_kernel *kernel = &report->kernels[k];
        cute_table table = {.arena = arena, .columns = 6};
        cute_buffer_printf(out, "%s%s: %zu layouts%s%s\n", k ? "\n" : "", kernel->kernel, kernel->count,
                           kernel->why_none ? ": " : "", kernel->why_none ? kernel->why_none : "");
        for (size_t n = 0; n < kernel->count; n++) {
            const layout_item *item = &kernel->items[n];
            const char *cells[] = {cute_arena_printf(arena, "%d", item->number),
                                   layout_kind_name(item),
                                   format_place(arena, item),
                                   item->layout,
                                   format_size(arena, item),
                                   format_details(arena, item)};
            for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
                if (!cells[c]) cells[c] = "";
            cute_table_row(&table, cells);
        }
        if (table.rows) cute_table_print(&table, 2 | 4 | 8 | 16 | 32, "  ", out);
    }
}

cute_status cute_layouts_print_tables(cute_arena *arena, const layout_report *report, cute_buffer *out,
                                      cute_diag *diag)
{
    cute_layouts_print(arena, report, out);
    for (size_t k = 0; k < report->count; k++)
        for (size_t n = 0; n < report->kernels[k].count; n++) {
            const layout_item *item = &report->kernels[k].items[n];
            layout_pictures pictures;
            CUTE_TRY(cute_layouts_draw(arena, item, TEXT_ROWS, TEXT_COLUMNS, &pictures, diag));
            for (size_t p = 0; p < pictures.count; p++) {
                cute_buffer_printf(out, "\n%d. %s\n", item->number, pictures.items[p].title);
                cute_picture_table(&pictures.items[p], out);
            }
        }
    return CUTE_OK;
}

/* ---- pictures ---- */

/* The pictures of one item, one below the other. */
static void put_svgs(const layout_pictures *pictures, cute_buffer *out)
{
    for (size_t p = 0; p < pictures->count; p++) {
        cute_buffer one = {0};
        cute_picture_svg(&pictures->items[p], &one);
        /* Skip the XML declaration, which HTML does not allow; the styles of all pictures are the same. */
        const char *text = cute_buffer_text(&one), *svg = strstr(text, "<svg");
        if (svg) cute_buffer_append(out, svg, one.length - (size_t)(svg - text));
        cute_buffer_release(&one);
    }
}

/* The pictures of an item as one document; the operands of an MMA around each other. */
static cute_status put_whole(cute_arena *arena, const layout_item *item, const layout_pictures *pictures,
                             cute_buffer *out, cute_diag *diag)
{
    /* C, with A to its left and B above. */
    const cute_picture_options options = {.most_cells = 2 * SVG_SIDE * SVG_SIDE, .most_side = 2 * SVG_SIDE};
    cute_picture whole;
    const cute_picture *shown = &pictures->items[0];
    if (pictures->count > 1) {
        CUTE_TRY(cute_atom_whole_picture(arena, &item->value, &options, &whole, diag));
        shown = &whole;
    }
    cute_picture_svg(shown, out);
    return CUTE_OK;
}

cute_status cute_layouts_svg(cute_arena *arena, const layout_report *report, int64_t number, cute_buffer *out,
                             cute_diag *diag)
{
    const cute_place file = {.file = report->label};
    for (size_t k = 0; k < report->count; k++)
        for (size_t n = 0; n < report->kernels[k].count; n++) {
            const layout_item *item = &report->kernels[k].items[n];
            layout_pictures pictures;
            if (item->number != number) continue;
            CUTE_TRY(cute_layouts_draw(arena, item, SVG_SIDE, SVG_SIDE, &pictures, diag));
            if (!pictures.count)
                return cute_fail(diag, CUTE_INVALID, &file, "layout %d has no picture: %s", item->number,
                                 pictures.why ? pictures.why : "its sizes are unknown");
            return put_whole(arena, item, &pictures, out, diag);
        }
    return cute_fail(diag, CUTE_USAGE, NULL, "expected a layout from 1 to %d, got %lld", report->items,
                     (long long)number);
}

/* ---- HTML ---- */

static void put_xml(const char *text, cute_buffer *out)
{
    if (text) cute_text_xml(text, strlen(text), out);
}

static cute_status put_rows(cute_arena *arena, const layout_kernel *kernel, cute_buffer *out, cute_diag *diag)
{
    cute_buffer_puts(
        out, "<table><tr><th></th><th>kind</th><th>line</th><th>layout</th><th>size</th><th></th></tr>\n");
    for (size_t n = 0; n < kernel->count; n++) {
        const layout_item *item = &kernel->items[n];
        const char *cells[] = {layout_kind_name(item), format_place(arena, item), item->layout,
                               format_size(arena, item), format_details(arena, item)};
        layout_pictures pictures;
        CUTE_TRY(cute_layouts_draw(arena, item, 1, 1, &pictures, diag));
        cute_buffer_printf(out, pictures.count ? "<tr><td><a href=\"#l%d\">%d</a></td>" : "<tr><td>%d</td>",
                           item->number, item->number);
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
            cute_buffer_puts(out, c == 2 || c == 4 ? "<td><code>" : "<td>");
            put_xml(cells[c], out);
            cute_buffer_puts(out, c == 2 || c == 4 ? "</code></td>" : "</td>");
        }
        cute_buffer_puts(out, "</tr>\n");
    }
    cute_buffer_puts(out, "</table>\n");
    return CUTE_OK;
}

static cute_status put_figure(cute_arena *arena, const layout_item *item, cute_buffer *out, cute_diag *diag)
{
    layout_pictures pictures;
    CUTE_TRY(cute_layouts_draw(arena, item, PAGE_ROWS, PAGE_COLUMNS, &pictures, diag));
    if (!pictures.count) return CUTE_OK;
    cute_buffer_printf(out, "<section id=\"l%d\"><h3>%d. %s ", item->number, item->number,
                       layout_kind_name(item));
    put_xml(format_place(arena, item), out);
    cute_buffer_puts(out, "</h3>\n<p><code>");
    put_xml(item->text, out);
    cute_buffer_puts(out, "</code></p>\n");
    cute_buffer_puts(out, "<div class=\"p\">");
    put_svgs(&pictures, out);
    cute_buffer_puts(out, "</div>\n");
    cute_buffer_puts(out, "</section>\n");
    return CUTE_OK;
}

cute_status cute_layouts_html(cute_arena *arena, const layout_report *report, cute_buffer *out,
                              cute_diag *diag)
{
    cute_buffer_puts(out,
                     "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>Layouts of ");
    put_xml(report->label, out);
    cute_buffer_puts(
        out,
        "</title>\n<style>\n"
        "body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:100em;padding:0 1em;color:#222}\n"
        "code,td,th{font-size:13px}table{border-collapse:collapse;display:block;overflow-x:auto}\n"
        "td,th{text-align:left;padding:.2em .7em;border-bottom:1px solid #ddd;vertical-align:top}\n"
        ".p{overflow:auto;max-height:48em;border:1px solid #ccc;background:#fff}\n"
        ".p svg{display:block}.no{color:#666}h3{margin-top:2em}code{overflow-wrap:anywhere}\n"
        "</style></head><body>\n<h1>Layouts of ");
    put_xml(report->label, out);
    cute_buffer_puts(out, "</h1>\n");
    for (size_t k = 0; k < report->count; k++) {
        const layout_kernel *kernel = &report->kernels[k];
        cute_buffer_puts(out, "<h2>");
        put_xml(kernel->kernel, out);
        cute_buffer_puts(out, "</h2>\n");
        CUTE_TRY(put_rows(arena, kernel, out, diag));
        for (size_t n = 0; n < kernel->count; n++) CUTE_TRY(put_figure(arena, &kernel->items[n], out, diag));
    }
    cute_buffer_puts(out, "</body></html>\n");
    return CUTE_OK;
}

/* ---- JSON ---- */

static void put_text(json_t *value, const char *key, const char *text)
{
    if (text) json_object_set_new(value, key, cute_json_text(text));
}

json_t *cute_layouts_json(const layout_report *report)
{
    json_t *value = json_object(), *kernels = json_array();
    for (size_t k = 0; k < report->count; k++) {
        const layout_kernel *kernel = &report->kernels[k];
        json_t *one = json_object(), *list = json_array();
        for (size_t n = 0; n < kernel->count; n++) {
            const layout_item *i = &kernel->items[n];
            json_t *item = json_pack("{s:i,s:s}", "number", i->number, "kind", layout_kind_name(i));
            put_text(item, "name", i->name);
            put_text(item, "op", i->op);
            put_text(item, "file", i->file);
            if (i->line) json_object_set_new(item, "line", json_integer(i->line));
            put_text(item, "text", i->text);
            put_text(item, "layout", i->layout);
            put_text(item, "space", i->space);
            put_text(item, "type", i->type);
            put_text(item, "swizzle", i->swizzle);
            put_text(item, "atom", i->atom);
            if (i->bits) json_object_set_new(item, "bits", json_integer(i->bits));
            if (i->kind == LAYOUT_TENSOR && i->bytes >= 0)
                json_object_set_new(item, "bytes", json_integer(i->bytes));
            if (i->threads > 0) json_object_set_new(item, "threads", json_integer(i->threads));
            if (i->values > 0) json_object_set_new(item, "values", json_integer(i->values));
            json_array_append_new(list, item);
        }
        put_text(one, "kernel", kernel->kernel);
        put_text(one, "no_layouts", kernel->why_none);
        json_object_set_new(one, "layouts", list);
        json_array_append_new(kernels, one);
    }
    put_text(value, "file", report->label);
    json_object_set_new(value, "kernels", kernels);
    return value;
}
