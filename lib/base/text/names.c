/* A hash table: open addressing with linear probing, at most half full. */
#include "lib/base/text/names.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/mix.h"

/* FNV-1a, mixed: names that differ only in a final number have similar hashes otherwise. */
static uint64_t hash_name(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001B3);
    return cute_mix(hash);
}

/* The slot of the name, or the free slot for it. */
static cute_name_slot *find_slot(const cute_names *names, uint64_t hash, const char *text, size_t length)
{
    for (size_t i = (size_t)hash & (names->capacity - 1);; i = (i + 1) & (names->capacity - 1)) {
        cute_name_slot *slot = &names->slots[i];
        bool same = slot->text && slot->hash == hash && slot->length == length &&
                    (!length || !memcmp(slot->text, text, length));
        if (!slot->text || same) return slot;
    }
}

static bool grow_slots(cute_names *names)
{
    cute_names larger = {
        .arena = names->arena, .capacity = names->capacity ? names->capacity * 2 : 64, .count = names->count};
    larger.slots = names->arena ? cute_arena_array(names->arena, larger.capacity, sizeof *larger.slots)
                                : calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (size_t i = 0; i < names->capacity; i++) {
        const cute_name_slot *old = &names->slots[i];
        if (old->text) *find_slot(&larger, old->hash, old->text, old->length) = *old;
    }
    if (!names->arena) free(names->slots);
    *names = larger;
    return true;
}

bool cute_names_put(cute_names *names, const char *text, size_t length, size_t value)
{
    if (names->count * 2 >= names->capacity && !grow_slots(names)) return false;
    uint64_t hash = hash_name(text, length);
    cute_name_slot *slot = find_slot(names, hash, text, length);
    if (slot->text) return true;
    *slot = (cute_name_slot){text, length, value, hash};
    names->count++;
    return true;
}

size_t cute_names_find(const cute_names *names, const char *text, size_t length)
{
    if (!names->count) return CUTE_NO_NAME;
    const cute_name_slot *slot = find_slot(names, hash_name(text, length), text, length);
    return slot->text ? slot->value : CUTE_NO_NAME;
}

size_t cute_names_find_text(const cute_names *names, const char *text)
{
    return cute_names_find(names, text, strlen(text));
}

void cute_names_release(cute_names *names)
{
    if (!names->arena) free(names->slots);
    *names = (cute_names){.arena = names->arena};
}
