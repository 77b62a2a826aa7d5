/* Source maps: what is written comes back, and no other text takes it. */
#include "lib/base/diagnostics/source_map.h"
#include "tests/unit/test.h"

static const char printed[] = "module {\n  func @k(%arg0, %arg1) {\n    a\n\n    b\n  }\n}\n";

/* `printed` with a map: two files, a line without a place, one that goes back, two arguments. */
static void write_one(cute_arena *arena, cute_buffer *text)
{
    cute_source_map_writer w = {.arena = arena};
    cute_buffer_puts(text, printed);
    uint32_t k = cute_source_map_file(&w, "dir/k \xC3\xA9.mlir", 13, UINT64_MAX);
    uint32_t other = cute_source_map_file(&w, "other.py", 8, 0);
    CHECK_INT(cute_source_map_file(&w, "other.py", 8, 7), other);
    uint32_t name = cute_source_map_form(&w, "a \"name\"", 8, true);
    uint32_t whole = cute_source_map_form(&w, "fused[\1, \"x\":1:2]", 17, false);
    CHECK_INT(cute_source_map_form(&w, "a \"name\"", 8, true), name);
    CHECK(name && whole && cute_source_map_form(&w, "a \"name\"", 8, false) > whole);
    CHECK_INT(cute_source_map_form(&w, "a\0b", 3, true), 0);
    CHECK_INT(cute_source_map_form(&w, "", 0, true), 0);
    CHECK(cute_source_map_line(&w, &(cute_map_line){.printed = 1, .form = whole}));
    CHECK(cute_source_map_line(&w, &(cute_map_line){2, true, k, 300, 17, name, 0, 0}));
    cute_source_map_argument(&w, &(cute_map_argument){"alpha", true, 299, 4, 0}, 5);
    cute_source_map_argument(&w, &(cute_map_argument){.form = whole}, 0);
    CHECK(!cute_source_map_line(&w, &(cute_map_line){2, true, k, 1, 1, 0, 0, 0}));
    CHECK(cute_source_map_line(&w, &(cute_map_line){3, true, other, 2147483647, 1, 0, 0, 0}));
    CHECK(cute_source_map_line(&w, &(cute_map_line){5, true, k, 0, 0, 0, 0, 0}));
    cute_source_map_finish(&w, text);
}

static void test_round_trip(void)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer text = {0};
    write_one(arena, &text);
    cute_source_map map;
    size_t own;
    CHECK(cute_source_map_read(text.data, text.length, arena, &map, &own));
    CHECK_INT(own, sizeof printed - 1);
    CHECK_INT(map.file_count, 2);
    CHECK_TEXT(map.files[0].name, "dir/k \xC3\xA9.mlir");
    CHECK(map.files[0].hash == UINT64_MAX && map.files[1].hash == 0);
    CHECK_INT(map.line_count, 4);
    CHECK(!map.lines[0].placed && map.lines[0].form == 2);
    CHECK_INT(map.form_count, 3);
    CHECK_TEXT(map.forms[0].text, "a \"name\"");
    CHECK_TEXT(map.forms[1].text, "fused[\1, \"x\":1:2]");
    CHECK(map.forms[0].name && !map.forms[1].name);
    const cute_map_line *line = cute_source_map_find(&map, 2);
    CHECK(line->placed && line->file == 0 && line->line == 300 && line->column == 17 && line->form == 1);
    CHECK_INT(line->argument_count, 2);
    const cute_map_argument *a = &map.arguments[line->first_argument];
    CHECK_TEXT(a[0].name, "alpha");
    CHECK(a[0].placed && a[0].line == 299 && a[0].column == 4);
    CHECK(!a[1].name && !a[1].placed && a[1].form == 2 && a[0].form == 0);
    line = cute_source_map_find(&map, 4); /* a blank line belongs to what is before it */
    CHECK_INT(line->form, 0);
    CHECK(line->printed == 3 && line->file == 1 && line->line == 2147483647);
    line = cute_source_map_find(&map, 1000);
    CHECK(line->printed == 5 && line->file == 0 && line->line == 0 && line->column == 0);
    CHECK(!cute_source_map_find(&map, 0));
    cute_buffer_release(&text);
    cute_arena_destroy(arena);
}

/* Words of the text are what tests look for; the map must not have them. */
static void test_letters(void)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer text = {0};
    write_one(arena, &text);
    static const char start[] = "//!source ";
    const char *map = text.data + sizeof printed - 1;
    CHECK(!strncmp(map, start, strlen(start)));
    CHECK_INT(
        strcspn(map + strlen(start), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_%@(){}[]<>\""),
        strlen(map + strlen(start)));
    cute_buffer_release(&text);
    cute_arena_destroy(arena);
}

static void test_other_texts(void)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer text = {0};
    write_one(arena, &text);
    cute_source_map map;
    size_t own;
    /* Every byte that is changed or cut off is seen, or does no harm. */
    for (size_t i = 0; i < text.length; i++) {
        text.data[i] ^= 1;
        bool taken = cute_source_map_read(text.data, text.length, arena, &map, &own);
        CHECK(!(taken && i < sizeof printed - 1));
        CHECK(taken || own == text.length);
        text.data[i] ^= 1;
        taken = cute_source_map_read(text.data, i, arena, &map, &own);
        CHECK(taken || own == i);
    }
    cute_buffer_puts(&text, "\n\n");
    CHECK(cute_source_map_read(text.data, text.length, arena, &map, &own));
    cute_buffer_puts(&text, "// more\n");
    CHECK(!cute_source_map_read(text.data, text.length, arena, &map, &own));
    CHECK_INT(own, text.length);
    CHECK(!cute_source_map_read("", 0, arena, &map, &own) && own == 0);
    cute_buffer_release(&text);
    cute_arena_destroy(arena);
}

static void refuse(cute_arena *arena, const char *rest)
{
    cute_buffer text = {0};
    cute_buffer_printf(&text, "x\n//!source 1 %llu%s\n", (unsigned long long)cute_source_hash("x\n", 2),
                       rest);
    cute_source_map map;
    size_t own;
    CHECK(!cute_source_map_read(text.data, text.length, arena, &map, &own));
    cute_buffer_release(&text);
}

static void test_damaged(void)
{
    cute_arena *arena = cute_arena_create();
    static const char *const wrong[] = {
        "",
        " 1:1",                         /* no file */
        " *107;1 3;1:1",                /* no such file */
        " *107;1 -1:1",                 /* before line 0 */
        " *107;1 2147483647 1",         /* behind the last line */
        " *107;1 1:2147483648",         /* a column too large */
        " *107;1 0+1:1",                /* the same line again */
        " *107;1 2147483647+1 1",       /* more lines than there are */
        " *256;1 1:1",                  /* no byte */
        " *0;1 1:1",                    /* the end of a string */
        " *107;99999999999999999999 1", /* no hash */
        " *107;1 .,1:1",                /* an argument's place without its function's */
        " *107;1 1:1,1",
        " *107;1 1:1\n//x 1",
        " *107;1 1:1=0", /* no such form */
        " *107;1 =107 1:1=1",
        " *107;1 =107 1:1,&1",
        " *107;1 =256 1:1", /* no byte */
        "1:1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuse(arena, wrong[i]);
    cute_arena_destroy(arena);
}

static void test_disorder(void)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer text = {0};
    cute_source_map_writer w = {.arena = arena};
    cute_buffer_puts(&text, printed);
    CHECK(cute_source_map_line(&w, &(cute_map_line){.printed = 3}));
    CHECK(cute_source_map_line(&w, &(cute_map_line){.printed = 2}));
    cute_source_map_finish(&w, &text);
    CHECK_INT(text.length, sizeof printed - 1);
    w = (cute_source_map_writer){.arena = arena};
    cute_source_map_finish(&w, &text);
    CHECK_INT(text.length, sizeof printed - 1);
    cute_buffer_release(&text);
    cute_arena_destroy(arena);
}

int main(void)
{
    TEST("a map is read back as it was written", test_round_trip);
    TEST("a map has no words that a test may look for", test_letters);
    TEST("a text that was changed does not take the map of another", test_other_texts);
    TEST("a damaged map is no map", test_damaged);
    TEST("lines out of order and empty maps leave the text alone", test_disorder);
    return test_finish();
}
