/* The images of a file: a kernel's name outlives the module that it was read from. */
#include "lib/report/module/images.h"
#include "tests/unit/test.h"

static json_t *images_of(const void *bytes, size_t length, char message[200])
{
    cute_diag *diag = cute_diag_create();
    json_t *images;
    (void)!cute_report_images_json("x", bytes, length, &images, diag);
    snprintf(message, 200, "%s", cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "");
    cute_diag_destroy(diag);
    return images;
}

static void test_long_name(void)
{
    enum { LENGTH = 300000 };
    cute_buffer text = {0}, table = {0};
    char message[200];
    cute_buffer_puts(&text, ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry ");
    for (int i = 0; i < LENGTH; i++) cute_buffer_putc(&text, 'k');
    cute_buffer_puts(&text, "(){ret;}\n");
    json_t *images = images_of(text.data, text.length, message);
    const json_t *image = json_array_get(images, 0);
    CHECK(json_array_size(images) == 1 && json_integer_value(json_object_get(image, "kernels")) == 1);
    CHECK_INT(json_string_length(json_object_get(image, "first_kernel")), LENGTH);
    cute_report_images(images, &table);
    CHECK(strstr(cute_buffer_text(&table), "  kkkkkkkk") && strstr(cute_buffer_text(&table), "kkk...\n"));
    json_decref(images);
    cute_buffer_release(&text);
    cute_buffer_release(&table);
}

static void test_empty(void)
{
    static const unsigned char fatbin[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};
    char message[200];
    CHECK(!images_of(fatbin, sizeof fatbin, message));
    CHECK_TEXT(message, "expected device code, got a fatbin without images");
}

int main(void)
{
    TEST("the name of a PTX kernel is shown whole in JSON, cut in the table", test_long_name);
    TEST("a fatbin without an image is an error", test_empty);
    return test_finish();
}
