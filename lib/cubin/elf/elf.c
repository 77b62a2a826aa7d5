/* Reads ELF64: checks bounds, then reads tables. Structures are copied, since the bytes may be unaligned. */
#include "lib/cubin/elf/elf.h"

#include <elf.h>
#include <string.h>

static bool is_inside(size_t length, uint64_t offset, uint64_t size)
{
    return offset <= length && size <= length - offset;
}

bool cute_elf_is(const void *bytes, size_t length)
{
    return length >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

static bool read_header(const void *bytes, size_t length, Elf64_Ehdr *header)
{
    if (!cute_elf_is(bytes, length) || length < sizeof *header) return false;
    memcpy(header, bytes, sizeof *header);
    return true;
}

bool cute_elf_machine(const void *bytes, size_t length, uint16_t *out)
{
    Elf64_Ehdr header;
    if (!read_header(bytes, length, &header)) return false;
    *out = header.e_machine;
    return true;
}

const char *cute_elf_machine_name(cute_arena *arena, uint16_t machine)
{
    static const struct {
        uint16_t machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"},   {EM_386, "x86"},        {EM_AARCH64, "AArch64"}, {EM_ARM, "ARM"},
                 {EM_PPC64, "PowerPC64"}, {EM_RISCV, "RISC-V"},   {EM_S390, "s390"},       {EM_MIPS, "MIPS"},
                 {EM_BPF, "BPF"},         {224, "AMD GPUs"},      {EM_SPARCV9, "SPARC"},   {258, "LoongArch"},
                 {CUTE_ELF_CUDA, "CUDA"}, {EM_NONE, "no machine"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine) return names[i].name;
    const char *text = cute_arena_printf(arena, "machine %u", machine);
    return text ? text : "an unknown machine";
}

static void header_at(const uint8_t *bytes, const Elf64_Ehdr *header, uint64_t index, Elf64_Shdr *out)
{
    memcpy(out, bytes + header->e_shoff + index * sizeof *out, sizeof *out);
}

/* The number of section headers, checked to be inside the file; from 65280 on it is in the first header. */
static bool count_sections(const uint8_t *bytes, size_t length, const Elf64_Ehdr *header, uint64_t *count)
{
    Elf64_Shdr first;
    *count = 0;
    if (header->e_shoff == 0) return true;
    if (header->e_shentsize != sizeof first || !is_inside(length, header->e_shoff, sizeof first))
        return false;
    header_at(bytes, header, 0, &first);
    *count = header->e_shnum ? header->e_shnum : first.sh_size;
    return *count <= (length - header->e_shoff) / sizeof first;
}

static cute_status fail_elf(const cute_elf *elf, cute_diag *diag, const char *format, ...) CUTE_PRINTF(3, 4);
static cute_status fail_elf(const cute_elf *elf, cute_diag *diag, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cute_vreport(diag, CUTE_ERROR, &(cute_place){.file = elf->label}, format, args);
    va_end(args);
    return CUTE_INVALID;
}

/* A terminated string of a table; NULL: not inside the table. */
static const char *string_at(const uint8_t *table, uint64_t size, uint64_t offset)
{
    if (!table || offset >= size || !memchr(table + offset, 0, size - offset)) return NULL;
    return (const char *)table + offset;
}

static cute_status read_sections(cute_arena *arena, cute_elf *elf, const Elf64_Ehdr *header, cute_diag *diag)
{
    uint64_t count;
    if (!count_sections(elf->bytes, elf->length, header, &count))
        return fail_elf(elf, diag,
                        "the file is truncated: its section header table is beyond its end (%zu bytes)",
                        elf->length);
    cute_elf_section *sections = cute_arena_array(arena, count, sizeof *sections);
    if (!sections) return cute_fail_memory(diag);
    elf->sections = sections;
    elf->section_count = count;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Shdr raw;
        header_at(elf->bytes, header, i, &raw);
        bool in_file = raw.sh_type != SHT_NOBITS && raw.sh_type != SHT_NULL && raw.sh_size;
        if (in_file && !is_inside(elf->length, raw.sh_offset, raw.sh_size))
            return fail_elf(elf, diag, "the file is truncated: section %llu is beyond its end (%zu bytes)",
                            (unsigned long long)i, elf->length);
        sections[i] = (cute_elf_section){.name = "",
                                         .type = raw.sh_type,
                                         .flags = raw.sh_flags,
                                         .address = raw.sh_addr,
                                         .offset = raw.sh_offset,
                                         .size = raw.sh_size,
                                         .align = raw.sh_addralign,
                                         .entry_size = raw.sh_entsize,
                                         .link = raw.sh_link,
                                         .info = raw.sh_info,
                                         .data = in_file ? elf->bytes + raw.sh_offset : NULL};
    }
    if (count == 0) return CUTE_OK;
    elf->string_section = header->e_shstrndx == SHN_XINDEX ? sections[0].link : header->e_shstrndx;
    if (elf->string_section >= count)
        return fail_elf(elf, diag, "expected section names in section %zu, which does not exist",
                        elf->string_section);
    const cute_elf_section *names = &sections[elf->string_section];
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Shdr raw;
        header_at(elf->bytes, header, i, &raw);
        if (raw.sh_name == 0) continue;
        sections[i].name = string_at(names->data, names->size, raw.sh_name);
        if (!sections[i].name)
            return fail_elf(elf, diag, "the name of section %llu is outside the string table",
                            (unsigned long long)i);
    }
    elf->section_names.arena = arena;
    for (uint64_t i = 0; i < count; i++)
        if (!cute_names_put(&elf->section_names, sections[i].name, strlen(sections[i].name), (size_t)i))
            return cute_fail_memory(diag);
    return CUTE_OK;
}

static cute_status read_symbols(cute_arena *arena, cute_elf *elf, cute_diag *diag)
{
    const cute_elf_section *table = NULL;
    for (size_t i = 0; i < elf->section_count && !table; i++)
        if (elf->sections[i].type == SHT_SYMTAB) table = &elf->sections[i];
    if (!table || !table->data) return CUTE_OK;
    if (table->entry_size != sizeof(Elf64_Sym) || table->size % sizeof(Elf64_Sym) ||
        table->link >= elf->section_count)
        return fail_elf(elf, diag, "the symbol table is malformed");
    const cute_elf_section *names = &elf->sections[table->link];
    size_t count = table->size / sizeof(Elf64_Sym);
    cute_elf_symbol *symbols = cute_arena_array(arena, count, sizeof *symbols);
    if (!symbols) return cute_fail_memory(diag);
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym raw;
        memcpy(&raw, table->data + i * sizeof raw, sizeof raw);
        symbols[i] =
            (cute_elf_symbol){.name = raw.st_name ? string_at(names->data, names->size, raw.st_name) : "",
                              .value = raw.st_value,
                              .size = raw.st_size,
                              .type = ELF64_ST_TYPE(raw.st_info),
                              .binding = ELF64_ST_BIND(raw.st_info),
                              .other = raw.st_other,
                              .section = raw.st_shndx};
        if (!symbols[i].name)
            return fail_elf(elf, diag, "the name of symbol %zu is outside the string table", i);
    }
    elf->symbols = symbols;
    elf->symbol_count = count;
    return CUTE_OK;
}

cute_status cute_elf_read_sections(cute_arena *arena, const char *label, const void *bytes, size_t length,
                                   cute_elf *out, cute_diag *diag)
{
    Elf64_Ehdr header;
    *out = (cute_elf){.label = label, .bytes = bytes, .length = length};
    if (!cute_elf_is(bytes, length)) return fail_elf(out, diag, "this is not an ELF file");
    if (!read_header(bytes, length, &header))
        return fail_elf(out, diag, "the file is truncated: expected an ELF header of %zu bytes, got %zu",
                        sizeof header, length);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return fail_elf(out, diag, "this is not a 64-bit little-endian ELF file");
    out->type = header.e_type;
    out->machine = header.e_machine;
    out->os_abi = header.e_ident[EI_OSABI];
    out->abi_version = header.e_ident[EI_ABIVERSION];
    out->flags = header.e_flags;
    return read_sections(arena, out, &header, diag);
}

cute_status cute_elf_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                          cute_elf *out, cute_diag *diag)
{
    CUTE_TRY(cute_elf_read_sections(arena, label, bytes, length, out, diag));
    if (out->machine != CUTE_ELF_CUDA)
        return fail_elf(out, diag, "expected an ELF file for a CUDA GPU, got one for %s",
                        cute_elf_machine_name(arena, out->machine));
    return read_symbols(arena, out, diag);
}

const cute_elf_section *cute_elf_find(const cute_elf *elf, const char *name)
{
    size_t i = cute_names_find_text(&elf->section_names, name);
    return i == CUTE_NO_NAME ? NULL : &elf->sections[i];
}
