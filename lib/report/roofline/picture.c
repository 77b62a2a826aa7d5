/* The roofline as SVG: operations per second against operations per byte of DRAM, both logarithmic; the roofs of the arithmetic in
 * use, the slope of DRAM, and for each kernel its expected and measured points. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/text/demangle.h"
#include "lib/report/roofline/roofline.h"

enum { WIDTH = 640, HEIGHT = 380, LEFT = 72, TOP = 64, RIGHT = 220, BELOW = 52 };

/* The range of both axes. */
typedef struct frame {
    double x0, x1, y0, y1; /* log10 */
} frame;

static double real_of(const json_t *value, const char *key)
{
    return json_number_value(json_object_get(value, key));
}

static double x_of(const frame *f, double intensity)
{
    return (log10(intensity) - f->x0) / (f->x1 - f->x0) * WIDTH;
}

static double y_of(const frame *f, double rate)
{
    return HEIGHT - (log10(rate) - f->y0) / (f->y1 - f->y0) * HEIGHT;
}

static void put_text(cute_buffer *out, const char *text)
{
    if (text) cute_text_xml(text, strlen(text), out);
}

/* Operations per second of an arithmetic ceiling (fma counts twice, half precision is packed); 0: another ceiling. */
static double roof_of(roof_ceiling n, double rate)
{
    if (n >= ROOF_TENSOR_F64) return rate;
    return n == ROOF_FP64 || n == ROOF_FP32 ? 2 * rate : n == ROOF_FP16 ? 4 * rate : 0;
}

/* Draw the roofs in use, and fp32. */
static bool is_used(const json_t *value, roof_ceiling n)
{
    size_t k, c;
    json_t *kernel, *ceiling;
    json_array_foreach(json_object_get(value, "kernels"), k, kernel)
    {
        json_array_foreach(json_object_get(kernel, "ceilings"), c, ceiling)
        {
            if (!strcmp(json_string_value(json_object_get(ceiling, "ceiling")), roof_ceilings[n].key))
                return true;
        }
    }
    return n == ROOF_FP32;
}

static double rate_at(const json_t *value, roof_ceiling n)
{
    const json_t *rates = json_object_get(json_object_get(value, "device"), "rates");
    return is_used(value, n) ? roof_of(n, real_of(rates, roof_ceilings[n].key)) : 0;
}

static frame find_axis_range(const json_t *value)
{
    frame f = {-1, 3, 9, 9};
    double most = 1e10;
    size_t k;
    json_t *kernel;
    for (int n = 0; n < ROOF_CEILINGS; n++)
        if (rate_at(value, (roof_ceiling)n) > most) most = rate_at(value, (roof_ceiling)n);
    json_array_foreach(json_object_get(value, "kernels"), k, kernel)
    {
        double intensity = real_of(kernel, "intensity"),
               rate = real_of(kernel, "operations") / real_of(kernel, "expected_s");
        if (intensity <= 0 || rate <= 0) continue;
        if (floor(log10(intensity)) < f.x0) f.x0 = floor(log10(intensity));
        if (ceil(log10(intensity)) > f.x1) f.x1 = ceil(log10(intensity));
        if (floor(log10(rate)) < f.y0) f.y0 = floor(log10(rate));
    }
    f.y1 = ceil(log10(most) + 0.1);
    if (f.y1 - f.y0 > 6) f.y0 = f.y1 - 6;
    return f;
}

static void put_axes(const frame *f, cute_buffer *out)
{
    static const char *const letters[] = {"", "k", "M", "G", "T", "P", "E"};
    for (int x = (int)f->x0; x <= (int)f->x1; x++)
        cute_buffer_printf(out,
                           "<line class=\"grid\" x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"%d\"/>"
                           "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
                           x_of(f, pow(10, x)), x_of(f, pow(10, x)), HEIGHT, x_of(f, pow(10, x)), HEIGHT + 18,
                           pow(10, x));
    for (int y = (int)f->y0; y <= (int)f->y1; y++) {
        int letter = y >= 0 && y < 21 ? y / 3 : 0;
        cute_buffer_printf(out,
                           "<line class=\"grid\" x1=\"0\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
                           "<text x=\"-8\" y=\"%.1f\" text-anchor=\"end\">%g %s</text>\n",
                           y_of(f, pow(10, y)), WIDTH, y_of(f, pow(10, y)), y_of(f, pow(10, y)) + 4,
                           pow(10, y - 3 * letter), letters[letter]);
    }
    cute_buffer_printf(out,
                       "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">operations per byte of DRAM</text>\n"
                       "<text x=\"-60\" y=\"-12\">operations per second</text>\n",
                       WIDTH / 2, HEIGHT + 40);
}

/* A slope of `bandwidth` up to the highest roof. */
static void put_slope(const frame *f, double bandwidth, double top, const char *class, const char *name,
                      cute_buffer *out)
{
    double from = pow(10, f->x0), to = top / bandwidth;
    if (bandwidth <= 0) return;
    if (to > pow(10, f->x1)) to = pow(10, f->x1);
    if (from * bandwidth < pow(10, f->y0)) from = pow(10, f->y0) / bandwidth;
    if (from >= to) return;
    double x1 = x_of(f, from), y1 = y_of(f, from * bandwidth), x2 = x_of(f, to), y2 = y_of(f, to * bandwidth);
    double angle = atan2(y2 - y1, x2 - x1) * 180 / 3.14159265358979;
    cute_buffer_printf(
        out,
        "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
        "<text transform=\"translate(%.1f %.1f) rotate(%.1f)\" text-anchor=\"middle\">%s %.0f GB/s"
        "</text>\n",
        class, x1, y1, x2, y2, x1 + (x2 - x1) * 0.35 - 6, y1 + (y2 - y1) * 0.35 - 6, angle, name,
        bandwidth * 1e-9);
}

static void put_roofs(const json_t *value, const frame *f, cute_buffer *out)
{
    const json_t *rates = json_object_get(json_object_get(value, "device"), "rates");
    double top = 0, dram = real_of(rates, "dram"), drawn[ROOF_CEILINGS];
    int count = 0;
    for (int n = 0; n < ROOF_CEILINGS; n++) {
        double rate = rate_at(value, (roof_ceiling)n), shift = 0;
        if (rate <= 0) continue;
        double from = dram > 0 ? rate / dram : pow(10, f->x0);
        if (from < pow(10, f->x0)) from = pow(10, f->x0);
        if (from > pow(10, f->x1)) from = pow(10, f->x1);
        if (rate > top) top = rate;
        for (int k = 0; k < count; k++)
            if (fabs(y_of(f, drawn[k]) - y_of(f, rate)) < 14) shift += 14;
        drawn[count++] = rate;
        cute_buffer_printf(out,
                           "<line class=\"roof\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>"
                           "<text x=\"%d\" y=\"%.1f\">%s, %.3g T</text>\n",
                           x_of(f, from), y_of(f, rate), WIDTH, y_of(f, rate), WIDTH + 8,
                           y_of(f, rate) + 4 + shift, roof_ceilings[n].text, rate * 1e-12);
    }
    put_slope(f, dram, top, "roof", "DRAM", out);
}

static void put_point(const frame *f, double intensity, double rate, const char *class, const char *title,
                      double s, cute_buffer *out)
{
    cute_buffer_printf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>", class,
                       x_of(f, intensity), y_of(f, rate));
    put_text(out, title);
    cute_buffer_printf(out, ": %.3g us, %.3g Gop/s, %.3g op/B</title></circle>\n", s * 1e6, rate * 1e-9,
                       intensity);
}

static void put_kernels(cute_arena *arena, const json_t *value, const frame *f, cute_buffer *out)
{
    const json_t *kernels = json_object_get(value, "kernels");
    double measured = real_of(value, "measured_s");
    size_t k;
    json_t *kernel;
    json_array_foreach((json_t *)(uintptr_t)kernels, k, kernel)
    {
        const char *name = cute_symbol_name(arena, json_string_value(json_object_get(kernel, "kernel")));
        double intensity = real_of(kernel, "intensity"), operations = real_of(kernel, "operations");
        double s = real_of(kernel, "expected_s");
        if (intensity <= 0 || operations <= 0 || s <= 0) continue;
        double x = x_of(f, intensity), y = y_of(f, operations / s);
        bool left = x > WIDTH * 0.6;
        put_point(f, intensity, operations / s, "expected", name, s, out);
        if (measured > 0 && json_array_size(kernels) == 1)
            put_point(f, intensity, operations / measured, "measured", name, measured, out);
        cute_buffer_printf(out, "<text class=\"kernel\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                           left ? x - 9 : x + 9, y + 16, left ? "end" : "start");
        put_text(out, name);
        cute_buffer_puts(out, "</text>\n");
    }
}

void cute_roofline_svg(const json_t *value, const char *title, cute_buffer *out)
{
    const json_t *device = json_object_get(value, "device");
    frame f = find_axis_range(value);
    cute_arena *arena = cute_arena_create();
    int width = LEFT + WIDTH + RIGHT, height = TOP + HEIGHT + BELOW;
    cute_buffer_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>text{font:12px sans-serif;fill:#333}.grid{stroke:#e4e4e4}.roof{stroke:#2a6496;stroke-width:2}"
        ".expected{fill:#fff;stroke:#c0392b;stroke-width:2}.measured{fill:#c0392b}.kernel{font-weight:bold;"
        "paint-order:stroke;stroke:#fff;stroke-width:4px}"
        "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
        "<text x=\"12\" y=\"22\" style=\"font-size:14px\">",
        width, height, width, height);
    put_text(out, title);
    cute_buffer_puts(out, ": roofline on ");
    put_text(out, json_string_value(json_object_get(device, "name")));
    cute_buffer_printf(out,
                       "</text>\n<text x=\"%d\" y=\"22\" text-anchor=\"end\">open: expected%s</text>\n"
                       "<g transform=\"translate(%d %d)\">\n",
                       width - 12, json_object_get(value, "measured_s") ? ", filled: measured" : "", LEFT,
                       TOP);
    put_axes(&f, out);
    put_roofs(value, &f, out);
    if (arena) put_kernels(arena, value, &f, out);
    cute_arena_destroy(arena);
    cute_buffer_puts(out, "</g>\n</svg>\n");
}
