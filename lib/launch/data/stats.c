/* Statistics of a bench's samples and of a buffer's contents, and printing a buffer as a matrix. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sort.h"

#include "lib/launch/launch.h"

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

launch_times cute_launch_times(const run_samples *samples, int64_t count)
{
    launch_times t = {.samples = count, .batch = samples->batch};
    double *sorted = malloc((size_t)count * sizeof *sorted);
    if (!sorted || count == 0) {
        free(sorted);
        return t;
    }
    memcpy(sorted, samples->seconds, (size_t)count * sizeof *sorted);
    cute_sort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    t.min = sorted[0];
    t.median = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    for (int64_t i = 0; i < count; i++) t.mean += sorted[i] / (double)count;
    double variance = 0;
    for (int64_t i = 0; i < count; i++) variance += (sorted[i] - t.mean) * (sorted[i] - t.mean);
    /* As in nvbench: the standard deviation over the mean. */
    t.noise = count > 1 && t.mean > 0 ? sqrt(variance / (double)(count - 1)) / t.mean : 0;
    free(sorted);
    return t;
}

launch_stats cute_launch_stats(const cute_tensor *tensor)
{
    enum { RUN = 1024 };
    launch_stats s = {.count = tensor->count, .min = INFINITY, .max = -INFINITY};
    double values[RUN], squares = 0, total = 0;
    int64_t finite = 0;
    for (int64_t i = 0; i < tensor->count; i += RUN) {
        int64_t n = tensor->count - i < RUN ? tensor->count - i : RUN;
        cute_tensor_load(tensor, tensor->data, i, n, values);
        for (int64_t k = 0; k < n; k++) {
            double v = values[k];
            s.nans += v != v;
            s.infinities += isinf(v) != 0;
            s.zeros += v == 0;
            if (!isfinite(v)) continue;
            finite++;
            total += v;
            s.min = v < s.min ? v : s.min;
            s.max = v > s.max ? v : s.max;
        }
    }
    s.mean = finite ? total / (double)finite : 0;
    /* A second pass: the difference of the sum of squares and the squared mean would cancel. */
    for (int64_t i = 0; i < tensor->count; i += RUN) {
        int64_t n = tensor->count - i < RUN ? tensor->count - i : RUN;
        cute_tensor_load(tensor, tensor->data, i, n, values);
        for (int64_t k = 0; k < n; k++)
            if (isfinite(values[k])) squares += (values[k] - s.mean) * (values[k] - s.mean);
    }
    s.deviation = finite > 1 ? sqrt(squares / (double)(finite - 1)) : 0;
    if (!finite) s.min = s.max = 0;
    return s;
}

/* Shows all indices up to the limit, else the first and last half of it. */
static bool is_shown(int64_t at, int64_t extent, int64_t limit)
{
    return extent <= limit || at < (limit + 1) / 2 || at >= extent - limit / 2;
}

static int64_t next_shown(int64_t at, int64_t extent, int64_t limit)
{
    at++;
    return is_shown(at, extent, limit) ? at : extent - limit / 2;
}

static void print_row(const cute_tensor *t, int64_t first, int64_t extent, int64_t limit, cute_buffer *out)
{
    int digits = cute_dtype_get(t->dtype)->class != CUTE_CLASS_FLOAT ? 15 : t->dtype == CUTE_F64 ? 10 : 6;
    for (int64_t i = 0; i < extent; i = next_shown(i, extent, limit)) {
        double value;
        cute_tensor_load(t, t->data, first + i, 1, &value);
        cute_buffer_printf(out, " %*.*g", digits + 4 > 12 ? 12 : digits + 4, digits, value);
        if (i + 1 < extent && !is_shown(i + 1, extent, limit)) cute_buffer_puts(out, "  ...");
    }
    cute_buffer_putc(out, '\n');
}

void cute_launch_print(const cute_tensor *t, int64_t limit, cute_buffer *out)
{
    int64_t columns = t->rank ? t->shape[t->rank - 1] : 1;
    int64_t rows = columns ? t->count / columns : 0;
    for (int64_t r = 0; r < rows; r = next_shown(r, rows, limit)) {
        if (t->rank > 2) {
            cute_buffer index = {0};
            cute_tensor_index_text(t, r * columns, &index);
            cute_buffer_printf(out, "  %-12s", cute_buffer_text(&index));
            cute_buffer_release(&index);
        } else {
            cute_buffer_puts(out, "  ");
        }
        print_row(t, r * columns, columns, limit, out);
        if (r + 1 < rows && !is_shown(r + 1, rows, limit)) cute_buffer_puts(out, "   ...\n");
    }
}
