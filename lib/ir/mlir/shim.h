/* The doors that MLIR's C interface lacks: passes in C with typed options, mlir-opt's driver, and
 * a few queries. Implemented in shim.cpp, the only hand-written C++ besides cute.cpp. */
#ifndef CUTE_LIB_IR_MLIR_SHIM_H
#define CUTE_LIB_IR_MLIR_SHIM_H

#include <mlir-c/IR.h>
#include <mlir-c/Pass.h>
#include <mlir-c/Support.h>

#include "cute/base.h"
#include "lib/ir/mlir/dialects.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- passes ---- */

typedef enum cute_pass_option_kind {
    CUTE_PASS_BOOL,
    CUTE_PASS_INT,
    CUTE_PASS_TEXT,
} cute_pass_option_kind;

typedef struct cute_pass_option {
    const char *name; /* as in -pass="name=value" */
    cute_pass_option_kind kind;
    const char *help;
    int64_t initial;          /* of a BOOL or INT */
    const char *initial_text; /* of a TEXT; NULL: "" */
} cute_pass_option;

typedef struct cute_pass_run cute_pass_run; /* one run of a pass on one operation */

/* A pass. Lives as long as the process; `run` may be called from several threads at once on
 * different operations. */
typedef struct cute_pass {
    const char *name; /* cute-expand-ops */
    const char *help;
    const char *anchor; /* the operation it runs on; NULL: any */
    const cute_pass_option *options;
    int option_count;
    unsigned dialects; /* that it makes something of: bits of cute_dialect_set */
    void (*run)(MlirOperation root, cute_pass_run *run);
} cute_pass;

void cute_pass_register(const cute_pass *pass);

int64_t cute_pass_int(cute_pass_run *run, int option); /* BOOL or INT */
MlirStringRef cute_pass_text(cute_pass_run *run, int option);
/* The pass failed; it has emitted an error. */
void cute_pass_fail(cute_pass_run *run);
/* The pass changed nothing: what is known of the IR stays, and it is not verified again. */
void cute_pass_unchanged(cute_pass_run *run);
/* Writes to standard error what a pass was asked to show. */
void cute_pass_print(cute_pass_run *run, MlirStringRef text);
/* Whether somebody wants to know what the pass did, and what it could not do. */
bool cute_pass_wants_remarks(const cute_pass_run *run);
/* Says it at `location`, as a remark; nothing where nobody wants to know. */
void cute_pass_remark(const cute_pass_run *run, MlirLocation location, const char *format, ...)
    CUTE_PRINTF(3, 4);
/* Runs passes, as text (`canonicalize,cse`), on `op`: the operation that the pass runs on, or one inside.
 * Their dialects are the pass's own. */
bool cute_pass_run_pipeline(cute_pass_run *run, const char *pipeline, MlirOperation op);

/* ---- pipelines (pipelines.cpp) ---- */

/* A named list of passes; what it points to lives as long as the process. */
typedef struct cute_pipeline {
    int id;           /* whatever `text` wants to know */
    const char *name; /* cute-full-lowering */
    const char *help;
    const cute_pass_option *options;
    int option_count;
    bool on_module; /* it is to run on a builtin.module */
    /* What it runs where its options have these values, each as text: a pipeline that MLIR parses, to be
     * freed. NULL after an error. */
    char *(*text)(const struct cute_pipeline *pipeline, const char *const *values, cute_diag *diag);
} cute_pipeline;

/* Copied. An option that the pipeline does not have is an error that names those it has. */
void cute_pipeline_register(const cute_pipeline *pipeline);
/* `text` as MLIR parses it: comments (`// ...`) go; passes on gpu.module or func.func that stand in a builtin.module are put
 * into one of those; print-ir{print-after-all} becomes print-ir and sets *prints: the IR is to be printed after each pass. To
 * be freed. */
char *cute_pipeline_text(const char *text, bool *prints);
/* The passes of `text`, a pipeline for a builtin.module, a line each with their options, as a pipeline that
 * MLIR parses again; to be freed. NULL after an error on stderr. */
char *cute_pipeline_print(const char *text);

/* ---- mlir-opt's driver ---- */

/* What the command line said of the driver's own options. Strings live until the next call. */
typedef struct cute_opt_command {
    const char *input;  /* "-": standard input */
    const char *output; /* "-": standard output */
    cute_diag_format format;
    const char *source_map; /* "auto", "on" or "off" */
    const char *log_level;  /* NULL: not given */
    const char *remarks;    /* see cute_pass_manager_remarks */
    const char *warn;       /* see cute_warnings_as_remarks */
    bool timing;
    const char *print_pipeline; /* only print what it runs; NULL: run */
    const char *const *defines; /* NAME=VALUE */
    intptr_t define_count;
    const char *const *folders; /* -I */
    intptr_t folder_count;
} cute_opt_command;

/* Declares all options, then parses. Prints --help, with `more_help` (which is kept) behind the options, or --version and exits the process as LLVM does;
 * false after a wrong command line, its message on stderr. Call once in a process. */
bool cute_opt_parse(int argc, char **argv, const char *version, const char *more_help,
                    MlirDialectRegistry registry, cute_opt_command *out);
/* What a run asks back. */
typedef struct cute_opt_hooks {
    void (*begin)(MlirContext made, void *context);                 /* nothing was parsed yet */
    void (*parsed)(MlirOperation root, void *context);              /* before the passes */
    void (*write)(const char *bytes, size_t length, void *context); /* the whole output */
    /* NULL, or called after `write` for each operation of the text, with its line from 1; `entry` is its first
     * block, or null. Not called where the text has locations itself. */
    void (*printed)(unsigned line, MlirLocation location, MlirBlock entry, void *context);
    void *context;
    const char *remarks; /* as the command says */
} cute_opt_hooks;
/* Runs what the command line asked for on `text`, named `label` in locations. False after an error. What only
 * tests of MLIR ask for runs in MLIR's driver, which prints its diagnostics on stderr and calls `write` alone. */
bool cute_opt_run(MlirStringRef label, MlirStringRef text, MlirDialectRegistry registry,
                  const cute_opt_hooks *hooks);

/* ---- conversions ---- */

/* How the dialects become LLVM IR, for gpu-module-to-binary and mlirTranslateModuleToLLVMIR. */
void cute_translations_insert(MlirDialectRegistry registry);
/* Device and host code of a module to llvm and nvvm: arith, cf, func, gpu, math, memref, scf, ub, and what
 * else has an interface for it. False after an error. */
bool cute_convert_to_llvm(MlirOperation module);

/* scf inside of `op` as branches, by upstream's patterns; in time that grows with the operations. False after an error. */
bool cute_lower_loops(MlirOperation op);
/* In each llvm.func at or inside of `op`: arguments of blocks that are of no type of LLVM are converted, with casts around
 * them. */
void cute_lower_block_arguments(MlirOperation op);
/* Reductions, scans and masked transfers of vectors inside of `op` by the operations that convert-vector-to-llvm takes.
 * False after an error. */
bool cute_lower_vectors(MlirOperation op);

/* ---- queries missing in the C interface ---- */

/* Parses text or bytecode, named `label` in locations; what is not in a module gets one. Null on failure. */
MlirModule cute_module_parse(MlirContext context, MlirStringRef text, MlirStringRef label);
/* LLVM IR has such a type. */
bool cute_type_is_llvm(MlirType type);
/* No effect on memory: what its results are is all that it does. */
bool cute_op_is_effect_free(MlirOperation op);
/* No effect, and nothing uses its results. */
bool cute_op_is_dead(MlirOperation op);
/* An error at `location`. MLIR's own function keeps the pointer, and prints late what functions and passes say in parallel;
 * this one copies the text. */
void cute_emit_error(MlirLocation location, const char *text);
void cute_emit_warning(MlirLocation location, const char *text);
/* The same with notes at other places; a warning unless `error`. */
typedef struct cute_emit_note {
    MlirLocation location;
    const char *text;
} cute_emit_note;
void cute_emit_with_notes(MlirLocation location, bool error, const char *text, const cute_emit_note *notes,
                          size_t count);
/* A name in a parsed text: of a value, of an operation, of a type's alias. Offsets are bytes of the text. */
typedef struct cute_parsed_mark {
    size_t offset, length;
    size_t definition, definition_length; /* 0: not known */
    MlirType type;                        /* of a value or an alias; null of an operation */
} cute_parsed_mark;
/* cute_module_parse, with `visit` (NULL: none) called for each name of a module that is right. */
MlirModule cute_module_parse_marked(MlirContext context, MlirStringRef text, MlirStringRef label,
                                    void (*visit)(const cute_parsed_mark *mark, void *user), void *user);
/* Calls `visit` with the name of each operation of the dialects that are loaded, in order of the names. */
void cute_operations_visit(MlirContext context, void (*visit)(MlirStringRef name, void *user), void *user);
/* True and the place if `location` has a file, line and column (through names, fusions, calls). */
bool cute_location_place(MlirLocation location, MlirStringRef *file, unsigned *line, unsigned *column);
/* What a location says beside its place: PLAIN, nothing; NAMED, a name (loc("x"("f":1:2)));
 * OTHER, its text without the `loc(...)` around, with `hole` (0: none) for the place. Without a hole it is all text; *text is to be freed. */
typedef enum cute_location_kind {
    CUTE_LOCATION_PLAIN,
    CUTE_LOCATION_NAMED,
    CUTE_LOCATION_OTHER
} cute_location_kind;
cute_location_kind cute_location_form(MlirLocation location, char hole, MlirStringRef *name, char **text);
/* The way back from a text; `place` where it is none. */
MlirLocation cute_location_of_form(MlirLocation place, char hole, const char *text);
/* The outermost name of a NameLoc, or an empty string. */
MlirStringRef cute_location_name(MlirLocation location);
/* The location of a block argument, or of an operation's result. */
MlirLocation cute_argument_location(MlirValue value);
void cute_op_set_location(MlirOperation op, MlirLocation location);
/* Renames a symbol and what refers to it in `from`, an operation around it. */
void cute_symbol_rename(MlirOperation symbol, MlirStringRef name, MlirOperation from);
/* What has a location: an operation, or a block argument. */
typedef struct cute_placed {
    unsigned owner;    /* of an argument of an operation's first block: the operation's line; otherwise 0 */
    intptr_t argument; /* its index there; otherwise -1 */
    bool function;     /* the operation is a function */
} cute_placed;
/* Has `move` give the new location of each operation under `root` and of each block argument whose location is a
 * place in `file`. names_only: of arguments of functions alone. */
typedef MlirLocation (*cute_relocate)(MlirLocation old, unsigned line, unsigned column,
                                      const cute_placed *what, void *context);
void cute_locations_replace(MlirOperation root, MlirStringRef file, bool names_only, cute_relocate move,
                            void *context);
/* Prints `op` as cute_opt_run does; only `write` and `printed` of the hooks are called. `locations`: they stand in the
 * text, and `printed` is not called. `verified`: the printer need not ask. */
size_t cute_print_placed(MlirOperation op, bool locations, bool verified, const cute_opt_hooks *hooks);
/* Runs `visit` after each pass of `manager`, also after one that failed, up to one that leaves a module that is wrong.
 * `changed`: something in what it ran on did, attributes and types included, or it ran other passes. Kept: `context`. */
typedef struct cute_passed {
    bool failed; /* the pass, or the verifier after it, which told why */
    bool changed;
    bool nested; /* on what is inside of the module, or run by another pass */
    double seconds;
} cute_passed;
typedef void (*cute_after_pass)(const char *pass, const cute_passed *done, void *context);
void cute_pass_manager_observe(MlirPassManager manager, cute_after_pass visit, void *context);
/* Passes of ours that `manager` runs make remarks: those that `passes` names, separated by commas ("": all; NULL:
 * none). CUTE_USAGE: there is no pass of such a name. */
cute_status cute_pass_manager_remarks(MlirPassManager manager, const char *passes, cute_diag *diag);
/* Whether these names ask for the remarks of a pass. */
bool cute_remarks_wanted(const char *passes, const char *pass);

/* ---- fatal errors ---- */

/* `handler` is called before LLVM ends the process, with what it would print; it may leave by longjmp. Once in a
 * process. */
void cute_llvm_on_fatal(void (*handler)(const char *reason));

#ifdef __cplusplus
}
#endif
#endif
