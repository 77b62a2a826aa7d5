/* SHA-256 (FIPS 180-4). */
#ifndef CUTE_LIB_BASE_SYSTEM_SHA256_H
#define CUTE_LIB_BASE_SYSTEM_SHA256_H

#include <stddef.h>

enum { CUTE_SHA256_TEXT = 65 };
/* 64 hexadecimal digits, as sha256sum prints them, terminated. */
void cute_sha256(const void *bytes, size_t length, char out[CUTE_SHA256_TEXT]);
/* The same without SHA instructions, for tests. */
void cute_sha256_plain(const void *bytes, size_t length, char out[CUTE_SHA256_TEXT]);

#endif
