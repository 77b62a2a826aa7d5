/* Reads and writes whole files; temporary folders and the names of temporary files. */
#include "lib/base/system/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/diagnostics/log.h"
#include "lib/base/system/signals.h"

static bool is_standard(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

const char *cute_file_label(const char *path)
{
    return is_standard(path) ? "<stdin>" : path;
}

static cute_status fail_file(cute_diag *diag, const char *what, const char *path, int error)
{
    return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot %s '%s': %s", what, path, strerror(error));
}

/* ---- programs of a pipe ---- */

static const char failed_mark[] = "//!cute failed\n";

void cute_pipe_failed(void)
{
    struct stat out, messages;
    if (fstat(STDOUT_FILENO, &out) || !S_ISFIFO(out.st_mode)) return;
    /* 2>&1: the reader gets the messages as well, so it is not a program of the pipe. */
    if (fstat(STDERR_FILENO, &messages) == 0 && out.st_dev == messages.st_dev &&
        out.st_ino == messages.st_ino)
        return;
    (void)!cute_file_write("-", failed_mark, strlen(failed_mark), NULL);
}

/* ---- reading ---- */

cute_status cute_reader_open(const char *path, cute_reader *out, cute_diag *diag)
{
    struct stat info;
    *out = (cute_reader){.label = cute_file_label(path)};
    out->fd = is_standard(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (out->fd < 0) return fail_file(diag, "read", out->label, errno);
    cute_log(CUTE_LOG_DEBUG, "reads %s", out->label);
    out->regular = fstat(out->fd, &info) == 0 && S_ISREG(info.st_mode);
    out->size = out->regular ? info.st_size : 0;
    return CUTE_OK;
}

cute_status cute_reader_read(cute_reader *reader, int64_t most, cute_buffer *out, cute_diag *diag)
{
    enum { BLOCK = 1 << 20 };
    int64_t left = reader->regular ? reader->size - reader->at : 0, step = left > BLOCK ? left : BLOCK;
    cute_status status = CUTE_OK;
    if (most <= 0) return CUTE_OK;
    if (step > most) step = most;
    char *block = step < PTRDIFF_MAX / 2 ? malloc((size_t)step) : NULL;
    for (int64_t done = 0; block && done < most;) {
        ssize_t got = read(reader->fd, block, (size_t)(most - done < step ? most - done : step));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = fail_file(diag, "read", reader->label, errno);
        if (got <= 0) break;
        cute_buffer_append(out, block, (size_t)got);
        reader->at += got;
        done += got;
        if (!cute_buffer_ok(out)) break;
    }
    if (!block || !cute_buffer_ok(out)) status = cute_fail_memory(diag);
    free(block);
    return status;
}

cute_status cute_reader_skip(cute_reader *reader, int64_t length, cute_diag *diag)
{
    if (reader->regular && lseek(reader->fd, length, SEEK_CUR) < 0)
        return fail_file(diag, "read", reader->label, errno);
    if (reader->regular) return CUTE_OK;
    if (length > CUTE_READER_MOST)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "'%s' is not a regular file: expected to skip at most 1 GiB, got %lld bytes",
                         reader->label, (long long)length);
    cute_buffer unwanted = {0};
    cute_status status = cute_reader_read(reader, length, &unwanted, diag);
    cute_buffer_release(&unwanted);
    return status;
}

void cute_reader_close(cute_reader *reader)
{
    if (reader->fd > STDIN_FILENO) close(reader->fd);
    reader->fd = -1;
}

cute_status cute_file_read(const char *path, cute_buffer *out, cute_diag *diag)
{
    cute_reader reader;
    CUTE_TRY(cute_reader_open(path, &reader, diag));
    /* One byte more than allowed, to detect the end. */
    int64_t most = reader.size > CUTE_READER_MOST ? reader.size : CUTE_READER_MOST;
    bool standard = reader.fd == STDIN_FILENO;
    cute_status status = cute_reader_read(&reader, most + 1, out, diag);
    cute_reader_close(&reader);
    if (!status && reader.at > most)
        return cute_fail(diag, CUTE_INVALID, NULL, "'%s' is too long: expected at most 1 GiB", reader.label);
    if (!status && standard && out->length == strlen(failed_mark) &&
        !memcmp(out->data, failed_mark, out->length))
        status = CUTE_INVALID;
    return status;
}

cute_status cute_file_read_part(const char *path, int64_t skip, int64_t length, cute_buffer *out,
                                int64_t *size, cute_diag *diag)
{
    cute_reader reader;
    CUTE_TRY(cute_reader_open(path, &reader, diag));
    cute_status status = cute_reader_skip(&reader, skip, diag);
    if (!status) status = cute_reader_read(&reader, length, out, diag);
    *size = reader.regular ? reader.size : reader.at;
    cute_reader_close(&reader);
    return status;
}

/* ---- writing ---- */

/* 0 or errno. */
static int write_all(int fd, const char *bytes, size_t length)
{
    int error = 0;
    cute_pipe_guard guard;
    cute_pipe_hold(&guard);
    while (length && !error) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno != EINTR) error = errno;
        if (put < 0) continue;
        bytes += put;
        length -= (size_t)put;
    }
    cute_pipe_release(&guard);
    return error;
}

/* To a non-regular file or standard output. */
static int write_stream(int fd, const void *bytes, size_t length)
{
    int error = write_all(fd, bytes, length);
    return error == EPIPE ? 0 : error;
}

static int write_in_place(const char *path, int flags, const void *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);
    if (fd < 0) return errno;
    int error = write_stream(fd, bytes, length);
    if (close(fd) != 0 && !error) error = errno;
    return error;
}

/* Creates a file in the same folder as `path` (relative to `from`) with the user's umask; its name is
 * returned in `name`. */
static int open_beside(int from, const char *path, mode_t mode, char name[PATH_MAX], int *out)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) return errno;
        if (snprintf(name, PATH_MAX, "%.*s.cute-%016llx", folder, path, (unsigned long long)random) >=
            PATH_MAX)
            return ENAMETOOLONG;
        *out = openat(from, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (*out >= 0) return 0;
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

/* `old`: the file to be replaced, or NULL. *created: whether the temporary file could be created. */
static int write_renamed(const char *path, const struct stat *old, const void *bytes, size_t length,
                         bool *created)
{
    char name[PATH_MAX];
    sigset_t held;
    cute_ending_hold(&held);
    int fd = -1, error = open_beside(AT_FDCWD, path, 0666, name, &fd);
    cute_ending *note = error ? NULL : cute_ending_note_path(name);
    cute_ending_release(&held);
    *created = !error;
    if (error) return error;
    error = write_all(fd, bytes, length);
    if (!error && old && fchmod(fd, old->st_mode & 07777) != 0) error = errno;
    if (close(fd) != 0 && !error) error = errno;
    if (!error && rename(name, path) != 0) error = errno;
    if (error) unlink(name);
    cute_ending_forget(note);
    return error;
}

static int write_file(const char *path, const void *bytes, size_t length)
{
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (!exists && errno != ENOENT) return errno;
    if (exists && S_ISDIR(info.st_mode)) return EISDIR;
    if (exists && !S_ISREG(info.st_mode)) return write_in_place(path, 0, bytes, length);
    if (exists && access(path, W_OK) != 0) return errno;
    /* The target of a symbolic link is replaced, not the link. */
    struct stat link;
    char *target = NULL;
    if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode)) {
        target = realpath(path, NULL);
        if (!target) return write_in_place(path, O_CREAT | O_TRUNC, bytes, length);
    }
    bool created;
    int error = write_renamed(target ? target : path, exists ? &info : NULL, bytes, length, &created);
    /* A writable file in a read-only folder. */
    if (error && !created && exists && (error == EACCES || error == EPERM || error == EROFS))
        error = write_in_place(path, O_TRUNC, bytes, length);
    free(target);
    return error;
}

cute_status cute_file_write(const char *path, const void *bytes, size_t length, cute_diag *diag)
{
    bool standard = is_standard(path);
    cute_log(CUTE_LOG_DEBUG, "writes %s, %zu bytes", standard ? "<stdout>" : path, length);
    int error = standard ? write_stream(STDOUT_FILENO, bytes, length) : write_file(path, bytes, length);
    return error ? fail_file(diag, "write", standard ? "<stdout>" : path, error) : CUTE_OK;
}

cute_status cute_file_write_private(int folder, const char *name, const void *bytes, size_t length)
{
    char beside[PATH_MAX];
    sigset_t held;
    cute_ending_hold(&held); /* this file is not noted for removal, so signals wait */
    int fd = -1, error = open_beside(folder, name, 0600, beside, &fd);
    bool created = !error;
    if (created) error = write_all(fd, bytes, length);
    if (created && close(fd) != 0 && !error) error = errno;
    if (!error && renameat(folder, beside, folder, name) != 0) error = errno;
    if (created && error) unlinkat(folder, beside, 0);
    cute_ending_release(&held);
    return error ? CUTE_SYSTEM : CUTE_OK;
}

/* ---- folders ---- */

cute_status cute_temp_directory(cute_arena *arena, const char **out, cute_diag *diag)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent) parent = "/tmp";
    return cute_temp_directory_in(arena, parent, "cute-", out, diag);
}

cute_status cute_temp_directory_in(cute_arena *arena, const char *parent, const char *prefix,
                                   const char **out, cute_diag *diag)
{
    sigset_t held;
    char *name = cute_arena_printf(arena, "%s/%sXXXXXX", parent, prefix);
    if (!name) return cute_fail_memory(diag);
    cute_ending_hold(&held);
    int error = mkdtemp(name) ? 0 : errno;
    if (!error) cute_ending_note_path(name);
    cute_ending_release(&held);
    if (error) return fail_file(diag, "make a temporary folder in", parent, error);
    *out = name;
    return CUTE_OK;
}

void cute_temp_remove(const char *directory)
{
    DIR *folder = directory ? opendir(directory) : NULL;
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(directory);
    cute_ending_forget_path(directory);
}

static int make_one_directory(const char *path)
{
    struct stat info;
    if (mkdir(path, 0777) == 0) return 0;
    int error = errno;
    /* With a read-only parent, mkdir of an existing folder fails with EROFS or EACCES. */
    if (stat(path, &info) != 0) return error;
    return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

cute_status cute_make_directory(const char *path, cute_diag *diag)
{
    size_t length = strlen(path);
    char *prefix = strdup(path);
    if (!prefix) return cute_fail_memory(diag);
    int error = length ? 0 : ENOENT;
    for (size_t i = 1; i <= length && !error; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        prefix[i] = 0;
        error = make_one_directory(prefix);
        prefix[i] = path[i];
    }
    free(prefix);
    return error ? fail_file(diag, "make the folder", path, error) : CUTE_OK;
}

bool cute_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

const char *cute_program_directory(cute_arena *arena)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0 || length == (ssize_t)sizeof path) return NULL;
    const char *slash = memrchr(path, '/', (size_t)length);
    if (!slash) return NULL;
    return cute_arena_copy(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

const char *cute_file_plain_name(cute_arena *arena, const char *text)
{
    enum { MAX_NAME_LENGTH = 200 }; /* leaves room for suffixes */
    char *copy = cute_arena_copy(arena, text, strnlen(text, MAX_NAME_LENGTH));
    for (char *c = copy; c && *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-$", *c)) *c = '_';
    return copy && (!*copy || *copy == '.' || *copy == '-') ? cute_arena_printf(arena, "_%s", copy) : copy;
}
