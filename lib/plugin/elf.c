/* Examines a plugin's file before any of its code runs: the loader would run constructors first, and an MLIR that is linked into a
 * plugin has type identities of its own, with which casts of the program's operations fail or crash. */
#include <elf.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/plugin/plugins.h"

typedef struct elf_file {
    const char *path;
    const unsigned char *bytes;
    size_t length;
    const Elf64_Shdr *sections;
    size_t section_count;
    cute_diag *diag;
} elf_file;

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE };
#endif

static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {{EM_386, "32-bit x86"}, {EM_X86_64, "x86-64"}, {EM_AARCH64, "AArch64"},
                 {EM_ARM, "32-bit ARM"}, {EM_PPC64, "PowerPC"}, {EM_RISCV, "RISC-V"},
                 {EM_S390, "s390"},      {190, "NVIDIA CUDA"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].machine == machine) return names[i].name;
    return "another machine";
}

static cute_status fail(const elf_file *f, const char *text, const char *fix)
{
    cute_fail(f->diag, CUTE_INVALID, &(cute_place){.file = f->path}, "%s", text);
    if (fix) cute_note(f->diag, NULL, "%s", fix);
    return CUTE_INVALID;
}

/* `length` bytes at `at`; NULL: outside of the file, or misaligned. */
static const void *part(const elf_file *f, uint64_t at, uint64_t length)
{
    return at <= f->length && length <= f->length - at && at % 8 == 0 ? f->bytes + at : NULL;
}

static cute_status check_header(elf_file *f)
{
    const Elf64_Ehdr *e = part(f, 0, sizeof *e);
    if (f->length < SELFMAG || memcmp(f->bytes, ELFMAG, SELFMAG) != 0)
        return fail(f, "expected a shared library or MLIR patterns (.mlir), got neither",
                    "link a plugin with -shared -fPIC");
    unsigned machine = f->length >= 20 ? f->bytes[18] | (unsigned)f->bytes[19] << 8 : EM_NONE;
    if (!e || f->bytes[EI_CLASS] != ELFCLASS64 || machine != MACHINE) {
        cute_fail(f->diag, CUTE_INVALID, &(cute_place){.file = f->path},
                  "expected a shared library for %s, got one for %s", machine_name(MACHINE),
                  machine_name(machine));
        cute_note(f->diag, NULL, "compile the plugin for the machine of this program");
        return CUTE_INVALID;
    }
    if (e->e_type == ET_REL)
        return fail(f, "expected a shared library, got an object file", "link it with -shared");
    if (e->e_type != ET_DYN)
        return fail(f, "expected a shared library, got a program or a core file",
                    "link the plugin with -shared");
    f->sections = part(f, e->e_shoff, (uint64_t)e->e_shnum * sizeof *f->sections);
    f->section_count = f->sections && e->e_shentsize == sizeof *f->sections ? e->e_shnum : 0;
    if (!f->section_count)
        return fail(f, "expected a shared library with section headers, got a damaged one", NULL);
    return CUTE_OK;
}

/* A string of a section; "": none. */
static const char *string_at(const elf_file *f, const Elf64_Shdr *strings, uint64_t at)
{
    if (strings->sh_offset > f->length || strings->sh_size > f->length - strings->sh_offset ||
        at >= strings->sh_size)
        return "";
    const char *text = (const char *)f->bytes + strings->sh_offset + at;
    return memchr(text, 0, strings->sh_size - at) ? text : "";
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The first fields of cute_plugin, which no version moves. */
typedef struct plugin_head {
    uint32_t major, minor;
    uint64_t size;
    uint32_t mlir, padding;
} plugin_head;

typedef struct elf_facts {
    bool entry;
    plugin_head head;
    const char *cxx; /* a function of MLIR's C++ interface that it needs */
    const char *c;   /* of the C interface */
    const char *defined, *library;
    bool now; /* all functions are bound when it is opened */
} elf_facts;

/* "mlirOperationGetName", not "mlirror" */
static bool is_c_interface(const char *name)
{
    return starts(name, "mlir") && name[4] >= 'A' && name[4] <= 'Z';
}

/* Reads the version of cute_plugin_info from the file: initial values without relocations. */
static void read_head(const elf_file *f, const Elf64_Sym *symbol, elf_facts *out)
{
    out->entry = true;
    const Elf64_Shdr *s = symbol->st_shndx < f->section_count ? &f->sections[symbol->st_shndx] : NULL;
    if (!s || s->sh_type == SHT_NOBITS || symbol->st_value < s->sh_addr) return;
    const plugin_head *head = part(f, s->sh_offset + (symbol->st_value - s->sh_addr), sizeof *head);
    if (head) out->head = *head;
}

static void note_symbols(const elf_file *f, const Elf64_Shdr *s, elf_facts *out)
{
    const Elf64_Sym *symbols = part(f, s->sh_offset, s->sh_size);
    const Elf64_Shdr *strings = s->sh_link < f->section_count ? &f->sections[s->sh_link] : NULL;
    if (!symbols || !strings) return;
    for (size_t i = 1; i < s->sh_size / sizeof *symbols; i++) {
        const char *name = string_at(f, strings, symbols[i].st_name);
        bool defined = symbols[i].st_shndx != SHN_UNDEF, type = ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC;
        bool cxx = starts(name, "_ZN4mlir") || starts(name, "_ZNK4mlir"), c = is_c_interface(name);
        if (defined && s->sh_type == SHT_DYNSYM && strcmp(name, "cute_plugin_info") == 0)
            read_head(f, &symbols[i], out);
        if (defined && type && !out->defined &&
            (c || starts(name, "_ZN4mlir9Operation") || starts(name, "_ZN4mlir11MLIRContext")))
            out->defined = name;
        if (!defined && s->sh_type == SHT_DYNSYM && cxx && !out->cxx) out->cxx = name;
        if (!defined && s->sh_type == SHT_DYNSYM && c && !out->c) out->c = name;
    }
}

static void note_needs(const elf_file *f, const Elf64_Shdr *s, elf_facts *out)
{
    const Elf64_Dyn *entries = part(f, s->sh_offset, s->sh_size);
    const Elf64_Shdr *strings = s->sh_link < f->section_count ? &f->sections[s->sh_link] : NULL;
    for (size_t i = 0; entries && strings && i < s->sh_size / sizeof *entries; i++) {
        const Elf64_Dyn *d = &entries[i];
        const char *name = d->d_tag == DT_NEEDED ? string_at(f, strings, d->d_un.d_val) : "";
        if (starts(name, "libMLIR") || starts(name, "libLLVM") || starts(name, "libcute-compiler"))
            out->library = name;
        out->now |= d->d_tag == DT_BIND_NOW || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_BIND_NOW) ||
                    (d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_NOW);
    }
}

static cute_status check_version(const elf_file *f, const plugin_head *h, const plugin_site *site)
{
    const cute_place place = {.file = f->path};
    if (h->major != CUTE_PLUGIN_MAJOR || h->minor > CUTE_PLUGIN_MINOR) {
        cute_fail(f->diag, CUTE_INVALID, &place,
                  "the plugin is for version %u.%u of the plugin interface, and %s has %d.%d", h->major,
                  h->minor, site->program, CUTE_PLUGIN_MAJOR, CUTE_PLUGIN_MINOR);
        cute_note(f->diag, NULL,
                  h->major == CUTE_PLUGIN_MAJOR
                      ? "install a later libcute, or compile the plugin with this program's cute/plugin.h"
                      : "compile the plugin with this program's cute/plugin.h");
        return CUTE_INVALID;
    }
    if (h->size < sizeof(cute_plugin)) {
        cute_fail(f->diag, CUTE_INVALID, &place,
                  "expected a cute_plugin of at least %zu bytes for version %u.%u, got %llu",
                  sizeof(cute_plugin), h->major, h->minor, (unsigned long long)h->size);
        cute_note(f->diag, NULL, "begin cute_plugin_info with CUTE_PLUGIN_VERSION");
        return CUTE_INVALID;
    }
    if (site->compiler && h->mlir && h->mlir != site->mlir) {
        cute_fail(f->diag, CUTE_INVALID, &place, "the plugin is compiled for MLIR %u, and %s has MLIR %u",
                  h->mlir, site->program, site->mlir);
        cute_note(f->diag, NULL, "compile it with the headers of MLIR %u", site->mlir);
        return CUTE_INVALID;
    }
    return CUTE_OK;
}

static cute_status check_contents(const elf_file *f, const plugin_site *site)
{
    static const char unlink[] =
        "leave MLIR out of the plugin's link: the program exports its C interface (mlir-c/...) to it";
    elf_facts facts = {0};
    const cute_place place = {.file = f->path};
    for (size_t i = 0; i < f->section_count; i++) {
        const Elf64_Shdr *s = &f->sections[i];
        if (s->sh_type == SHT_DYNSYM || s->sh_type == SHT_SYMTAB) note_symbols(f, s, &facts);
        if (s->sh_type == SHT_DYNAMIC) note_needs(f, s, &facts);
    }
    if (facts.library || facts.defined) {
        if (facts.library)
            cute_fail(f->diag, CUTE_INVALID, &place,
                      "the plugin links %s, a second MLIR whose types are not those of this program",
                      facts.library);
        else
            cute_fail(f->diag, CUTE_INVALID, &place,
                      "the plugin contains a second MLIR (%s), whose types are not those of this program",
                      facts.defined);
        cute_note(f->diag, NULL, "%s", unlink);
        return CUTE_INVALID;
    }
    if (!facts.entry)
        return fail(f, "no cute_plugin_info: the shared library is not a plugin of this program",
                    "define 'CUTE_PLUGIN cute_plugin_info = {CUTE_PLUGIN_VERSION, ...};' of cute/plugin.h");
    CUTE_TRY(check_version(f, &facts.head, site));
    if (facts.cxx) {
        cute_fail(f->diag, CUTE_INVALID, &place,
                  "the plugin calls MLIR's C++ interface (%s), which is not exported", facts.cxx);
        cute_note(f->diag, NULL, "use the C interface, mlir-c/IR.h");
        return CUTE_INVALID;
    }
    if (facts.c && !site->compiler && facts.now) {
        cute_fail(f->diag, CUTE_INVALID, &place, "the plugin calls MLIR (%s), which %s does not have",
                  facts.c, site->program);
        cute_note(f->diag, NULL, "link it with -Wl,-z,lazy, or put its passes into a library of their own");
        return CUTE_INVALID;
    }
    return CUTE_OK;
}

cute_status plugin_examine(const char *path, const plugin_site *site, cute_diag *diag)
{
    cute_buffer bytes = {0};
    CUTE_TRY(cute_file_read(path, &bytes, diag));
    elf_file f = {
        .path = path, .bytes = (const unsigned char *)bytes.data, .length = bytes.length, .diag = diag};
    cute_status status = check_header(&f);
    if (!status) status = check_contents(&f, site);
    cute_buffer_release(&bytes);
    return status;
}
