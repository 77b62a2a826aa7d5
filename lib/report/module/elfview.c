/* ELF tables as text and JSON. Both iterate over the same attributes (lib/cubin/elf/nvinfo.h). */
#include "lib/report/module/elfview.h"

#include <elf.h>
#include <string.h>

#include "lib/cubin/elf/nvinfo.h"
#include "lib/cubin/kernels.h"
#include "lib/report/report.h"
#include "lib/report/table.h"

static const char *const symbol_types[] = {"NOTYPE", "OBJECT", "FUNC", "SECTION", "FILE", "COMMON", "TLS"};
static const char *const bindings[] = {"LOCAL", "GLOBAL", "WEAK"};
#define NAME_OF(list, i) ((size_t)(i) < sizeof(list) / sizeof *(list) ? (list)[i] : "?")

static const char *type_name(uint16_t type)
{
    return type == ET_REL ? "relocatable" : type == ET_EXEC ? "executable" : "?";
}

static bool is_info(const cute_elf_section *s)
{
    return strncmp(s->name, ".nv.info", 8) == 0 && s->data;
}

static const char *symbol_name(const cute_elf *elf, uint32_t index)
{
    return index < elf->symbol_count && *elf->symbols[index].name ? elf->symbols[index].name : "?";
}

/* The value in readable form. */
static void put_value(const cute_elf *elf, const cute_nvinfo *a, cute_buffer *out)
{
    switch (a->shape) {
    case CUTE_NVINFO_NONE: break;
    case CUTE_NVINFO_BYTE:
    case CUTE_NVINFO_HALF:
    case CUTE_NVINFO_WORD: cute_buffer_printf(out, "%u", a->words[0]); break;
    case CUTE_NVINFO_DIM3:
        cute_buffer_printf(out, "%u x %u x %u", a->words[0], a->words[1], a->words[2]);
        break;
    case CUTE_NVINFO_OF: cute_buffer_printf(out, "%s: %u", symbol_name(elf, a->words[0]), a->words[1]); break;
    case CUTE_NVINFO_PARAM:
    case CUTE_NVINFO_PARAM2:
        cute_buffer_printf(out, "parameter %u: offset %u, %u bytes", a->words[0], a->words[1], a->words[2]);
        break;
    case CUTE_NVINFO_BANK:
        cute_buffer_printf(out, "%s: offset %u, %u bytes", symbol_name(elf, a->words[0]), a->words[1],
                           a->words[2]);
        break;
    case CUTE_NVINFO_OFFSETS:
    case CUTE_NVINFO_SYMBOLS:
        for (size_t i = 0; i + 4 <= a->length; i += 4) {
            uint32_t word = (uint32_t)a->data[i] | (uint32_t)a->data[i + 1] << 8 |
                            (uint32_t)a->data[i + 2] << 16 | (uint32_t)a->data[i + 3] << 24;
            if (i) cute_buffer_putc(out, ' ');
            if (a->shape == CUTE_NVINFO_SYMBOLS)
                cute_buffer_puts(out, symbol_name(elf, word));
            else
                cute_buffer_printf(out, "0x%x", word);
        }
        break;
    case CUTE_NVINFO_BYTES:
        for (size_t i = 0; i < a->length; i++) cute_buffer_printf(out, "%s%02x", i ? " " : "", a->data[i]);
        break;
    }
}

static cute_status put_attributes(const cute_elf *elf, const cute_elf_section *s, cute_buffer *out,
                                  cute_diag *diag)
{
    cute_buffer_printf(out, "\n%s\n", s->name);
    bool more = true;
    cute_nvinfo a;
    for (size_t at = 0; more;) {
        CUTE_TRY(cute_nvinfo_next(elf, s, &at, &a, &more, diag));
        if (!more) break;
        if (a.name)
            cute_buffer_printf(out, "    %-28s", a.name);
        else
            cute_buffer_printf(out, "    0x%02x%24s", a.code, "");
        cute_buffer_putc(out, ' ');
        put_value(elf, &a, out);
        cute_buffer_putc(out, '\n');
    }
    return CUTE_OK;
}

cute_status cute_report_elf(const cute_elf *elf, cute_buffer *out, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    if (!arena) return cute_fail_memory(diag);
    cute_table sections = {.arena = arena, .columns = 8}, symbols = {.arena = arena, .columns = 7};
    cute_buffer_printf(out, "%s: %s cubin for %s, OS ABI %u, ABI version %u, flags 0x%x, %zu bytes\n\n",
                       elf->label, type_name(elf->type), cute_elf_arch(arena, elf), elf->os_abi,
                       elf->abi_version, elf->flags, elf->length);
    cute_table_row(&sections,
                   (const char *[]){"#", "section", "kind", "offset", "bytes", "flags", "link", "info"});
    for (size_t i = 0; i < elf->section_count; i++) {
        const cute_elf_section *s = &elf->sections[i];
        const char *kind = cute_section_kind(s->type);
        cute_table_row(&sections,
                       (const char *[]){cute_arena_printf(arena, "%zu", i), s->name,
                                        *kind ? kind : cute_arena_printf(arena, "0x%x", s->type),
                                        cute_arena_printf(arena, "0x%llx", (unsigned long long)s->offset),
                                        cute_arena_printf(arena, "%llu", (unsigned long long)s->size),
                                        cute_arena_printf(arena, "0x%llx", (unsigned long long)s->flags),
                                        cute_arena_printf(arena, "%u", s->link),
                                        cute_arena_printf(arena, "%u", s->info)});
    }
    cute_table_print(&sections, 2 | 4, "", out);
    cute_table_row(&symbols, (const char *[]){"#", "symbol", "type", "binding", "value", "bytes", "section"});
    for (size_t i = 1; i < elf->symbol_count; i++) {
        const cute_elf_symbol *s = &elf->symbols[i];
        const char *where = s->section == SHN_UNDEF           ? "undefined"
                            : s->section < elf->section_count ? elf->sections[s->section].name
                                                              : "?";
        cute_table_row(
            &symbols, (const char *[]){cute_arena_printf(arena, "%zu", i), s->name,
                                       NAME_OF(symbol_types, s->type), NAME_OF(bindings, s->binding),
                                       cute_arena_printf(arena, "0x%llx", (unsigned long long)s->value),
                                       cute_arena_printf(arena, "%llu", (unsigned long long)s->size), where});
    }
    cute_buffer_putc(out, '\n');
    cute_table_print(&symbols, 2 | 4 | 8 | 64, "", out);
    cute_status status = CUTE_OK;
    for (size_t i = 0; status == CUTE_OK && i < elf->section_count; i++)
        if (is_info(&elf->sections[i])) status = put_attributes(elf, &elf->sections[i], out, diag);
    cute_arena_destroy(arena);
    return status;
}

static cute_status attributes_json(const cute_elf *elf, const cute_elf_section *s, json_t **out,
                                   cute_diag *diag)
{
    json_t *array = json_array();
    bool more = true;
    cute_nvinfo a;
    *out = array;
    for (size_t at = 0; more;) {
        CUTE_TRY(cute_nvinfo_next(elf, s, &at, &a, &more, diag));
        if (!more) break;
        cute_buffer value = {0};
        put_value(elf, &a, &value);
        json_t *o = json_object();
        json_object_set_new(o, "code", json_integer(a.code));
        if (a.name) json_object_set_new(o, "name", json_string(a.name));
        json_object_set_new(o, "value", json_string(cute_buffer_text(&value)));
        json_array_append_new(array, o);
        cute_buffer_release(&value);
    }
    return CUTE_OK;
}

cute_status cute_report_elf_json(const cute_elf *elf, json_t **out, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    if (!arena) return cute_fail_memory(diag);
    json_t *o = json_object(), *sections = json_array(), *symbols = json_array();
    json_object_set_new(o, "file", json_string(elf->label));
    json_object_set_new(o, "type", json_string(type_name(elf->type)));
    json_object_set_new(o, "arch", json_string(cute_elf_arch(arena, elf)));
    json_object_set_new(o, "os_abi", json_integer(elf->os_abi));
    json_object_set_new(o, "abi_version", json_integer(elf->abi_version));
    json_object_set_new(o, "flags", json_integer(elf->flags));
    cute_status status = CUTE_OK;
    for (size_t i = 0; i < elf->section_count && status == CUTE_OK; i++) {
        const cute_elf_section *s = &elf->sections[i];
        json_t *section = json_object(), *attributes = NULL;
        json_object_set_new(section, "name", json_string(s->name));
        json_object_set_new(section, "type", json_integer(s->type));
        if (*cute_section_kind(s->type))
            json_object_set_new(section, "kind", json_string(cute_section_kind(s->type)));
        json_object_set_new(section, "flags", json_integer((json_int_t)s->flags));
        json_object_set_new(section, "offset", json_integer((json_int_t)s->offset));
        json_object_set_new(section, "size", json_integer((json_int_t)s->size));
        json_object_set_new(section, "link", json_integer(s->link));
        json_object_set_new(section, "info", json_integer(s->info));
        if (is_info(s)) status = attributes_json(elf, s, &attributes, diag);
        if (attributes) json_object_set_new(section, "attributes", attributes);
        json_array_append_new(sections, section);
    }
    for (size_t i = 1; i < elf->symbol_count; i++) {
        const cute_elf_symbol *s = &elf->symbols[i];
        json_t *symbol = json_object();
        json_object_set_new(symbol, "name", json_string(s->name));
        json_object_set_new(symbol, "type", json_string(NAME_OF(symbol_types, s->type)));
        json_object_set_new(symbol, "binding", json_string(NAME_OF(bindings, s->binding)));
        json_object_set_new(symbol, "value", json_integer((json_int_t)s->value));
        json_object_set_new(symbol, "size", json_integer((json_int_t)s->size));
        json_object_set_new(symbol, "section", json_integer(s->section));
        json_array_append_new(symbols, symbol);
    }
    json_object_set_new(o, "sections", sections);
    json_object_set_new(o, "symbols", symbols);
    cute_arena_destroy(arena);
    if (status != CUTE_OK) json_decref(o);
    *out = status == CUTE_OK ? o : NULL;
    return status;
}
