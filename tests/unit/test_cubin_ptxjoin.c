/* PTX modules that become one: what is expected is written by the rules of the PTX ISA on linking directives
 * (.extern, .visible, .weak, .common), read as nvlink reads them. */
#include "lib/cubin/ptx/ptxjoin.h"
#include "tests/unit/test.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

static cute_arena *arena;
static cute_diag *diag;

/* The joined text without blanks at the ends of lines and empty lines; NULL after a failure. */
static const char *join(const cute_ptx_part *given, size_t count)
{
    cute_ptx_part parts[8];
    cute_buffer out = {0}, plain = {0};
    for (size_t i = 0; i < count; i++) {
        parts[i] = given[i];
        parts[i].length = strlen(parts[i].text);
    }
    cute_diag_clear(diag);
    cute_status status = cute_ptx_join(arena, parts, count, &out, diag);
    for (const char *at = cute_buffer_text(&out); *at; at++)
        if (*at != '\n' || (plain.length && plain.data[plain.length - 1] != '\n'))
            cute_buffer_putc(&plain, *at);
    const char *text =
        status == CUTE_OK ? cute_arena_copy(arena, cute_buffer_text(&plain), plain.length) : NULL;
    cute_buffer_release(&out);
    cute_buffer_release(&plain);
    return text;
}

static const char *message(void)
{
    return cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "";
}

static bool has(const char *text, const char *part)
{
    bool found = text && strstr(text, part);
    if (!found) printf("# not there: %s\n# in: %s\n", part, text ? text : message());
    return found;
}

static int times(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; at && (at = strstr(at, part)); at++) count++;
    return count;
}

static void test_extern(void)
{
    const cute_ptx_part parts[] = {
        {"a.ptx",
         HEAD ".extern .global .align 4 .u32 v;\n.extern .func (.param .b32 r) f (.param .b32 p);\n"
              ".extern .func vprintf (.param .b64 s);\n.visible .entry k() { ld.global.u32 %r1, [v]; call f; "
              "ret; }\n",
         0, false},
        {"b.ptx",
         HEAD
         ".visible .func (.param .b32 r) f (.param .b32 p)\n{ ret; }\n.visible .global .align 4 .u32 v = 5;\n"
         ".extern .func vprintf (.param .b64 s);\n",
         0, false},
    };
    const char *text = join(parts, 2);
    CHECK_TEXT(text ? text : message(), HEAD
               ".visible .func (.param .b32 r) f (.param .b32 p)\n;\n.extern .func vprintf (.param .b64 s);\n"
               ".visible .global .align 4 .u32 v = 5;\n// ---- a.ptx\n"
               ".visible .entry k() { ld.global.u32 %r1, [v]; call f; ret; }\n// ---- b.ptx\n"
               ".visible .func (.param .b32 r) f (.param .b32 p)\n{ ret; }\n");
}

static void test_private(void)
{
    /* `h` and `v` of the second module are its own; an instruction and a directive of that name are not. */
    const cute_ptx_part parts[] = {
        {"a.ptx", HEAD ".global .u32 v;\n.func h() { ret; }\n.visible .func a() { call h; st.u32 [v], 1; }\n",
         0, false},
        {"b.ptx",
         HEAD ".global .u32 v;\n.global .u64 w[2] = {generic(v), v+4};\n.func h();\n.func h() { ret; }\n"
              ".visible .func b() { call (h), h; ld.v.h %v, [v+8]; /* v */ }\n",
         0, false},
        {"c.ptx", HEAD ".visible .global .u32 h$2;\n.visible .global .u32 w;\n", 0, false},
    };
    const char *text = join(parts, 3);
    CHECK(has(text, ".func h() { ret; }\n.visible .func a() { call h; st.u32 [v], 1; }"));
    CHECK(has(text, ".global .u32 v$2;\n.global .u64 w$2[2] = {generic(v$2), v$2+4};"));
    CHECK(has(text, ".visible .func b() { call (h$5), h$5; ld.v.h %v, [v$2+8]; /* v */ }"));
    CHECK(has(text, ".visible .global .u32 w;"));
    CHECK_INT(times(text, ".func h$5()"), 2); /* its prototype and itself */
}

static void test_weak(void)
{
    const cute_ptx_part parts[] = {
        {"a.ptx", HEAD ".weak .func t() { ret; }\n.weak .func s() { ret; }\n.common .global .u32 c[2];\n", 0,
         false},
        {"b.ptx",
         HEAD ".weak .func t() { bar.sync 0; }\n.visible .func s() { exit; }\n.common .global .u32 c[2];\n",
         0, false},
        {"c.ptx", HEAD ".extern .shared .align 4 .b8 d[];\n", 0, false},
        {"d.ptx", HEAD ".extern .shared .align 16 .b8 d[];\n", 0, false},
    };
    const char *text = join(parts, 4);
    CHECK(has(text, ".weak .func t() { ret; }"));
    CHECK(has(text, ".visible .func s() { exit; }"));
    CHECK(has(text, ".extern .shared .align 16 .b8 d[];"));
    CHECK_INT(times(text, "bar.sync"), 0);
    CHECK_INT(times(text, "s() {"), 1);
    CHECK_INT(times(text, " c[2];"), 1);
    CHECK_INT(times(text, " d[];"), 1);
}

static void test_on_demand(void)
{
    const cute_ptx_part parts[] = {
        {"a.ptx", HEAD ".extern .func f ();\n.visible .entry k() { call f; }\n", 0, false},
        {"l.a(g)", HEAD ".visible .func g () { ret; }\n", 0, true},
        {"l.a(f)", HEAD ".extern .func g ();\n.visible .func f () { call g; }\n", 0, true},
        {"l.a(x)", HEAD ".visible .func x () { ret; }\n", 0, true},
    };
    const char *text = join(parts, 4);
    CHECK(has(text, ".visible .func f () { call g; }"));
    CHECK(has(text, ".visible .func g () { ret; }"));
    CHECK_INT(times(text, " x ("), 0);
    /* Nothing is wanted: the module itself, byte by byte. */
    const cute_ptx_part whole[] = {{"a.ptx", "// one\n" HEAD ".visible .entry k() { }\n", 0, false},
                                   parts[1]};
    CHECK_TEXT(join(whole, 2), "// one\n" HEAD ".visible .entry k() { }\n");
    CHECK_TEXT(join(whole, 1), "// one\n" HEAD ".visible .entry k() { }\n");
}

static void test_head(void)
{
    const cute_ptx_part parts[] = {
        {"a.ptx",
         "//!cute {\"kernel\":\"k\"}\n.version 8.3\n.target sm_80, debug\n.address_size 64\n.file 1 "
         "\"a.cu\"\n"
         ".visible .entry k() {\n.loc 1 2 3\nret; }\n.section .debug_str { .b8 1; { } }\n",
         0, false},
        {"b.ptx",
         "//!cute {\"kernel\":\"l\"}\n.version 7.0\n.target sm_90a\n.address_size 64\n.file 1 \"b.cu\", 5, "
         "6\n.file 2 "
         "\"c.cu\"\n.visible .entry l() {\n.loc 2 4 5, function_name $L__info_string0+7, inlined_at 1 8 "
         "9\nret; }\n",
         0, false},
    };
    CHECK_TEXT(
        join(parts, 2),
        "//!cute {\"kernel\":\"k\"}\n//!cute {\"kernel\":\"l\"}\n.version 8.3\n.target sm_90a\n.address_size "
        "64\n"
        ".file 1 \"a.cu\"\n.file 2 \"b.cu\", 5, 6\n.file 3 \"c.cu\"\n// ---- a.ptx\n.visible .entry k() {\n"
        ".loc 1 2 3\nret; }\n// ---- b.ptx\n.visible .entry l() {\n.loc 3 4 5\nret; }\n");
}

static void test_refused(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {HEAD ".visible .func f() { ret; }", "'f' is defined twice"},
        {HEAD ".visible .entry l( { }", "expected ), got the end of file"},
        {HEAD ".visible .entry l() { {", "expected }, got the end of file"},
        {HEAD ".visible .global .u32 a, b;", "expected one variable in a declaration, got ','"},
        {HEAD ".visible .global .u32", "expected ';', got the end of file"},
        {HEAD ".visible .func 7", "expected the name of a function, got '7'"},
        {HEAD "hello", "expected a declaration, got 'hello'"},
        {HEAD ".file 1 x", "expected the name of a file, got 'x'"},
        {".version x", "expected a version of PTX, got 'x'"},
        {HEAD ".visible .func f() ", "expected the body of the function, got the end of file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cute_ptx_part parts[] = {{"a.ptx", HEAD ".visible .func f() { ret; }\n", 0, false},
                                       {"b.ptx", cases[i].text, 0, false}};
        CHECK(!join(parts, 2));
        CHECK_TEXT(message(), cases[i].message);
    }
}

int main(void)
{
    arena = cute_arena_create();
    diag = cute_diag_create();
    TEST("what one module declares .extern another defines, in whatever order", test_extern);
    TEST("names without linkage stay apart", test_private);
    TEST("of weak, common and dynamic shared ones one stays, and a visible one is preferred", test_weak);
    TEST("members of a library are taken where they are wanted, also by each other", test_on_demand);
    TEST("the newest version, the latest target, all metadata and the files of .loc are kept", test_head);
    TEST("what is defined twice or can't be read is refused", test_refused);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return test_finish();
}
