/* What device code is in a file of any kind: a cubin, PTX, a fatbin, an object, a program, a library or an archive. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_IMAGES_H
#define CUTE_LIB_CUBIN_CONTAINERS_IMAGES_H

#include "cute/base.h"
#include "lib/cubin/containers/fatbin.h"

typedef struct cute_image {
    const char *member; /* of an archive; NULL: the file is none */
    size_t module;      /* from 1: images of one fatbin are the same module for several architectures */
    const char *kind, *arch, *compression;
    cute_fatbin_entry entry; /* as stored; a file that is no container is its own entry */
    const void *container;   /* the fatbin, or the whole cubin or PTX */
    size_t container_length;
} cute_image;

/* All images of a file, in `arena` (the bytes stay where they are). CUTE_INVALID: damaged, or no device code. */
cute_status cute_images_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                             cute_image **out, size_t *count, cute_diag *diag);
/* The bytes of an image: in place, or in `arena` where they are compressed. */
cute_status cute_image_extract(cute_arena *arena, const char *label, const cute_image *image,
                               const void **bytes, size_t *length, cute_diag *diag);

/* Which part of a file cute_module_open shall see: image `number` (from 1; 0: not asked), or else the module that has
 * `kernel` (may be NULL), or else the only module of an archive. What is no choice is left as it is. */
cute_status cute_images_choose(cute_arena *arena, const char *label, int64_t number, const char *kernel,
                               const char *arch, const void **bytes, size_t *length, cute_diag *diag);

#endif
