/* Arenas: a list of chunks from which objects are allocated in order. */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/base.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_PER_OBJECT 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_PER_OBJECT 1
#endif

#ifdef ARENA_PER_OBJECT
/* One chunk per object, so that AddressSanitizer detects out-of-bounds accesses. */
enum { FIRST_CHUNK = 1, LARGEST_CHUNK = 1 };
#else
/* The first chunk, including its header, has a size that malloc serves from its bins: most arenas live for
 * one operation. */
enum { FIRST_CHUNK = 960, LARGEST_CHUNK = 1 << 20 };
#endif

typedef struct chunk {
    struct chunk *next;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
} chunk;

struct cute_arena {
    chunk *chunks; /* the first one is being filled */
    size_t next_size;
};

cute_arena *cute_arena_create(void)
{
    cute_arena *arena = calloc(1, sizeof *arena);
    if (arena) arena->next_size = FIRST_CHUNK;
    return arena;
}

void cute_arena_destroy(cute_arena *arena)
{
    if (!arena) return;
    for (chunk *c = arena->chunks; c;) {
        chunk *next = c->next;
        free(c);
        c = next;
    }
    free(arena);
}

static chunk *add_chunk(cute_arena *arena, size_t size)
{
    /* An object larger than half a chunk gets its own chunk, after the first, which stays in use. */
    bool own = size > arena->next_size / 2 && arena->chunks;
    size_t room = own || size > arena->next_size ? size : arena->next_size;
    chunk *c = malloc(sizeof *c + room);
    if (!c) return NULL;
    *c = (chunk){.size = room};
    if (own) {
        c->next = arena->chunks->next;
        arena->chunks->next = c;
    } else {
        c->next = arena->chunks;
        arena->chunks = c;
        if (arena->next_size < LARGEST_CHUNK) arena->next_size *= 2;
    }
    return c;
}

void *cute_arena_alloc(cute_arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size > PTRDIFF_MAX - sizeof(chunk) - align) return NULL;
    /* Zero-size objects have distinct addresses, too. */
    size = (size ? size : 1) + align - 1;
    size -= size % align;
    chunk *c = arena->chunks;
    if (!c || c->size - c->used < size) c = add_chunk(arena, size);
    if (!c) return NULL;
    void *object = c->bytes + c->used;
    c->used += size;
    return memset(object, 0, size);
}

void *cute_arena_array(cute_arena *arena, size_t count, size_t size)
{
    size_t total;
    return __builtin_mul_overflow(count, size, &total) ? NULL : cute_arena_alloc(arena, total);
}

char *cute_arena_copy(cute_arena *arena, const char *bytes, size_t length)
{
    char *copy = length < PTRDIFF_MAX ? cute_arena_alloc(arena, length + 1) : NULL;
    if (copy && length) memcpy(copy, bytes, length);
    return copy;
}

char *cute_arena_printf(cute_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : cute_arena_alloc(arena, (size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}
