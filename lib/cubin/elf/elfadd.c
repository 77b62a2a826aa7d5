/* Adds sections to a finished ELF file. The driver ignores unknown sections, and everything that it reads
 * keeps its offset. */
#include <elf.h>
#include <string.h>

#include "lib/cubin/elf/elf.h"

static void align_to(cute_buffer *out, size_t start, size_t step)
{
    while ((out->length - start) % step) cute_buffer_putc(out, 0);
}

static bool is_replaced(const char *name, const cute_elf_addition *additions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, additions[i].name) == 0) return true;
    return false;
}

cute_status cute_elf_add_sections(const cute_elf *elf, const cute_elf_addition *additions, size_t count,
                                  cute_buffer *out, cute_diag *diag)
{
    const cute_place file = {.file = elf->label};
    if (elf->section_count == 0 || elf->section_count + count + 1 >= SHN_LORESERVE)
        return cute_fail(diag, CUTE_INVALID, &file, "cannot add sections to a file with %zu sections",
                         elf->section_count);
    if (!elf->string_section || !elf->sections[elf->string_section].data)
        return cute_fail(diag, CUTE_INVALID, &file, "cannot add sections to a file without section names");
    size_t start = out->length;
    cute_buffer headers = {0}, names = {0};
    Elf64_Ehdr header;
    memcpy(&header, elf->bytes, sizeof header);
    cute_buffer_append(&headers, elf->bytes + header.e_shoff, elf->section_count * sizeof(Elf64_Shdr));
    const cute_elf_section *old = &elf->sections[elf->string_section];
    cute_buffer_append(&names, old->data, old->size);
    if (!names.length || names.data[names.length - 1]) cute_buffer_putc(&names, 0);
    for (size_t i = 0; cute_buffer_ok(&headers) && i < elf->section_count; i++) {
        if (!is_replaced(elf->sections[i].name, additions, count)) continue;
        Elf64_Shdr gone = {.sh_type = SHT_NULL};
        memcpy(headers.data + i * sizeof gone, &gone, sizeof gone);
    }

    cute_buffer_append(out, elf->bytes, elf->length);
    for (size_t i = 0; i < count; i++) {
        align_to(out, start, 8);
        Elf64_Shdr section = {.sh_name = (Elf64_Word)names.length,
                              .sh_type = SHT_PROGBITS,
                              .sh_offset = out->length - start,
                              .sh_size = additions[i].length,
                              .sh_addralign = 1};
        cute_buffer_append(&names, additions[i].name, strlen(additions[i].name) + 1);
        cute_buffer_append(out, additions[i].data, additions[i].length);
        cute_buffer_append(&headers, &section, sizeof section);
    }
    /* The name table keeps its index; its old bytes remain, unused. */
    align_to(out, start, 8);
    size_t names_at = out->length - start;
    cute_buffer_append(out, cute_buffer_text(&names), names.length);
    align_to(out, start, 8);
    header.e_shoff = out->length - start;
    header.e_shnum = (Elf64_Half)(elf->section_count + count);
    if (cute_buffer_ok(&headers) && cute_buffer_ok(&names)) {
        Elf64_Shdr table;
        char *at = headers.data + elf->string_section * sizeof table;
        memcpy(&table, at, sizeof table);
        table.sh_offset = names_at;
        table.sh_size = names.length;
        memcpy(at, &table, sizeof table);
    }
    cute_buffer_append(out, cute_buffer_text(&headers), headers.length);
    bool ok = cute_buffer_ok(out) && cute_buffer_ok(&headers) && cute_buffer_ok(&names);
    if (ok) memcpy(out->data + start, &header, sizeof header);
    cute_buffer_release(&headers);
    cute_buffer_release(&names);
    return ok ? CUTE_OK : cute_fail_memory(diag);
}
