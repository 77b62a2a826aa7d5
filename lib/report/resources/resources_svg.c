/* The occupancy as SVG: charts of resident warps against block size, registers and shared memory, with the kernel's values
 * marked. */
#include <string.h>

#include "lib/report/resources/resources.h"

#include "lib/base/diagnostics/diag.h"

enum { WIDTH = 320, HEIGHT = 180, LEFT = 44, TOP = 64, GAP = 36, BELOW = 44, TICKS = 4 };

static const struct {
    const char *title;
    int64_t unit; /* of the axis labels */
} axes[OCCUPANCY_AXES] = {
    {"threads per block", 1}, {"registers per thread", 1}, {"KiB of shared memory per block", 1024}};

static int64_t own_value(const occupancy_report *r, occupancy_axis axis)
{
    const cute_occupancy_input *in = &r->in;
    return axis == BY_THREADS     ? in->threads
           : axis == BY_REGISTERS ? in->registers
                                  : in->static_smem + in->dynamic_smem;
}

static double x_position(int64_t value, int64_t last)
{
    return last ? (double)value * WIDTH / (double)last : 0;
}

static double y_position(int64_t warps, int64_t most)
{
    return HEIGHT - (double)warps * HEIGHT / (double)most;
}

/* A step function: values between two points are allocated like the next one. */
static void put_steps(const occupancy_report *r, occupancy_axis axis, int64_t last, cute_buffer *out)
{
    const occupancy_point *p = r->points[axis];
    double x = 0;
    cute_buffer_printf(out, "<path class=\"area\" d=\"M0 %d", HEIGHT);
    for (size_t i = 0; i < r->counts[axis]; i++) {
        double y = y_position(p[i].o.warps, p[i].o.max_warps);
        double next = x_position(p[i].at, last);
        cute_buffer_printf(out, " L%.1f %.1f L%.1f %.1f", x, y, next, y);
        x = next;
    }
    cute_buffer_printf(out, " L%.1f %d Z\"/>\n", x, HEIGHT);
}

static void put_chart(const occupancy_report *r, occupancy_axis axis, int x, cute_buffer *out)
{
    int64_t most = r->now.max_warps, own = own_value(r, axis);
    int64_t last = r->counts[axis] ? r->points[axis][r->counts[axis] - 1].at : 0;
    cute_buffer_printf(out, "<g transform=\"translate(%d %d)\">\n", x, TOP);
    for (int i = 0; i <= TICKS; i++) {
        double y = HEIGHT - (double)HEIGHT * i / TICKS;
        cute_buffer_printf(out,
                           "<line class=\"grid\" x1=\"0\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
                           "<text x=\"-6\" y=\"%.1f\" text-anchor=\"end\">%lld</text>\n",
                           y, WIDTH, y, y + 4, (long long)(most * i / TICKS));
        cute_buffer_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%lld</text>\n",
                           WIDTH * i / TICKS, HEIGHT + 16, (long long)(last * i / TICKS / axes[axis].unit));
    }
    put_steps(r, axis, last, out);
    if (own <= last && r->in.threads)
        cute_buffer_printf(out,
                           "<line class=\"own\" x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"%d\"/>"
                           "<circle class=\"own\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
                           x_position(own, last), x_position(own, last), HEIGHT, x_position(own, last),
                           y_position(r->now.warps, most));
    cute_buffer_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n</g>\n", WIDTH / 2,
                       HEIGHT + 34, axes[axis].title);
}

void cute_occupancy_svg(const occupancy_report *r, const char *title, cute_buffer *out)
{
    int count = 0, drawn = 0;
    for (int a = 0; a < OCCUPANCY_AXES; a++) count += r->counts[a] > 0;
    int width = count * (LEFT + WIDTH) + GAP, tall = TOP + HEIGHT + BELOW;
    cute_buffer_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd}.area{fill:#9ec5e8;stroke:#2a6496}"
        "line.own{stroke:#c0392b;stroke-dasharray:4 3}circle.own{fill:#c0392b}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"20\" "
        "style=\"font-size:14px\">",
        width, tall, width, tall, LEFT);
    cute_text_xml(title, strlen(title), out);
    cute_buffer_printf(out, "</text>\n<text x=\"%d\" y=\"40\">%s", LEFT, r->in.arch);
    if (r->in.threads)
        cute_buffer_printf(
            out, ": %lld threads, %lld registers, %lld bytes of shared memory: ", (long long)r->in.threads,
            (long long)r->in.registers, (long long)(r->in.static_smem + r->in.dynamic_smem));
    if (r->in.threads)
        cute_buffer_printf(out, "%lld block%s, %lld of %lld warps (%.0f%%), limited by %s",
                           (long long)r->now.blocks, r->now.blocks == 1 ? "" : "s", (long long)r->now.warps,
                           (long long)r->now.max_warps, r->now.fraction * 100, r->now.limit);
    cute_buffer_printf(out, "</text>\n<text x=\"8\" y=\"%d\">warps</text>\n", TOP - 8);
    for (int a = 0; a < OCCUPANCY_AXES; a++)
        if (r->counts[a]) put_chart(r, (occupancy_axis)a, LEFT + drawn++ * (LEFT + WIDTH), out);
    cute_buffer_puts(out, "</svg>\n");
}
