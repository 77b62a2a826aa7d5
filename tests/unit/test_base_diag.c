/* Diagnostics: what a user sees under the caret. The expected pictures were drawn by hand. */
#include <limits.h>

#include "cute/base.h"
#include "lib/base/diagnostics/diag.h"
#include "tests/unit/test.h"

static char rendered[1 << 16];

/* One error at byte `offset` of `source`, `length` columns underlined, as text. */
static const char *render_at(const char *source, size_t offset, int length, bool colour)
{
    cute_diag *diag = cute_diag_create();
    cute_place place = cute_place_at("k.mlir", source, strlen(source), offset);
    place.length = length;
    cute_report(diag, CUTE_ERROR, &place, "bad");
    char *text = cute_diag_render(diag, CUTE_DIAG_TEXT, colour);
    snprintf(rendered, sizeof rendered, "%s", text ? text : "(null)");
    free(text);
    cute_diag_destroy(diag);
    return rendered;
}

static void test_place(void)
{
    const char source[] = "one\ntwo\r\nthree";
    cute_place p = cute_place_at("f", source, sizeof source - 1, 5);
    CHECK_INT(p.line, 2);
    CHECK_INT(p.column, 2);
    CHECK_INT(p.text_length, 3); /* without \r */
    CHECK(strncmp(p.text, "two", 3) == 0);
    p = cute_place_at("f", source, sizeof source - 1, 1000);
    CHECK_INT(p.line, 3);
    CHECK_INT(p.column, 6);
    p = cute_place_at("f", "", 0, 0);
    CHECK(p.line == 1 && p.column == 1 && p.text_length == 0);
}

static void test_caret(void)
{
    CHECK_TEXT(render_at("a\nload x, y\n", 7, 1, false), "k.mlir:2:6: error: bad\n"
                                                         "load x, y\n"
                                                         "     ^\n");
    CHECK_TEXT(render_at("load abc", 5, 3, false), "k.mlir:1:6: error: bad\n"
                                                   "load abc\n"
                                                   "     ^~~\n");
    /* At the end of the line, and underlining that would pass it. */
    CHECK_TEXT(render_at("load", 4, 1, false), "k.mlir:1:5: error: bad\nload\n    ^\n");
    CHECK_TEXT(render_at("load", 2, 99, false), "k.mlir:1:3: error: bad\nload\n  ^~\n");
}

static void test_tabs(void)
{
    /* A tab ends at the next multiple of 8; one that is underlined takes all its columns. */
    CHECK_TEXT(render_at("\tx", 1, 1, false), "k.mlir:1:2: error: bad\n        x\n        ^\n");
    CHECK_TEXT(render_at("ab\tx", 3, 1, false), "k.mlir:1:4: error: bad\nab      x\n        ^\n");
    CHECK_TEXT(render_at("ab\tx", 2, 2, false), "k.mlir:1:3: error: bad\nab      x\n  ^~~~~~~\n");
}

static void test_utf8(void)
{
    /* é is two bytes and one column; 漢 three bytes and two columns. */
    CHECK_TEXT(render_at("é x", 3, 1, false), "k.mlir:1:4: error: bad\né x\n  ^\n");
    CHECK_TEXT(render_at("漢x", 3, 1, false), "k.mlir:1:4: error: bad\n漢x\n  ^\n");
    CHECK_TEXT(render_at("漢x", 0, 3, false), "k.mlir:1:1: error: bad\n漢x\n^~\n");
    /* e and a combining accent: one column. */
    CHECK_TEXT(render_at("e\xCC\x81 x", 4, 1, false), "k.mlir:1:5: error: bad\ne\xCC\x81 x\n  ^\n");
}

static void test_hostile(void)
{
    CHECK_TEXT(render_at("a\x1b[2Jb", 5, 1, false), "k.mlir:1:6: error: bad\na<U+001B>[2Jb\n            ^\n");
    CHECK_TEXT(render_at("\xFFz", 1, 1, false), "k.mlir:1:2: error: bad\n<FF>z\n    ^\n");
    /* An overlong slash, a surrogate and a character cut off by the line's end. */
    CHECK_TEXT(render_at("\xC0\xAF", 0, 1, false), "k.mlir:1:1: error: bad\n<C0><AF>\n^\n");
    CHECK_TEXT(render_at("\xED\xA0\x80", 0, 1, false), "k.mlir:1:1: error: bad\n<ED><A0><80>\n^\n");
    CHECK_TEXT(render_at("\xE6\xBC", 0, 1, false), "k.mlir:1:1: error: bad\n<E6><BC>\n^\n");
}

static void test_long_line(void)
{
    static char source[100000];
    memset(source, 'a', sizeof source - 1);
    source[50000] = 'X';
    char *text = strdup(render_at(source, 50000, 1, false));
    char *line = strchr(text, '\n') + 1, *caret = strchr(line, '\n') + 1;
    CHECK(strncmp(line, "...", 3) == 0);
    CHECK_INT(caret - line - 1, 126); /* 120 columns and two ellipses */
    CHECK(line[strcspn(caret, "^")] == 'X');
    free(text);
    /* A place at the very end and one at the very beginning. */
    text = strdup(render_at(source, 99998, 1, false));
    line = strchr(text, '\n') + 1;
    caret = strchr(line, '\n') + 1;
    CHECK_INT(strcspn(caret, "^"), 3 + 119);
    free(text);
    text = strdup(render_at(source, 0, 1, false));
    line = strchr(text, '\n') + 1;
    CHECK_INT(strcspn(line, "\n"), 123);
    free(text);
}

static void test_odd_places(void)
{
    cute_place places[] = {
        {.file = "f", .line = 0},
        {.file = "f", .line = 3, .column = 0, .text = "abc", .text_length = 3},
        {.file = "f", .line = 3, .column = INT_MAX, .length = INT_MAX, .text = "abc", .text_length = 3},
        {.file = "f", .line = INT_MAX, .column = 1, .length = -5, .text = "", .text_length = 0},
        {.file = NULL, .line = 3, .column = 3},
    };
    const char *expected[] = {
        "f: error: bad\n",
        "f:3: error: bad\nabc\n",
        "f:3:2147483647: error: bad\nabc\n   ^\n",
        "f:2147483647:1: error: bad\n\n^\n",
        "error: bad\n",
    };
    for (size_t i = 0; i < 5; i++) {
        cute_diag *diag = cute_diag_create();
        cute_report(diag, CUTE_ERROR, &places[i], "bad");
        char *text = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
        CHECK_TEXT(text, expected[i]);
        free(text);
        cute_diag_destroy(diag);
    }
}

static void test_order(void)
{
    cute_diag *diag = cute_diag_create();
    char file[] = "f";
    cute_place place = {.file = file, .line = 1, .column = 1};
    CHECK_INT(cute_fail(diag, CUTE_INVALID, &place, "%s is %d", "x", 3), CUTE_INVALID);
    file[0] = 'g'; /* everything was copied */
    cute_note(diag, NULL, "say y");
    cute_report(diag, CUTE_WARNING, NULL, "slow");
    cute_report(diag, CUTE_REMARK, NULL, "fine\n");
    CHECK_INT(cute_diag_count(diag), 4);
    CHECK_INT(cute_diag_errors(diag), 1);
    CHECK(cute_diag_get(diag, 1)->severity == CUTE_NOTE);
    CHECK(!cute_diag_get(diag, 4));
    char *text = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    CHECK_TEXT(text, "f:1:1: error: x is 3\nnote: say y\nwarning: slow\nremark: fine\n");
    free(text);
    cute_diag_clear(diag);
    CHECK(cute_diag_count(diag) == 0 && cute_diag_errors(diag) == 0);
    text = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    CHECK_TEXT(text, "");
    free(text);
    cute_diag_destroy(diag);
}

static void test_json(void)
{
    cute_diag *diag = cute_diag_create();
    cute_place place = {.file = "a\"b", .line = 2, .column = 7};
    cute_report(diag, CUTE_ERROR, &place, "tab\t, \x01, \xFF, \\, é");
    cute_note(diag, NULL, "n");
    char *text = cute_diag_render(diag, CUTE_DIAG_JSON, false);
    CHECK_TEXT(text,
               "{\"severity\":\"error\",\"file\":\"a\\\"b\",\"line\":2,\"column\":7,"
               "\"message\":\"tab\\t, \\u0001, \xEF\xBF\xBD, \\\\, é\"}\n"
               "{\"severity\":\"note\",\"file\":null,\"line\":null,\"column\":null,\"message\":\"n\"}\n");
    free(text);
    cute_diag_destroy(diag);
}

static void test_report(void)
{
    static const char source[] = "one\ntwo\nthree\r\nfour\nfive\n";
    cute_diag *diag = cute_diag_create();
    cute_place place = cute_place_at("<stdin>", source, sizeof source - 1, 8);
    cute_diag_know(diag, CUTE_FACT_ARCHITECTURE, "sm_80");
    cute_diag_know(diag, CUTE_FACT_ARCHITECTURE, "sm_90");
    cute_report(diag, CUTE_ERROR, &place, "Value 'x' is not defined for option 'gpu-name'");
    cute_diag_show(diag, source, sizeof source - 1);
    cute_note(diag, NULL, "a note");
    cute_explanation e;
    CHECK(cute_diag_explain(diag, 0, &e) && e.cause && !e.facts[CUTE_FACT_TOOLKIT]);
    CHECK_TEXT(e.cause->id, "architecture-unknown");
    CHECK(!cute_diag_explain(diag, 1, &e) && !cute_diag_explain(diag, 2, &e));
    int first = 0;
    char *around = cute_diag_around(diag, 0, &first);
    CHECK_TEXT(around, "one\ntwo\nthree\r\nfour\nfive");
    CHECK_INT(first, 1);
    free(around);
    CHECK(!cute_diag_around(diag, 1, &first));
    char *text = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    CHECK(strstr(
        text, "\nsettings:\n  code          E0109\n  stage         ptxas\n  architecture  sm_90\n<stdin>:\n"
              "      1 | one\n      2 | two\n>     3 | three\n      4 | four\n      5 | five\n"
              "likely causes:\n  - "));
    free(text);
    /* Another text than the one that the message is about tells nothing. */
    cute_diag_show(NULL, source, 3);
    cute_report(diag, CUTE_ERROR, &place, "bad");
    cute_diag_show(diag, "one\ntwo\nother\n", 14);
    CHECK(!cute_diag_around(diag, 2, &first));
    CHECK(!cute_cause_of("bad") && !cute_cause_of(NULL) && !cute_cause_get((size_t)-1));
    cute_diag_destroy(diag);
}

static void test_null(void)
{
    CHECK_INT(cute_fail(NULL, CUTE_SYSTEM, NULL, "x"), CUTE_SYSTEM);
    cute_note(NULL, NULL, "x");
    cute_diag_clear(NULL);
    cute_diag_destroy(NULL);
    CHECK_INT(cute_diag_errors(NULL), 0);
    CHECK_INT(cute_fail_memory(NULL), CUTE_SYSTEM);
}

static void test_colour(void)
{
    CHECK_TEXT(render_at("ab", 1, 1, true),
               "\033[1mk.mlir:1:2: \033[0m\033[1;31merror: \033[0m\033[1mbad\033[0m\n"
               "ab\n \033[1;32m^\033[0m\n");
}

typedef void show_text(const char *text, size_t length, cute_buffer *out);

static void check_shown(show_text *show, const char *text, const char *want)
{
    cute_buffer out = {0};
    show(text, strlen(text), &out);
    CHECK_TEXT(cute_buffer_text(&out), want);
    cute_buffer_release(&out);
}

static void test_shown(void)
{
    check_shown(cute_text_xml, "a<b>&\"\n\t\x1b\x7f\xff\xe2\x80\xae\xef\xbf\xbf\xc3\xa9",
                "a&lt;b&gt;&amp;&quot;\n\t&lt;U+001B&gt;&lt;U+007F&gt;&lt;FF&gt;&lt;U+202E&gt;&lt;U+FFFF&gt;"
                "\xc3\xa9");
    check_shown(cute_text_coloured, "\033[1;31mred\033[0m \033]0;x\007 \033[2J \033[1",
                "\033[1;31mred\033[0m <U+001B>]0;x<U+0007> <U+001B>[2J <U+001B>[1");
    check_shown(cute_text_printable, "\033[1mbold\r\n", "<U+001B>[1mbold<U+000D>\n");
    CHECK(cute_text_is_printable("plain <text> \xc3\xa9") && cute_text_is_printable(""));
    CHECK(!cute_text_is_printable("a\x1b") && !cute_text_is_printable("\xff") &&
          !cute_text_is_printable("\n"));
}

int main(void)
{
    TEST("a place counts lines and columns from one and is clamped to the text", test_place);
    TEST("the caret stands under the column and tildes under the rest", test_caret);
    TEST("tabs are widened and the caret follows them", test_tabs);
    TEST("the caret follows wide, accented and combining characters", test_utf8);
    TEST("control characters and broken UTF-8 are shown, not sent to the terminal", test_hostile);
    TEST("of a long line a window around the caret is shown", test_long_line);
    TEST("impossible places are shown as well as they can be", test_odd_places);
    TEST("messages keep their order, their own copies and their counts", test_order);
    TEST("as JSON each message is one valid line", test_json);
    TEST("an error comes with its cause, what was in force and the lines around", test_report);
    TEST("without a diag messages are dropped and statuses pass", test_null);
    TEST("text of the input is shown to people and in XML without what neither can have", test_shown);
    TEST("colours surround place, severity and caret", test_colour);
    return test_finish();
}
