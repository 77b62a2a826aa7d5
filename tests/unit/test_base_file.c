/* Files: what is left on the disk after success and after failure. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/system/file.h"
#include "tests/unit/test.h"

static cute_arena *arena;
static const char *folder;

static const char *in_folder(const char *name)
{
    return cute_arena_printf(arena, "%s/%s", folder, name);
}

static void expect_content(const char *path, const char *expected)
{
    cute_buffer b = {0};
    CHECK_INT(cute_file_read(path, &b, NULL), CUTE_OK);
    CHECK_TEXT(cute_buffer_text(&b), expected);
    cute_buffer_release(&b);
}

static cute_status write_text(const char *path, const char *text, cute_diag *diag)
{
    return cute_file_write(path, text, strlen(text), diag);
}

/* The only message. */
static void expect_message(cute_diag *diag, const char *expected)
{
    if (!CHECK(cute_diag_count(diag) == 1)) return;
    CHECK_TEXT(cute_diag_get(diag, 0)->text, expected);
    cute_diag_clear(diag);
}

static int count_files(void)
{
    int count = 0;
    FILE *list = popen(cute_arena_printf(arena, "ls -A '%s'", folder), "r");
    for (int c; (c = fgetc(list)) != EOF;) count += c == '\n';
    pclose(list);
    return count;
}

static void test_round_trip(void)
{
    const char *path = in_folder("a");
    static char big[3000001];
    for (size_t i = 0; i < sizeof big; i++) big[i] = (char)(i * 7);
    CHECK_INT(cute_file_write(path, big, sizeof big, NULL), CUTE_OK);
    cute_buffer b = {0};
    CHECK_INT(cute_file_read(path, &b, NULL), CUTE_OK);
    CHECK(b.length == sizeof big && memcmp(b.data, big, sizeof big) == 0);
    cute_buffer_release(&b);
    CHECK_INT(write_text(path, "", NULL), CUTE_OK);
    expect_content(path, "");
    unlink(path);
}

static void test_part(void)
{
    const char *path = in_folder("part"), *fifo = in_folder("fifo2");
    CHECK_INT(write_text(path, "0123456789", NULL), CUTE_OK);
    static const struct {
        int64_t skip, length;
        const char *bytes;
    } parts[] = {{0, 3, "012"}, {4, 2, "45"}, {8, 5, "89"}, {10, 1, ""}, {99, 1, ""}, {3, 0, ""}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        cute_buffer out = {0};
        int64_t size = 0;
        CHECK_INT(cute_file_read_part(path, parts[i].skip, parts[i].length, &out, &size, NULL), CUTE_OK);
        CHECK_TEXT(cute_buffer_text(&out), parts[i].bytes);
        CHECK_INT(size, 10);
        cute_buffer_release(&out);
    }
    /* A FIFO has no size and can't be skipped over without reading. */
    CHECK_INT(mkfifo(fifo, 0600), 0);
    if (fork() == 0) _exit(write_text(fifo, "0123456789", NULL) != CUTE_OK);
    cute_buffer out = {0};
    int64_t size = 0;
    CHECK_INT(cute_file_read_part(fifo, 4, 3, &out, &size, NULL), CUTE_OK);
    CHECK_TEXT(cute_buffer_text(&out), "456");
    CHECK_INT(size, 7); /* the rest is not read */
    cute_buffer_release(&out);
    wait(NULL);
    unlink(path);
    unlink(fifo);
}

static void test_missing(void)
{
    cute_diag *diag = cute_diag_create();
    cute_buffer b = {0};
    CHECK_INT(cute_file_read("/nonexistent/x", &b, diag), CUTE_SYSTEM);
    expect_message(diag, "cannot read '/nonexistent/x': No such file or directory");
    CHECK_INT(cute_file_read("/", &b, diag), CUTE_SYSTEM);
    expect_message(diag, "cannot read '/': Is a directory");
    CHECK_INT(write_text("/nonexistent/x", "t", diag), CUTE_SYSTEM);
    expect_message(diag, "cannot write '/nonexistent/x': No such file or directory");
    CHECK_INT(write_text("/", "t", diag), CUTE_SYSTEM);
    expect_message(diag, "cannot write '/': Is a directory");
    cute_buffer_release(&b);
    cute_diag_destroy(diag);
}

static void test_full(void)
{
    cute_diag *diag = cute_diag_create();
    CHECK_INT(write_text("/dev/full", "t", diag), CUTE_SYSTEM);
    expect_message(diag, "cannot write '/dev/full': No space left on device");
    CHECK_INT(write_text("/dev/null", "t", diag), CUTE_OK);
    struct stat info;
    CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode)); /* not renamed over */
    cute_diag_destroy(diag);
}

static void test_atomic(void)
{
    /* A limit on file size makes the write fail half-way, as a full disk does. */
    const char *path = in_folder("kept");
    CHECK_INT(write_text(path, "old", NULL), CUTE_OK);
    int before = count_files();
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        static char big[1 << 20];
        if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096}) != 0) _exit(9);
        _exit((int)cute_file_write(path, big, sizeof big, NULL));
    }
    int state = 0;
    waitpid(child, &state, 0);
    CHECK_INT(WEXITSTATUS(state), CUTE_SYSTEM);
    expect_content(path, "old");
    CHECK_INT(count_files(), before);
    unlink(path);
}

static void test_mode(void)
{
    const char *path = in_folder("mode");
    mode_t mask = umask(027);
    CHECK_INT(write_text(path, "1", NULL), CUTE_OK);
    struct stat info;
    stat(path, &info);
    CHECK_INT(info.st_mode & 0777, 0640); /* 0666 less 027 */
    chmod(path, 0755);
    CHECK_INT(write_text(path, "2", NULL), CUTE_OK);
    stat(path, &info);
    CHECK_INT(info.st_mode & 0777, 0755);
    umask(mask);
    unlink(path);
}

static void test_link(void)
{
    const char *target = in_folder("target"), *link = in_folder("link");
    CHECK_INT(symlink("target", link), 0);
    CHECK_INT(write_text(link, "through a dangling link", NULL), CUTE_OK);
    expect_content(target, "through a dangling link");
    CHECK_INT(write_text(link, "again", NULL), CUTE_OK);
    expect_content(target, "again");
    struct stat info;
    CHECK(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    unlink(link);
    unlink(target);
}

static void test_read_only_folder(void)
{
    const char *closed = in_folder("closed"), *path = in_folder("closed/f");
    mkdir(closed, 0755);
    CHECK_INT(write_text(path, "1", NULL), CUTE_OK);
    chmod(closed, 0555);
    pid_t child = fork();
    if (child == 0) { /* root may write anywhere: become nobody */
        if (geteuid() == 0 &&
            (chmod(folder, 0755) != 0 || chown(path, 65534, 65534) != 0 || setuid(65534) != 0))
            _exit(9);
        if (write_text(path, "2", NULL) != CUTE_OK) _exit(8);
        cute_diag *diag = cute_diag_create();
        if (write_text(in_folder("closed/new"), "x", diag) != CUTE_SYSTEM) _exit(7);
        bool said = strstr(cute_diag_get(diag, 0)->text, "Permission denied") != NULL;
        cute_diag_destroy(diag);
        cute_arena_destroy(arena);
        _exit(said ? 0 : 6);
    }
    int state = 0;
    waitpid(child, &state, 0);
    CHECK_INT(WEXITSTATUS(state), 0);
    expect_content(path, "2");
    chmod(closed, 0755);
    unlink(path);
    rmdir(closed);
}

static void test_closed_pipe(void)
{
    int fds[2];
    CHECK_INT(pipe(fds), 0);
    close(fds[0]);
    int saved = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fds[1], STDOUT_FILENO);
    close(fds[1]);
    cute_status status = write_text("-", "nobody reads this", NULL);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    CHECK_INT(status, CUTE_OK); /* and SIGPIPE did not end this program */
}

static void test_fifo(void)
{
    const char *path = in_folder("fifo");
    CHECK_INT(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    CHECK_INT(write_text(path, "stream", NULL), CUTE_OK);
    char got[16] = {0};
    CHECK_INT(read(reader, got, sizeof got), 6);
    CHECK_TEXT(got, "stream");
    close(reader);
    unlink(path);
}

static void test_folders(void)
{
    const char *deep = in_folder("x/y//z/");
    cute_diag *diag = cute_diag_create();
    CHECK_INT(cute_make_directory(deep, diag), CUTE_OK);
    CHECK_INT(cute_make_directory(deep, diag), CUTE_OK);
    CHECK(cute_file_exists(in_folder("x/y/z")));
    CHECK_INT(write_text(in_folder("x/f"), "", NULL), CUTE_OK);
    CHECK_INT(cute_make_directory(in_folder("x/f/g"), diag), CUTE_SYSTEM);
    CHECK(strstr(cute_diag_get(diag, 0)->text, "Not a directory"));
    cute_diag_destroy(diag);
    unlink(in_folder("x/f"));
    rmdir(in_folder("x/y/z"));
    rmdir(in_folder("x/y"));
    rmdir(in_folder("x"));
}

static void test_temporary(void)
{
    const char *path;
    CHECK_INT(cute_temp_directory(arena, &path, NULL), CUTE_OK);
    struct stat info;
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0700);
    CHECK_INT(write_text(cute_arena_printf(arena, "%s/f", path), "x", NULL), CUTE_OK);
    cute_temp_remove(path);
    CHECK(!cute_file_exists(path));
    cute_temp_remove(NULL);
}

static void test_program(void)
{
    const char *where = cute_program_directory(arena);
    CHECK(where && cute_file_exists(cute_arena_printf(arena, "%s/test_base_file", where)));
    CHECK_TEXT(cute_file_label("-"), "<stdin>");
    CHECK_TEXT(cute_file_label(NULL), "<stdin>");
    CHECK_TEXT(cute_file_label("a"), "a");
}

int main(void)
{
    arena = cute_arena_create();
    if (cute_temp_directory(arena, &folder, NULL) != CUTE_OK) return 1;
    TEST("what was written is read back, large and empty", test_round_trip);
    TEST("of a file a part is read, and of a FIFO", test_part);
    TEST("an error names the file and the reason", test_missing);
    TEST("a full device is an error and devices are written in place", test_full);
    TEST("a write that fails half-way leaves the old file and no other", test_atomic);
    TEST("a new file has the user's umask and an old one keeps its mode", test_mode);
    TEST("writing through a symbolic link replaces its target", test_link);
    TEST("in a read-only folder an existing writable file is written, a new one refused",
         test_read_only_folder);
    TEST("a closed standard output is no error and raises no signal", test_closed_pipe);
    TEST("a FIFO is written in place", test_fifo);
    TEST("folders are made with their parents", test_folders);
    TEST("a temporary folder is private and goes away with its files", test_temporary);
    TEST("a program finds its own folder, and standard input has a name", test_program);
    cute_temp_remove(folder);
    cute_arena_destroy(arena);
    return test_finish();
}
