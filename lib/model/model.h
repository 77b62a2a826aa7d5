/* The cost model of matrix products: the estimated time of D = A B for a problem, a configuration (tile, stages, cluster, order) and a
 * device, with its parts, and whether a block fits on a multiprocessor. Knows neither kernels nor MLIR: lib/gemm ranks its
 * configurations by it, and cute-tile-schedule those of a tile program. */
#ifndef CUTE_LIB_MODEL_MODEL_H
#define CUTE_LIB_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- devices (device.c) ---- */

/* Sustained rates of a device, in bytes a second. */
typedef struct cute_model_device {
    const char *name;
    int arch; /* compute capability */
    int64_t multiprocessors;
    double dram;        /* of device memory */
    double l2_operands; /* of operands that are in L2, each read once */
    double l2_tiles;    /* of tiles from L2, many blocks reading the same */
    int64_t resident;   /* operands of at most so many bytes are still in L2 when a product is run again */
    double clock;       /* Hz, under tensor core load */
    bool half;          /* f32 accumulation halves the tensor core rate */
} cute_model_device;

enum {
    CUTE_MODEL_SMS = 132,          /* multiprocessors of the H100 that was measured */
    CUTE_MODEL_RESIDENT = 40 << 20 /* its `resident` */
};
/* The measured H100, scaled to so many multiprocessors. */
void cute_model_measured(int64_t multiprocessors, cute_model_device *out);
/* The known device of a compute capability with the most multiprocessors, from data sheets and the measured ratios of an H100. False:
 * none is known. */
bool cute_model_device_of(int arch, cute_model_device *out);

/* ---- instructions (device.c) ---- */

typedef enum cute_model_unit {
    CUTE_MODEL_THREADS, /* threads multiply and add */
    CUTE_MODEL_MMA,     /* mma.sync */
    CUTE_MODEL_WGMMA
} cute_model_unit;
typedef enum cute_model_element {
    CUTE_MODEL_HALF, /* f16, bf16 */
    CUTE_MODEL_TF32,
    CUTE_MODEL_BYTE, /* i8 */
    CUTE_MODEL_FP8,
    CUTE_MODEL_SINGLE,
    CUTE_MODEL_DOUBLE,
    CUTE_MODEL_ELEMENTS
} cute_model_element;
/* FLOP/s of a multiprocessor that a large tile sustains; 0: unsupported, or not published. */
double cute_model_rate(const cute_model_device *device, cute_model_unit unit, cute_model_element element);

/* The same for a tile of bm by bn with rows of `row` bytes of K in a stage. `groups`: warpgroups that multiply, with wgmma. */
double cute_model_tile_rate(const cute_model_device *device, cute_model_unit unit, cute_model_element element,
                            int64_t bm, int64_t bn, int64_t row, int64_t groups);

/* ---- products ---- */

/* D(m, n) = A(m, k) B(k, n), `batch` times. */
typedef struct cute_model_problem {
    int64_t m, n, k, batch;
    int64_t bits_a, bits_b, bits_out; /* of an element in memory; a third matrix has D's */
    bool addend;                      /* a third matrix is read */
} cute_model_problem;

/* Schedule of a partial last wave of tiles. */
typedef enum cute_model_tail {
    CUTE_MODEL_WHOLE,   /* a cluster computes a whole tile; the others are idle */
    CUTE_MODEL_SPLIT,   /* the k of each tile is split among clusters */
    CUTE_MODEL_STREAM_K /* the k of the tiles of the last two waves is divided evenly among all clusters */
} cute_model_tail;
extern const char *const cute_model_tail_names[]; /* in the text of a schedule: whole, split, stream */
enum { CUTE_MODEL_TAIL_CLUSTERS = 6 };            /* most clusters that share a tile of the last wave */

typedef struct cute_model_config {
    int64_t bm, bn, bk;
    int64_t stages;               /* 1: a tile's loads, then its multiplications */
    int64_t held;                 /* stages that are read while the others are filled */
    int64_t cluster_m, cluster_n; /* blocks */
    int64_t split;                /* blocks of a cluster that split the k of a tile */
    int64_t order; /* tiles along m before the next along n; 0: operands are read from memory once */
    cute_model_tail tail;
    bool persistent;   /* resident blocks take tiles in turn */
    bool tma;          /* loads by TMA; else by threads */
    bool merged_reads; /* without a cluster along m: blocks that read the same B at a time */
    bool one_row;      /* of tiles: without a cluster along n, blocks read the same A at a time */
    int64_t resident;  /* blocks on a multiprocessor at once */
    int64_t overhead;  /* of a tile: its prologue and epilogue take as long as so many elements of k */
    double rate;       /* FLOP/s of a multiprocessor */
} cute_model_config;

/* Seconds. `seconds` is their sum, less what runs at the same time. */
typedef struct cute_model_time {
    double seconds;
    double main_loop, epilogue;      /* multiplications; prologues and epilogues of tiles */
    double operands, tiles, latency; /* reads of operands; of tiles from L2; waiting for loads in flight */
    double fixed;                    /* the launch, starts of blocks, sums among blocks */
    double dram_bytes, l2_bytes;
    int64_t blocks;
    double waves;
    const char *bound; /* the longest part, a noun */
} cute_model_time;

void cute_model_estimate(const cute_model_problem *problem, const cute_model_config *config,
                         const cute_model_device *device, cute_model_time *out);
/* Seconds of a kernel that reads and writes so many bytes once, its launch included. */
double cute_model_elementwise(const cute_model_device *device, double bytes);

/* A kernel without products, whose blocks have a tile each. */
typedef struct cute_model_traffic {
    int64_t blocks, threads; /* threads: of a block */
    int64_t registers;       /* of a thread */
    int64_t shared;          /* bytes of a block */
    double bytes;            /* of device memory, that a block reads and writes */
    double loads;            /* rounds of loads that a block waits for, one after the other */
    double barriers;         /* of a block */
    double operations;       /* of all threads of a block, on elements */
    double warp_operations;  /* of a warp, whatever the number of its elements */
} cute_model_traffic;
/* The kernel's time, bound by device memory, the latency of loads and barriers with the blocks that are resident, or instructions. `main_loop` has the
 * instructions. */
void cute_model_traffic_estimate(const cute_model_traffic *traffic, const cute_model_device *device,
                                 cute_model_time *out);

/* Elements of k, of so many bits, that take as long as the prologue and the epilogue of a tile; with `turns`, as the prologue alone, since
 * the epilogue is under the main loop of another warpgroup's tile. */
int64_t cute_model_tile_depth(bool turns, int bits);

/* 0 to 1: the rate of a tile whose operands' reads from shared memory limit it, of the rate of a tile of `best` (bm bn / (bm + bn)). */
double cute_model_intensity(int64_t bm, int64_t bn, double best);

/* ---- resources of a block ---- */

typedef struct cute_model_block {
    int64_t threads;
    int64_t registers;    /* of all threads */
    int64_t shared;       /* bytes */
    int64_t stage_bytes;  /* that an mbarrier counts; 0: none does */
    int64_t accumulators; /* 32-bit registers of a thread for sums */
} cute_model_block;

/* Registers of a thread after setmaxnreg, by the number of warpgroups that multiply: of 65,536, a warpgroup of producers
 * beside them. 0: as compiled. */
enum { CUTE_MODEL_GROUPS = 4 };
typedef struct cute_model_registers {
    int producer, consumer;
    int factor; /* of a warpgroup that computes the factor of their product; 0: there is none */
} cute_model_registers;
extern const cute_model_registers cute_model_group_registers[CUTE_MODEL_GROUPS + 1];
/* Of two warpgroups, with one for a factor. */
extern const cute_model_registers cute_model_factor_registers;

/* Blocks resident on a multiprocessor at once, at least 1. */
int64_t cute_model_resident(int arch, const cute_model_block *block);
/* False: a block is refused, with the reason in `why`. */
bool cute_model_fits(int arch, const cute_model_block *block, char *why, size_t size);

/* ---- schedules of a tile program (schedules.c) ---- */

/* The products of a tile program, and the schedules that the passes accept for it. */
typedef struct cute_model_program {
    cute_model_problem problem;
    cute_model_element element;
    cute_model_unit unit; /* of products without warpgroups */
    int64_t bm, bn, bk;
    int64_t copied;  /* bytes of a stage by cp.async: the loads of one iteration, alignment included */
    int64_t fetched; /* by TMA */
    int64_t row;     /* bytes of K in a stage's row */
    int64_t sums;    /* accumulators of 32 bits, of all threads */
    int64_t threads; /* without warpgroups */
    int64_t beside;  /* bytes of shared memory beside the stages */
    bool reuses;     /* these are in the stages that cp.async has filled, after the loop */
    bool ahead;      /* loads can be copied asynchronously */
    bool groups[5];  /* so many warpgroups can compute the products, with loads by TMA */
    bool resident;   /* blocks can take tiles in turn */
    bool splits;     /* resident clusters can split the k of a tile */
    bool cluster[2]; /* blocks along m share loads, those along n */
    bool turns;      /* two warpgroups can compute alternate tiles */
} cute_model_program;

/* In a text: "stages=4 consumers=2 cluster=2x1 persistent=1 order=8 tail=split". 0 in `stages`, `cluster` or `order`, and -1 in the
 * others: free. `tail`: a cute_model_tail. */
typedef struct cute_model_schedule {
    int stages, consumers, cluster[2], persistent, order;
    int turns; /* 1: warpgroups compute alternate tiles; 0: they share each tile */
    int tail;  /* a cute_model_tail */
} cute_model_schedule;

typedef struct cute_model_choice {
    cute_model_schedule schedule;
    cute_model_time time;
} cute_model_choice;

enum {
    CUTE_MODEL_FREE = -1,
    CUTE_MODEL_CHOICES = 512,
    CUTE_MODEL_FETCHED = 8, /* most stages that are chosen: by TMA */
    CUTE_MODEL_COPIED = 4   /* by cp.async, whose threads also multiply */
};
/* The schedules that agree with `stated` and fit, the fastest first, at most `limit`. The first may be one that is preferred, by at most
 * 0.5 % slower than the second: more warpgroups and stages, no turns, no cluster, an order of 8. What `stated` has is kept even where the passes
 * would refuse it. */
size_t cute_model_schedules(const cute_model_program *program, const cute_model_device *device,
                            const cute_model_schedule *stated, cute_model_choice *out, size_t limit);
/* The time of one. False: it does not fit, with the reason in `why`. */
bool cute_model_schedule_time(const cute_model_program *program, const cute_model_device *device,
                              const cute_model_schedule *schedule, cute_model_time *out, char *why,
                              size_t size);

#endif
