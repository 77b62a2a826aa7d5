/* Hashes of files: the vectors of FIPS 180-4, and each length around a block. */
#include "lib/base/system/sha256.h"
#include "tests/unit/test.h"

static void test_vectors(void)
{
    static const struct {
        const char *text, *hash;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    char out[CUTE_SHA256_TEXT];
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        cute_sha256(vectors[i].text, strlen(vectors[i].text), out);
        CHECK_TEXT(out, vectors[i].hash);
    }
}

static void test_million(void)
{
    static char text[1000000];
    char out[CUTE_SHA256_TEXT];
    memset(text, 'a', sizeof text);
    cute_sha256(text, sizeof text, out);
    CHECK_TEXT(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_plain(void)
{
    static unsigned char bytes[4096];
    char fast[CUTE_SHA256_TEXT], plain[CUTE_SHA256_TEXT];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 167 + i / 64);
    for (size_t length = 0; length < 400; length++) {
        cute_sha256(bytes + length, length * 9, fast);
        cute_sha256_plain(bytes + length, length * 9, plain);
        CHECK_TEXT(fast, plain);
    }
}

int main(void)
{
    TEST("with and without the processor's instructions each length has the same hash", test_plain);
    TEST("the vectors of the standard are met", test_vectors);
    TEST("a million letters are hashed as the standard says", test_million);
    return test_finish();
}
