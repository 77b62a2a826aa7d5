/* .npy: files byte by byte as NumPy writes them. */
#include <unistd.h>

#include "lib/base/system/file.h"
#include "lib/launch/data/npy.h"
#include "tests/unit/test.h"

/* A version 1 file with this dictionary and data. */
static size_t make(char *out, int version, const char *dictionary, const void *data, size_t length)
{
    size_t text = strlen(dictionary), start = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version;
    out[7] = 0;
    out[8] = (char)(text & 0xFF);
    out[9] = (char)(text >> 8);
    if (version > 1) out[10] = out[11] = 0;
    memcpy(out + start, dictionary, text);
    memcpy(out + start + text, data, length);
    return start + text + length;
}

static cute_status parse(char *bytes, size_t length, cute_dtype wanted, bool exact, cute_tensor *out,
                         char *message)
{
    cute_diag *diag = cute_diag_create();
    cute_status status = cute_npy_parse("x.npy", bytes, length, wanted, exact, out, diag);
    snprintf(message, 200, "%s", cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "");
    cute_diag_destroy(diag);
    return status;
}

static double at(const cute_tensor *t, int64_t linear)
{
    double value;
    cute_tensor_load(t, t->data, linear, 1, &value);
    return value;
}

static void test_versions(void)
{
    static const float data[] = {0, 1, 2, 3, 4, 5};
    for (int version = 1; version <= 3; version++) {
        char bytes[400], message[200];
        cute_tensor t;
        size_t n = make(bytes, version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
                        data, sizeof data);
        CHECK(parse(bytes, n, CUTE_F32, true, &t, message) == CUTE_OK);
        CHECK(t.rank == 2 && t.shape[0] == 2 && t.shape[1] == 3 && at(&t, 5) == 5 && at(&t, 3) == 3);
    }
}

static void test_fortran(void)
{
    static const int16_t data[] = {0, 3, 1, 4, 2, 5};
    char bytes[400], message[200];
    cute_tensor t;
    size_t n =
        make(bytes, 1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n", data, sizeof data);
    CHECK(parse(bytes, n, CUTE_I16, true, &t, message) == CUTE_OK);
    for (int i = 0; i < 6; i++) CHECK_INT(at(&t, i), i);
}

static void test_big_endian(void)
{
    static const unsigned char data[] = {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0}; /* 1, -2 */
    char bytes[400], message[200];
    cute_tensor t;
    size_t n =
        make(bytes, 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n", data, sizeof data);
    CHECK(parse(bytes, n, CUTE_F32, true, &t, message) == CUTE_OK);
    CHECK(at(&t, 0) == 1 && at(&t, 1) == -2);
}

static void test_bfloat16(void)
{
    static const uint16_t data[] = {0x3F80, 0xC000};
    static const char *const descrs[] = {"<V2", "|V2", "<u2"};
    for (int i = 0; i < 3; i++) {
        char bytes[400], message[200], dictionary[100];
        cute_tensor t;
        snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n",
                 descrs[i]);
        size_t n = make(bytes, 1, dictionary, data, sizeof data);
        if (!CHECK(parse(bytes, n, CUTE_BF16, true, &t, message) == CUTE_OK)) continue;
        CHECK(at(&t, 0) == 1 && at(&t, 1) == -2);
    }
}

static void test_scalar_and_empty(void)
{
    static const double value = 2.5;
    char bytes[400], message[200];
    cute_tensor t;
    size_t n =
        make(bytes, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n", &value, sizeof value);
    CHECK(parse(bytes, n, CUTE_F64, true, &t, message) == CUTE_OK);
    CHECK(t.rank == 0 && t.count == 1 && at(&t, 0) == 2.5);
    n = make(bytes, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }\n", &value, 0);
    CHECK(parse(bytes, n, CUTE_F64, true, &t, message) == CUTE_OK);
    CHECK_INT(t.count, 0);
}

static void test_damaged(void)
{
    static const struct {
        const char *dictionary, *what;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (200,), }\n",
         "truncated: expected 800 bytes of elements, got 8"},
        {"{'descr': '<f4', 'fortran_order': False, }\n", "incomplete"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }\n", "damaged"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n", "structured"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }\n", "got '<c8'"},
        {"{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", "expected elements of f32"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }\n", "64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", "damaged"},
        {"", "expected a dictionary as the header"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char bytes[400], message[200];
        cute_tensor t;
        size_t n = make(bytes, 1, cases[i].dictionary, "12345678", 8);
        CHECK(parse(bytes, n, CUTE_F32, true, &t, message) == CUTE_INVALID);
        if (!CHECK(strstr(message, cases[i].what) != NULL)) printf("# %s\n", message);
    }
    char bytes[16] = "NUMPY", message[200];
    cute_tensor t;
    CHECK(parse(bytes, 5, CUTE_F32, true, &t, message) == CUTE_INVALID);
    memcpy(bytes, "\x93NUMPY\x09\x00\x00\x00", 10);
    CHECK(parse(bytes, 10, CUTE_F32, true, &t, message) == CUTE_INVALID);
}

static void test_write(void)
{
    /* As numpy.save writes arange(3, dtype='f4'): the elements begin at byte 128. */
    float data[] = {9, 0, 9, 1, 9, 2};
    cute_tensor t = {
        .name = "x", .dtype = CUTE_F32, .rank = 1, .shape = {3}, .strides = {2}, .offset = 1, .data = data};
    CHECK(cute_tensor_layout(&t));
    char path[] = "/tmp/npyXXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    cute_diag *diag = cute_diag_create();
    CHECK(cute_npy_write(path, &t, data, diag) == CUTE_OK);
    cute_buffer bytes = {0};
    CHECK(cute_file_read(path, &bytes, diag) == CUTE_OK);
    CHECK_INT(bytes.length, 128 + 12);
    CHECK(memcmp(bytes.data,
                 "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
                 66) == 0);
    static const float want[] = {0, 1, 2};
    CHECK(memcmp(bytes.data + 128, want, 12) == 0);
    CHECK(bytes.data[127] == '\n');
    cute_buffer_release(&bytes);
    cute_diag_destroy(diag);
    unlink(path);
}

int main(void)
{
    TEST("versions 1, 2 and 3 are read", test_versions);
    TEST("Fortran order gives the same elements", test_fortran);
    TEST("big-endian elements are swapped", test_big_endian);
    TEST("bfloat16 is read from what ml_dtypes writes", test_bfloat16);
    TEST("scalars and empty arrays have their shapes", test_scalar_and_empty);
    TEST("damaged, truncated and foreign files are refused by name", test_damaged);
    TEST("a strided tensor is written as NumPy writes it", test_write);
    return test_finish();
}
