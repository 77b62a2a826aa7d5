/* The candidates of a kernel: each combination of parameters once, the defaults first, a sample where there are too many; the order in
 * which they are tried; and the fastest of them in the cache. */
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/tune/tune.h"
#include "tests/unit/test.h"

static const char *const tiles[] = {"32", "64", "128"}, *const words[] = {"a", "b"};

static tune_param param_of(const char *name, const char *value, const char *const *candidates, size_t count)
{
    return (tune_param){name, value, (const char **)(uintptr_t)candidates, count};
}

static bool is_same(const char *const *a, const char *const *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(a[i], b[i]) != 0) return false;
    return true;
}

static void test_each_combination_once_with_the_defaults_first(void)
{
    cute_arena *arena = cute_arena_create();
    tune_param params[] = {param_of("BM", "64", tiles, 3), param_of("T", "b", words, 2)};
    const char **all;
    size_t drawn;
    int64_t whole;
    CHECK(tune_combinations(arena, params, 2, 100, 0, &all, &drawn, &whole, NULL) == CUTE_OK);
    CHECK(drawn == 6 && whole == 6);
    CHECK_TEXT(all[0], "BM=64");
    CHECK_TEXT(all[1], "T=b");
    for (size_t i = 0; i < drawn; i++)
        for (size_t k = 0; k < i; k++) CHECK(!is_same(all + 2 * i, all + 2 * k, 2));
    CHECK(tune_distance(params, 2, all) == 0);
    CHECK(tune_distance(params, 2, (const char *const[]){"BM=64", "T=a"}) == 1);
    CHECK(tune_distance(params, 2, (const char *const[]){"BM=32", "T=a"}) == 2);
    cute_arena_destroy(arena);
}

static void test_no_parameters_are_one_combination(void)
{
    cute_arena *arena = cute_arena_create();
    const char **all;
    size_t drawn;
    int64_t whole;
    CHECK(tune_combinations(arena, NULL, 0, 100, 0, &all, &drawn, &whole, NULL) == CUTE_OK);
    CHECK(drawn == 1 && whole == 1);
    cute_arena_destroy(arena);
}

static void test_a_default_that_is_no_candidate_is_not_tried(void)
{
    cute_arena *arena = cute_arena_create();
    tune_param param = param_of("BM", "48", tiles, 3), alone = param_of("N", "7", NULL, 0);
    const char **all;
    size_t drawn;
    int64_t whole;
    CHECK(tune_combinations(arena, &param, 1, 100, 0, &all, &drawn, &whole, NULL) == CUTE_OK && drawn == 3);
    CHECK_TEXT(all[0], "BM=32");
    CHECK_TEXT(all[2], "BM=128");
    CHECK(tune_combinations(arena, &alone, 1, 100, 0, &all, &drawn, &whole, NULL) == CUTE_OK && drawn == 1);
    CHECK_TEXT(all[0], "N=7");
    cute_arena_destroy(arena);
}

static void test_of_too_many_a_sample_is_drawn_by_the_seed(void)
{
    enum { PARAMS = 50, MOST = 40 };
    cute_arena *arena = cute_arena_create();
    tune_param params[PARAMS];
    for (size_t i = 0; i < PARAMS; i++) params[i] = param_of(i ? "P" : "Q", "64", tiles, 3);
    for (size_t count = 4; count <= PARAMS; count += 46) {
        const char **all, **again, **other;
        size_t drawn;
        int64_t whole;
        CHECK(tune_combinations(arena, params, count, MOST, 7, &all, &drawn, &whole, NULL) == CUTE_OK);
        CHECK(drawn == MOST && whole == (count == 4 ? 81 : INT64_MAX));
        CHECK(tune_distance(params, count, all) == 0);
        for (size_t i = 0; i < drawn; i++)
            for (size_t k = 0; k < i; k++) CHECK(!is_same(all + count * i, all + count * k, count));
        CHECK(tune_combinations(arena, params, count, MOST, 7, &again, &drawn, &whole, NULL) == CUTE_OK);
        CHECK(is_same(all, again, MOST * count));
        CHECK(tune_combinations(arena, params, count, MOST, 8, &other, &drawn, &whole, NULL) == CUTE_OK);
        CHECK(!is_same(all, other, MOST * count));
    }
    cute_arena_destroy(arena);
}

static void test_estimates_then_the_nearest_to_the_defaults(void)
{
    tune_candidate c[] = {{.distance = 2, .order = 0},
                          {.estimate = 3e-6, .order = 1},
                          {.distance = 1, .order = 2},
                          {.estimate = 1e-6, .place = 0, .order = 3},
                          {.estimate = 1.001e-6, .place = 1, .order = 4},
                          {.estimate = 1.01e-6, .place = 0, .order = 5},
                          {.distance = 1, .order = 6}};
    /* the second schedule of a combination is after another combination that is about as fast */
    static const size_t want[] = {3, 5, 4, 1, 2, 6, 0};
    tune_rank(c, 7);
    for (size_t i = 0; i < 7; i++) CHECK(c[i].order == want[i]);
}

static void test_the_best_is_of_one_key_and_damage_is_not_found(void)
{
    cute_arena *arena = cute_arena_create();
    const char *folder = NULL, *value;
    cute_buffer key = {0}, other = {0};
    tune_best best;
    CHECK(cute_temp_directory(arena, &folder, NULL) == CUTE_OK);
    cute_buffer_puts(&key, "a kernel on a device");
    cute_buffer_puts(&other, "a kernel on another device");
    CHECK(!tune_best_find(arena, folder, "tuned", &key, &value, &best));
    tune_best_put(folder, "tuned", &key, "BM=64\t--schedule=stages=4 consumers=2",
                  &(tune_best){1.5e-5, false});
    CHECK(tune_best_find(arena, folder, "tuned", &key, &value, &best));
    CHECK_TEXT(value, "BM=64\t--schedule=stages=4 consumers=2");
    CHECK(best.seconds == 1.5e-5 && !best.emulated);
    CHECK(!tune_best_find(arena, folder, "tuned", &other, &value, &best));
    CHECK(!tune_best_find(arena, "", "tuned", &key, &value, &best));
    tune_best_put(folder, "tuned", &key, "BM=32", &(tune_best){0, true});
    CHECK(tune_best_find(arena, folder, "tuned", &key, &value, &best) && best.emulated);
    tune_best_put(folder, "tuned", &key, "", &(tune_best){1, false});
    CHECK(!tune_best_find(arena, folder, "tuned", &key, &value, &best));
    tune_best_put(folder, "tuned", &key, "BM=32", &(tune_best){-1, false});
    CHECK(!tune_best_find(arena, folder, "tuned", &key, &value, &best));
    cute_buffer_release(&key);
    cute_buffer_release(&other);
    cute_temp_remove(folder);
    cute_arena_destroy(arena);
}

static bool keys_are_same(cute_arena *arena, const tune_subject *a, const tune_subject *b)
{
    cute_buffer x = {0}, y = {0};
    bool same = tune_subject_key(arena, a, &x) && tune_subject_key(arena, b, &y) && x.length == y.length &&
                !memcmp(x.data, y.data, x.length);
    cute_buffer_release(&x);
    cute_buffer_release(&y);
    return same;
}

static void test_a_key_is_of_source_sizes_and_device_but_not_of_checks(void)
{
    cute_arena *arena = cute_arena_create();
    static const char
        source[] = "//!param BM = 64 in 64, 128\n${BM} ${T}",
        first[] = "{\"params\": {\"n\": 64, \"m\": 8}}",
        second[] =
            "{ \"description\": \"other\", \"params\": {\"m\": 8, \"n\": 1}, \"check\": {}, \"bench\": {}}";
    const char *n64[] = {"n=64", "T=f16"}, *again[] = {"T=f16"}, *other[] = {"T=bf16"};
    cute_option_list with_n = {n64, 2}, without = {again, 1}, another = {other, 1};
    cute_launch_options options = {.size = sizeof options};
    cute_device_info device = {.size = sizeof device, .arch = "sm_90", .multiprocessors = 132},
                     small = device;
    strcpy(device.name, "GPU");
    strcpy(small.name, "other GPU");
    tune_subject a = {.path = "k.mlir",
                      .text = source,
                      .length = strlen(source),
                      .arch = "sm_90a",
                      .defines = &without,
                      .label = "launch.json",
                      .config = first,
                      .config_length = strlen(first),
                      .options = &options,
                      .device = &device},
                 b = a;
    CHECK(keys_are_same(arena, &a, &b));
    b.config = second;
    b.config_length = strlen(second);
    CHECK(!keys_are_same(arena, &a, &b)); /* n is 1 */
    b.defines = &with_n;
    CHECK(keys_are_same(arena, &a, &b));
    CHECK_TEXT(tune_subject_sizes(arena, &b), "m=8,n=64");
    b.config = "{\"params\": {\"rows\": 5, \"k\": \"2 * rows\", \"l\": 3}}";
    b.config_length = strlen(b.config);
    CHECK_TEXT(tune_subject_sizes(arena, &b), "m=5,batch=3");
    b.config = "{\"params\": {\"rows\": 5, \"m\": 6, \"batch\": 2, \"l\": 3, \"n\": 0}}";
    b.config_length = strlen(b.config);
    CHECK_TEXT(tune_subject_sizes(arena, &b), "m=6,n=64,batch=2");
    b = a;
    b.defines = &another;
    CHECK(!keys_are_same(arena, &a, &b));
    b = a;
    b.device = &small;
    CHECK(!keys_are_same(arena, &a, &b));
    b = a;
    b.schedule = "stages=2";
    CHECK(!keys_are_same(arena, &a, &b));
    b = a;
    b.length--;
    CHECK(!keys_are_same(arena, &a, &b));
    b = a;
    b.config = "[";
    b.config_length = 1;
    cute_buffer key = {0};
    CHECK(!tune_subject_key(arena, &b, &key));
    cute_buffer_release(&key);
    cute_arena_destroy(arena);
}

int main(void)
{
    TEST("each combination of parameters is there once, the defaults first",
         test_each_combination_once_with_the_defaults_first);
    TEST("no parameters are one combination", test_no_parameters_are_one_combination);
    TEST("a default that is no candidate is not tried; a parameter without candidates has its default",
         test_a_default_that_is_no_candidate_is_not_tried);
    TEST("of too many combinations a sample is drawn by the seed, with the defaults",
         test_of_too_many_a_sample_is_drawn_by_the_seed);
    TEST("the shortest estimates are tried first, then the nearest to the defaults",
         test_estimates_then_the_nearest_to_the_defaults);
    TEST("the best is found by its key alone, and a damaged entry is not",
         test_the_best_is_of_one_key_and_damage_is_not_found);
    TEST("a key has source, sizes and device, but not the checks",
         test_a_key_is_of_source_sizes_and_device_but_not_of_checks);
    return test_finish();
}
