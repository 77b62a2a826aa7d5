/* Source maps: any bytes behind a text are a map that holds together, or none; what was taken is found again. */
#include <string.h>

#include "lib/base/diagnostics/source_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const char *text, size_t length)
{
    cute_arena *arena = cute_arena_create();
    cute_source_map map;
    size_t own;
    if (cute_source_map_read(text, length, arena, &map, &own)) {
        uint32_t last = 0;
        if (own > length || !map.line_count) __builtin_trap();
        for (size_t i = 0; i < map.line_count; i++) {
            const cute_map_line *line = &map.lines[i];
            if (line->printed <= last || (line->placed && line->file >= map.file_count)) __builtin_trap();
            if (line->first_argument + line->argument_count > map.argument_count) __builtin_trap();
            if (line->form > map.form_count) __builtin_trap();
            if (cute_source_map_find(&map, line->printed) != line) __builtin_trap();
            last = line->printed;
        }
        for (size_t i = 0; i < map.argument_count; i++)
            if (map.arguments[i].form > map.form_count) __builtin_trap();
        for (size_t i = 0; i < map.form_count; i++)
            if (!*map.forms[i].text) __builtin_trap();
        for (size_t i = 0; i < map.file_count; i++)
            if (!*map.files[i].name) __builtin_trap();
    } else if (own != length) {
        __builtin_trap();
    }
    cute_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char printed[] = "module {\n}\n";
    cute_buffer text = {0};
    cute_buffer_append(&text, data, size);
    look(cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    cute_buffer_printf(&text, "%s//!source 1 %llu", printed,
                       (unsigned long long)cute_source_hash(printed, strlen(printed)));
    cute_buffer_append(&text, data, size);
    look(cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return 0;
}
