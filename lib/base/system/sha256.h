/* SHA-256 of FIPS 180-4, for lists of files. */
#ifndef CUTE_LIB_BASE_SYSTEM_SHA256_H
#define CUTE_LIB_BASE_SYSTEM_SHA256_H

#include <stddef.h>

enum { CUTE_SHA256_TEXT = 65 };
/* As sha256sum prints it: 64 digits, terminated. */
void cute_sha256(const void *bytes, size_t length, char out[CUTE_SHA256_TEXT]);
/* The same without the instructions that some processors have for it; for tests. */
void cute_sha256_plain(const void *bytes, size_t length, char out[CUTE_SHA256_TEXT]);

#endif
