/* Initializes buffers with patterns, random numbers, formulas and files, and detects unwritten elements and
 * overruns by poison. */
#include "lib/launch/data/data.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/system/file.h"
#include "lib/launch/data/npy.h"
#include "lib/launch/data/parallel.h"
#include "lib/launch/data/random.h"

enum { DATA_GRAIN = 1 << 16 }; /* elements */

static size_t mapped_bytes(const cute_tensor *t)
{
    return (size_t)t->bytes + 2 * CUTE_GUARD_BYTES;
}

static size_t initial_bytes(const cute_tensor *t)
{
    return t->bytes ? (size_t)t->bytes : 1;
}

/* ---- poison ---- */

typedef struct poison_loop {
    const cute_tensor *tensor;
    char *data;
    uint8_t pattern[8];
} poison_loop;

static void poison_range(void *context, int64_t begin, int64_t end, int worker)
{
    const poison_loop *p = context;
    size_t width = (size_t)cute_dtype_get(p->tensor->dtype)->bytes;
    (void)worker;
    for (int64_t i = begin; i < end; i++) memcpy(p->data + (size_t)i * width, p->pattern, width);
}

static void poison_guards(const config_buffer *buffer, int variant)
{
    const cute_tensor *t = &buffer->tensor;
    int64_t elements = CUTE_GUARD_BYTES / cute_dtype_get(t->dtype)->bytes;
    poison_loop front = {.tensor = t, .data = (char *)t->data - CUTE_GUARD_BYTES},
                back = {.tensor = t, .data = (char *)t->data + t->bytes};
    cute_dtype_poison(t->dtype, variant, front.pattern);
    cute_dtype_poison(t->dtype, variant, back.pattern);
    poison_range(&front, 0, elements, 0);
    poison_range(&back, 0, elements, 0);
}

void cute_data_poison(const config_buffer *buffer, int variant)
{
    const cute_tensor *t = &buffer->tensor;
    poison_loop p = {.tensor = t, .data = t->data};
    cute_dtype_poison(t->dtype, variant, p.pattern);
    cute_parallel(t->span, DATA_GRAIN, poison_range, &p);
    poison_guards(buffer, variant);
}

/* ---- contents ---- */

typedef struct fill_loop {
    config_buffer *buffer;
    uint64_t key;
    const cute_formula *formula;
    cute_formula_state *states[CUTE_PARALLEL_MAX];
    bool failed[CUTE_PARALLEL_MAX];
} fill_loop;

static void fill_values(const config_buffer *b, uint64_t key, int64_t begin, int count, double *out)
{
    for (int i = 0; i < count; i++) {
        uint64_t index = (uint64_t)(begin + i);
        switch (b->init) {
        case INIT_IOTA: out[i] = b->a + b->b * (double)index; break;
        case INIT_UNIFORM: out[i] = b->a + (b->b - b->a) * cute_random_uniform(key, index); break;
        case INIT_NORMAL: out[i] = b->a + b->b * cute_random_normal(key, index); break;
        case INIT_INTEGERS: out[i] = (double)cute_random_integer(key, index, b->low, b->high); break;
        default: out[i] = b->a;
        }
    }
}

static void fill_range(void *context, int64_t begin, int64_t end, int worker)
{
    const fill_loop *f = context;
    const cute_tensor *t = &f->buffer->tensor;
    double values[CUTE_FORMULA_LANES];
    (void)worker;
    for (int64_t i = begin; i < end; i += CUTE_FORMULA_LANES) {
        int count = end - i < CUTE_FORMULA_LANES ? (int)(end - i) : CUTE_FORMULA_LANES;
        fill_values(f->buffer, f->key, i, count, values);
        cute_tensor_store(t, t->data, i, count, values);
    }
}

/* Formulas are evaluated along the last index, so pieces end with rows. */
static void fill_formula(void *context, int64_t begin, int64_t end, int worker)
{
    fill_loop *f = context;
    const cute_tensor *t = &f->buffer->tensor;
    double values[CUTE_FORMULA_LANES];
    int64_t row = t->rank ? t->shape[t->rank - 1] : 1;
    while (begin < end && !f->failed[worker]) {
        int64_t index[CUTE_TENSOR_RANK], rest = begin, count = row - begin % row;
        if (count > end - begin) count = end - begin;
        if (count > CUTE_FORMULA_LANES) count = CUTE_FORMULA_LANES;
        for (int d = t->rank; d-- > 0; rest /= t->shape[d]) index[d] = rest % t->shape[d];
        if (!cute_formula_eval(f->states[worker], index, (int)count, NULL, values))
            f->failed[worker] = true;
        else
            cute_tensor_store(t, t->data, begin, count, values);
        begin += count;
    }
}

static cute_status init_formula(const cute_config *config, config_buffer *buffer, cute_diag *diag)
{
    fill_loop f = {.buffer = buffer};
    cute_formula *formula;
    cute_formula_scope scope = {
        .plugins = config->plugins,
        .params = config->params,
        .param_count = config->param_count,
        .indices = buffer->index_names,
        .extents = buffer->tensor.shape,
        .index_count = buffer->tensor.rank,
    };
    CUTE_TRY(cute_formula_compile(config->arena, buffer->expr, &scope, &formula, diag));
    cute_status status = CUTE_OK;
    int workers = cute_parallel_workers();
    for (int i = 0; i < workers; i++)
        if (!(f.states[i] = cute_formula_state_create(formula))) status = cute_fail_memory(diag);
    if (status == CUTE_OK) cute_parallel(buffer->tensor.count, DATA_GRAIN, fill_formula, &f);
    for (int i = 0; i < workers; i++) {
        if (status == CUTE_OK && f.failed[i]) status = cute_formula_error(f.states[i], diag);
        cute_formula_state_destroy(f.states[i]);
    }
    return status;
}

static bool shapes_equal(const cute_tensor *a, const cute_tensor *b)
{
    return a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

typedef struct copy_loop {
    const cute_tensor *from, *to;
} copy_loop;

static void copy_range(void *context, int64_t begin, int64_t end, int worker)
{
    const copy_loop *c = context;
    int64_t width = cute_dtype_get(c->to->dtype)->bytes;
    (void)worker;
    for (int64_t i = begin; i < end; i++)
        memcpy((char *)c->to->data + cute_tensor_position(c->to, i) * width,
               (const char *)c->from->data + cute_tensor_position(c->from, i) * width, (size_t)width);
}

static cute_status init_npy(const cute_config *config, config_buffer *buffer, cute_diag *diag)
{
    cute_tensor file;
    cute_buffer bytes = {0}, here = {0}, there = {0};
    cute_status status = cute_npy_read(buffer->file, buffer->tensor.dtype, true, &file, &bytes, diag);
    if (status == CUTE_OK && !shapes_equal(&file, &buffer->tensor)) {
        cute_tensor_shape_text(&file, &there);
        cute_tensor_shape_text(&buffer->tensor, &here);
        status = cute_document_fail(&config->document, config_member(config, buffer->path, "init"), false,
                                    diag, "expected the shape %s of '%s', got %s in %s", here.data,
                                    buffer->tensor.name, there.data, buffer->file);
    }
    copy_loop c = {&file, &buffer->tensor};
    if (status == CUTE_OK) cute_parallel(file.count, DATA_GRAIN, copy_range, &c);
    cute_buffer_release(&bytes);
    cute_buffer_release(&here);
    cute_buffer_release(&there);
    return status;
}

static cute_status init_raw(const cute_config *config, config_buffer *buffer, cute_diag *diag)
{
    cute_tensor file = buffer->tensor;
    cute_buffer bytes = {0};
    int64_t size = 0;
    file.offset = 0;
    cute_status status =
        cute_tensor_row_major(&file) && cute_tensor_layout(&file)
            ? cute_file_read_part(buffer->file, buffer->skip, file.bytes, &bytes, &size, diag)
            : cute_fail_memory(diag);
    if (status == CUTE_OK && (int64_t)bytes.length < file.bytes)
        status =
            cute_document_fail(&config->document, config_member(config, buffer->path, "init"), false, diag,
                               "expected %lld bytes after the first %lld of %s, which has %lld",
                               (long long)file.bytes, (long long)buffer->skip, buffer->file, (long long)size);
    file.data = status == CUTE_OK ? bytes.data : NULL;
    copy_loop c = {&file, &buffer->tensor};
    if (status == CUTE_OK) cute_parallel(file.count, DATA_GRAIN, copy_range, &c);
    cute_buffer_release(&bytes);
    return status;
}

static void init_nan(config_buffer *buffer)
{
    buffer->a = __builtin_nan("");
    fill_loop f = {.buffer = buffer};
    cute_parallel(buffer->tensor.count, DATA_GRAIN, fill_range, &f);
}

static cute_status init_buffer(const cute_config *config, config_buffer *buffer, uint64_t seed,
                               cute_diag *diag)
{
    cute_tensor *t = &buffer->tensor;
    fill_loop f = {.buffer = buffer, .key = cute_random_key(seed, (uint64_t)buffer->seed, t->name)};
    bool zeros = buffer->init == INIT_VALUE && buffer->a == 0 && cute_tensor_contiguous(t) && t->offset == 0;
    if (zeros)
        poison_guards(buffer, 0);
    else
        cute_data_poison(buffer, 0);
    switch (buffer->init) {
    case INIT_NONE: return CUTE_OK;
    case INIT_EXPR: return init_formula(config, buffer, diag);
    case INIT_NPY: return init_npy(config, buffer, diag);
    case INIT_RAW: return init_raw(config, buffer, diag);
    case INIT_NAN: init_nan(buffer); return CUTE_OK;
    default:
        /* New pages are zero. */
        if (!zeros) cute_parallel(t->count, DATA_GRAIN, fill_range, &f);
        return CUTE_OK;
    }
}

static void *map_memory(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Pages are allocated on first write, so a size that is too large would exhaust the machine's memory. */
static cute_status check_memory(const cute_config *config, cute_diag *diag)
{
    double bytes = 0, memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < config->buffer_count; i++) {
        const config_buffer *b = &config->buffers[i];
        bool twice = b->init != INIT_NONE && (b->checked || b->output);
        bytes += (double)mapped_bytes(&b->tensor) * (twice ? 2 : 1);
        if (memory <= 0 || bytes <= memory) continue;
        cute_place place = cute_document_place(&config->document, b->path, false);
        return cute_fail(diag, CUTE_SYSTEM, &place,
                         "the buffers up to '%s' need %.1f GiB, but this machine has %.1f GiB of memory",
                         b->tensor.name, bytes / 0x1p30, memory / 0x1p30);
    }
    return CUTE_OK;
}

cute_status cute_data_prepare(cute_config *config, uint64_t seed, cute_diag *diag)
{
    CUTE_TRY(check_memory(config, diag));
    for (size_t i = 0; i < config->buffer_count; i++) {
        config_buffer *buffer = &config->buffers[i];
        cute_tensor *t = &buffer->tensor;
        char *mapped = map_memory(mapped_bytes(t));
        if (!mapped)
            return cute_fail(diag, CUTE_SYSTEM, NULL, "no memory for buffer '%s': %lld bytes", t->name,
                             (long long)t->bytes);
        t->data = mapped + CUTE_GUARD_BYTES;
        CUTE_TRY(init_buffer(config, buffer, seed, diag));
        buffer->reference.data = t->data;
        /* Checks refer to the contents before the launches. */
        if (buffer->init == INIT_NONE || !(buffer->checked || buffer->output)) continue;
        buffer->initial = map_memory(initial_bytes(t));
        if (!buffer->initial)
            return cute_fail(diag, CUTE_SYSTEM, NULL, "no memory for buffer '%s': %lld bytes", t->name,
                             (long long)t->bytes);
        if (t->bytes) memcpy(buffer->initial, t->data, (size_t)t->bytes);
        buffer->reference.data = buffer->initial;
    }
    return CUTE_OK;
}

void cute_data_restore(const config_buffer *buffer, int variant)
{
    if (buffer->init == INIT_NONE) {
        cute_data_poison(buffer, variant);
        return;
    }
    if (buffer->initial && buffer->tensor.bytes)
        memcpy(buffer->tensor.data, buffer->initial, (size_t)buffer->tensor.bytes);
    poison_guards(buffer, variant);
}

void cute_data_release(cute_config *config)
{
    for (size_t i = 0; i < config->buffer_count; i++) {
        config_buffer *buffer = &config->buffers[i];
        if (buffer->tensor.data)
            munmap((char *)buffer->tensor.data - CUTE_GUARD_BYTES, mapped_bytes(&buffer->tensor));
        if (buffer->initial) munmap(buffer->initial, initial_bytes(&buffer->tensor));
        buffer->tensor.data = buffer->initial = NULL;
    }
}

/* ---- unwritten elements ---- */

typedef struct unwritten_loop {
    const cute_tensor *tensor;
    uint8_t pattern[8];
    uint8_t *mask;
    bool narrow;
    int64_t counts[CUTE_PARALLEL_MAX], firsts[CUTE_PARALLEL_MAX];
} unwritten_loop;

#define ANY_EQUAL(type)                                                                                      \
    do {                                                                                                     \
        type wanted, some = 0;                                                                               \
        memcpy(&wanted, pattern, sizeof wanted);                                                             \
        for (int i = 0; i < 8; i++) {                                                                        \
            type x;                                                                                          \
            memcpy(&x, at + i * (int)sizeof x, sizeof x);                                                    \
            some |= (type)(x == wanted);                                                                     \
        }                                                                                                    \
        return some != 0;                                                                                    \
    } while (0)

/* Whether any of 8 contiguous elements equals `pattern`. */
static bool some_unwritten(const char *at, size_t width, const uint8_t *pattern)
{
    switch (width) {
    case 1: ANY_EQUAL(uint8_t);
    case 2: ANY_EQUAL(uint16_t);
    case 4: ANY_EQUAL(uint32_t);
    case 8: ANY_EQUAL(uint64_t);
    default: return true;
    }
}

/* Ranges begin at multiples of 8, so that no two threads share a byte of the mask. */
static void unwritten_range(void *context, int64_t begin, int64_t end, int worker)
{
    unwritten_loop *u = context;
    const cute_tensor *t = u->tensor;
    size_t width = (size_t)cute_dtype_get(t->dtype)->bytes;
    bool contiguous = cute_tensor_contiguous(t);
    begin *= 8;
    end = end * 8 < t->count ? end * 8 : t->count;
    for (int64_t i = begin; i < end; i++) {
        if (contiguous && i % 8 == 0 && end - i >= 8 &&
            !some_unwritten((const char *)t->data + (size_t)(t->offset + i) * width, width, u->pattern)) {
            if (u->mask) u->mask[i >> 3] = 0;
            i += 7;
            continue;
        }
        uint8_t bit = (uint8_t)(1u << (i & 7));
        bool examined = !u->narrow || (u->mask[i >> 3] & bit);
        bool found = examined && memcmp((const char *)t->data + (size_t)cute_tensor_position(t, i) * width,
                                        u->pattern, width) == 0;
        if (u->mask && found)
            u->mask[i >> 3] |= bit;
        else if (u->mask)
            u->mask[i >> 3] &= (uint8_t)~bit;
        if (!found) continue;
        if (u->firsts[worker] < 0 || i < u->firsts[worker]) u->firsts[worker] = i;
        u->counts[worker]++;
    }
}

data_unwritten cute_data_unwritten(const config_buffer *buffer, int variant, uint8_t *mask, bool narrow)
{
    const cute_tensor *t = &buffer->tensor;
    unwritten_loop u = {.tensor = t, .mask = mask, .narrow = narrow};
    data_unwritten result = {0, -1};
    cute_dtype_poison(t->dtype, variant, u.pattern);
    memset(u.firsts, -1, sizeof u.firsts);
    cute_parallel((t->count + 7) / 8, DATA_GRAIN / 8, unwritten_range, &u);
    for (int i = 0; i < CUTE_PARALLEL_MAX; i++) {
        result.count += u.counts[i];
        if (u.firsts[i] >= 0 && (result.first < 0 || u.firsts[i] < result.first)) result.first = u.firsts[i];
    }
    return result;
}

data_overrun cute_data_overrun(const config_buffer *buffer, int variant)
{
    const cute_tensor *t = &buffer->tensor;
    data_overrun result = {-1, -1};
    uint8_t pattern[8];
    int64_t width = cute_dtype_get(t->dtype)->bytes;
    const uint8_t *start = t->data, *end = start + t->bytes;
    cute_dtype_poison(t->dtype, variant, pattern);
    for (int64_t i = 0; i < CUTE_GUARD_BYTES && result.after < 0; i += width)
        if (memcmp(end + i, pattern, (size_t)width) != 0) result.after = i;
    for (int64_t i = width; i <= CUTE_GUARD_BYTES && result.before < 0; i += width)
        if (memcmp(start - i, pattern, (size_t)width) != 0) result.before = i;
    return result;
}
