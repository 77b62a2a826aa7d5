/* Reads little-endian ELF64 files into tables of sections and symbols, and adds sections. */
#ifndef CUTE_LIB_CUBIN_ELF_ELF_H
#define CUTE_LIB_CUBIN_ELF_ELF_H

#include "lib/base/buffer.h"
#include "lib/base/text/names.h"

enum { CUTE_ELF_CUDA = 190 }; /* e_machine of cubins */

typedef struct cute_elf_section {
    const char *name; /* never NULL */
    uint32_t type;
    uint64_t flags, address, offset, size, align, entry_size;
    uint32_t link, info;
    const uint8_t *data; /* `size` bytes of the file; NULL without contents (NOBITS, empty) */
} cute_elf_section;

typedef struct cute_elf_symbol {
    const char *name; /* never NULL */
    uint64_t value, size;
    uint8_t type, binding, other;
    uint32_t section; /* an index, or SHN_UNDEF, SHN_ABS, SHN_COMMON */
} cute_elf_symbol;

typedef struct cute_elf {
    const char *label;
    const uint8_t *bytes;
    size_t length;
    uint16_t type;    /* ET_EXEC, ET_REL */
    uint16_t machine; /* CUTE_ELF_CUDA, EM_X86_64, ... */
    uint8_t os_abi, abi_version;
    uint32_t flags;
    size_t section_count, symbol_count, string_section;
    const cute_elf_section *sections;
    const cute_elf_symbol *symbols;
    cute_names section_names;
} cute_elf;

/* Whether `bytes` begin with ELF's magic number. */
bool cute_elf_is(const void *bytes, size_t length);
/* Reads the tables into `arena`; `bytes` and `label` are not copied. Every offset, size and string is
 * checked: CUTE_INVALID if truncated, inconsistent, or for a machine other than CUDA. */
cute_status cute_elf_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                          cute_elf *out, cute_diag *diag);
/* The same without symbols, for any machine. */
cute_status cute_elf_read_sections(cute_arena *arena, const char *label, const void *bytes, size_t length,
                                   cute_elf *out, cute_diag *diag);
/* The machine of an ELF file; false: not an ELF file, or the header is truncated. */
bool cute_elf_machine(const void *bytes, size_t length, uint16_t *out);
/* "x86-64"; "machine 62", in `arena`, if unknown. */
const char *cute_elf_machine_name(cute_arena *arena, uint16_t machine);
/* The first section of that name, or NULL. */
const cute_elf_section *cute_elf_find(const cute_elf *elf, const char *name);

typedef struct cute_elf_addition {
    const char *name;
    const void *data;
    size_t length;
} cute_elf_addition;

/* Appends to `out` the file with `count` sections (PROGBITS, no flags) added. Existing contents keep their
 * offsets: a new section name table and a new section header table are appended. Existing sections of these
 * names lose their names. */
cute_status cute_elf_add_sections(const cute_elf *elf, const cute_elf_addition *additions, size_t count,
                                  cute_buffer *out, cute_diag *diag);

#endif
