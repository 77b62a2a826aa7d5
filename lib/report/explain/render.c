/* Findings as text, JSON and HTML, and the table of findings. */
#include <string.h>

#include "lib/report/explain/explain.h"

#include "lib/base/diagnostics/diag.h"

static size_t count_significant(const explain_kernel *k)
{
    size_t n = 0;
    while (n < k->count && k->findings[n].weight != EXPLAIN_LOW) n++;
    return n;
}

static void put_place(const explain_report *r, const explain_kernel *k, const explain_finding *f,
                      cute_buffer *out)
{
    const explain_place *p = &f->place;
    if (p->file)
        cute_buffer_printf(out, "%s:%lld", p->file, (long long)p->line);
    else if (p->ptx_line)
        cute_buffer_printf(out, "%s:%lld", r->label, (long long)p->ptx_line);
    else
        cute_buffer_puts(out, k->name);
    if (p->address >= 0) cute_buffer_printf(out, " (0x%llx)", (unsigned long long)p->address);
}

static void put_share(const explain_finding *f, cute_buffer *out)
{
    if (f->share * 100 < 1)
        cute_buffer_puts(out, "under 1 % of the time");
    else
        cute_buffer_printf(out, "%s%.0f %% of the time", f->measured ? "" : "about ", f->share * 100);
}

/* Wraps text to the columns from `indent` to 100. */
static void put_wrapped(const char *text, int indent, cute_buffer *out)
{
    int at = indent;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (at > indent && at + (int)length > 100) {
            cute_buffer_printf(out, "\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            cute_buffer_putc(out, ' ');
            at++;
        }
        cute_buffer_append(out, text, length);
        at += (int)length;
        text += length;
        while (*text == ' ') text++;
    }
    cute_buffer_putc(out, '\n');
}

static void print_finding(const explain_report *r, const explain_kernel *k, const explain_finding *f,
                          bool colour, cute_buffer *out)
{
    static const char *const colours[] = {"\033[36m", "\033[33m", "\033[31m"};
    const explain_row *row = f->row;
    cute_buffer_puts(out, "  ");
    put_place(r, k, f, out);
    cute_buffer_printf(out, ": %s%s%s: %s (", colour ? colours[f->weight] : "", row->name,
                       colour ? "\033[0m" : "", row->title);
    put_share(f, out);
    cute_buffer_puts(out, ")\n      ");
    put_wrapped(f->evidence, 6, out);
    if (f->place.instruction) {
        cute_buffer_printf(out, "      %s", f->place.instruction);
        if (f->count > 1)
            cute_buffer_printf(out, "; and %lld more%s", (long long)f->count - 1,
                               f->place.file ? " on this line" : "");
        cute_buffer_putc(out, '\n');
    }
    if (f->assumed) cute_buffer_printf(out, "      assumed: %s\n", f->assumed);
    if (f->stall) cute_buffer_printf(out, "      sampled: %s\n", f->stall);
    cute_buffer_puts(out, "      fix: ");
    put_wrapped(f->fix, 11, out);
}

static void put_summary(const explain_kernel *k, size_t significant, bool all, cute_buffer *out)
{
    size_t minor = k->count - significant;
    if (!k->sources && !k->count) {
        cute_buffer_puts(out, "neither PTX nor SASS could be analysed\n");
        return;
    }
    if (significant)
        cute_buffer_printf(out, "%zu significant finding%s", significant, significant == 1 ? "" : "s");
    else
        cute_buffer_puts(out, "no significant findings");
    if (minor && !all) cute_buffer_printf(out, ", %zu minor", minor);
    cute_buffer_printf(out, " (from %s%s)\n", k->sources ? k->sources : "the launch",
                       minor && !all ? "; --all-findings shows all" : "");
}

void explain_print(const explain_report *r, bool all, bool colour, cute_buffer *out)
{
    for (size_t n = 0; n < r->count; n++) {
        const explain_kernel *k = &r->kernels[n];
        size_t significant = count_significant(k), shown = all ? k->count : significant;
        cute_buffer_printf(out, "%s%s%s%s%s%s: ", n ? "\n" : "", colour ? "\033[1m" : "", k->name,
                           colour ? "\033[0m" : "", k->block ? ", " : "", k->block ? k->block : "");
        put_summary(k, significant, all, out);
        if (k->note) cute_buffer_printf(out, "  %s\n", k->note);
        for (size_t f = 0; f < shown; f++) print_finding(r, k, &k->findings[f], colour, out);
        for (size_t u = 0; u < k->missing_count; u++) {
            cute_buffer_puts(out, "  not analysed: ");
            put_wrapped(k->missing[u], 16, out);
        }
    }
}

json_t *explain_json(const explain_report *r)
{
    json_t *kernels = json_array();
    for (size_t n = 0; n < r->count; n++) {
        const explain_kernel *k = &r->kernels[n];
        json_t *findings = json_array(), *missing = json_array();
        for (size_t m = 0; m < k->count; m++) {
            const explain_finding *f = &k->findings[m];
            const explain_row *row = f->row;
            json_t *one =
                json_pack("{s:s,s:s,s:s,s:o,s:s}", "code", row->code, "id", row->name, "weight",
                          explain_weight_name[f->weight], "share",
                          json_real((double)(int64_t)(f->share * 10000 + 0.5) / 10000), "title", row->title);
            if (f->place.file) {
                json_object_set_new(one, "file", cute_json_text(f->place.file));
                json_object_set_new(one, "line", json_integer(f->place.line));
            }
            if (f->place.ptx_line) json_object_set_new(one, "ptx_line", json_integer(f->place.ptx_line));
            if (f->place.address >= 0) json_object_set_new(one, "address", json_integer(f->place.address));
            if (f->place.instruction)
                json_object_set_new(one, "instruction", cute_json_text(f->place.instruction));
            json_object_set_new(one, "instructions", json_integer(f->count));
            json_object_set_new(one, "measured", json_boolean(f->measured));
            json_object_set_new(one, "evidence", cute_json_text(f->evidence));
            json_object_set_new(one, "cure", cute_json_text(f->fix));
            if (f->assumed) json_object_set_new(one, "assumed", json_string(f->assumed));
            if (f->stall) json_object_set_new(one, "stall", json_string(f->stall));
            json_array_append_new(findings, one);
        }
        for (size_t u = 0; u < k->missing_count; u++)
            json_array_append_new(missing, cute_json_text(k->missing[u]));
        json_t *kernel =
            json_pack("{s:o,s:s,s:I,s:o,s:o}", "kernel", cute_json_text(k->name), "looked_at",
                      k->sources ? k->sources : "nothing", "significant", (json_int_t)count_significant(k),
                      "findings", findings, "not_looked_at", missing);
        if (k->assume.block[0] > 0) {
            const int64_t *b = k->assume.block;
            json_object_set_new(kernel, "block",
                                json_pack("[I,I,I]", (json_int_t)b[0], (json_int_t)b[1], (json_int_t)b[2]));
            json_object_set_new(kernel, "block_from", json_string(k->assume.block_from));
        }
        if (k->note) json_object_set_new(kernel, "stalls", cute_json_text(k->note));
        json_array_append_new(kernels, kernel);
    }
    return json_pack("{s:o,s:s,s:o}", "file", cute_json_text(r->label), "arch", r->arch, "kernels", kernels);
}

static void put_html(const char *text, cute_buffer *out)
{
    cute_text_xml(text, strlen(text), out);
}

void explain_html(const explain_report *r, cute_buffer *out)
{
    cute_buffer_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><title>");
    put_html(r->label, out);
    cute_buffer_puts(
        out, "</title>\n<style>\nbody{font:15px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;"
             "padding:0 1em;color:#1a1a1a;background:#fff}\nh2{border-bottom:1px solid #ccc}\n"
             "section{border-left:6px solid #9ab;padding:.2em 1em;margin:1em 0;background:#f6f8fa}\n"
             "section.high{border-color:#c0392b}section.medium{border-color:#d79b00}\n"
             "h3{margin:.3em 0;font-size:1.05em}code,.place{font-family:ui-monospace,monospace;"
             "font-size:.92em}\n.bar{background:#dde;height:.5em}.bar i{display:block;height:.5em;"
             "background:#456}\n.fix{color:#1b5e20}.missing{color:#555}\n</style></head><body>\n<h1>");
    put_html(r->label, out);
    cute_buffer_puts(out, "</h1>\n");
    for (size_t n = 0; n < r->count; n++) {
        const explain_kernel *k = &r->kernels[n];
        cute_buffer_puts(out, "<h2>");
        put_html(k->name, out);
        cute_buffer_printf(out, "</h2>\n<p>Significant findings: %zu (from %s)%s%s.", count_significant(k),
                           k->sources ? k->sources : "the launch", k->block ? "; " : "",
                           k->block ? k->block : "");
        if (k->note) cute_buffer_putc(out, ' '), put_html(k->note, out);
        cute_buffer_puts(out, "</p>\n");
        for (size_t m = 0; m < k->count; m++) {
            const explain_finding *f = &k->findings[m];
            cute_buffer_printf(out, "<section class=\"%s\"><h3>", explain_weight_name[f->weight]);
            put_html(f->row->title, out);
            cute_buffer_puts(out, "</h3><div class=\"place\">");
            cute_buffer place = {0};
            put_place(r, k, f, &place);
            put_html(cute_buffer_text(&place), out);
            cute_buffer_release(&place);
            cute_buffer_puts(out, " \xC2\xB7 ");
            put_share(f, out);
            cute_buffer_printf(out, "</div><div class=\"bar\"><i style=\"width:%.0f%%\"></i></div><p>",
                               f->share * 100);
            put_html(f->evidence, out);
            if (f->assumed) {
                cute_buffer_puts(out, "; assumed: ");
                put_html(f->assumed, out);
            }
            cute_buffer_puts(out, "</p>");
            if (f->place.instruction) {
                cute_buffer_puts(out, "<code>");
                put_html(f->place.instruction, out);
                cute_buffer_puts(out, "</code>");
            }
            cute_buffer_puts(out, "<p class=\"fix\">Fix: ");
            put_html(f->fix, out);
            cute_buffer_puts(out, "</p></section>\n");
        }
        for (size_t u = 0; u < k->missing_count; u++) {
            cute_buffer_puts(out, "<p class=\"missing\">Not analysed: ");
            put_html(k->missing[u], out);
            cute_buffer_puts(out, "</p>\n");
        }
    }
    cute_buffer_puts(out, "</body></html>\n");
}

/* ---- the table ---- */

/* `name`: a code or an id; NULL: all rows. */
static bool row_is_called(const explain_row *row, const char *name)
{
    return !name || !strcmp(row->name, name) || !strcmp(row->code, name);
}

bool explain_print_findings(const cute_plugins *plugins, const char *name, cute_buffer *out)
{
    bool any = false;
    for (size_t n = 0; n < explain_row_count(plugins); n++) {
        const explain_row at = explain_row_at(plugins, n), *row = &at;
        if (!row_is_called(row, name)) continue;
        cute_buffer_printf(out, "%s %s: %s (%s)\n  fix: ", row->code, row->name, row->title,
                           explain_view_name[row->view]);
        put_wrapped(row->fix, 7, out);
        any = true;
    }
    return any;
}

json_t *explain_findings_json(const cute_plugins *plugins, const char *name)
{
    json_t *list = json_array();
    for (size_t n = 0; n < explain_row_count(plugins); n++) {
        const explain_row at = explain_row_at(plugins, n), *row = &at;
        if (!row_is_called(row, name)) continue;
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:s}", "code", row->code, "id", row->name,
                                              "title", row->title, "looked_for_in",
                                              explain_view_name[row->view], "fix", row->fix));
    }
    return list;
}
