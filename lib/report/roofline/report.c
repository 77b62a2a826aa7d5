/* The roofline of the launched kernels as JSON, and as text generated from it. */
#include <stdio.h>
#include <string.h>

#include "lib/base/text/demangle.h"
#include "lib/report/roofline/roofline.h"
#include "lib/report/table.h"

static json_t *read_written_json(double read, double written)
{
    return json_pack("{s:I,s:I}", "read", (json_int_t)read, "written", (json_int_t)written);
}

static double operations_of(const roof_work *w)
{
    double sum = 0;
    for (int n = 0; n < ROOF_CEILINGS; n++) sum += w->operations[n];
    return sum;
}

static json_t *ceilings_json(const roof_device *d, const roof_work *w, const roof_bound *b)
{
    json_t *list = json_array();
    for (int n = 0; n < ROOF_CEILINGS; n++) {
        const roof_ceiling_info *info = &roof_ceilings[n];
        if (w->amount[n] <= 0) continue;
        json_t *one =
            json_pack("{s:s,s:s,s:f}", "ceiling", info->key, "unit", info->unit, "amount", w->amount[n]);
        if (d->most[n] > 0)
            json_object_update_new(one, json_pack("{s:f,s:f,s:f}", "rate", d->most[n], "seconds",
                                                  b->seconds[n], "share", b->seconds[n] / b->expected));
        if (d->measured[n] > 0) json_object_set_new(one, "measured_rate", json_real(d->measured[n]));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *kernel_json(const roof_question *q, const json_t *counters, roof_bound *b)
{
    roof_work w = cute_roof_work_of_counters(counters);
    double operations = operations_of(&w), dram = w.amount[ROOF_DRAM];
    *b = cute_roof_bound(q->device, &w, q->cached);
    json_t *value =
        json_pack("{s:o,s:I,s:I,s:f}", "kernel", cute_json_text(w.kernel), "launches", (json_int_t)w.launches,
                  "blocks", (json_int_t)w.blocks, "operations", operations);
    if (dram > 0) json_object_set_new(value, "intensity", json_real(operations / dram));
    if (w.has_dram) json_object_set_new(value, "dram", read_written_json(w.dram_read, w.dram_written));
    if (w.has_dram) json_object_set_new(value, "l2", read_written_json(w.l2_read, w.l2_written));
    if (w.shared_read + w.shared_written > 0)
        json_object_set_new(value, "shared", read_written_json(w.shared_read, w.shared_written));
    if (w.bulk_read + w.bulk_written > 0)
        json_object_set_new(value, "bulk", read_written_json(w.bulk_read, w.bulk_written));
    if (w.atomics > 0) json_object_set_new(value, "global_atomics", json_integer((json_int_t)w.atomics));
    json_object_set_new(value, "ceilings", ceilings_json(q->device, &w, b));
    json_object_set_new(value, "bound", json_string(b->launch ? "launch" : roof_ceilings[b->bound].key));
    json_object_set_new(value, "expected_s", json_real(b->expected));
    if (b->attainable > 0) json_object_set_new(value, "attainable_s", json_real(b->attainable));
    return value;
}

json_t *cute_roof_device_json(const roof_device *d)
{
    json_t *most = json_object(), *measured = json_object();
    for (int n = 0; n < ROOF_CEILINGS; n++) {
        if (d->most[n] > 0) json_object_set_new(most, roof_ceilings[n].key, json_real(d->most[n]));
        if (d->measured[n] > 0)
            json_object_set_new(measured, roof_ceilings[n].key, json_real(d->measured[n]));
    }
    json_t *value =
        json_pack("{s:o,s:s,s:I,s:f,s:f,s:I,s:o}", "name", cute_json_text(d->name), "arch", d->arch,
                  "multiprocessors", (json_int_t)d->multiprocessors, "clock_hz", d->clock, "tensor_clock_hz",
                  d->tensor_clock, "l2_bytes", (json_int_t)d->l2, "rates", most);
    if (json_object_size(measured)) json_object_set(value, "measured_rates", measured);
    json_decref(measured);
    return value;
}

json_t *cute_roofline_json(const roof_question *q)
{
    json_t *kernels = json_array(), *counters;
    size_t index;
    double expected = 0, attainable = 0;
    json_array_foreach((json_t *)(uintptr_t)q->counters, index, counters)
    {
        roof_bound b;
        json_array_append_new(kernels, kernel_json(q, counters, &b));
        expected += b.expected;
        attainable += b.attainable > 0 ? b.attainable : b.expected;
    }
    json_t *value = json_pack("{s:o,s:b,s:o,s:f}", "device", cute_roof_device_json(q->device), "cached",
                              q->cached, "kernels", kernels, "expected_s", expected);
    for (int n = 0; n < ROOF_CEILINGS; n++)
        if (q->device->measured[n] > 0 && !json_object_get(value, "attainable_s"))
            json_object_set_new(value, "attainable_s", json_real(attainable));
    if (q->measured > 0)
        json_object_update_new(
            value, json_pack("{s:f,s:f}", "measured_s", q->measured, "reached", expected / q->measured));
    return value;
}

/* ---- text ---- */

/* "12.6 M": thousands as letters. */
static const char *scaled(cute_arena *arena, double value, const char *unit)
{
    static const char *const letters[] = {"", "k", "M", "G", "T", "P"};
    size_t n = 0;
    bool letter_needed = unit[0] && strcmp(unit, "instructions") && strcmp(unit, "lanes");
    while (value >= 1000 && n + 1 < sizeof letters / sizeof *letters) {
        value /= 1000;
        n++;
    }
    const char *text = cute_arena_printf(arena, n ? "%.*f %s%s" : "%.*f %s%s",
                                         !n || value >= 100 ? 0
                                         : value >= 10      ? 1
                                                            : 2,
                                         value, letters[n], letter_needed ? unit : "");
    return text ? text : "";
}

const char *cute_roof_rate(cute_arena *arena, double rate, const char *unit)
{
    const char *text = rate > 0 ? cute_arena_printf(arena, "%s/s", scaled(arena, rate, unit)) : "-";
    return text ? text : "";
}

static const char *format_seconds(cute_arena *arena, double s)
{
    const char *text = s >= 1      ? cute_arena_printf(arena, "%.3f s", s)
                       : s >= 1e-3 ? cute_arena_printf(arena, "%.3f ms", s * 1e3)
                                   : cute_arena_printf(arena, "%.3f us", s * 1e6);
    return text ? text : "";
}

static double real_of(const json_t *value, const char *key)
{
    return json_number_value(json_object_get(value, key));
}

static const roof_ceiling_info *info_of(const char *key)
{
    for (int n = 0; key && n < ROOF_CEILINGS; n++)
        if (!strcmp(roof_ceilings[n].key, key)) return &roof_ceilings[n];
    return NULL;
}

static void text_ceilings(cute_arena *arena, const json_t *kernel, cute_buffer *out)
{
    cute_table table = {.arena = arena, .columns = 6};
    const char *bound = json_string_value(json_object_get(kernel, "bound"));
    size_t index;
    json_t *item;
    cute_table_row(&table, (const char *[]){"ceiling", "amount", "peak", "time", "of expected", ""});
    json_array_foreach(json_object_get(kernel, "ceilings"), index, item)
    {
        const char *key = json_string_value(json_object_get(item, "ceiling"));
        const roof_ceiling_info *info = info_of(key);
        bool known = json_object_get(item, "rate") != NULL;
        const char *share = cute_arena_printf(arena, "%.1f%%", real_of(item, "share") * 100);
        const char *rate = cute_roof_rate(arena, real_of(item, "rate"), info->unit);
        cute_table_row(&table,
                       (const char *[]){info->text, scaled(arena, real_of(item, "amount"), info->unit),
                                        known ? rate : "unknown",
                                        known ? format_seconds(arena, real_of(item, "seconds")) : "",
                                        known && share ? share : "", !strcmp(key, bound) ? "bound" : ""});
    }
    cute_table_print(&table, 1 | 1 << 5, "  ", out);
}

static void text_kernel(cute_arena *arena, const json_t *kernel, cute_buffer *out)
{
    const char *bound = json_string_value(json_object_get(kernel, "bound"));
    const char *name = json_string_value(json_object_get(kernel, "kernel"));
    const roof_ceiling_info *info = info_of(bound);
    const json_t *intensity = json_object_get(kernel, "intensity");
    json_int_t launches = json_integer_value(json_object_get(kernel, "launches"));
    cute_buffer_printf(out, "%s: %lld launch%s, %lld blocks, %s", cute_symbol_name(arena, name),
                       (long long)launches, launches == 1 ? "" : "es",
                       (long long)json_integer_value(json_object_get(kernel, "blocks")),
                       scaled(arena, real_of(kernel, "operations"), "FLOP"));
    if (intensity) cute_buffer_printf(out, ", %.3g per byte of DRAM", json_real_value(intensity));
    cute_buffer_putc(out, '\n');
    text_ceilings(arena, kernel, out);
    cute_buffer_printf(out, "  expected: %s, bound by %s",
                       format_seconds(arena, real_of(kernel, "expected_s")),
                       info ? info->text : "launch time");
    if (json_object_get(kernel, "attainable_s"))
        cute_buffer_printf(out, "; %s with the measured rates",
                           format_seconds(arena, real_of(kernel, "attainable_s")));
    cute_buffer_putc(out, '\n');
}

void cute_roofline_text(const json_t *value, cute_buffer *out)
{
    const json_t *device = json_object_get(value, "device");
    cute_arena *arena = cute_arena_create();
    size_t index;
    json_t *kernel;
    if (!arena) return;
    cute_buffer_printf(out, "roofline on %s (%s): %lld multiprocessors at %.0f MHz\n",
                       json_string_value(json_object_get(device, "name")),
                       json_string_value(json_object_get(device, "arch")),
                       (long long)json_integer_value(json_object_get(device, "multiprocessors")),
                       real_of(device, "clock_hz") * 1e-6);
    json_array_foreach(json_object_get(value, "kernels"), index, kernel) text_kernel(arena, kernel, out);
    if (json_array_size(json_object_get(value, "kernels")) > 1)
        cute_buffer_printf(out, "all: expected %s\n", format_seconds(arena, real_of(value, "expected_s")));
    if (json_object_get(value, "measured_s"))
        cute_buffer_printf(out, "measured: %s, %.1f%% of the roofline%s\n",
                           format_seconds(arena, real_of(value, "measured_s")),
                           real_of(value, "reached") * 100,
                           json_is_true(json_object_get(value, "cached")) ? " (with a warm L2)" : "");
    cute_arena_destroy(arena);
}
