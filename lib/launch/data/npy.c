/* .npy files: a magic string, a Python dictionary as text, then the elements. */
#include "lib/launch/data/npy.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/base/system/file.h"

/* Bytes of a dictionary of three entries; NumPy warns above 10,000. */
enum { MAX_NPY_HEADER = 1 << 16 };

typedef struct npy_header {
    const char *label, *next, *end;
    char descr[16];
    bool fortran, has_descr, has_order, has_shape;
    cute_tensor *tensor;
    cute_diag *diag;
} npy_header;

static cute_status fail_npy(const npy_header *h, const char *what)
{
    return cute_fail(h->diag, CUTE_INVALID, &(cute_place){.file = h->label}, "%s", what);
}

static void skip_space(npy_header *h)
{
    while (h->next < h->end && (*h->next == ' ' || *h->next == '\n' || *h->next == '\t')) h->next++;
}

static bool take_char(npy_header *h, char c)
{
    skip_space(h);
    if (h->next >= h->end || *h->next != c) return false;
    h->next++;
    return true;
}

static bool take_word(npy_header *h, const char *word)
{
    size_t length = strlen(word);
    skip_space(h);
    if ((size_t)(h->end - h->next) < length || memcmp(h->next, word, length) != 0) return false;
    h->next += length;
    return true;
}

static bool take_string(npy_header *h, char *out, size_t size)
{
    char quote = take_char(h, '\'') ? '\'' : take_char(h, '"') ? '"' : '\0';
    size_t n = 0;
    if (!quote) return false;
    while (h->next < h->end && *h->next != quote && n + 1 < size) out[n++] = *h->next++;
    out[n] = '\0';
    return take_char(h, quote);
}

static bool take_shape(npy_header *h)
{
    cute_tensor *t = h->tensor;
    if (!take_char(h, '(')) return false;
    while (!take_char(h, ')')) {
        int64_t extent = 0;
        skip_space(h);
        if (h->next >= h->end || *h->next < '0' || *h->next > '9' || t->rank == CUTE_TENSOR_RANK)
            return false;
        for (; h->next < h->end && *h->next >= '0' && *h->next <= '9'; h->next++)
            if (!cute_mul64(extent, 10, &extent) || !cute_add64(extent, *h->next - '0', &extent))
                return false;
        take_word(h, "L");
        t->shape[t->rank++] = extent;
        if (!take_char(h, ',')) return take_char(h, ')');
    }
    return true;
}

static cute_status parse_dictionary(npy_header *h)
{
    char key[32];
    if (!take_char(h, '{')) return fail_npy(h, "not a .npy file: expected a dictionary as the header");
    while (!take_char(h, '}')) {
        if (!take_string(h, key, sizeof key) || !take_char(h, ':'))
            return fail_npy(h, "not a .npy file: its header is damaged");
        bool good = true;
        if (strcmp(key, "descr") == 0) {
            good = h->has_descr = take_string(h, h->descr, sizeof h->descr);
            if (!good)
                return fail_npy(h, "structured .npy files are unsupported: expected one number per element");
        } else if (strcmp(key, "fortran_order") == 0) {
            h->has_order = true;
            h->fortran = take_word(h, "True");
            good = h->fortran || take_word(h, "False");
        } else if (strcmp(key, "shape") == 0) {
            good = h->has_shape = take_shape(h);
        } else {
            good = false;
        }
        if (!good) return fail_npy(h, "not a .npy file: its header is damaged");
        take_char(h, ',');
    }
    return h->has_descr && h->has_order && h->has_shape
               ? CUTE_OK
               : fail_npy(h, "not a .npy file: incomplete header: expected descr, fortran_order and shape");
}

/* Untyped elements are of the wanted type if it has their width. */
static bool find_descr(const char *descr, cute_dtype wanted, bool *swapped, cute_dtype *out)
{
    const cute_dtype_info *info = cute_dtype_get(wanted);
    char text[16];
    if (strlen(descr) < 3 || !strchr("<>|=", descr[0])) return false;
    *swapped = descr[0] == '>';
    strcpy(text, descr);
    if (strtoll(text + 2, NULL, 10) == info->bytes) {
        bool opaque = text[1] == 'V' || (text[1] == 'u' && info->npy[1] == 'u') ||
                      (text[1] == 'b' && wanted == CUTE_I1);
        if (opaque || (text[1] == info->npy[1])) {
            *out = wanted;
            return true;
        }
    }
    for (int i = 0; i < CUTE_DTYPE_COUNT; i++) {
        const cute_dtype_info *candidate = cute_dtype_get((cute_dtype)i);
        if (strcmp(candidate->npy + 1, text + 1) != 0 || i == CUTE_BF16 || i == CUTE_E4M3 || i == CUTE_E5M2)
            continue;
        *out = (cute_dtype)i;
        return true;
    }
    return false;
}

static void swap_bytes(char *data, int64_t count, int64_t width)
{
    for (int64_t i = 0; i < count; i++, data += width)
        for (int64_t k = 0; k < width / 2; k++) {
            char low = data[k];
            data[k] = data[width - 1 - k];
            data[width - 1 - k] = low;
        }
}

static bool set_column_major(cute_tensor *t)
{
    int64_t stride = 1;
    for (int i = 0; i < t->rank; i++) {
        t->strides[i] = stride;
        if (!cute_mul64(stride, t->shape[i] > 0 ? t->shape[i] : 1, &stride)) return false;
    }
    return true;
}

/* Reads the offset and length of the dictionary from the first bytes. */
static cute_status read_preamble(const npy_header *h, const char *bytes, size_t length, size_t *start,
                                 size_t *text)
{
    const unsigned char *b = (const unsigned char *)bytes;
    if (length < 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return fail_npy(h, "not a .npy file: expected the magic string \\x93NUMPY");
    if (b[6] < 1 || b[6] > 3) return fail_npy(h, "unsupported .npy version: expected 1 to 3");
    *start = b[6] == 1 ? 10 : 12;
    *text = b[8] | (size_t)b[9] << 8;
    if (b[6] > 1 && length >= 12) *text |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (*text > MAX_NPY_HEADER)
        return cute_fail(h->diag, CUTE_INVALID, &(cute_place){.file = h->label},
                         "expected a .npy header of at most %d bytes, got %zu", MAX_NPY_HEADER, *text);
    return CUTE_OK;
}

/* Parses everything but the elements; *begin is their offset. */
static cute_status parse_head(const char *label, const char *bytes, size_t length, cute_dtype wanted,
                              bool exact, cute_tensor *out, bool *swapped, size_t *begin, cute_diag *diag)
{
    npy_header h = {.label = label, .tensor = out, .diag = diag};
    size_t start, text;
    memset(out, 0, sizeof *out);
    out->name = label;
    CUTE_TRY(read_preamble(&h, bytes, length, &start, &text));
    if (length < start || text > length - start)
        return fail_npy(&h, "the .npy file is truncated in its header");
    h.next = bytes + start;
    h.end = h.next + text;
    *begin = start + text;
    CUTE_TRY(parse_dictionary(&h));
    if (!find_descr(h.descr, wanted, swapped, &out->dtype) || (exact && out->dtype != wanted))
        return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = label},
                         "expected elements of %s ('%s'), got '%s'", cute_dtype_get(wanted)->name,
                         cute_dtype_get(wanted)->npy, h.descr);
    if (!(h.fortran ? set_column_major(out) : cute_tensor_row_major(out)) || !cute_tensor_layout(out))
        return fail_npy(&h, "the size of the array exceeds 64 bits");
    return CUTE_OK;
}

cute_status cute_npy_parse(const char *label, char *bytes, size_t length, cute_dtype wanted, bool exact,
                           cute_tensor *out, cute_diag *diag)
{
    bool swapped;
    size_t begin;
    CUTE_TRY(parse_head(label, bytes, length, wanted, exact, out, &swapped, &begin, diag));
    if ((uint64_t)out->bytes > length - begin)
        return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = label},
                         "the .npy file is truncated: expected %lld bytes of elements, got %zu",
                         (long long)out->bytes, length - begin);
    char *data = bytes + begin;
    int64_t width = cute_dtype_get(out->dtype)->bytes;
    /* Elements are used in place; misaligned ones are moved over the header. */
    if ((uintptr_t)data % (uintptr_t)width != 0) {
        char *aligned = bytes + ((uintptr_t)width - (uintptr_t)bytes % (uintptr_t)width) % (uintptr_t)width;
        memmove(aligned, data, (size_t)out->bytes);
        data = aligned;
    }
    if (swapped) swap_bytes(data, out->count, width);
    out->data = data;
    return CUTE_OK;
}

cute_status cute_npy_read(const char *path, cute_dtype wanted, bool exact, cute_tensor *out,
                          cute_buffer *bytes, cute_diag *diag)
{
    cute_reader reader;
    npy_header h = {.label = path, .diag = diag};
    size_t start = 0, text = 0;
    bool swapped;
    CUTE_TRY(cute_reader_open(path, &reader, diag));
    cute_status status = cute_reader_read(&reader, 12, bytes, diag);
    if (status == CUTE_OK) status = read_preamble(&h, cute_buffer_text(bytes), bytes->length, &start, &text);
    if (status == CUTE_OK)
        status = cute_reader_read(&reader, (int64_t)(start + text) - reader.at, bytes, diag);
    if (status == CUTE_OK)
        status = parse_head(path, cute_buffer_text(bytes), bytes->length, wanted, exact, out, &swapped,
                            &start, diag);
    if (status == CUTE_OK) /* version 1: up to two bytes of the elements have been read already */
        status = cute_reader_read(&reader, out->bytes - (reader.at - (int64_t)start), bytes, diag);
    cute_reader_close(&reader);
    if (status != CUTE_OK) return status;
    return cute_npy_parse(path, bytes->data, bytes->length, wanted, exact, out, diag);
}

void cute_tensor_pack(const cute_tensor *tensor, const void *data, cute_buffer *out)
{
    int64_t width = cute_dtype_get(tensor->dtype)->bytes;
    if (cute_tensor_contiguous(tensor)) {
        cute_buffer_append(out, (const char *)data + tensor->offset * width, (size_t)(tensor->count * width));
        return;
    }
    for (int64_t i = 0; i < tensor->count; i++)
        cute_buffer_append(out, (const char *)data + cute_tensor_position(tensor, i) * width, (size_t)width);
}

cute_status cute_npy_write(const char *path, const cute_tensor *tensor, const void *data, cute_diag *diag)
{
    enum { UNIT = 64 };
    cute_buffer file = {0}, text = {0};
    cute_buffer_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                       cute_dtype_get(tensor->dtype)->npy);
    for (int i = 0; i < tensor->rank; i++)
        cute_buffer_printf(&text, "%s%lld", i ? ", " : "", (long long)tensor->shape[i]);
    cute_buffer_puts(&text, tensor->rank == 1 ? ",), }" : "), }");
    /* NumPy pads with spaces so that the elements begin at a multiple of 64 bytes. */
    while ((10 + text.length + 1) % UNIT != 0) cute_buffer_putc(&text, ' ');
    cute_buffer_putc(&text, '\n');
    cute_buffer_append(&file, "\x93NUMPY\x01\x00", 8);
    cute_buffer_putc(&file, (char)(text.length & 0xFF));
    cute_buffer_putc(&file, (char)(text.length >> 8));
    cute_buffer_append(&file, text.data, text.length);
    cute_tensor_pack(tensor, data, &file);
    cute_status status = cute_buffer_ok(&file) && cute_buffer_ok(&text)
                             ? cute_file_write(path, file.data, file.length, diag)
                             : cute_fail_memory(diag);
    cute_buffer_release(&file);
    cute_buffer_release(&text);
    return status;
}
