/* Swimlanes of a schedule: roles and stages as rows, a few iterations from left to right, with arrows fetch, await, product and
 * release. Times are those of an ideal: each product takes a column, a fetch two, everything else nothing. */
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/report/schedule/schedule.h"

enum { COLUMN = 64, LEFT = 150, TOP = 72, ROW = 34, BOX = 22, GAP = 10, RIGHT = 24, BELOW = 46 };
enum { MOST_STAGES = 16, MOST_STEPS = 20, MORE_STEPS = 4 };

/* One iteration, in columns. */
typedef struct step {
    double fetch, full, product, end, free; /* free: its stage is released */
} step;

/* A loop with rings of the same stages: those of a pipe, or of cp.async. */
typedef struct lanes {
    const schedule_kernel *k;
    int64_t pipe; /* -1: cp.async */
    const char *producer, *consumer;
    int stages, count, pending;
    step steps[MOST_STEPS];
    cute_buffer *out;
} lanes;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void run_steps(lanes *l)
{
    const double issue = 0.3, copy = 2;
    for (int n = 0; n < l->count; n++) {
        step *s = &l->steps[n], *before = n ? s - 1 : NULL;
        const step *last = n >= l->stages ? s - l->stages : NULL; /* that had the stage */
        s->fetch = larger(before ? before->fetch + issue : 0, last ? last->free : 0);
        s->full = s->fetch + copy;
        s->product = larger(s->full, before ? before->end : 0);
        s->end = s->product + 1;
        s->free = s->end + l->pending; /* the products behind it are issued while it is under way */
    }
}

static double x_of(double column)
{
    return LEFT + column * COLUMN;
}

static int y_of_stage(const lanes *l, int stage)
{
    (void)l;
    return TOP + ROW + GAP + stage * ROW;
}

static int y_of_consumer(const lanes *l)
{
    return y_of_stage(l, l->stages) + GAP;
}

static void put_box(const lanes *l, const char *class, double from, double to, int y, const char *text, int n)
{
    cute_buffer_printf(l->out,
                       "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"3\"/>",
                       class, x_of(from), y + (ROW - BOX) / 2, (to - from) * COLUMN - 1, BOX);
    cute_buffer_printf(l->out, "<text class=\"in\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s%d</text>\n",
                       x_of((from + to) / 2), y + ROW / 2 + 4, text, n);
}

static void put_arrow(const lanes *l, const char *class, double from, int y_from, double to, int y_to)
{
    cute_buffer_printf(l->out,
                       "<line class=\"%s\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" "
                       "marker-end=\"url(#head)\"/>\n",
                       class, x_of(from), y_from, x_of(to), y_to);
}

static void put_label(const lanes *l, int y, const char *text)
{
    cute_buffer_printf(l->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 12, y + ROW / 2 + 4);
    cute_text_xml(text, strlen(text), l->out);
    cute_buffer_puts(l->out, "</text>\n");
}

static void put_lane(const lanes *l, int y, double columns)
{
    cute_buffer_printf(l->out, "<rect class=\"lane\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
                       LEFT, y + 2, columns * COLUMN, ROW - 4);
}

static void put_step(const lanes *l, int n)
{
    const step *s = &l->steps[n];
    int stage = n % l->stages, producer = TOP, row = y_of_stage(l, stage), consumer = y_of_consumer(l),
        edge = (ROW - BOX) / 2;
    put_box(l, "issue", s->fetch, s->fetch + 0.3, producer, "", n);
    put_box(l, "fetch", s->fetch, s->full, row, "fetch ", n);
    if (s->product > s->full) put_box(l, "full", s->full, s->product, row, "", n);
    put_box(l, "read", s->product, s->free, row, "read ", n);
    put_box(l, "product", s->product, s->end, consumer, "product ", n);
    put_arrow(l, "go", s->fetch + 0.15, producer + ROW - edge, s->fetch + 0.15, row + edge);
    put_arrow(l, "await", s->product + 0.08, row + ROW - edge, s->product + 0.08, consumer + edge);
    if (n + l->stages < l->count)
        put_arrow(l, "release", s->free, row + edge, larger(s->free, l->steps[n + l->stages].fetch) + 0.1,
                  producer + ROW - edge);
}

static double columns_of(const lanes *l)
{
    return l->steps[l->count - 1].free + 0.25;
}

/* "a 128x64, b 256x64" of the loop's rings. */
static void put_rings(const lanes *l)
{
    bool first = true;
    for (size_t n = 0; n < l->k->ring_count; n++) {
        const schedule_ring *r = &l->k->rings[n];
        if (r->pipe != l->pipe) continue;
        const char *name = r->name ? r->name : "a load";
        cute_buffer_puts(l->out, first ? "" : ", ");
        cute_text_xml(name, strlen(name), l->out);
        for (size_t d = 0; d < r->tile.rank; d++)
            cute_buffer_printf(l->out, "%c%lld", d ? 'x' : ' ', (long long)r->tile.extent[d]);
        cute_buffer_putc(l->out, ' ');
        cute_text_xml(r->dtype, strlen(r->dtype), l->out);
        if (r->sharers > 1) cute_buffer_printf(l->out, " (multicast to %lld blocks)", (long long)r->sharers);
        first = false;
    }
}

static int put_lanes(const lanes *l)
{
    double columns = columns_of(l);
    char text[32];
    cute_buffer_printf(l->out, "<text x=\"%d\" y=\"%d\">", LEFT, TOP - 10);
    put_rings(l);
    cute_buffer_printf(l->out, ": %d stages, %s</text>\n", l->stages,
                       l->pipe < 0 ? "cp.async groups" : "TMA and mbarriers");
    put_label(l, TOP, l->producer);
    put_lane(l, TOP, columns);
    for (int s = 0; s < l->stages; s++) {
        snprintf(text, sizeof text, "stage %d", s);
        put_label(l, y_of_stage(l, s), text);
        put_lane(l, y_of_stage(l, s), columns);
    }
    put_label(l, y_of_consumer(l), l->consumer);
    put_lane(l, y_of_consumer(l), columns);
    for (int n = 0; n < l->count; n++) put_step(l, n);
    return y_of_consumer(l) + ROW;
}

/* The loop of pipe `pipe`, or of the rings without one; false: there is none. */
static bool find_lanes(const schedule_kernel *k, int64_t pipe, lanes *l)
{
    const schedule_ring *ring = NULL;
    for (size_t n = 0; n < k->ring_count && !ring; n++)
        if (k->rings[n].pipe == pipe) ring = &k->rings[n];
    if (!ring) return false;
    l->k = k;
    l->pipe = pipe;
    l->producer = k->roles[ring->role].name;
    l->consumer = pipe < 0 ? l->producer : k->roles[k->pipes[pipe].consumer].name;
    l->stages = ring->stages < MOST_STAGES ? (int)ring->stages : MOST_STAGES;
    l->count = l->stages + MORE_STEPS;
    l->pending = 0;
    for (size_t n = 0; n < k->product_count; n++)
        if (k->products[n].pending > 0 && k->products[n].pending < l->stages) l->pending = 1;
    run_steps(l);
    return true;
}

static void put_head(const schedule_kernel *k, int width, int height, cute_buffer *out)
{
    cute_buffer_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>text{font:12px sans-serif;fill:#333}.in{font-size:11px}.lane{fill:#f4f4f4}"
        ".issue{fill:#f0c27b;stroke:#b9770e}.fetch{fill:#9ec5e8;stroke:#2a6496}.full{fill:#e3eef8;"
        "stroke:#9ec5e8}.read{fill:#b7dfb9;stroke:#2e7d32}.product{fill:#7fbf7f;stroke:#2e7d32}"
        "line{stroke:#555}.await{stroke:#2e7d32}.release{stroke:#c0392b;stroke-dasharray:4 3}</style>\n"
        "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" "
        "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 Z\" fill=\"#555\"/></marker></defs>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"16\" y=\"22\" "
        "style=\"font-size:14px\">",
        width, height, width, height);
    cute_text_xml(k->kernel, strlen(k->kernel), out);
    cute_buffer_puts(out, "</text>\n<text x=\"16\" y=\"42\">");
    const char *text = k->text ? k->text : "";
    cute_text_xml(text, strlen(text), out);
    cute_buffer_printf(out, "; %lld bytes of shared memory</text>\n", (long long)k->shared);
}

void cute_schedule_svg(const schedule_kernel *k, cute_buffer *out)
{
    cute_buffer body = {0};
    lanes l = {.out = &body};
    double columns = 6;
    int y = 0;
    for (int64_t pipe = -1; pipe < (int64_t)k->pipe_count; pipe++) {
        if (!find_lanes(k, pipe, &l)) continue;
        cute_buffer_printf(&body, "<g transform=\"translate(0 %d)\">\n", y);
        y += put_lanes(&l) - TOP + BELOW;
        cute_buffer_puts(&body, "</g>\n");
        columns = larger(columns, columns_of(&l));
    }
    int height = TOP + y + BELOW / 2;
    put_head(k, (int)x_of(columns) + RIGHT, height, out);
    cute_buffer_append(out, cute_buffer_text(&body), body.length);
    cute_buffer_release(&body);
    cute_buffer_printf(out,
                       "<text x=\"16\" y=\"%d\">One column is a product; a fetch is drawn as two. Dashed: a "
                       "stage is released to the next fetch.</text>\n</svg>\n",
                       height - BELOW / 2);
}
