/* Whole files in and out. Output goes to a temporary name beside the target and is renamed, so a
 * failed run leaves nothing half-written. */
#ifndef CUTE_LIB_BASE_SYSTEM_FILE_H
#define CUTE_LIB_BASE_SYSTEM_FILE_H

#include "lib/base/buffer.h"

/* What is no plain file may have no end: so much of it is read at most. */
enum { CUTE_READER_MOST = 1 << 30 };

/* Reads `path` ("-" or NULL: standard input) whole. CUTE_SYSTEM with the path and the reason; CUTE_INVALID where what is
 * no plain file goes on after CUTE_READER_MOST bytes. *out is appended to; release it also after a failure. Where a program of the pipe before failed
 * (cute_pipe_failed), CUTE_INVALID without a message: it has said why. */
cute_status cute_file_read(const char *path, cute_buffer *out, cute_diag *diag);
/* Appends `length` bytes from byte `skip` on, or as many as there are; *size: bytes of the file, of what is no
 * regular file those that were read. Only what is asked for is held in memory. */
cute_status cute_file_read_part(const char *path, int64_t skip, int64_t length, cute_buffer *out,
                                int64_t *size, cute_diag *diag);
/* A file that is read in parts, each as long as the one before it announces. */
typedef struct cute_reader {
    const char *label;
    int fd;
    bool regular;
    int64_t size, at; /* bytes that a plain file has (else 0), that were read */
} cute_reader;
cute_status cute_reader_open(const char *path, cute_reader *out, cute_diag *diag);
/* Appends `most` bytes, or fewer where the file ends. */
cute_status cute_reader_read(cute_reader *reader, int64_t most, cute_buffer *out, cute_diag *diag);
/* At the beginning of a plain file, or anywhere in another, of which CUTE_READER_MOST can be skipped. */
cute_status cute_reader_skip(cute_reader *reader, int64_t length, cute_diag *diag);
void cute_reader_close(cute_reader *reader);
/* Writes `path` ("-" or NULL: standard output; a pipe closed by its reader is no error and writes
 * nothing more; a device or a FIFO is written in place). */
cute_status cute_file_write(const char *path, const void *bytes, size_t length, cute_diag *diag);
/* Writes the file `name` of an open folder, readable by its owner alone. Whatever has that name is replaced: a link is
 * not followed, nothing is written in place. CUTE_SYSTEM without a message. */
cute_status cute_file_write_private(int folder, const char *name, const void *bytes, size_t length);
/* Tells the next program of a pipe, where standard output is one, that there is nothing to read. */
void cute_pipe_failed(void);
/* A fresh private directory under $TMPDIR, path in `arena`. */
cute_status cute_temp_directory(cute_arena *arena, const char **out, cute_diag *diag);
/* The same in another folder, with another beginning of its name. */
cute_status cute_temp_directory_in(cute_arena *arena, const char *parent, const char *prefix,
                                   const char **out, cute_diag *diag);
/* Removes a directory made by one of these with the plain files in it; where a signal ends a program, that is done as
 * well (signals.h). */
void cute_temp_remove(const char *directory);
/* mkdir -p */
cute_status cute_make_directory(const char *path, cute_diag *diag);
bool cute_file_exists(const char *path);
/* The folder that holds the running program (arena), or NULL. */
const char *cute_program_directory(cute_arena *arena);
/* "name" to show for a path: "-" becomes "<stdin>". */
const char *cute_file_label(const char *path);
/* What a file may be called after `text`, which comes from input: no slashes, no leading dot, no other
 * surprises. */
const char *cute_file_plain_name(cute_arena *arena, const char *text);

#endif
