/* Strided arrays: layout, and element access by position. */
#include "lib/launch/data/tensor.h"

#include "lib/base/numbers/checked.h"

bool cute_tensor_row_major(cute_tensor *tensor)
{
    int64_t stride = 1;
    for (int i = tensor->rank; i-- > 0;) {
        tensor->strides[i] = stride;
        /* An extent of 0 counts as 1, so that no stride is 0. */
        if (!cute_mul64(stride, tensor->shape[i] > 0 ? tensor->shape[i] : 1, &stride)) return false;
    }
    return true;
}

bool cute_tensor_layout(cute_tensor *tensor)
{
    int64_t last = tensor->offset;
    tensor->count = 1;
    for (int i = 0; i < tensor->rank; i++)
        if (!cute_mul64(tensor->count, tensor->shape[i], &tensor->count)) return false;
    for (int i = 0; i < tensor->rank && tensor->count > 0; i++) {
        int64_t reach;
        if (!cute_mul64(tensor->shape[i] - 1, tensor->strides[i], &reach) || !cute_add64(last, reach, &last))
            return false;
    }
    if (!cute_add64(last, tensor->count > 0, &tensor->span)) return false;
    if (!cute_mul64(tensor->span, cute_dtype_get(tensor->dtype)->bytes, &tensor->bytes)) return false;
    tensor->inner = 1;
    tensor->inner_stride = 1;
    int i = tensor->rank - 1;
    if (i >= 0) {
        tensor->inner = tensor->shape[i];
        tensor->inner_stride = tensor->strides[i];
    }
    for (; i > 0 && tensor->strides[i - 1] == tensor->strides[i] * tensor->shape[i]; i--)
        tensor->inner *= tensor->shape[i - 1];
    return true;
}

bool cute_tensor_injective(const cute_tensor *tensor)
{
    int order[CUTE_TENSOR_RANK], count = 0;
    if (tensor->count == 0) return true;
    for (int i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] <= 1) continue;
        int at = count++;
        for (; at > 0 && tensor->strides[order[at - 1]] > tensor->strides[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
    int64_t reach = 0;
    for (int k = 0; k < count; k++) {
        if (tensor->strides[order[k]] <= reach) return false;
        reach += (tensor->shape[order[k]] - 1) * tensor->strides[order[k]];
    }
    return true;
}

bool cute_tensor_contiguous(const cute_tensor *tensor)
{
    return tensor->count == 0 ||
           (tensor->inner == tensor->count && (tensor->inner_stride == 1 || tensor->count == 1));
}

int64_t cute_tensor_position(const cute_tensor *tensor, int64_t linear)
{
    int64_t position = tensor->offset;
    for (int i = tensor->rank; i-- > 0;) {
        position += linear % tensor->shape[i] * tensor->strides[i];
        linear /= tensor->shape[i];
    }
    return position;
}

/* Iterates over the runs of equally spaced elements in [linear, linear + count). */
#define FOR_RUNS(tensor, linear, count, position, run)                                                       \
    for (int64_t column = (linear) % (tensor)->inner, position = 0, run = 0;                                 \
         (count) > 0 && (run = (tensor)->inner - column < (count) ? (tensor)->inner - column : (count),      \
                        position = cute_tensor_position(tensor, linear), true);                              \
         (linear) += run, (count) -= run, column = 0)

void cute_tensor_load(const cute_tensor *tensor, const void *data, int64_t linear, int64_t count, double *out)
{
    int64_t bytes = cute_dtype_get(tensor->dtype)->bytes;
    FOR_RUNS(tensor, linear, count, position, run)
    {
        cute_dtype_load(tensor->dtype, (const char *)data + position * bytes, tensor->inner_stride,
                        (size_t)run, out);
        out += run;
    }
}

void cute_tensor_store(const cute_tensor *tensor, void *data, int64_t linear, int64_t count,
                       const double *values)
{
    int64_t bytes = cute_dtype_get(tensor->dtype)->bytes;
    FOR_RUNS(tensor, linear, count, position, run)
    {
        cute_dtype_store(tensor->dtype, (char *)data + position * bytes, tensor->inner_stride, (size_t)run,
                         values);
        values += run;
    }
}

void cute_tensor_index_text(const cute_tensor *tensor, int64_t linear, cute_buffer *out)
{
    int64_t index[CUTE_TENSOR_RANK];
    for (int i = tensor->rank; i-- > 0; linear /= tensor->shape[i]) index[i] = linear % tensor->shape[i];
    cute_buffer_putc(out, '[');
    for (int i = 0; i < tensor->rank; i++)
        cute_buffer_printf(out, "%s%lld", i ? "," : "", (long long)index[i]);
    cute_buffer_putc(out, ']');
}

void cute_tensor_shape_text(const cute_tensor *tensor, cute_buffer *out)
{
    for (int i = 0; i < tensor->rank; i++)
        cute_buffer_printf(out, "%s%lld", i ? "x" : "", (long long)tensor->shape[i]);
    if (tensor->rank == 0) cute_buffer_putc(out, '1');
}
