/* Plugins: shared libraries that add passes, pipelines, operations, checks of the emulator, performance findings and reductions to
 * the programs (--load-plugin=libmine.so), built against this header alone. docs/plugins.md has examples.
 *
 * A plugin exports one constant, cute_plugin_info, whose lists are tables of rows. It links neither libcute nor MLIR: the program
 * that loads it exports MLIR's C interface (mlir-c/...) and hands over the tables of functions below. Compilers (cute-opt, cute-ptx,
 * cute-lsp) use passes, pipelines, steps and operations; cute-run and cute-dump use checks, findings and reductions. Each ignores
 * the other's rows, so one library may have both.
 *
 * Names are copied by nobody: rows and their texts must live as long as the plugin, which is never unloaded. */
#ifndef CUTE_PLUGIN_H
#define CUTE_PLUGIN_H

#include "cute/base.h"

/* The headers of the program's MLIR, if the plugin includes them: before this one, so that the version is recorded. */
#ifdef MLIR_C_IR_H
#include <llvm/Config/llvm-config.h>
#define CUTE_PLUGIN_MLIR LLVM_VERSION_MAJOR
#else
#define CUTE_PLUGIN_MLIR 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A program accepts plugins of its major version and of no later minor version. Minor versions only add fields at the ends of
 * structs. */
#define CUTE_PLUGIN_MAJOR 1
#define CUTE_PLUGIN_MINOR 0

/* Structs of mlir-c/IR.h. */
struct MlirOperation;
struct MlirLocation;
struct MlirValue;
struct MlirType;
struct MlirNamedAttribute;

/* ---- compilers: passes ---- */

typedef struct cute_pass_run cute_pass_run; /* one run of a pass on one operation */

typedef enum cute_plugin_option_kind {
    CUTE_PLUGIN_BOOL, /* initial is "true" or "false" */
    CUTE_PLUGIN_INT,
    CUTE_PLUGIN_TEXT,
} cute_plugin_option_kind;

typedef struct cute_plugin_option {
    const char *name; /* as in my-pass{name=value} */
    cute_plugin_option_kind kind;
    const char *initial; /* the default as text; NULL: false, 0 or "" */
    const char *help;
} cute_plugin_option;

typedef struct cute_plugin_pass {
    const char *name; /* my-pass */
    const char *help;
    const char *anchor; /* the operation it runs on, such as "gpu.module"; NULL: any */
    const cute_plugin_option *options;
    size_t option_count;
    const char
        *dialects; /* dialects of the operations that it makes, as "arith,gpu"; NULL: those in its input */
    /* Functions run on several threads at once, on different operations. `requires` is called before, `ensures` after `run`;
     * where they return false the pass fails, with an error that names it unless they made one. Both may be NULL. */
    bool (*requires_)(struct MlirOperation root, cute_pass_run *run);
    void (*run)(struct MlirOperation root, cute_pass_run *run);
    bool (*ensures)(struct MlirOperation root, cute_pass_run *run);
    /* Passes of plugins that have to run before, as "mine-shapes,mine-types"; NULL: none. Those that the pipeline has not run on this
     * operation are run first. */
    const char *needs;
} cute_plugin_pass;

/* A named pipeline: a textual list of passes for a builtin.module. */
typedef struct cute_plugin_pipeline {
    const char *name, *help, *passes;
} cute_plugin_pipeline;

/* Passes that are added to a pipeline of the program, such as cute-full-lowering, which cute-ptx runs. */
typedef struct cute_plugin_step {
    const char *pipeline;
    const char *before,
        *after; /* one of them: before the first, or after the last run of this pass; the other is NULL */
    const char *passes; /* "my-pass{count=2}", for a builtin.module */
} cute_plugin_step;

/* ---- compilers: operations ---- */

enum { CUTE_PLUGIN_ANY = -1 };

/* An operation of a new dialect. It is written `%r = mine.scale %a, %b {factor = 2} : (f32, f32) -> f32`, followed by its regions,
 * or in MLIR's generic form. Counts are CUTE_PLUGIN_ANY where any number is valid. Passes of MLIR assume that it may have any
 * effect. */
typedef struct cute_plugin_operation {
    const char *name; /* mine.scale */
    const char *help;
    int operands, results, regions, successors;
    const char *attributes; /* required attributes, as "factor,mode"; NULL: none */
    /* After the counts and attributes are verified; makes an error and returns false. May be NULL. */
    bool (*verify)(struct MlirOperation op);
} cute_plugin_operation;

/* ---- functions of a compiler, in addition to mlir-c ---- */

typedef struct cute_compiler_host {
    size_t size;
    /* The value of an option: BOOL or INT; TEXT, which lives until the pass ends. 0 and NULL for other names. */
    int64_t (*option_int)(const cute_pass_run *run, const char *name);
    const char *(*option_text)(const cute_pass_run *run, const char *name);
    /* Ends the pass with a failure, after an error. */
    void (*fail)(cute_pass_run *run);
    /* States that the operation was not changed, so it is not verified again. */
    void (*unchanged)(cute_pass_run *run);
    /* Runs a list of passes on `op`, which is the pass's operation or inside of it. False: it failed. */
    bool (*run_passes)(cute_pass_run *run, const char *passes, struct MlirOperation op);
    /* Messages at a location, with the source line and a caret; a remark only with --remarks. */
    void (*error)(struct MlirLocation location, const char *format, ...) CUTE_PRINTF(2, 3);
    void (*warning)(struct MlirLocation location, const char *format, ...) CUTE_PRINTF(2, 3);
    void (*remark)(const cute_pass_run *run, struct MlirLocation location, const char *format, ...)
        CUTE_PRINTF(3, 4);
    /* Calls `visit` for each operation named `name` (NULL: all) at or in `root`, outer ones first. It may erase its operation. */
    void (*each)(struct MlirOperation root, const char *name,
                 void (*visit)(struct MlirOperation op, void *context), void *context);
    /* Makes an operation without regions before `op`, at its location; results of `types`, NULL with 0: none. */
    struct MlirOperation (*build)(struct MlirOperation op, const char *name, const struct MlirValue *operands,
                                  intptr_t operand_count, const struct MlirType *types, intptr_t type_count,
                                  const struct MlirNamedAttribute *attributes, intptr_t attribute_count);
    /* Replaces the results of `op` by as many values, and erases it. */
    void (*replace)(struct MlirOperation op, const struct MlirValue *values, intptr_t count);
} cute_compiler_host;

/* ---- cute-run: checks of the emulator ---- */

typedef enum cute_check_space { CUTE_SPACE_SHARED, CUTE_SPACE_GLOBAL, CUTE_SPACE_LOCAL } cute_check_space;
typedef enum cute_check_kind { CUTE_KIND_READ, CUTE_KIND_WRITE, CUTE_KIND_ATOMIC } cute_check_kind;

/* Synchronisation of a warp; `a` and `b` of the event are in brackets. */
typedef enum cute_check_event_kind {
    CUTE_EVENT_BEGIN = 0,            /* the warp's cluster starts */
    CUTE_EVENT_FENCE = 1,            /* fence, membar */
    CUTE_EVENT_PROXY_FENCE = 2,      /* fence.proxy.async */
    CUTE_EVENT_WARP_SYNC = 3,        /* bar.warp.sync [members] */
    CUTE_EVENT_WARP_EXCHANGE = 4,    /* shuffle, vote and the like [members] */
    CUTE_EVENT_BARRIER_ARRIVE = 5,   /* [barrier, number of threads; 0: all] */
    CUTE_EVENT_BARRIER_COMPLETE = 6, /* [barrier] */
    CUTE_EVENT_BARRIER_EXIT = 7,     /* [barrier] */
    CUTE_EVENT_CLUSTER_ARRIVE = 8,
    CUTE_EVENT_CLUSTER_COMPLETE = 9,
    CUTE_EVENT_CLUSTER_EXIT = 10,
    CUTE_EVENT_MBARRIER_INIT = 11,   /* [shared address] */
    CUTE_EVENT_MBARRIER_ARRIVE = 12, /* [shared address, bytes expected (> 0) or arrived (< 0)] */
    CUTE_EVENT_MBARRIER_PHASE = 13,  /* [shared address] a phase is complete */
    CUTE_EVENT_MBARRIER_PASS = 14,   /* [shared address] a wait succeeded */
    CUTE_EVENT_COMMIT_GROUP = 15,
    CUTE_EVENT_WAIT_GROUP = 16,
    CUTE_EVENT_EXIT = 17, /* the lanes exit */
    CUTE_EVENT_END = 18,  /* the grid has ended, or failed */
} cute_check_event_kind;

typedef struct cute_check_run cute_check_run; /* one launch */

/* The instruction that executes. */
typedef struct cute_check_at {
    size_t size;
    uint32_t inst;           /* its index in the program; UINT32_MAX: none causes the event */
    const char *instruction; /* its opcode, "ld"; NULL: none */
    const char *file;        /* its source line; NULL: the PTX has no .loc */
    uint32_t line, column, ptx_line;
    uint32_t block[3], warp; /* the block's index in the grid; the warp's in the block */
    uint32_t lanes;          /* the active lanes, a bit for each */
} cute_check_at;

/* An access of one lane, before it is made. */
typedef struct cute_check_access {
    size_t size;
    int lane; /* -1: of the whole warp, or asynchronous */
    cute_check_space space;
    cute_check_kind kind;
    uint32_t bytes;
    uint64_t address;
} cute_check_access;

typedef struct cute_check_event {
    size_t size;
    cute_check_event_kind kind;
    uint64_t a, b;
} cute_check_event;

typedef struct cute_check_launch {
    size_t size;
    const char *kernel;
    uint32_t grid[3], block[3], cluster[3];
    /* Zeroed memory that is released after the launch; NULL when memory is exhausted. */
    void *(*alloc)(cute_check_run *run, size_t size);
    /* Reports finding `row` of the check at the instruction of the current callback, for a lane or (-1) the warp. Repeated findings
     * of one instruction are counted, and the text of the first is kept. Call it within access, event or step. */
    void (*find)(cute_check_run *run, size_t row, int lane, const char *format, ...) CUTE_PRINTF(4, 5);
} cute_check_launch;

typedef struct cute_plugin_check_finding {
    const char *code;       /* X and four digits, such as "X0101" */
    cute_severity severity; /* CUTE_ERROR or CUTE_WARNING */
    const char *reason;     /* of a warning: why it is no error */
} cute_plugin_check_finding;

/* A check, selected by --check=NAME or --check=all. Functions other than `begin` may be NULL. */
typedef struct cute_plugin_check {
    const char *name, *help;
    const cute_plugin_check_finding *findings;
    size_t finding_count;
    /* Before a launch: the state that is passed to the others; NULL: memory is exhausted. */
    void *(*begin)(const cute_check_launch *launch, cute_check_run *run);
    void (*access)(void *state, const cute_check_launch *launch, cute_check_run *run, const cute_check_at *at,
                   const cute_check_access *access);
    void (*event)(void *state, const cute_check_launch *launch, cute_check_run *run, const cute_check_at *at,
                  const cute_check_event *event);
    void (*step)(void *state, const cute_check_launch *launch, cute_check_run *run,
                 const cute_check_at *at); /* before each instruction */
    void (*end)(void *state, const cute_check_launch *launch, cute_check_run *run);
} cute_plugin_check;

/* ---- cute-dump explain: performance findings ---- */

typedef enum cute_explain_view { CUTE_EXPLAIN_PTX, CUTE_EXPLAIN_SASS } cute_explain_view;
typedef struct cute_explain_run cute_explain_run; /* the search in one kernel */

typedef struct cute_explain_inst {
    size_t size;
    const char *text; /* `length` bytes */
    size_t length;
    const char *file; /* NULL: unknown */
    int64_t line, ptx_line;
    double executed; /* by a warp, estimated or measured */
    double cycles;   /* of one execution, estimated */
    bool in_loop, loads, stores, global, shared;
    uint32_t width; /* bytes per lane of an access; 0: none */
} cute_explain_inst;

typedef struct cute_explain_code {
    size_t size;
    const char *kernel;
    int arch;     /* 90; 0: unknown */
    size_t count; /* instructions */
    /* `out` has its size set. False: no such instruction. */
    bool (*get)(cute_explain_run *run, size_t index, cute_explain_inst *out);
    /* The addresses of the lanes of a memory instruction, and the active lanes; false: unknown. */
    bool (*addresses)(cute_explain_run *run, size_t index, uint64_t out[32], uint32_t *active);
    /* Adds an instruction that wastes `cycles` at each execution. */
    void (*add)(cute_explain_run *run, size_t index, double cycles, const char *format, ...)
        CUTE_PRINTF(4, 5);
} cute_explain_code;

typedef struct cute_plugin_finding {
    const char *code; /* X and four digits */
    const char *name, *title, *fix;
    cute_explain_view view;
    void (*find)(const cute_explain_code *code, cute_explain_run *run);
} cute_plugin_finding;

/* ---- launch.json: reductions of expressions ---- */

/* `NAME(k, x[i,k])` in "check": starts from `initial`; `add` combines it with some values; `finish` (may be NULL) converts the total
 * of `count` values to the result. Called by several threads at once. */
typedef struct cute_plugin_reduction {
    const char *name, *help;
    double initial;
    double (*add)(double total, const double *values, size_t count);
    double (*finish)(double total, int64_t count);
} cute_plugin_reduction;

/* ---- the plugin ---- */

typedef struct cute_host {
    size_t size;
    uint32_t major, minor;              /* of the program's interface */
    const char *program, *version;      /* cute-opt, 0.1 */
    const cute_compiler_host *compiler; /* NULL: cute-run and cute-dump */
} cute_host;

/* A list of rows; `size` is sizeof a row, so that later programs can read it. */
#define CUTE_PLUGIN_LIST(type)                                                                               \
    struct type##_list {                                                                                     \
        const type *rows;                                                                                    \
        size_t count, size;                                                                                  \
    }
#define CUTE_ROWS(array) {(array), sizeof(array) / sizeof *(array), sizeof *(array)}

typedef struct cute_plugin {
    uint32_t major, minor;
    size_t size;   /* sizeof(cute_plugin) */
    uint32_t mlir; /* major version of the included MLIR headers; 0: none */
    const char *name;
    /* Receives the program's functions before any of the plugin's is called; may be NULL. */
    const cute_host **host;
    /* Called once after that; NULL, or the reason why the plugin cannot be used. May be NULL. */
    const char *(*init)(const cute_host *host);
    CUTE_PLUGIN_LIST(cute_plugin_pass) passes;
    CUTE_PLUGIN_LIST(cute_plugin_pipeline) pipelines;
    CUTE_PLUGIN_LIST(cute_plugin_step) steps;
    CUTE_PLUGIN_LIST(cute_plugin_operation) operations;
    CUTE_PLUGIN_LIST(cute_plugin_check) checks;
    CUTE_PLUGIN_LIST(cute_plugin_finding) findings;
    CUTE_PLUGIN_LIST(cute_plugin_reduction) reductions;
} cute_plugin;

/* The first four fields: `CUTE_PLUGIN cute_plugin_info = {CUTE_PLUGIN_VERSION, .name = "mine", ...};` */
#define CUTE_PLUGIN_VERSION                                                                                  \
    .major = CUTE_PLUGIN_MAJOR, .minor = CUTE_PLUGIN_MINOR, .size = sizeof(cute_plugin),                     \
    .mlir = CUTE_PLUGIN_MLIR
#define CUTE_PLUGIN const cute_plugin
extern CUTE_API const cute_plugin cute_plugin_info; /* makes it visible */

/* ---- for programs that link libcute ---- */

typedef struct cute_plugins cute_plugins;

/* Loads plugins for cute_emulator_options.plugins and cute_launch_options.plugins. CUTE_INVALID names the file and the reason. */
CUTE_API cute_status cute_plugins_open(const char *const *paths, size_t count, cute_plugins **out,
                                       cute_diag *diag);
/* NULL is allowed. The libraries stay loaded. */
CUTE_API void cute_plugins_close(cute_plugins *plugins);

#ifdef __cplusplus
}
#endif
#endif
