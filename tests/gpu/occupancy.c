/* Occupancy as cute/occupancy.h computes it against the driver's: every kernel of the cubins that are named, 50 launches each.
 * Prints how many clusters the driver has of each size with 1 to 4 blocks on a multiprocessor, each kind of difference with its first
 * case and how often there is one, and "N equal, M differ", the same for clusters. Exit code 1 where something differs, 3 without a
 * GPU. */
#include <cute/device.h>
#include <cute/occupancy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHAPES = 50,
    KINDS = 100,
    MOST_GPCS = 16,
    MOST_TPCS = 9,
    MOST_CLUSTER = 16,
    MOST_BLOCKS = 4,
    KIB = 1024
};

typedef struct tally {
    long equal, differ;
} tally;

/* Differences with the same numbers, and the first of them. */
typedef struct kind {
    const char *what;
    int64_t blocks, cluster; /* on a multiprocessor, as the driver says; of a cluster */
    int64_t ours, driver;
    long times;
    char example[200];
} kind;

typedef struct gpu {
    cute_device *device;
    const cute_device_info *info;
    cute_diag *diag;
    int64_t gpcs[MOST_GPCS]; /* multiprocessors of each, as clusters show them */
    size_t gpc_count;
    bool asked; /* the driver, for them */
    tally blocks, clusters;
    kind kinds[KINDS];
    size_t kind_count;
} gpu;

static void say(gpu *g, const char *what)
{
    char *text = cute_diag_render(g->diag, CUTE_DIAG_TEXT, false);
    fprintf(stderr, "%s\n%s", what, text ? text : "");
    free(text);
    cute_diag_clear(g->diag);
}

static void *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    *length = 0;
    for (size_t room = 1 << 16; file; room *= 2) {
        char *more = realloc(bytes, room);
        if (!more) abort();
        bytes = more;
        *length += fread(bytes + *length, 1, room - *length, file);
        if (*length < room) break;
    }
    if (file) fclose(file);
    return bytes;
}

static cute_device_launch launch_of(int64_t threads, int64_t dynamic, int64_t cluster)
{
    cute_device_launch l = {.size = sizeof l,
                            .grid = {cluster ? cluster * 64 : 64, 1, 1},
                            .block = {threads, 1, 1},
                            .dynamic_smem = dynamic};
    if (cluster) l.cluster[0] = cluster, l.cluster[1] = l.cluster[2] = 1;
    return l;
}

/* ---- the GPCs of this GPU ---- */

/* Sizes from the largest down, in pairs of multiprocessors, so that clusters of k blocks are as many as were seen. */
static bool fill_gpcs(gpu *g, const int64_t seen[17], size_t at, int64_t left, int64_t largest)
{
    if (left == 0) {
        for (int64_t k = 1; k <= 16; k++) {
            int64_t sum = 0;
            for (size_t i = 0; i < at; i++) sum += g->gpcs[i] / k;
            if (seen[k] >= 0 && sum != seen[k]) return false;
        }
        g->gpc_count = at;
        return true;
    }
    for (int64_t size = largest < left ? largest : left; size >= 2 && at < MOST_GPCS; size -= 2) {
        if (size % 2) size--;
        g->gpcs[at] = size;
        if (size >= 2 && fill_gpcs(g, seen, at + 1, left - size, size)) return true;
    }
    return false;
}

/* Clusters of `cluster` blocks of a warp that leave room for `blocks` on a multiprocessor. -1: the driver does not tell. */
static int64_t ask_clusters(gpu *g, cute_device_function *function, int64_t fixed, int64_t blocks,
                            int64_t cluster)
{
    const cute_device_info *info = g->info;
    int64_t room = info->shared_multiprocessor / blocks / KIB * KIB - info->shared_reserved, found = -1, fit;
    cute_device_launch l =
        launch_of(32, (room < info->shared_optin ? room : info->shared_optin) - fixed, cluster);
    if (cute_device_occupancy(g->device, function, &l, &fit, &found, g->diag) == CUTE_OK && fit == blocks)
        return found;
    cute_diag_clear(g->diag);
    return -1;
}

/* With one block on a multiprocessor the number of clusters of each size tells how large the GPCs are. */
static void find_gpcs(gpu *g, cute_device_function *function, int64_t fixed)
{
    int64_t seen[MOST_BLOCKS + 1][MOST_CLUSTER + 1];
    bool any = false;
    for (int64_t blocks = 1; blocks <= MOST_BLOCKS; blocks++)
        for (int64_t k = 1; k <= MOST_CLUSTER; k++) {
            seen[blocks][k] = ask_clusters(g, function, fixed, blocks, k);
            any = any || seen[blocks][k] > 0;
        }
    if (!any || !fill_gpcs(g, seen[1], 0, g->info->multiprocessors, 2 * MOST_TPCS)) g->gpc_count = 0;
    printf("# %lld multiprocessors, GPCs of", (long long)g->info->multiprocessors);
    for (size_t i = 0; i < g->gpc_count; i++) printf(" %lld", (long long)g->gpcs[i]);
    printf("%s\n# clusters by the driver and (where others) by cute/occupancy.h, with 1 to %d blocks on a "
           "multiprocessor\n",
           g->gpc_count ? " multiprocessors" : " which sizes is not known", MOST_BLOCKS);
    for (int64_t k = 1; k <= MOST_CLUSTER; k++) {
        printf("# of %2lld:", (long long)k);
        for (int64_t blocks = 1; blocks <= MOST_BLOCKS; blocks++) {
            int64_t ours = 0;
            for (size_t i = 0; i < g->gpc_count; i++)
                if (g->gpcs[i] >= k) ours += g->gpcs[i] * blocks / k;
            printf(" %5lld", (long long)seen[blocks][k]);
            if (ours != seen[blocks][k]) printf(" (%lld)", (long long)ours);
        }
        printf("\n");
    }
}

/* ---- comparing ---- */

static void count(gpu *g, tally *t, const kind *got, const char *kernel, const cute_occupancy_input *in)
{
    size_t i = 0;
    if (got->ours == got->driver) {
        t->equal++;
        return;
    }
    t->differ++;
    while (i < g->kind_count && (strcmp(g->kinds[i].what, got->what) || g->kinds[i].blocks != got->blocks ||
                                 g->kinds[i].cluster != got->cluster || g->kinds[i].ours != got->ours ||
                                 g->kinds[i].driver != got->driver))
        i++;
    if (i == KINDS) return;
    if (i == g->kind_count) {
        g->kinds[g->kind_count++] = *got;
        snprintf(g->kinds[i].example, sizeof g->kinds[i].example,
                 "%s, %lld threads, %lld registers, %lld + %lld bytes, %lld barriers", kernel,
                 (long long)in->threads, (long long)in->registers, (long long)in->static_smem,
                 (long long)in->dynamic_smem, (long long)in->barriers);
    }
    g->kinds[i].times++;
}

static void print_kinds(const gpu *g)
{
    for (size_t i = 0; i < g->kind_count; i++) {
        const kind *k = &g->kinds[i];
        printf("%lld %s with %lld blocks on a multiprocessor", (long long)k->ours, k->what,
               (long long)k->blocks);
        if (k->cluster) printf(" in clusters of %lld", (long long)k->cluster);
        printf(", the driver says %lld: %ld times, first %s\n", (long long)k->driver, k->times, k->example);
    }
    if (g->kind_count == KINDS) printf("and perhaps others: no more than %d kinds are kept\n", KINDS);
}

static void compare(gpu *g, cute_device_function *function, const char *name, cute_occupancy_input in,
                    int64_t cluster)
{
    cute_occupancy ours = {.size = sizeof ours};
    int64_t blocks, clusters;
    cute_device_launch l = launch_of(in.threads, in.dynamic_smem, cluster);
    in.cluster = cluster;
    in.gpcs = g->gpc_count ? g->gpcs : NULL;
    in.gpc_count = g->gpc_count;
    if (cute_occupancy_compute(&in, &ours, g->diag) != CUTE_OK) return say(g, name);
    if (cute_device_occupancy(g->device, function, &l, &blocks, &clusters, g->diag) != CUTE_OK) {
        g->blocks.differ++;
        return say(g, name);
    }
    count(g, &g->blocks, &(kind){"blocks", blocks, cluster, ours.blocks, blocks, 0, ""}, name, &in);
    if (cluster && g->gpc_count && clusters >= 0)
        count(g, &g->clusters, &(kind){"clusters", blocks, cluster, ours.clusters, clusters, 0, ""}, name,
              &in);
}

/* Sizes of blocks that are whole warps and not, shared memory at and beside its granules and its end. */
static void compare_kernel(gpu *g, const cute_module *module, cute_device_module *loaded,
                           const cute_kernel *k)
{
    static const int64_t threads[] = {1,   31,  32,  33,  64,  96,  128,  160, 192,
                                      256, 320, 384, 512, 640, 768, 1000, 1024};
    static const int64_t clusters[] = {2, 3, 4, 8};
    enum { THREADS = sizeof threads / sizeof *threads, CLUSTERS = sizeof clusters / sizeof *clusters };
    cute_occupancy_input in = {.size = sizeof in};
    cute_function_info info = {.size = sizeof info};
    cute_device_function *function;
    if (cute_device_get_function(g->device, loaded, k->name, &function, g->diag) != CUTE_OK ||
        cute_device_function_info(g->device, function, &info, g->diag) != CUTE_OK ||
        cute_occupancy_of_kernel(module, k, &in, g->diag) != CUTE_OK) {
        g->blocks.differ++;
        return say(g, k->name);
    }
    if (in.registers != info.registers || in.static_smem != info.static_smem)
        printf("# %s: the driver has %lld registers and %lld bytes, the cubin %lld and %lld\n", k->name,
               (long long)info.registers, (long long)info.static_smem, (long long)in.registers,
               (long long)in.static_smem);
    int64_t room = g->info->shared_optin - in.static_smem, fixed = in.cluster;
    if (!g->asked && g->info->clusters && !fixed) {
        find_gpcs(g, function, in.static_smem);
        g->asked = true;
    }
    for (int i = 0; i < SHAPES; i++) {
        const int64_t sizes[] = {0,         1,        1024,     1025,           4000,      16 * KIB,
                                 40 * KIB,  48 * KIB, 56 * KIB, 75 * KIB + 512, 100 * KIB, 112 * KIB,
                                 113 * KIB, room - 1, room,     room + 1};
        in.threads = threads[(i * 7 + i / THREADS) % THREADS];
        in.dynamic_smem = sizes[(size_t)i * 5 % (sizeof sizes / sizeof *sizes)];
        if (in.threads > info.threads_limit) in.threads = info.threads_limit;
        if (in.dynamic_smem < 0) in.dynamic_smem = 0;
        int64_t cluster = !g->info->clusters ? 0 : fixed ? fixed : i % 2 ? clusters[i / 2 % CLUSTERS] : 0;
        compare(g, function, k->name, in, cluster);
    }
}

int main(int argc, char **argv)
{
    gpu g = {.diag = cute_diag_create()};
    if (cute_device_open("cuda", &g.device, g.diag) != CUTE_OK) {
        say(&g, "no GPU");
        return 3;
    }
    g.info = cute_device_get_info(g.device);
    for (int i = 1; i < argc; i++) {
        size_t length;
        void *bytes = read_file(argv[i], &length);
        cute_module *module = NULL;
        cute_device_module *loaded = NULL;
        if (!bytes || cute_module_open(argv[i], bytes, length, g.info->arch, &module, g.diag) != CUTE_OK ||
            cute_device_load(g.device, argv[i], bytes, length, &loaded, g.diag) != CUTE_OK) {
            g.blocks.differ++;
            say(&g, argv[i]);
        }
        for (size_t k = 0; loaded && k < cute_module_kernel_count(module); k++)
            compare_kernel(&g, module, loaded, cute_module_kernel(module, k));
        if (loaded) cute_device_unload(g.device, loaded, g.diag);
        cute_module_close(module);
        free(bytes);
    }
    print_kinds(&g);
    printf("%ld equal, %ld differ\n", g.blocks.equal, g.blocks.differ);
    printf("clusters: %ld equal, %ld differ\n", g.clusters.equal, g.clusters.differ);
    cute_device_close(g.device);
    cute_diag_destroy(g.diag);
    return g.blocks.differ || g.clusters.differ;
}
