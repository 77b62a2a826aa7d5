/* The device code in a file: a cubin, PTX, a fatbin, an object, a program, a library or an archive. */
#ifndef CUTE_LIB_CUBIN_CONTAINERS_IMAGES_H
#define CUTE_LIB_CUBIN_CONTAINERS_IMAGES_H

#include "cute/base.h"
#include "lib/cubin/containers/fatbin.h"

typedef struct cute_image {
    const char *member; /* archive member; NULL: not an archive */
    size_t module;      /* from 1; images of one fatbin are one module for several architectures */
    const char *kind, *arch, *compression;
    cute_fatbin_entry entry; /* as stored; a file without a container is its own entry */
    const void *container;   /* the fatbin, or the cubin or PTX itself */
    size_t container_length;
} cute_image;

/* Lists all images of a file in `arena` (bytes are not copied). CUTE_INVALID: damaged, or no device code. */
cute_status cute_images_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                             cute_image **out, size_t *count, cute_diag *diag);
/* The bytes of an image: in place, or in `arena` if compressed. */
cute_status cute_image_extract(cute_arena *arena, const char *label, const cute_image *image,
                               const void **bytes, size_t *length, cute_diag *diag);

/* Selects the part of a file for cute_module_open: image `number` (from 1; 0: any), else the module with
 * `kernel` (may be NULL), else the only module of an archive. Files without a choice are unchanged. */
cute_status cute_images_choose(cute_arena *arena, const char *label, int64_t number, const char *kernel,
                               const char *arch, const void **bytes, size_t *length, cute_diag *diag);

#endif
