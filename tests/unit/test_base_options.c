/* Command lines: what is taken, what is refused, and with which words. */
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/diagnostics/log.h"
#include "lib/base/options/tool.h"
#include "tests/unit/test.h"

static bool help, verbose, lineinfo;
static const char *output, *arch, *remarks;
static int64_t level, registers;
static cute_option_list libraries, defines, passed, operands;

static const cute_option options[] = {
    {CUTE_OPTION_GROUP, "General", 0, NULL, NULL, NULL},
    {CUTE_OPTION_FLAG, "help", 'h', NULL, "print this text", &help},
    {CUTE_OPTION_FLAG, "verbose", 'v', NULL, "say more", &verbose},
    {CUTE_OPTION_STRING, "output", 'o', "FILE", "write to FILE", &output},
    {CUTE_OPTION_GROUP, "Code", 0, NULL, NULL, NULL},
    {CUTE_OPTION_STRING, "arch", 0, "SM",
     "the architecture to compile for, such as sm_90a; without it the environment variable ARCH is asked",
     &arch},
    {CUTE_OPTION_STRING, "gpu-architecture", 0, "SM", NULL, &arch},
    {CUTE_OPTION_INT, NULL, 'O', "LEVEL", "optimise", &level},
    {CUTE_OPTION_INT, "maxrregcount", 0, "N", "at most N registers", &registers},
    {CUTE_OPTION_FLAG, "lineinfo", 0, NULL, "keep lines", &lineinfo},
    {CUTE_OPTION_LIST, "library", 'l', "NAME", "link NAME", &libraries},
    {CUTE_OPTION_LIST, NULL, 'D', "NAME=VALUE", "define", &defines},
    {CUTE_OPTION_LIST, "Xptxas", 0, "OPTION", "pass on", &passed},
    {CUTE_OPTION_MAYBE, "remarks", 0, "PASS", "say more of it", &remarks},
    {0},
};
static const cute_command command = {"cute-x", "[options] [file...]", "Does things.",
                                     options,  "Examples: none.",     NULL};

static cute_arena *arena;
static cute_diag *diag;

#define PARSE(...) parse((const char *const[]){"cute-x", __VA_ARGS__, NULL})
static cute_status parse(const char *const *words)
{
    help = verbose = lineinfo = false;
    output = arch = remarks = NULL;
    level = registers = -1;
    libraries = defines = passed = (cute_option_list){0};
    cute_diag_clear(diag);
    int count = 0;
    char *argv[32];
    for (; words[count]; count++) argv[count] = cute_arena_copy(arena, words[count], strlen(words[count]));
    argv[count] = NULL;
    return cute_options_parse(&command, arena, count, argv, &operands, diag);
}

static const char *message(void)
{
    return cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "(none)";
}

static void test_spellings(void)
{
    const char *const *lines[] = {
        (const char *const[]){"x", "--arch", "sm_80", NULL},
        (const char *const[]){"x", "--arch=sm_80", NULL},
        (const char *const[]){"x", "-arch", "sm_80", NULL},
        (const char *const[]){"x", "-arch=sm_80", NULL},
        (const char *const[]){"x", "--gpu-architecture=sm_80", NULL},
    };
    for (size_t i = 0; i < 5; i++) {
        CHECK_INT(parse(lines[i]), CUTE_OK);
        CHECK_TEXT(arch, "sm_80");
    }
}

static void test_letters(void)
{
    CHECK_INT(PARSE("-O3", "-lfoo", "-l", "bar", "-DBM=128", "-D", "T=f16", "-v", "-ofile", "-lineinfo"),
              CUTE_OK);
    CHECK_INT(level, 3);
    CHECK_INT(libraries.count, 2);
    CHECK_TEXT(libraries.items[0], "foo");
    CHECK_TEXT(libraries.items[1], "bar");
    CHECK_INT(defines.count, 2);
    CHECK_TEXT(defines.items[0], "BM=128");
    CHECK_TEXT(defines.items[1], "T=f16");
    CHECK(verbose && lineinfo && !help);
    CHECK_TEXT(output, "file");
}

static void test_operands(void)
{
    CHECK_INT(PARSE("a", "-v", "-", "b", "--", "-o", "--help"), CUTE_OK);
    CHECK_INT(operands.count, 5);
    const char *expected[] = {"a", "-", "b", "-o", "--help"};
    for (size_t i = 0; i < 5 && i < operands.count; i++) CHECK_TEXT(operands.items[i], expected[i]);
    CHECK(!help && !output);
}

static void test_dashed_value(void)
{
    CHECK_INT(PARSE("-Xptxas", "-v", "-Xptxas=--warn-on-spills", "-o", "-"), CUTE_OK);
    CHECK_INT(passed.count, 2);
    CHECK_TEXT(passed.items[0], "-v");
    CHECK_TEXT(passed.items[1], "--warn-on-spills");
    CHECK_TEXT(output, "-");
    CHECK(!verbose);
}

static void test_maybe(void)
{
    CHECK_INT(PARSE("--remarks", "k.mlir"), CUTE_OK);
    CHECK_TEXT(remarks, "");
    CHECK_INT(operands.count, 1);
    CHECK_INT(PARSE("-remarks=cse"), CUTE_OK);
    CHECK_TEXT(remarks, "cse");
    CHECK(PARSE("-v") == CUTE_OK && !remarks);
    CHECK_INT(cute_option_set(options, arena, "remarks", NULL, diag), CUTE_OK);
    CHECK_TEXT(remarks, "");
    CHECK_INT(cute_option_set(options, arena, "remarks", "licm", diag), CUTE_OK);
    CHECK_TEXT(remarks, "licm");
}

static void test_last_wins(void)
{
    CHECK_INT(PARSE("-o", "a", "--output=b"), CUTE_OK);
    CHECK_TEXT(output, "b");
}

static void test_many(void)
{
    const char *words[22] = {"x"};
    for (int i = 1; i < 21; i++) words[i] = cute_arena_printf(arena, "-lname%d", i);
    CHECK_INT(parse(words), CUTE_OK);
    CHECK_INT(libraries.count, 20);
    for (size_t i = 0; i < libraries.count; i++)
        CHECK_TEXT(libraries.items[i], cute_arena_printf(arena, "name%zu", i + 1));
}

static void test_unknown(void)
{
    CHECK_INT(PARSE("--archh=sm_80"), CUTE_USAGE);
    CHECK_TEXT(message(), "unknown option '--archh'; did you mean '--arch'?");
    CHECK_INT(PARSE("-maxregcount", "32"), CUTE_USAGE);
    CHECK_TEXT(message(), "unknown option '-maxregcount'; did you mean '--maxrregcount'?");
    CHECK_INT(PARSE("--vrebose"), CUTE_USAGE);
    CHECK_TEXT(message(), "unknown option '--vrebose'; did you mean '--verbose'?");
    CHECK_INT(PARSE("--zzz"), CUTE_USAGE);
    CHECK_TEXT(message(), "unknown option '--zzz'; 'cute-x --help' lists them");
    CHECK_INT(PARSE("-q"), CUTE_USAGE);
    CHECK_TEXT(message(), "unknown option '-q'; 'cute-x --help' lists them");
    CHECK_INT(PARSE("-vq"), CUTE_USAGE);
    CHECK_TEXT(message(), "unknown option '-q' in '-vq'");
    CHECK_INT(PARSE("-vlx", "-vcubin"), CUTE_USAGE);
    CHECK_TEXT(message(), "unknown option '-vcubin'; 'cute-x --help' lists them");
    CHECK_INT(PARSE("-hxe"), CUTE_USAGE); /* 'x' is a letter of the program's name */
    CHECK_TEXT(message(), "unknown option '-hxe'; 'cute-x --help' lists them");
    CHECK_INT(PARSE("a", "b", "--zzz", "c"), CUTE_USAGE);
    CHECK_TEXT(message(), "unknown option '--zzz'; 'cute-x --help' lists them");
}

static void test_values(void)
{
    CHECK_INT(PARSE("--arch"), CUTE_USAGE);
    CHECK_TEXT(message(), "'--arch' expects a value: SM");
    CHECK_INT(PARSE("-o"), CUTE_USAGE);
    CHECK_TEXT(message(), "'--output' expects a value: FILE");
    CHECK_INT(PARSE("--verbose=1"), CUTE_USAGE);
    CHECK_TEXT(message(), "'--verbose' takes no value");
    CHECK_INT(PARSE("--maxrregcount=3x"), CUTE_USAGE);
    CHECK_TEXT(message(), "'--maxrregcount' expects an integer, got '3x'");
    CHECK_INT(PARSE("-Ofast"), CUTE_USAGE);
    CHECK_TEXT(message(), "'-O' expects an integer, got 'fast'");
    CHECK_INT(PARSE("-O", "9223372036854775808"), CUTE_USAGE);
    CHECK_TEXT(message(), "'-O' expects an integer of 64 bits, got '9223372036854775808'");
    CHECK_INT(PARSE("--maxrregcount="), CUTE_USAGE);
    CHECK_INT(PARSE("--maxrregcount=0x20"), CUTE_OK);
    CHECK_INT(registers, 32);
}

static void test_abbreviations(void)
{
    CHECK_INT(PARSE("--verb"), CUTE_OK);
    CHECK(verbose);
    CHECK_INT(PARSE("--li"), CUTE_USAGE);
    CHECK_TEXT(message(), "option '--li' is ambiguous: --lineinfo, --library");
}

static void test_twice(void)
{
    CHECK_INT(PARSE("--zzz", "x"), CUTE_USAGE);
    CHECK_INT(PARSE("a", "-v"), CUTE_OK); /* nothing is left of the failed one */
    CHECK(verbose && operands.count == 1);
}

static void test_empty(void)
{
    char *none[] = {NULL};
    CHECK_INT(cute_options_parse(&command, arena, 0, none, &operands, diag), CUTE_OK);
    CHECK_INT(operands.count, 0);
}

static void test_help(void)
{
    cute_buffer text = {0};
    cute_options_help(&command, &text);
    CHECK_TEXT(
        cute_buffer_text(&text),
        "usage: cute-x [options] [file...]\n"
        "\n"
        "Does things.\n"
        "\n"
        "General:\n"
        "  -h, --help                  print this text\n"
        "  -v, --verbose               say more\n"
        "  -o, --output=FILE           write to FILE\n"
        "\n"
        "Code:\n"
        "      --arch=SM               the architecture to compile for, such as sm_90a; without it the\n"
        "                              environment variable ARCH is asked\n"
        "  -OLEVEL                     optimise\n"
        "      --maxrregcount=N        at most N registers\n"
        "      --lineinfo              keep lines\n"
        "  -l, --library=NAME          link NAME\n"
        "  -DNAME=VALUE                define\n"
        "      --Xptxas=OPTION         pass on\n"
        "      --remarks[=PASS]        say more of it\n"
        "\n"
        "Examples: none.\n");
    cute_buffer_release(&text);
}

/* Variables are looked at by the programs that settings.def names, and the command line counts before them. */
static void test_environment(void)
{
    const cute_command ptx = {"cute-ptx", "", "", options, NULL, NULL};
    char name[] = "cute-ptx", without[] = "--lineinfo=0";
    char *plain[] = {name, NULL}, *off[] = {name, without, NULL};
    lineinfo = false;
    cute_diag_clear(diag);
    setenv("CUTE_DSL_LINEINFO", "yes", 1);
    CHECK_INT(cute_options_parse(&ptx, arena, 1, plain, &operands, diag), CUTE_OK);
    CHECK(lineinfo);
    CHECK_INT(cute_options_parse(&ptx, arena, 2, off, &operands, diag), CUTE_OK);
    CHECK(!lineinfo);
    setenv("CUTLASS_LINEINFO", "0", 1); /* the first that is set */
    CHECK_INT(cute_options_parse(&ptx, arena, 1, plain, &operands, diag), CUTE_OK);
    CHECK(!lineinfo);
    setenv("CUTLASS_LINEINFO", "2", 1);
    CHECK_INT(cute_options_parse(&ptx, arena, 1, plain, &operands, diag), CUTE_USAGE);
    CHECK_TEXT(message(), "the environment variable CUTLASS_LINEINFO expects 1 or 0, got '2'");
    CHECK_INT(PARSE("-v"), CUTE_OK); /* another program's */
    CHECK(!lineinfo);
    CHECK_INT(PARSE("--lineinfo=0"), CUTE_USAGE);
    unsetenv("CUTLASS_LINEINFO");
    unsetenv("CUTE_DSL_LINEINFO");
}

static void test_log_levels(void)
{
    static const struct {
        const char *text;
        int level; /* -1: refused */
    } rows[] = {{"error", CUTE_LOG_ERROR},
                {"warning", CUTE_LOG_WARNING},
                {"info", CUTE_LOG_INFO},
                {"debug", CUTE_LOG_DEBUG},
                {"0", CUTE_LOG_WARNING},
                {"1", CUTE_LOG_DEBUG},
                {"10", CUTE_LOG_DEBUG},
                {"20", CUTE_LOG_INFO},
                {"30", CUTE_LOG_WARNING},
                {"40", CUTE_LOG_ERROR},
                {"50", CUTE_LOG_ERROR},
                {"51", -1},
                {"-1", -1},
                {"", -1},
                {"10x", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cute_log_level got = CUTE_LOG_WARNING;
        CHECK(cute_log_level_parse(rows[i].text, &got) == (rows[i].level >= 0));
        if (rows[i].level >= 0) CHECK_INT(got, rows[i].level);
    }
}

/* What a tool prints on standard error. */
static void test_finish_prints(void)
{
    cute_diag_clear(diag);
    cute_place place = {.file = "k.ptx", .line = 4, .column = 2};
    cute_report(diag, CUTE_ERROR, &place, "bad");
    cute_report(diag, CUTE_ERROR, NULL, "no input");
    int fds[2], saved = dup(STDERR_FILENO);
    CHECK_INT(pipe(fds), 0);
    dup2(fds[1], STDERR_FILENO);
    close(fds[1]);
    int code = cute_tool_finish("cute-x", CUTE_INVALID, diag, CUTE_DIAG_TEXT);
    dup2(saved, STDERR_FILENO);
    close(saved);
    char got[200] = {0};
    CHECK(read(fds[0], got, sizeof got - 1) > 0);
    close(fds[0]);
    CHECK_INT(code, 1);
    CHECK_TEXT(got, "k.ptx:4:2: error: bad\ncute-x: error: no input\n");
}

static void test_format(void)
{
    cute_diag_format format;
    cute_diag_clear(diag);
    CHECK(cute_diag_format_parse("json", &format, diag) == CUTE_OK && format == CUTE_DIAG_JSON);
    CHECK(cute_diag_format_parse("text", &format, diag) == CUTE_OK && format == CUTE_DIAG_TEXT);
    CHECK(cute_diag_format_parse("full", &format, diag) == CUTE_OK && format == CUTE_DIAG_FULL);
    CHECK_INT(cute_diag_format_parse("xml", &format, diag), CUTE_USAGE);
    CHECK_TEXT(message(), "'--diagnostics' expects text, full, json or sarif, got 'xml'");
}

int main(void)
{
    arena = cute_arena_create();
    diag = cute_diag_create();
    TEST("a long option is taken in LLVM's and in nvcc's spelling", test_spellings);
    TEST("values may be joined to letters, and a long name wins over a letter", test_letters);
    TEST("operands keep their order, and all words after -- are operands", test_operands);
    TEST("a value may begin with a dash", test_dashed_value);
    TEST("a value that may be left out is only taken behind '='", test_maybe);
    TEST("of a string given twice the last one wins", test_last_wins);
    TEST("a list keeps all its values in order", test_many);
    TEST("an unknown option is refused with the nearest name", test_unknown);
    TEST("a missing, superfluous or wrong value is refused by the option's name", test_values);
    TEST("an abbreviation is taken when it is unique", test_abbreviations);
    TEST("a second parse starts afresh after a failed one", test_twice);
    TEST("an empty command line is allowed", test_empty);
    TEST("help groups the options, wraps the text and hides aliases", test_help);
    TEST("environment variables are defaults of options", test_environment);
    TEST("levels of the log go by name or number", test_log_levels);
    TEST("a tool's messages carry its name where they have no place", test_finish_prints);
    TEST("the format of diagnostics is text or json", test_format);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return test_finish();
}
