/* Reads and writes whole files. Output is written to a temporary file in the same folder and renamed, so a
 * failed run leaves nothing half-written. */
#ifndef CUTE_LIB_BASE_SYSTEM_FILE_H
#define CUTE_LIB_BASE_SYSTEM_FILE_H

#include "lib/base/buffer.h"

/* The limit in bytes for non-regular files, which may be endless. */
enum { CUTE_READER_MOST = 1 << 30 };

/* Reads all of `path` ("-" or NULL: standard input) and appends it to *out; release *out even after a
 * failure. CUTE_SYSTEM with the path and the reason; CUTE_INVALID if a non-regular file exceeds
 * CUTE_READER_MOST bytes. If the previous program of the pipe failed (cute_pipe_failed), CUTE_INVALID without
 * a message, since it has reported why. */
cute_status cute_file_read(const char *path, cute_buffer *out, cute_diag *diag);
/* Appends up to `length` bytes from byte `skip` on; *size: size of the file, or bytes read from a non-regular
 * file. Only the requested bytes are held in memory. */
cute_status cute_file_read_part(const char *path, int64_t skip, int64_t length, cute_buffer *out,
                                int64_t *size, cute_diag *diag);
/* Reads a file in parts, where each part determines the length of the next. */
typedef struct cute_reader {
    const char *label;
    int fd;
    bool regular;
    int64_t size, at; /* size of a regular file in bytes (else 0); bytes read */
} cute_reader;
cute_status cute_reader_open(const char *path, cute_reader *out, cute_diag *diag);
/* Appends up to `most` bytes; fewer at the end of the file. */
cute_status cute_reader_read(cute_reader *reader, int64_t most, cute_buffer *out, cute_diag *diag);
/* Seeks in a regular file; reads and discards at most CUTE_READER_MOST bytes of others. */
cute_status cute_reader_skip(cute_reader *reader, int64_t length, cute_diag *diag);
void cute_reader_close(cute_reader *reader);
/* Writes `path` ("-" or NULL: standard output). A pipe closed by its reader is not an error; devices and
 * FIFOs are written in place. */
cute_status cute_file_write(const char *path, const void *bytes, size_t length, cute_diag *diag);
/* Writes the file `name` in an open folder, readable by its owner only. An existing file of this name is
 * replaced: links are not followed, nothing is written in place. CUTE_SYSTEM without a message. */
cute_status cute_file_write_private(int folder, const char *name, const void *bytes, size_t length);
/* If standard output is a pipe, tells its reader that this program failed. */
void cute_pipe_failed(void);
/* Creates a private directory in $TMPDIR; path in `arena`. */
cute_status cute_temp_directory(cute_arena *arena, const char **out, cute_diag *diag);
/* The same in another folder and with another prefix. */
cute_status cute_temp_directory_in(cute_arena *arena, const char *parent, const char *prefix,
                                   const char **out, cute_diag *diag);
/* Removes such a directory and the regular files in it; this also happens when a signal ends the program
 * (signals.h). */
void cute_temp_remove(const char *directory);
/* mkdir -p */
cute_status cute_make_directory(const char *path, cute_diag *diag);
bool cute_file_exists(const char *path);
/* The folder of the running program (arena), or NULL. */
const char *cute_program_directory(cute_arena *arena);
/* The name of a path in messages: "-" becomes "<stdin>". */
const char *cute_file_label(const char *path);
/* A safe file name derived from `text`, which comes from input: no slashes, leading dots or special
 * characters. */
const char *cute_file_plain_name(cute_arena *arena, const char *text);

#endif
