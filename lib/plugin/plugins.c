/* Opens plugins: examines the file, loads it, hands over the program's functions, reads its rows. */
#include "lib/plugin/plugins.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static bool is_patterns(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".mlir") == 0;
}

/* dlopen searches the system's folders for a name without a slash. */
static const char *own_path(cute_arena *arena, const char *path)
{
    return strchr(path, '/') ? path : cute_arena_printf(arena, "./%s", path);
}

/* `opened`: the name that dlopen was given, with which its messages begin. */
static cute_status fail_open(const char *path, const char *opened, const plugin_site *site, cute_diag *diag)
{
    static const char undefined[] = "undefined symbol: ";
    const char *reason = dlerror(), *symbol = reason ? strstr(reason, undefined) : NULL;
    const cute_place place = {.file = path};
    if (!symbol) {
        size_t length = strlen(opened);
        if (reason && strncmp(reason, opened, length) == 0 && reason[length] == ':') reason += length + 2;
        return cute_fail(diag, CUTE_INVALID, &place, "the plugin cannot be loaded: %s",
                         reason ? reason : "unknown reason");
    }
    symbol += sizeof undefined - 1;
    cute_fail(diag, CUTE_INVALID, &place, "the plugin needs the function '%.*s', which %s does not have",
              (int)strcspn(symbol, " \n"), symbol, site->program);
    cute_note(diag, NULL,
              strncmp(symbol, "mlir", 4) == 0 ? "compile it with the headers of the program's MLIR"
                                              : "link the library that defines it; a plugin calls the "
                                                "program through the tables of cute/plugin.h");
    return CUTE_INVALID;
}

static cute_status load_library(cute_plugins *all, const char *given, const plugin_site *site,
                                cute_diag *diag)
{
    plugin_library *library = cute_arena_alloc(all->arena, sizeof *library);
    const char *path = own_path(all->arena, given);
    plugin_mark mark;
    if (!library || !path || !(library->path = cute_arena_copy(all->arena, given, strlen(given))))
        return cute_fail_memory(diag);
    CUTE_TRY(plugin_examine(given, site, diag));
    plugin_guard(site->program);
    plugin_loaded(given);
    /* MLIR's functions are bound at once where they exist, so that a missing one is told now. */
    plugin_enter(&mark, library, "constructor", given);
    void *handle = dlopen(path, (site->compiler ? RTLD_NOW : RTLD_LAZY) | RTLD_LOCAL | RTLD_NODELETE);
    plugin_leave(&mark);
    if (!handle) return fail_open(given, path, site, diag);
    library->info = dlsym(handle, "cute_plugin_info");
    if (!library->info) return fail_open(given, path, site, diag);
    for (size_t i = 0; i < all->count; i++)
        if (all->libraries[i]->info == library->info)
            return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = given}, "the plugin is loaded twice");
    if (!library->info->name || !*library->info->name)
        return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = given},
                         "expected a name in cute_plugin_info, got none");
    if (library->info->host) *library->info->host = &all->host;
    if (library->info->init) {
        plugin_enter(&mark, library, "function", "init");
        const char *reason = library->info->init(&all->host);
        plugin_leave(&mark);
        if (reason)
            return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = given},
                             "the plugin refuses to start: %s", reason);
    }
    CUTE_TRY(plugin_read_rows(all, library, site->compiler != NULL, diag));
    all->libraries[all->count++] = library;
    return CUTE_OK;
}

cute_status cute_plugins_load(const char *const *paths, size_t count, const plugin_site *site,
                              cute_plugins **out, cute_diag *diag)
{
    cute_plugins *all = *out = calloc(1, sizeof *all);
    if (!all || !(all->arena = cute_arena_create())) return cute_fail_memory(diag);
    const char *program = cute_arena_copy(all->arena, site->program, strlen(site->program));
    all->host = (cute_host){.size = sizeof all->host,
                            .major = CUTE_PLUGIN_MAJOR,
                            .minor = CUTE_PLUGIN_MINOR,
                            .program = program,
                            .version = cute_version(),
                            .compiler = site->compiler};
    all->libraries = cute_arena_array(all->arena, count + 1, sizeof(plugin_library *));
    if (!program || !all->libraries) return cute_fail_memory(diag);
    for (size_t i = 0; i < count; i++)
        if (!is_patterns(paths[i])) CUTE_TRY(load_library(all, paths[i], site, diag));
    return CUTE_OK;
}

cute_status cute_plugins_open(const char *const *paths, size_t count, cute_plugins **out, cute_diag *diag)
{
    const plugin_site site = {.program = "libcute"};
    return cute_plugins_load(paths, count, &site, out, diag);
}

void cute_plugins_close(cute_plugins *plugins)
{
    if (!plugins) return;
    cute_arena_destroy(plugins->arena);
    free(plugins);
}
