/* Reads the kernels of a cubin from symbols, .nv.info and section sizes. Sources of the encodings: NVIDIA's
 * cuobjdump -elf and ptxas -v on the same files. */
#include "lib/cubin/kernels.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/cubin/elf/nvinfo.h"

/* The bit of a symbol's st_other that marks a kernel. */
enum { STO_CUDA_ENTRY = 0x10 };
/* From sm_90 on, the system reserves the first KiB of each kernel's shared memory; the section size includes
 * it. */
enum { RESERVED_SHARED = 1024 };

/* ---- architecture ---- */

/* Before CUDA 13 (ABI 7), the SM is the low byte of the flags and bit 11 means "a"; since then (ABI 8) it is
 * the second byte. */
static unsigned arch_number(const cute_elf *elf, bool *accelerated)
{
    *accelerated = elf->abi_version < 8 && (elf->flags & 0x800);
    return elf->abi_version < 8 ? elf->flags & 0xff : elf->flags >> 8 & 0xff;
}

/* ABI 8 stores the "a" in .nv.compat: attribute 9, a byte. */
static bool compat_says_accelerated(const cute_elf *elf)
{
    const cute_elf_section *compat = cute_elf_find(elf, ".nv.compat");
    bool more = true;
    cute_nvinfo a;
    for (size_t at = 0; compat && cute_nvinfo_next(elf, compat, &at, &a, &more, NULL) == CUTE_OK && more;)
        if (a.code == 9 && a.length == 1) return a.data[0] == 1;
    return false;
}

/* "-arch sm_100f" in ptxas's note of its options, the only record of an "f". */
static const cute_arch *noted_arch(cute_arena *arena, const cute_elf *elf)
{
    const cute_elf_section *note = cute_elf_find(elf, ".note.nv.tkinfo");
    const uint8_t *at = note && note->data ? memmem(note->data, note->size, "-arch sm_", 9) : NULL;
    if (!at) return NULL;
    size_t left = note->size - (size_t)(at + 6 - note->data), length = 0;
    while (length < left && length < 12 && at[6 + length] > ' ') length++;
    const char *name = cute_arena_copy(arena, (const char *)at + 6, length);
    return name ? cute_arch_find(name) : NULL;
}

const char *cute_elf_arch(cute_arena *arena, const cute_elf *elf)
{
    bool accelerated;
    unsigned number = arch_number(elf, &accelerated);
    if (number == 0) return "";
    const cute_arch *noted = noted_arch(arena, elf);
    if (elf->abi_version >= 8 && noted && noted->number == (int)number) return noted->name;
    if (elf->abi_version >= 8) accelerated = compat_says_accelerated(elf);
    const char *name = cute_arena_printf(arena, "sm_%u%s", number, accelerated ? "a" : "");
    return name ? name : "";
}

/* ---- attributes ---- */

typedef struct params {
    cute_param *items;
    size_t count; /* highest ordinal + 1 */
} params;

/* Counts first: ordinals are in any order, usually descending. */
static cute_status count_params(const cute_elf *elf, const cute_elf_section *section, size_t *count,
                                cute_diag *diag)
{
    bool more = true;
    cute_nvinfo a;
    *count = 0;
    for (size_t at = 0; more;) {
        CUTE_TRY(cute_nvinfo_next(elf, section, &at, &a, &more, diag));
        bool is_param = more && (a.shape == CUTE_NVINFO_PARAM || a.shape == CUTE_NVINFO_PARAM2);
        if (is_param && a.words[0] + 1 > *count) *count = a.words[0] + 1;
    }
    return CUTE_OK;
}

static void copy_dim3(const cute_nvinfo *a, int64_t out[3])
{
    if (a->shape != CUTE_NVINFO_DIM3) return;
    for (int i = 0; i < 3; i++) out[i] = a->words[i];
}

enum { UNLIMITED_REGISTERS = 255 /* no limit */ };

static void read_attribute(const cute_nvinfo *a, cute_kernel *kernel, params *list)
{
    if (a->shape == CUTE_NVINFO_BYTES) return; /* too short to decode */
    switch (a->code) {
    case CUTE_EIATTR_KPARAM_INFO:
    case CUTE_EIATTR_KPARAM_INFO_V2:
        list->items[a->words[0]] = (cute_param){.offset = a->words[1], .size = a->words[2]};
        break;
    case CUTE_EIATTR_MAX_THREADS: copy_dim3(a, kernel->maxntid); break;
    case CUTE_EIATTR_REQNTID: copy_dim3(a, kernel->reqntid); break;
    case CUTE_EIATTR_CTA_PER_CLUSTER: copy_dim3(a, kernel->cluster); break;
    case CUTE_EIATTR_MAXREG_COUNT:
        if (a->words[0] < UNLIMITED_REGISTERS) kernel->max_registers = a->words[0];
        break;
    case CUTE_EIATTR_MAX_CLUSTER_RANK: kernel->max_cluster = a->words[0]; break;
    case CUTE_EIATTR_EXPLICIT_CLUSTER: kernel->explicit_cluster = true; break;
    case CUTE_EIATTR_BLOCKS_ARE_CLUSTERS: kernel->blocks_are_clusters = true; break;
    case CUTE_EIATTR_NUM_BARRIERS: kernel->resources.barriers = a->words[0]; break;
    case CUTE_EIATTR_CBANK_PARAM_SIZE: kernel->resources.param_bytes = a->words[0]; break;
    default: break;
    }
}

static cute_status read_own_info(cute_arena *arena, const cute_elf *elf, cute_kernel *kernel, cute_diag *diag)
{
    const char *name = cute_arena_printf(arena, ".nv.info.%s", kernel->name);
    if (!name) return cute_fail_memory(diag);
    const cute_elf_section *section = cute_elf_find(elf, name);
    params list = {0};
    if (!section) return CUTE_OK;
    CUTE_TRY(count_params(elf, section, &list.count, diag));
    list.items = cute_arena_array(arena, list.count, sizeof *list.items);
    if (!list.items) return cute_fail_memory(diag);
    bool more = true;
    cute_nvinfo a;
    for (size_t at = 0; more;) {
        CUTE_TRY(cute_nvinfo_next(elf, section, &at, &a, &more, diag));
        if (more) read_attribute(&a, kernel, &list);
    }
    kernel->params = list.items;
    kernel->param_count = list.count;
    return CUTE_OK;
}

/* Data shared by all kernels, read once. */
typedef struct file {
    cute_arena *arena;
    const cute_elf *elf;
    cute_resources *of_symbols; /* by symbol index */
    bool one_shared;            /* the file has a single shared memory section */
} file;

/* Attributes of .nv.info refer to functions by symbol index. */
static cute_status read_shared_info(file *f, cute_diag *diag)
{
    const cute_elf_section *section = cute_elf_find(f->elf, ".nv.info");
    bool more = section != NULL;
    cute_nvinfo a;
    f->of_symbols = cute_arena_array(f->arena, f->elf->symbol_count, sizeof *f->of_symbols);
    if (!f->of_symbols) return cute_fail_memory(diag);
    for (size_t i = 0; i < f->elf->symbol_count; i++)
        f->of_symbols[i] = (cute_resources){
            .registers = -1, .max_stack = -1, .spill_stores = -1, .spill_loads = -1, .barriers = -1};
    for (size_t at = 0; more;) {
        CUTE_TRY(cute_nvinfo_next(f->elf, section, &at, &a, &more, diag));
        if (!more || a.shape != CUTE_NVINFO_OF || a.words[0] >= f->elf->symbol_count) continue;
        cute_resources *r = &f->of_symbols[a.words[0]];
        if (a.code == CUTE_EIATTR_REGCOUNT) r->registers = a.words[1];
        if (a.code == CUTE_EIATTR_FRAME_SIZE) r->stack = a.words[1];
        if (a.code == CUTE_EIATTR_MIN_STACK_SIZE && r->max_stack < 0) r->max_stack = a.words[1];
        if (a.code == CUTE_EIATTR_MAX_STACK_SIZE) r->max_stack = a.words[1];
    }
    return CUTE_OK;
}

/* ---- sections ---- */

static const cute_elf_section *section_of(cute_arena *arena, const cute_elf *elf, const char *prefix,
                                          const char *kernel)
{
    const char *name = cute_arena_printf(arena, "%s%s", prefix, kernel);
    return name ? cute_elf_find(elf, name) : NULL;
}

/* An empty shared memory section means that the launch determines the size of a variable. Every kernel of a
 * module has one, whichever uses it, so it is informative only if it is the only one. */
static bool is_only_shared(const cute_elf *elf)
{
    static const char prefix[] = ".nv.shared.";
    int count = 0;
    for (size_t i = 0; i < elf->section_count; i++) {
        const char *name = elf->sections[i].name;
        count += strncmp(name, prefix, sizeof prefix - 1) == 0 &&
                 strncmp(name, ".nv.shared.reserved.", sizeof ".nv.shared.reserved." - 1) != 0;
    }
    return count == 1;
}

static void read_sections(const file *f, const cute_elf_symbol *symbol, cute_kernel *kernel)
{
    cute_arena *arena = f->arena;
    const cute_elf *elf = f->elf;
    cute_resources *r = &kernel->resources;
    const cute_elf_section *text = section_of(arena, elf, ".text.", kernel->name);
    const cute_elf_section *shared = section_of(arena, elf, ".nv.shared.", kernel->name);
    const cute_elf_section *constant = section_of(arena, elf, ".nv.constant0.", kernel->name);
    r->code_bytes = (int64_t)(text ? text->size : symbol->size);
    /* Before CUDA 12, the register count is in the section header. */
    if (text && r->registers < 0) r->registers = text->info >> 24;
    if (text && r->barriers < 0) r->barriers = (int64_t)(text->flags >> 20 & 0x7f);
    kernel->static_smem = shared ? (int64_t)(shared->size & INT64_MAX) : 0;
    if (cute_elf_find(elf, ".nv.shared.reserved.0") && kernel->static_smem >= RESERVED_SHARED)
        kernel->static_smem -= RESERVED_SHARED;
    if (shared && kernel->static_smem == 0 && f->one_shared) kernel->uses_dynamic_smem = true;
    r->constant = constant ? (int64_t)(constant->size & INT64_MAX) : 0;
}

static bool is_kernel(const cute_elf *elf, const cute_elf_symbol *symbol)
{
    return symbol->type == STT_FUNC && (symbol->other & STO_CUDA_ENTRY) && symbol->section != SHN_UNDEF &&
           symbol->section < elf->section_count && *symbol->name;
}

static cute_status read_kernel(const file *f, size_t index, cute_kernel *kernel, cute_diag *diag)
{
    const cute_elf_symbol *symbol = &f->elf->symbols[index];
    *kernel = (cute_kernel){.name = cute_arena_copy(f->arena, symbol->name, strlen(symbol->name)),
                            .dynamic_smem = -1,
                            .resources = f->of_symbols[index]};
    if (!kernel->name) return cute_fail_memory(diag);
    CUTE_TRY(read_own_info(f->arena, f->elf, kernel, diag));
    read_sections(f, symbol, kernel);
    if (kernel->resources.max_stack < 0) kernel->resources.max_stack = kernel->resources.stack;
    for (size_t i = 0; !kernel->resources.param_bytes && i < kernel->param_count; i++) {
        int64_t end = kernel->params[i].offset + kernel->params[i].size;
        if (end > kernel->resources.param_bytes) kernel->resources.param_bytes = end;
    }
    return CUTE_OK;
}

cute_status cute_elf_kernels(cute_arena *arena, const cute_elf *elf, cute_kernel **out, size_t *count,
                             cute_diag *diag)
{
    *count = 0;
    for (size_t i = 0; i < elf->symbol_count; i++) *count += is_kernel(elf, &elf->symbols[i]);
    *out = cute_arena_array(arena, *count, sizeof **out);
    if (!*out) return cute_fail_memory(diag);
    file f = {.arena = arena, .elf = elf, .one_shared = is_only_shared(elf)};
    CUTE_TRY(read_shared_info(&f, diag));
    size_t n = 0;
    for (size_t i = 0; i < elf->symbol_count; i++)
        if (is_kernel(elf, &elf->symbols[i])) CUTE_TRY(read_kernel(&f, i, &(*out)[n++], diag));
    return CUTE_OK;
}
