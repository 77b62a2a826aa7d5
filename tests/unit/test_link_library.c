/* The linker as a library: options by name, several links of one linker, threads. Programs of the toolkit are played by
 * shell scripts, so that no toolkit is needed. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cute/link.h"
#include "tests/unit/test.h"

static char folder[] = "/tmp/cute-test-XXXXXX";

/* Copies its input to its output, behind a list of its descriptors. */
static const char ptxas[] = "#!/bin/sh\n"
                            "for word; do case $last in -o) out=$word;; esac; last=$word; done\n"
                            "for word; do case $word in -o) break;; esac; in=$word; done\n"
                            "{ readlink /proc/$$/fd/*; cat \"$in\"; } >\"$out\"\n";

static bool make_toolkit(void)
{
    char path[128];
    if (!mkdtemp(folder)) return false;
    snprintf(path, sizeof path, "%s/bin", folder);
    if (mkdir(path, 0755) != 0) return false;
    snprintf(path, sizeof path, "%s/bin/ptxas", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    bool written = fd >= 0 && write(fd, ptxas, sizeof ptxas - 1) == (ssize_t)sizeof ptxas - 1;
    return fd >= 0 && close(fd) == 0 && written;
}

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n";

/* Links `text`: the result holds it, and the program had two files in memory, its input and its output. */
static bool links(cute_linker *linker, cute_diag *diag)
{
    size_t length = 0;
    if (cute_linker_link(linker, diag) != CUTE_OK) return false;
    const char *output = cute_linker_output(linker, &length), *end = output + length;
    if (!output || !memmem(output, length, text, strlen(text))) return false;
    int files = 0;
    for (const char *at = output; (at = memmem(at, (size_t)(end - at), "/memfd:", 7)); at += 7) files++;
    return files == 3; /* the output is its standard output, too */
}

static cute_linker *open_linker(cute_diag *diag)
{
    cute_linker *linker;
    if (cute_linker_create(&linker, diag) != CUTE_OK) return NULL;
    cute_linker_set(linker, "cuda-path", folder, diag);
    cute_linker_set(linker, "strip", NULL, diag);
    return linker;
}

static void test_options(void)
{
    cute_diag *diag = cute_diag_create();
    cute_linker *linker = open_linker(diag);
    if (!CHECK(linker)) return;
    CHECK(cute_linker_link(linker, NULL) == CUTE_USAGE);
    CHECK(cute_linker_set(linker, "opt-lvel", "3", diag) == CUTE_USAGE);
    CHECK_TEXT(cute_diag_get(diag, 0)->text, "unknown option 'opt-lvel'; did you mean 'opt-level'?");
    cute_diag_clear(diag);
    CHECK(cute_linker_set(linker, "fatbin", "yes", diag) == CUTE_USAGE);
    CHECK_TEXT(cute_diag_get(diag, 0)->text, "option 'fatbin': expected 1 or 0, got 'yes'");
    CHECK(cute_linker_set(linker, "arch", NULL, NULL) == CUTE_USAGE);
    CHECK(cute_linker_set(linker, "opt-level", "7", NULL) == CUTE_USAGE);
    CHECK(cute_linker_set(linker, "maxrregcount", "many", NULL) == CUTE_USAGE);
    CHECK(cute_linker_set(linker, "maxrregcount", "64", NULL) == CUTE_OK);
    CHECK(cute_linker_add(linker, "k.ptx", text, strlen(text), NULL) == CUTE_OK);
    /* The wrong values left nothing behind. */
    CHECK(links(linker, NULL));
    CHECK(strstr(cute_linker_commands(linker), "ptxas -v -arch sm_80 -maxrregcount 64 "));
    CHECK(cute_linker_set(linker, "opt-level", "1", NULL) == CUTE_OK);
    CHECK(links(linker, NULL));
    CHECK(strstr(cute_linker_commands(linker), " -O1 "));
    cute_linker_destroy(linker);
    cute_linker_destroy(NULL);
    cute_diag_destroy(diag);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) count++;
    if (d) closedir(d);
    return count;
}

static void test_descriptors(void)
{
    int before = open_descriptors();
    cute_linker *linker = open_linker(NULL);
    CHECK(cute_linker_add(linker, "k.ptx", text, strlen(text), NULL) == CUTE_OK);
    CHECK(links(linker, NULL));
    cute_linker_destroy(linker);
    CHECK_INT(open_descriptors(), before);
}

static void *link_often(void *context)
{
    int *good = context;
    for (int i = 0; i < 8; i++) {
        cute_linker *linker = open_linker(NULL);
        cute_linker_add(linker, "k.ptx", text, strlen(text), NULL);
        *good += links(linker, NULL);
        cute_linker_destroy(linker);
    }
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    int good[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, link_often, &good[i]) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) CHECK_INT(good[i], 8);
}

int main(void)
{
    if (!make_toolkit()) return 1;
    TEST("options go by the names of cute-link, and wrong ones change nothing", test_options);
    TEST("no descriptor is left open", test_descriptors);
    TEST("several threads link at once, and no program gets the files of another", test_threads);
    char command[160];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command) != 0) return 1;
    return test_finish();
}
