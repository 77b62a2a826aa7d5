/* Small cubins for tests, written by hand: a header, sections with the given contents, symbols, one kernel. */
#ifndef CUTE_TEST_ELF_BUILDER_H
#define CUTE_TEST_ELF_BUILDER_H

#include <elf.h>
#include <string.h>

#include "lib/base/buffer.h"

typedef struct built_section {
    const char *name;
    uint32_t type;
    uint64_t flags;
    uint32_t link, info;
    const void *data; /* NULL: NOBITS of this size */
    size_t size;
} built_section;

/* Appends an ELF file for sm_90 of these sections (from index 1), a symbol table with the kernel `kernel` in section
 * `text`, and the two tables of names. The kernel's symbol is number 1. */
static inline void build_elf(cute_buffer *out, const built_section *sections, size_t count,
                             const char *kernel, uint16_t text)
{
    cute_buffer names = {0}, strings = {0};
    Elf64_Shdr headers[32] = {0};
    size_t start = out->length, n = 1;
    Elf64_Ehdr header = {.e_type = ET_EXEC,
                         .e_machine = 190,
                         .e_version = 1,
                         .e_flags = 0x6005a04,
                         .e_ehsize = sizeof header,
                         .e_shentsize = sizeof *headers};
    memcpy(header.e_ident,
           "\x7f"
           "ELF\x02\x01\x01\x41\x08",
           9);
    cute_buffer_putc(&names, 0);
    cute_buffer_putc(&strings, 0);
    cute_buffer_append(out, &header, sizeof header);
    for (size_t i = 0; i < count && n < 28; i++, n++) {
        headers[n] = (Elf64_Shdr){.sh_name = (uint32_t)names.length,
                                  .sh_type = sections[i].type,
                                  .sh_flags = sections[i].flags,
                                  .sh_offset = out->length - start,
                                  .sh_size = sections[i].size,
                                  .sh_link = sections[i].link,
                                  .sh_info = sections[i].info,
                                  .sh_addralign = 1};
        cute_buffer_append(&names, sections[i].name, strlen(sections[i].name) + 1);
        if (sections[i].data) cute_buffer_append(out, sections[i].data, sections[i].size);
    }
    Elf64_Sym symbols[2] = {{0},
                            {.st_name = 1,
                             .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                             .st_other = 0x10,
                             .st_shndx = text,
                             .st_size = 256}};
    cute_buffer_append(&strings, kernel, strlen(kernel) + 1);
    headers[n] = (Elf64_Shdr){.sh_name = (uint32_t)names.length,
                              .sh_type = SHT_SYMTAB,
                              .sh_offset = out->length - start,
                              .sh_size = sizeof symbols,
                              .sh_link = (uint32_t)n + 1,
                              .sh_entsize = sizeof *symbols};
    cute_buffer_append(&names, ".symtab", 8);
    cute_buffer_append(out, symbols, sizeof symbols);
    n++;
    headers[n] = (Elf64_Shdr){.sh_name = (uint32_t)names.length,
                              .sh_type = SHT_STRTAB,
                              .sh_offset = out->length - start,
                              .sh_size = strings.length};
    cute_buffer_append(&names, ".strtab", 8);
    cute_buffer_append(out, strings.data, strings.length);
    n++;
    headers[n] = (Elf64_Shdr){
        .sh_name = (uint32_t)names.length, .sh_type = SHT_STRTAB, .sh_offset = out->length - start};
    cute_buffer_append(&names, ".shstrtab", 10);
    headers[n].sh_size = names.length;
    cute_buffer_append(out, names.data, names.length);
    header.e_shoff = out->length - start;
    header.e_shstrndx = (uint16_t)n++;
    header.e_shnum = (uint16_t)n;
    cute_buffer_append(out, headers, n * sizeof *headers);
    if (cute_buffer_ok(out)) memcpy(out->data + start, &header, sizeof header);
    cute_buffer_release(&names);
    cute_buffer_release(&strings);
}

#endif
