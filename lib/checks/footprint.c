/* The footprint of a launch in global memory: the 32-byte sectors that it reads and writes, and how many
 * blocks load each. Counted only if counters are requested. */
#include <stdlib.h>

#include "lib/checks/parts.h"

enum { PAGE_SHIFT = 16, PAGE_SECTORS = (1 << PAGE_SHIFT) / EM_SECTOR, FIRST_PAGES = 256 };
enum { SECTOR_READ = 1, SECTOR_WRITTEN = 2 };

typedef struct footprint_page {
    uint64_t number; /* page index of the address */
    uint8_t seen[PAGE_SECTORS];
    uint32_t block[PAGE_SECTORS]; /* that last loaded each sector, + 1 */
} footprint_page;

/* Pages touched so far: a hash table with open addressing. */
struct footprint_map {
    footprint_page **pages, *last;
    size_t count, capacity;
};

static bool footprint_wanted(const em_checks *c)
{
    return c->footprint != NULL;
}

static bool footprint_begin(em_checks *c)
{
    if (c->footprint) c->footprints = calloc(1, sizeof *c->footprints);
    return !c->footprint || c->footprints;
}

static void footprint_end(em_checks *c)
{
    struct footprint_map *map = c->footprints;
    if (!map) return;
    for (size_t n = 0; n < map->capacity; n++) free(map->pages[n]);
    free(map->pages);
    free(map);
    c->footprints = NULL;
}

static footprint_page **page_slot(footprint_page **pages, size_t capacity, uint64_t number)
{
    size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
    while (pages[at] && pages[at]->number != number) at = (at + 1) & (capacity - 1);
    return &pages[at];
}

static bool footprint_grow(struct footprint_map *map)
{
    size_t capacity = map->capacity ? 2 * map->capacity : FIRST_PAGES;
    footprint_page **pages = calloc(capacity, sizeof(footprint_page *));
    if (!pages) return false;
    for (size_t n = 0; n < map->capacity; n++)
        if (map->pages[n]) *page_slot(pages, capacity, map->pages[n]->number) = map->pages[n];
    free(map->pages);
    map->pages = pages;
    map->capacity = capacity;
    return true;
}

/* NULL if memory is exhausted. */
static footprint_page *find_or_add_page(struct footprint_map *map, uint64_t address)
{
    uint64_t number = address >> PAGE_SHIFT;
    if (map->last && map->last->number == number) return map->last;
    if (2 * map->count >= map->capacity && !footprint_grow(map)) return NULL;
    footprint_page **at = page_slot(map->pages, map->capacity, number);
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at) return NULL;
        (*at)->number = number;
        map->count++;
    }
    return map->last = *at;
}

/* `loads`: through L1, per block. */
static bool touch_sectors(em_checks *c, uint64_t address, uint64_t bytes, em_access kind, uint32_t block,
                          bool loads)
{
    em_footprint *sum = c->footprint;
    uint64_t first = address / EM_SECTOR, last = (address + bytes - 1) / EM_SECTOR;
    for (uint64_t s = first; s <= last; s++) {
        footprint_page *page = find_or_add_page(c->footprints, s * EM_SECTOR);
        if (!page) return false;
        size_t n = (size_t)(s % PAGE_SECTORS);
        if (kind != EM_WRITE && !page->seen[n]) {
            page->seen[n] |= SECTOR_READ;
            sum->read++;
        }
        if (kind != EM_READ && !(page->seen[n] & SECTOR_WRITTEN)) {
            page->seen[n] |= SECTOR_WRITTEN;
            sum->written++;
        }
        if (!loads || page->block[n] == block) continue;
        page->block[n] = block;
        sum->loaded++;
    }
    return true;
}

static uint32_t block_number(const em_warp *w)
{
    const uint32_t *grid = w->machine->launch->grid, *at = w->block->ctaid;
    return (((w->block->cluster->device * grid[2] + at[2]) * grid[1]) + at[1]) * grid[0] + at[0] + 1;
}

static bool footprint_access(em_checks *c, const memory_access *a)
{
    bool bulk = a->inst->opcode == EM_OP_cp && em_has(a->inst, EM_M_bulk);
    if (a->space != EM_GLOBAL || a->mbarrier) return true;
    if (!touch_sectors(c, a->address, a->bytes, a->kind, block_number(a->warp), a->kind == EM_READ && !bulk))
        c->exhausted = true;
    return true;
}

static bool footprint_row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    uint32_t block = block_number(r->warp);
    (void)s, (void)at;
    if (r->space != EM_GLOBAL) return true;
    for (uint32_t rest = r->mask; rest; rest &= rest - 1)
        if (!touch_sectors(c, r->base + r->offsets[__builtin_ctz(rest)], r->bytes, r->kind, block,
                           r->kind == EM_READ))
            c->exhausted = true;
    return true;
}

const em_part em_part_footprint = {.wanted = footprint_wanted,
                                   .begin = footprint_begin,
                                   .end = footprint_end,
                                   .access = footprint_access,
                                   .row = footprint_row};
