/* Reports of counters that no launch has made: numbers beyond what can be summed up or launched. */
#include "cute/cubin.h"
#include "lib/report/explain/explain.h"
#include "lib/report/launch/counters.h"
#include "tests/unit/test.h"

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry k(.param .u64 a)\n{\n ret;\n}\n";

static json_t *read(const char *text)
{
    json_t *report = NULL;
    CHECK(cute_json_parse("r.json", text, strlen(text), &report, NULL) == CUTE_OK);
    return report;
}

static void test_sums(void)
{
    static const char line[] = "{\"ptx_line\":6,\"instruction\":\"ret\",\"instructions\":9223372036854775807,"
                               "\"lanes\":-9223372036854775808}";
    char text[600];
    cute_buffer out = {0};
    snprintf(text, sizeof text,
             "{\"counters\":[{\"kernel\":\"k\",\"blocks\":1,\"threads\":1,\"lines\":[%s,%s]}]}", line, line);
    json_t *report = read(text);
    CHECK(cute_report_counted_ptx("r.json", report, NULL, ptx, sizeof ptx - 1, &out, NULL) == CUTE_OK);
    cute_report_counters(json_object_get(report, "counters"), &out);
    CHECK(strstr(cute_buffer_text(&out), "9223372036854775807 -9223372036854775808") != NULL);
    json_decref(report);
    cute_buffer_release(&out);
}

static bool is_launched(const char *grid)
{
    char text[200];
    cute_arena *arena = cute_arena_create();
    cute_module *module;
    cute_buffer out = {0};
    explain_report found;
    snprintf(text, sizeof text, "{\"launches\":[{\"kernel\":\"k\",\"grid\":%s,\"block\":[64,1,1]}]}", grid);
    json_t *report = read(text);
    CHECK(cute_module_open("k.ptx", ptx, sizeof ptx - 1, NULL, &module, NULL) == CUTE_OK);
    const explain_input input = {
        .label = "k.ptx", .module = module, .no_code = "not compiled", .launch = report};
    CHECK(explain_create(arena, &input, &found, NULL) == CUTE_OK);
    explain_print(&found, true, false, &out);
    bool is = strstr(cute_buffer_text(&out), "blocks for ") != NULL;
    cute_buffer_release(&out);
    cute_module_close(module);
    json_decref(report);
    cute_arena_destroy(arena);
    return is;
}

static void test_launch(void)
{
    CHECK(is_launched("[2,1,1]"));
    CHECK(!is_launched("[9223372036854775807,9223372036854775807,2]"));
    CHECK(!is_launched("[1,65536,1]"));
}

int main(void)
{
    TEST("counts beyond 64 bits end at the largest", test_sums);
    TEST("a grid that no device takes is no launch", test_launch);
    return test_finish();
}
