/* Reads the sections .nv_fatbin and __nv_relfatbin: fatbins separated by zeros. */
#include "lib/cubin/elf/hostelf.h"

#include <string.h>

#include "lib/base/list.h"
#include "lib/cubin/containers/fatbin.h"

bool cute_host_is(const void *bytes, size_t length)
{
    uint16_t machine;
    return cute_elf_machine(bytes, length, &machine) && machine != CUTE_ELF_CUDA;
}

typedef struct finder {
    cute_arena *arena;
    const cute_elf *elf;
    cute_host_code *items;
    size_t count, capacity;
    cute_diag *diag;
} finder;

static cute_status add_section(finder *f, const cute_elf_section *section, bool relocatable)
{
    const cute_place file = {.file = f->elf->label};
    for (uint64_t at = 0; section->data && at < section->size;) {
        const uint8_t *bytes = section->data + at;
        size_t left = (size_t)(section->size - at);
        if (*bytes == 0) { /* padding */
            at++;
            continue;
        }
        size_t extent = cute_fatbin_extent(bytes, left);
        if (!extent)
            return cute_fail(f->diag, CUTE_INVALID, &file, "byte %llu of section %s: expected a fatbin",
                             (unsigned long long)at, section->name);
        cute_fatbin_entry *entries;
        size_t count;
        CUTE_TRY(cute_fatbin_read(f->arena, f->elf->label, bytes, extent, &entries, &count, f->diag));
        if (count) {
            if (!cute_arena_more(f->arena, &f->items, f->count, &f->capacity, sizeof *f->items, 4))
                return cute_fail_memory(f->diag);
            f->items[f->count++] = (cute_host_code){bytes, extent, relocatable};
        }
        at += extent;
    }
    return CUTE_OK;
}

cute_status cute_host_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                           cute_host_code **out, size_t *count, cute_diag *diag)
{
    static const struct {
        const char *section;
        bool relocatable;
    } places[] = {{".nv_fatbin", false}, {"__nv_relfatbin", true}};
    cute_elf elf;
    finder f = {.arena = arena, .elf = &elf, .diag = diag};
    CUTE_TRY(cute_elf_read_sections(arena, label, bytes, length, &elf, diag));
    for (size_t p = 0; p < sizeof places / sizeof *places && !f.count; p++)
        for (size_t i = 0; i < elf.section_count; i++)
            if (strcmp(elf.sections[i].name, places[p].section) == 0)
                CUTE_TRY(add_section(&f, &elf.sections[i], places[p].relocatable));
    *out = f.items;
    *count = f.count;
    if (f.count) return CUTE_OK;
    cute_fail(diag, CUTE_INVALID, &(cute_place){.file = label}, "this ELF file for %s has no device code",
              cute_elf_machine_name(arena, elf.machine));
    cute_note(diag, NULL,
              "expected a cubin, or an object or program built by nvcc, which has a section .nv_fatbin");
    return CUTE_INVALID;
}
