/* Searches for the parts of the CUDA toolkit: a table of parts, and folders in order. */
#include "lib/toolkit/toolkit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/system/cache.h"
#include "lib/base/system/file.h"

typedef struct part {
    const char *name;
    const char *purpose;
    bool program;
    const char *paths[8]; /* relative to a toolkit's folder, the most likely first */
} part;

#define PROGRAM(name, purpose)                                                                               \
    {                                                                                                        \
        name, purpose, true,                                                                                 \
        {                                                                                                    \
            "bin/" name, name, "nvidia/cu13/bin/" name                                                       \
        }                                                                                                    \
    }
static const part parts[CUTE_PART_COUNT] = {
    [CUTE_PTXAS] = PROGRAM("ptxas", "assembles PTX"),
    [CUTE_NVLINK] = PROGRAM("nvlink", "links device objects"),
    [CUTE_FATBINARY] = PROGRAM("fatbinary", "packs several architectures into one file"),
    [CUTE_NVDISASM] = PROGRAM("nvdisasm", "disassembles cubins"),
    [CUTE_CUOBJDUMP] = PROGRAM("cuobjdump", "shows cubins"),
    [CUTE_LIBNVVM] = {"libnvvm.so.4",
                      "makes PTX for sm_100 and above",
                      false,
                      {"nvvm/lib64/libnvvm.so.4", "nvvm/lib64/libnvvm.so", "lib64/libnvvm.so.4",
                       "lib/libnvvm.so.4", "lib/x86_64-linux-gnu/libnvvm.so.4",
                       "nvidia/cu13/lib/libnvvm.so.4", "nvvm/lib64/libnvvm.so.4.0.0"}},
    [CUTE_LIBDEVICE] = {"libdevice.10.bc",
                        "provides the math functions",
                        false,
                        {"nvvm/libdevice/libdevice.10.bc", "libdevice/libdevice.10.bc", "libdevice.10.bc",
                         "lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc",
                         "nvidia/cu13/nvvm/libdevice/libdevice.10.bc"}},
    [CUTE_CUDA_INCLUDE] = {"cuda.h",
                           "declares the driver's functions",
                           false,
                           {"include/cuda.h", "targets/x86_64-linux/include/cuda.h",
                            "nvidia/cu13/include/cuda.h"}},
};

static const char *const variables[] = {"CUTE_CUDA_PATH", "CUDA_TOOLKIT_PATH", "CUDA_HOME", "CUDA_PATH"};
static const char *const beside[] = {"../cuda", "../lib/cute/cuda"};
static const char *const usual[] = {"/usr/local/cuda", "/opt/cuda", "/usr/lib/nvidia-cuda-toolkit", "/usr"};
#define EACH(list, i) (size_t i = 0; i < sizeof(list) / sizeof *(list); i++)

typedef struct search {
    cute_arena *arena;
    const part *wanted;
    const char *found;
    cute_buffer looked;           /* for the message */
    const char *empty_variable;   /* a variable set to a folder without any part, or NULL */
    const char *missing_variable; /* CUDA_HOME or CUDA_PATH if set to a path that is not a folder, or NULL */
} search;

static bool is_usable(const char *path, bool program)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, program ? X_OK : R_OK) == 0;
}

static bool look_in_folder(search *s, const char *root)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < 8 && s->wanted->paths[i]; i++) {
        size_t a = strlen(root), b = strlen(s->wanted->paths[i]);
        if (a + b + 2 > sizeof path) return false;
        memcpy(path, root, a);
        path[a] = '/';
        memcpy(path + a + 1, s->wanted->paths[i], b + 1);
        if (!is_usable(path, s->wanted->program)) continue;
        s->found = cute_arena_copy(s->arena, path, a + b + 1);
        return s->found != NULL;
    }
    return false;
}

static bool look_in_and_list(search *s, const char *root)
{
    cute_buffer_printf(&s->looked, "%s%s", s->looked.length ? ", " : "", root);
    return look_in_folder(s, root);
}

/* Whether a folder contains any part of a toolkit. */
static bool has_any_part(const search *s, const char *root)
{
    bool any = false;
    for (size_t i = 0; i < CUTE_PART_COUNT && !any; i++) {
        search one = {.arena = s->arena, .wanted = &parts[i]};
        any = look_in_folder(&one, root);
    }
    return any;
}

/* The number of leading variables specific to this toolchain and CuTe DSL: set to a folder without any part,
 * they are an error. */
enum { SPECIFIC_VARIABLES = 2 };

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool look_in_variables(search *s)
{
    for
        EACH(variables, i)
        {
            const char *root = getenv(variables[i]);
            if (!root || !*root) continue;
            cute_buffer_printf(&s->looked, "%s%s=", s->looked.length ? ", " : "", variables[i]);
            cute_buffer_puts(&s->looked, root);
            if (look_in_folder(s, root)) return true;
            if (i >= SPECIFIC_VARIABLES && !is_folder(root) && !s->missing_variable)
                s->missing_variable = variables[i];
            if (i < SPECIFIC_VARIABLES && !has_any_part(s, root)) {
                s->empty_variable = variables[i];
                return true;
            }
        }
    return false;
}

static bool look_beside(search *s)
{
    const char *here = cute_program_directory(s->arena);
    for
        EACH(beside, i)
        {
            const char *root = here ? cute_arena_printf(s->arena, "%s/%s", here, beside[i]) : NULL;
            if (root && look_in_and_list(s, root)) return true;
        }
    return false;
}

/* Programs are searched on PATH; other parts in the toolkit whose ptxas or nvcc is on PATH. */
static bool look_on_path(search *s)
{
    const char *path = getenv("PATH");
    if (!path) return false;
    cute_buffer_printf(&s->looked, "%sPATH", s->looked.length ? ", " : "");
    char name[PATH_MAX], real[PATH_MAX];
    for (const char *end; *path; path = *end ? end + 1 : end) {
        end = strchrnul(path, ':');
        size_t length = (size_t)(end - path);
        if (length == 0 || length + 16 > sizeof name) continue;
        memcpy(name, path, length);
        static const char *const programs[] = {"ptxas", "nvcc"};
        for
            EACH(programs, i)
            {
                const char *program = s->wanted->program ? s->wanted->name : programs[i];
                name[length] = '/';
                memcpy(name + length + 1, program, strlen(program) + 1);
                if (!is_usable(name, true)) continue;
                if (s->wanted->program) {
                    s->found = cute_arena_copy(s->arena, name, strlen(name));
                    return s->found != NULL;
                }
                if (!realpath(name, real)) continue;
                for (int up = 0; up < 2; up++) {
                    char *slash = strrchr(real, '/');
                    if (slash) *slash = 0;
                }
                if (look_in_folder(s, real)) return true;
            }
    }
    return false;
}

static bool look_in_usual(search *s)
{
    for
        EACH(usual, i)
    if (look_in_and_list(s, usual[i])) return true;
    return false;
}

static cute_status fail_empty_variable(search *s, cute_diag *diag)
{
    const char *root = getenv(s->empty_variable);
    cute_status status = cute_fail(diag, CUTE_SYSTEM, NULL,
                                   "expected a CUDA toolkit folder in the environment variable %s, got '%s'",
                                   s->empty_variable, root);
    cute_buffer looked = {0};
    for (size_t i = 0; i < CUTE_PART_COUNT; i++)
        cute_buffer_printf(&looked, "%s%s", i ? ", " : "", parts[i].paths[0]);
    cute_note(diag, NULL, "the folder contains none of %s", cute_buffer_text(&looked));
    cute_buffer_release(&looked);
    if (look_beside(s) || look_on_path(s) || look_in_usual(s))
        cute_note(diag, NULL, "found '%s': unset %s, or set it to the toolkit folder that contains this file",
                  s->found, s->empty_variable);
    else
        cute_note(diag, NULL, "expected a folder that contains bin/ptxas, such as /usr/local/cuda");
    return status;
}

/* Warns once, not for each part. */
static void warn_missing_variable(const search *s, cute_diag *diag)
{
    cute_buffer text = {0};
    bool told = false;
    cute_buffer_printf(&text, "expected a folder in the environment variable %s, got '%s'",
                       s->missing_variable, getenv(s->missing_variable));
    for (size_t i = 0; i < cute_diag_count(diag) && !told; i++)
        told = strncmp(cute_diag_get(diag, i)->text, cute_buffer_text(&text), text.length) == 0;
    if (!told) cute_report(diag, CUTE_WARNING, NULL, "%s; using '%s'", cute_buffer_text(&text), s->found);
    cute_buffer_release(&text);
}

cute_status cute_toolkit_find(cute_arena *arena, cute_part which, const char *cuda_path, const char **out,
                              cute_diag *diag)
{
    search s = {.arena = arena, .wanted = &parts[which]};
    if (cuda_path)
        look_in_and_list(&s, cuda_path);
    else
        (void)(look_in_variables(&s) || look_beside(&s) || look_on_path(&s) || look_in_usual(&s));
    cute_status status = CUTE_OK;
    if (s.empty_variable) {
        status = fail_empty_variable(&s, diag);
        cute_buffer_release(&s.looked);
        return status;
    }
    if (s.found && which == CUTE_CUDA_INCLUDE)
        s.found = cute_arena_copy(arena, s.found, strlen(s.found) - strlen("/cuda.h"));
    if (s.found) {
        *out = s.found;
        if (s.missing_variable) warn_missing_variable(&s, diag);
    } else {
        status = cute_fail(diag, CUTE_SYSTEM, NULL, "cannot find '%s' of the CUDA toolkit, which %s",
                           s.wanted->name, s.wanted->purpose);
        cute_note(diag, NULL, "looked in %s", cute_buffer_text(&s.looked));
        cute_note(diag, NULL,
                  "install CUDA toolkit 13, or download its parts with 'scripts/cuda-toolkit DIR'; pass its "
                  "folder with --cuda-path=DIR or CUTE_CUDA_PATH");
    }
    cute_buffer_release(&s.looked);
    return status;
}

void cute_toolkit_key(cute_arena *arena, const char *cuda_path, cute_buffer *key)
{
    static const cute_part makers[] = {CUTE_PTXAS, CUTE_NVLINK, CUTE_FATBINARY, CUTE_LIBNVVM, CUTE_LIBDEVICE};
    for
        EACH(makers, i)
        {
            const char *path = NULL;
            bool found = cute_toolkit_find(arena, makers[i], cuda_path, &path, NULL) == CUTE_OK;
            cute_cache_key_file(key, found ? path : NULL);
        }
}
