/* See diff.h: computes the difference; difftext.c prints it. */
#include "lib/report/folder/diff.h"

#include <string.h>
#include <sys/stat.h>

#include "lib/base/system/file.h"
#include "lib/cubin/module.h"
#include "lib/report/code/figures.h"
#include "lib/report/folder/lines.h"

typedef enum side_kind { SIDE_FOLDER, SIDE_MODULE, SIDE_MLIR } side_kind;

typedef struct side {
    const char *path;
    side_kind kind;
    json_t *report;     /* of a folder */
    cute_buffer before; /* the IR after the last compared pass */
} side;

typedef struct work {
    cute_arena *arena;
    const char *arch, *cuda_path;
    cute_diag *diag;
    side sides[2];
    json_t *out;
    const char *scratch; /* a folder for diff(1) */
    bool no_sass;
} work;

/* ---- texts ---- */

/* Removes the source map, whose places differ wherever the text does. */
static void strip_map(cute_buffer *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->length;) {
        const char *end = memchr(text->data + i, '\n', text->length - i);
        size_t length = end ? (size_t)(end - text->data) + 1 - i : text->length - i;
        if (length < 3 || memcmp(text->data + i, "//!", 3) != 0) {
            memmove(text->data + kept, text->data + i, length);
            kept += length;
        }
        i += length;
    }
    text->length = kept;
    if (text->data) text->data[kept] = '\0';
}

/* A unified diff with its numbers of added and removed lines; NULL: equal, or an error. */
static json_t *compare_texts(work *w, const cute_buffer *a, const cute_buffer *b, cute_status *status)
{
    if (a->length == b->length && memcmp(cute_buffer_text(a), cute_buffer_text(b), a->length) == 0)
        return NULL;
    cute_buffer text = {0};
    int64_t added, removed;
    json_t *out = NULL;
    *status = cute_lines_diff(w->scratch, a, b, &text, &added, &removed, w->diag);
    if (*status == CUTE_OK) {
        out = json_pack("{sIsI}", "added", (json_int_t)added, "removed", (json_int_t)removed);
        json_object_set_new(out, "diff", cute_json_text(cute_buffer_text(&text)));
    }
    cute_buffer_release(&text);
    return out;
}

/* ---- dump folders ---- */

static const char *in_folder(work *w, const side *s, const char *name)
{
    const char *path = cute_arena_printf(w->arena, "%s/%s", s->path, name);
    return path ? path : name;
}

/* File names in a report must not leave its folder. */
static cute_status check_name(work *w, const side *s, const char *name)
{
    if (*name != '/' && !strstr(name, "..")) return CUTE_OK;
    return cute_fail(w->diag, CUTE_INVALID, &(cute_place){.file = in_folder(w, s, "REPORT.json")},
                     "expected the name of a file in the folder, got '%.200s'", name);
}

static void put_difference(json_t *list, const char *name, const json_t *a, const json_t *b)
{
    if (a && b && json_equal(a, b)) return;
    json_t *entry = json_pack("{ss}", "name", name);
    json_object_set(entry, "a", a ? (json_t *)a : json_null());
    json_object_set(entry, "b", b ? (json_t *)b : json_null());
    json_array_append_new(list, entry);
}

/* Lists the members of two objects that differ. */
static void compare_members(json_t *list, json_t *a, json_t *b)
{
    const char *key;
    json_t *value;
    json_object_foreach(a, key, value) put_difference(list, key, value, json_object_get(b, key));
    json_object_foreach(b, key, value)
    {
        if (!json_object_get(a, key)) put_difference(list, key, NULL, value);
    }
}

/* The passes of a report. */
static const char **pass_names(work *w, const json_t *pipeline)
{
    size_t count = json_array_size(pipeline);
    const char **names = cute_arena_array(w->arena, count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(pipeline, i), "name"));
        names[i] = name ? name : "";
    }
    return names;
}

enum { MOST_PAIRS = 1 << 24 };

/* match[i]: the index in `b` of pass i of `a`, by longest common subsequence; SIZE_MAX: none. */
static bool match_passes(work *w, const char **a, size_t n, const char **b, size_t m, size_t *match)
{
    size_t first = 0, width;
    for (size_t i = 0; i < n; i++) match[i] = SIZE_MAX;
    for (; first < n && first < m && strcmp(a[first], b[first]) == 0; first++) match[first] = first;
    for (; n > first && m > first && strcmp(a[n - 1], b[m - 1]) == 0; n--, m--) match[n - 1] = m - 1;
    width = m - first + 1;
    if (n - first >= MOST_PAIRS / width) return true;
    /* longest[i][j]: for a[i..] and b[j..] */
    uint32_t *longest = cute_arena_array(w->arena, (n - first + 1) * width, sizeof *longest);
    if (!longest) return false;
    memset(longest, 0, (n - first + 1) * width * sizeof *longest);
    for (size_t i = n; i-- > first;)
        for (size_t j = m; j-- > first;) {
            uint32_t *at = longest + (i - first) * width + (j - first);
            *at = strcmp(a[i], b[j]) == 0 ? at[width + 1] + 1 : at[1] > at[width] ? at[1] : at[width];
        }
    for (size_t i = first, j = first; i < n && j < m;) {
        const uint32_t *at = longest + (i - first) * width + (j - first);
        if (strcmp(a[i], b[j]) == 0)
            match[i++] = j++;
        else if (at[1] > at[width])
            j++;
        else
            i++;
    }
    return true;
}

/* The IR after a pass; unchanged if the pass wrote none. */
static cute_status read_pass(work *w, side *s, const char *file)
{
    cute_buffer text = {0};
    if (!file) return CUTE_OK;
    CUTE_TRY(check_name(w, s, file));
    CUTE_TRY(cute_file_read(in_folder(w, s, file), &text, w->diag));
    strip_map(&text);
    cute_buffer_release(&s->before);
    s->before = text;
    return CUTE_OK;
}

/* Two diffs are equal except for line numbers. */
static bool same_changes(const char *a, const char *b)
{
    while (*a && *b) {
        if (*a == '@' && *b == '@') {
            a += strcspn(a, "\n");
            b += strcspn(b, "\n");
        }
        if (strcspn(a, "\n") != strcspn(b, "\n") || memcmp(a, b, strcspn(a, "\n")) != 0) return false;
        a += strcspn(a, "\n");
        b += strcspn(b, "\n");
        a += *a == '\n';
        b += *b == '\n';
    }
    return *a == *b;
}

static cute_status add_ir(work *w, json_t *ir, const char *name, const char **last)
{
    cute_status status = CUTE_OK;
    json_t *found = compare_texts(w, &w->sides[0].before, &w->sides[1].before, &status);
    if (status != CUTE_OK) return status;
    const char *diff = json_string_value(json_object_get(found, "diff"));
    /* Skip a difference that was already shown. */
    if (diff && (!*last || !same_changes(*last, diff))) {
        json_object_set_new(found, "pass", json_string(name));
        json_array_append(ir, found);
    }
    *last = diff ? cute_arena_copy(w->arena, diff, strlen(diff)) : NULL;
    json_decref(found);
    return CUTE_OK;
}

static cute_status compare_passes(work *w)
{
    json_t *a = json_object_get(w->sides[0].report, "pipeline");
    json_t *b = json_object_get(w->sides[1].report, "pipeline");
    json_t *ir = json_object_get(w->out, "ir");
    size_t n = json_array_size(a), m = json_array_size(b), j = 0;
    const char *last = NULL, **of_a = pass_names(w, a), **of_b = pass_names(w, b);
    size_t *match = cute_arena_array(w->arena, n + 1, sizeof *match);
    if (!of_a || !of_b || !match || !match_passes(w, of_a, n, of_b, m, match))
        return cute_fail_memory(w->diag);
    for (int s = 0; s < 2; s++) CUTE_TRY(read_pass(w, &w->sides[s], "00-before.mlir"));
    CUTE_TRY(add_ir(w, ir, "00-before", &last));
    for (size_t i = 0; i < n; i++) {
        CUTE_TRY(
            read_pass(w, &w->sides[0], json_string_value(json_object_get(json_array_get(a, i), "file"))));
        if (match[i] == SIZE_MAX) {
            json_array_append_new(json_object_get(w->out, "passes_only_a"), json_string(of_a[i]));
            continue;
        }
        for (; j <= match[i]; j++) {
            if (j < match[i])
                json_array_append_new(json_object_get(w->out, "passes_only_b"), json_string(of_b[j]));
            CUTE_TRY(
                read_pass(w, &w->sides[1], json_string_value(json_object_get(json_array_get(b, j), "file"))));
        }
        CUTE_TRY(add_ir(w, ir, of_a[i], &last));
    }
    for (; j < m; j++) json_array_append_new(json_object_get(w->out, "passes_only_b"), json_string(of_b[j]));
    return CUTE_OK;
}

/* ---- modules ---- */

static json_t *opcode_counts_json(work *w, const char *kernel, const cute_code *code)
{
    const cute_code_function *function = cute_code_find(code, kernel);
    cute_code_figures figures;
    json_t *out = json_object();
    if (!function || !cute_code_count(w->arena, function, &figures)) return out;
    for (size_t i = 0; i < figures.opcode_count; i++)
        json_object_set_new(out, figures.opcodes[i].name, json_integer((json_int_t)figures.opcodes[i].count));
    return out;
}

static json_t *resources_json(const cute_kernel *k)
{
    const struct {
        const char *name;
        int64_t value;
    } all[] = {{"registers", k->resources.registers},     {"spill_stores", k->resources.spill_stores},
               {"spill_loads", k->resources.spill_loads}, {"stack", k->resources.stack},
               {"static_smem", k->static_smem},           {"dynamic_smem", k->dynamic_smem},
               {"barriers", k->resources.barriers},       {"constant", k->resources.constant},
               {"param_bytes", k->resources.param_bytes}, {"code_bytes", k->resources.code_bytes}};
    json_t *out = json_object();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        json_object_set_new(out, all[i].name, all[i].value < 0 ? json_null() : json_integer(all[i].value));
    return out;
}

static const cute_kernel *find_kernel(const cute_module *module, const char *name)
{
    for (size_t i = 0; i < cute_module_kernel_count(module); i++)
        if (strcmp(cute_module_kernel(module, i)->name, name) == 0) return cute_module_kernel(module, i);
    return NULL;
}

/* A missing opcode has the count 0. */
static void zero_missing(json_t *rows)
{
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        if (json_is_null(json_object_get(row, "a"))) json_object_set_new(row, "a", json_integer(0));
        if (json_is_null(json_object_get(row, "b"))) json_object_set_new(row, "b", json_integer(0));
    }
}

static void compare_kernels(work *w, cute_module *const *modules, const char *const *paths)
{
    json_t *list = json_object_get(w->out, "kernels");
    cute_code code[2] = {{0}, {0}};
    bool sass = !w->no_sass;
    for (int s = 0; s < 2 && sass; s++) {
        size_t length;
        const void *image = cute_module_image(modules[s], &length);
        sass =
            cute_module_get_format(modules[s]) == CUTE_MODULE_CUBIN &&
            cute_code_read(w->arena, paths[s], image, length, w->cuda_path, false, &code[s], NULL) == CUTE_OK;
    }
    if (!sass) w->no_sass = true;
    /* If each module has one kernel, compare them in spite of their names. */
    bool single = cute_module_kernel_count(modules[0]) == 1 && cute_module_kernel_count(modules[1]) == 1;
    for (size_t i = 0; i < cute_module_kernel_count(modules[0]); i++) {
        const cute_kernel *a = cute_module_kernel(modules[0], i);
        const cute_kernel *b = single ? cute_module_kernel(modules[1], 0) : find_kernel(modules[1], a->name);
        json_t *entry = json_object(), *differ = json_array(), *opcodes = json_array();
        json_array_append_new(list, entry);
        json_object_set_new(entry, "kernel", cute_json_text(a->name));
        json_object_set_new(entry, "only", b ? json_null() : json_string("a"));
        json_object_set_new(entry, "resources", differ);
        json_object_set_new(entry, "opcodes", opcodes);
        if (!b) continue;
        json_t *of[2] = {resources_json(a), resources_json(b)};
        compare_members(differ, of[0], of[1]);
        json_decref(of[0]);
        json_decref(of[1]);
        if (!sass) continue;
        of[0] = opcode_counts_json(w, a->name, &code[0]);
        of[1] = opcode_counts_json(w, b->name, &code[1]);
        compare_members(opcodes, of[0], of[1]);
        zero_missing(opcodes);
        json_decref(of[0]);
        json_decref(of[1]);
    }
    for (size_t i = 0; i < cute_module_kernel_count(modules[1]); i++) {
        const char *name = cute_module_kernel(modules[1], i)->name;
        if (single || find_kernel(modules[0], name)) continue;
        json_t *entry = json_pack("{sss[]s[]}", "only", "b", "resources", "opcodes");
        json_object_set_new(entry, "kernel", cute_json_text(name));
        json_array_append_new(list, entry);
    }
}

static cute_status compare_ptx(work *w, const char *name, const char *a, size_t a_length, const char *b,
                               size_t b_length)
{
    cute_status status = CUTE_OK;
    cute_buffer texts[2] = {{0}, {0}};
    while (a_length && !a[a_length - 1]) a_length--;
    while (b_length && !b[b_length - 1]) b_length--;
    cute_buffer_append(&texts[0], a, a_length);
    cute_buffer_append(&texts[1], b, b_length);
    json_t *found = compare_texts(w, &texts[0], &texts[1], &status);
    if (found) {
        json_object_set_new(found, "module", json_string(name));
        json_array_append_new(json_object_get(w->out, "ptx"), found);
    }
    cute_buffer_release(&texts[0]);
    cute_buffer_release(&texts[1]);
    return status;
}

static cute_status compare_modules(work *w, const char *name, const char *const *paths)
{
    cute_module *modules[2] = {NULL, NULL};
    const char *ptx[2];
    size_t length[2];
    cute_status status = CUTE_OK;
    for (int s = 0; s < 2 && status == CUTE_OK; s++) {
        cute_buffer bytes = {0};
        status = cute_file_read(paths[s], &bytes, w->diag);
        if (status == CUTE_OK)
            status = cute_module_open(paths[s], cute_buffer_text(&bytes), bytes.length, w->arch, &modules[s],
                                      w->diag);
        cute_buffer_release(&bytes);
        if (status == CUTE_OK) ptx[s] = cute_module_ptx(modules[s], &length[s]);
    }
    if (status == CUTE_OK) compare_kernels(w, modules, paths);
    if (status == CUTE_OK && ptx[0] && ptx[1])
        status = compare_ptx(w, name, ptx[0], length[0], ptx[1], length[1]);
    for (int s = 0; s < 2; s++) cute_module_close(modules[s]);
    return status;
}

/* Compares the cubins of both folders; lists those in only one. */
static cute_status compare_cubins(work *w)
{
    size_t index;
    json_t *name, *lists[2];
    for (int s = 0; s < 2; s++) lists[s] = json_object_get(w->sides[s].report, "outputs");
    for (int s = 0; s < 2; s++) {
        json_array_foreach(lists[s], index, name)
        {
            const char *file = json_string_value(name);
            size_t length = file ? strlen(file) : 0, other;
            json_t *value;
            bool both = false;
            if (length < 6 || strcmp(file + length - 6, ".cubin") != 0) continue;
            json_array_foreach(lists[1 - s], other, value) both |= json_equal(name, value);
            CUTE_TRY(check_name(w, &w->sides[s], file));
            if (both && s == 0) {
                const char *paths[2] = {in_folder(w, &w->sides[0], file), in_folder(w, &w->sides[1], file)};
                CUTE_TRY(compare_modules(w, file, paths));
            } else if (!both) {
                json_t *entry = json_pack("{ss}", "name", file);
                json_object_set_new(entry, "a", s ? json_null() : json_string("there"));
                json_object_set_new(entry, "b", s ? json_string("there") : json_null());
                json_array_append_new(json_object_get(w->out, "files"), entry);
            }
        }
    }
    return CUTE_OK;
}

/* ---- the whole ---- */

static cute_status open_side(work *w, side *s)
{
    struct stat info;
    cute_buffer bytes = {0};
    const cute_place place = {.file = s->path};
    if (stat(s->path, &info) == 0 && S_ISDIR(info.st_mode)) {
        const char *path = in_folder(w, s, "REPORT.json");
        s->kind = SIDE_FOLDER;
        if (!cute_file_exists(path))
            return cute_fail(w->diag, CUTE_INVALID, &place,
                             "expected a dump folder, with a REPORT.json; 'cute-dump run' writes one");
        cute_status status = cute_file_read(path, &bytes, w->diag);
        if (status == CUTE_OK)
            status = cute_json_parse(path, cute_buffer_text(&bytes), bytes.length, &s->report, w->diag);
        cute_buffer_release(&bytes);
        if (status == CUTE_OK && !json_is_object(json_object_get(s->report, "options")))
            status = cute_fail(w->diag, CUTE_INVALID, &(cute_place){.file = path},
                               "expected the report of 'cute-dump run', with its options");
        return status;
    }
    cute_status status = cute_file_read(s->path, &bytes, w->diag);
    cute_content content = cute_content_of(cute_buffer_text(&bytes), bytes.length);
    s->kind = content == CUTE_CONTENT_MLIR ? SIDE_MLIR : SIDE_MODULE;
    if (s->kind == SIDE_MLIR) {
        strip_map(&bytes);
        s->before = bytes;
    } else {
        cute_buffer_release(&bytes);
    }
    return status;
}

/* The options of a report; each definition is a separate option. */
static json_t *options_of(const side *s)
{
    json_t *options = json_copy(json_object_get(s->report, "options")), *define;
    json_t *defines = json_incref(json_object_get(options, "defines"));
    size_t index;
    json_object_del(options, "defines");
    json_array_foreach(defines, index, define)
    {
        const char *text = json_string_value(define), *value = text ? strchr(text, '=') : NULL;
        cute_buffer name = {0};
        if (!value) continue;
        cute_buffer_printf(&name, "-D %.*s", (int)(value - text), text);
        json_object_set_new(options, cute_buffer_text(&name), json_string(value + 1));
        cute_buffer_release(&name);
    }
    json_decref(defines);
    return options;
}

static cute_status compare_folders(work *w)
{
    json_t *options[2] = {options_of(&w->sides[0]), options_of(&w->sides[1])};
    compare_members(json_object_get(w->out, "options"), options[0], options[1]);
    json_decref(options[0]);
    json_decref(options[1]);
    compare_members(json_object_get(w->out, "versions"), json_object_get(w->sides[0].report, "versions"),
                    json_object_get(w->sides[1].report, "versions"));
    CUTE_TRY(compare_passes(w));
    return compare_cubins(w);
}

static bool kernel_differs(json_t *kernel)
{
    return json_is_string(json_object_get(kernel, "only")) ||
           json_array_size(json_object_get(kernel, "resources")) ||
           json_array_size(json_object_get(kernel, "opcodes"));
}

static cute_status make_diff(work *w)
{
    static const char *const lists[] = {"options",       "versions", "ir",  "passes_only_a",
                                        "passes_only_b", "files",    "ptx", "kernels"};
    static const char *const kinds[] = {"dump folders", "modules", "MLIR files"};
    for (int s = 0; s < 2; s++) CUTE_TRY(open_side(w, &w->sides[s]));
    if (w->sides[0].kind != w->sides[1].kind)
        return cute_fail(
            w->diag, CUTE_INVALID, NULL,
            "expected two dump folders, two modules or two MLIR files, got one of %s and one of %s",
            kinds[w->sides[0].kind], kinds[w->sides[1].kind]);
    json_object_set_new(w->out, "a", cute_json_text(w->sides[0].path));
    json_object_set_new(w->out, "b", cute_json_text(w->sides[1].path));
    json_object_set_new(w->out, "same", json_false());
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        json_object_set_new(w->out, lists[i], json_array());
    const char *last = NULL, *paths[2] = {w->sides[0].path, w->sides[1].path};
    switch (w->sides[0].kind) {
    case SIDE_FOLDER: CUTE_TRY(compare_folders(w)); break;
    case SIDE_MODULE: CUTE_TRY(compare_modules(w, "module", paths)); break;
    case SIDE_MLIR: CUTE_TRY(add_ir(w, json_object_get(w->out, "ir"), "text", &last)); break;
    }
    bool same = true;
    for (size_t i = 0; i + 1 < sizeof lists / sizeof *lists; i++)
        same &= json_array_size(json_object_get(w->out, lists[i])) == 0;
    size_t index;
    json_t *kernel;
    json_array_foreach(json_object_get(w->out, "kernels"), index, kernel) same &= !kernel_differs(kernel);
    json_object_set_new(w->out, "same", json_boolean(same));
    bool machine = w->sides[0].kind != SIDE_MLIR && json_array_size(json_object_get(w->out, "kernels"));
    json_object_set_new(w->out, "machine_code", json_boolean(machine && !w->no_sass));
    if (machine && w->no_sass)
        cute_report(w->diag, CUTE_WARNING, NULL,
                    "SASS is not compared: this requires two cubins, and nvdisasm of the CUDA toolkit");
    return CUTE_OK;
}

cute_status cute_diff_make(const char *a, const char *b, const char *arch, const char *cuda_path,
                           json_t **out, cute_diag *diag)
{
    work w = {.arena = cute_arena_create(),
              .arch = arch,
              .cuda_path = cuda_path,
              .diag = diag,
              .sides = {{.path = a}, {.path = b}},
              .out = json_object()};
    cute_status status = w.arena && w.out ? CUTE_OK : cute_fail_memory(diag);
    if (status == CUTE_OK) status = cute_temp_directory(w.arena, &w.scratch, diag);
    if (status == CUTE_OK) status = make_diff(&w);
    if (w.scratch) cute_temp_remove(w.scratch);
    for (int s = 0; s < 2; s++) {
        json_decref(w.sides[s].report);
        cute_buffer_release(&w.sides[s].before);
    }
    if (w.arena) cute_arena_destroy(w.arena);
    *out = status == CUTE_OK ? w.out : NULL;
    if (status != CUTE_OK) json_decref(w.out);
    return status;
}
