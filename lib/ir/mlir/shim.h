/* Functionality that MLIR's C API lacks: passes in C with typed options, named pipelines, the mlir-opt
 * driver, dialect conversions and queries. Implemented in shim.cpp, pipelines.cpp and conversions.cpp. */
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
    unsigned dialects; /* whose operations, types or attributes it creates: bits of cute_dialect_set */
    void (*run)(MlirOperation root, cute_pass_run *run);
    const void *user; /* for `run`: see cute_pass_user */
} cute_pass;

void cute_pass_register(const cute_pass *pass);

/* Whether a pass or pipeline of this name is registered. */
bool cute_pass_is_known(const char *name);

int64_t cute_pass_int(const cute_pass_run *run, int option); /* BOOL or INT */
MlirStringRef cute_pass_text(const cute_pass_run *run, int option);
const void *cute_pass_user(const cute_pass_run *run);
/* Marks the pass as failed; it has already emitted an error. */
void cute_pass_fail(cute_pass_run *run);
/* Reports that the IR is unchanged: analyses are preserved, and it is not verified again. */
void cute_pass_unchanged(cute_pass_run *run);
/* Marks the pass as failed or unchanged, where it is. */
static inline void cute_pass_end(cute_pass_run *run, bool failed, bool changed)
{
    if (failed)
        cute_pass_fail(run);
    else if (!changed)
        cute_pass_unchanged(run);
}
/* Writes requested output of a pass to standard error. */
void cute_pass_print(cute_pass_run *run, MlirStringRef text);
/* Whether remarks (applied or missed) are enabled for this pass. */
bool cute_pass_wants_remarks(const cute_pass_run *run);
/* Emits a remark at `location` if remarks are enabled. */
void cute_pass_remark(const cute_pass_run *run, MlirLocation location, const char *format, ...)
    CUTE_PRINTF(3, 4);
/* Runs a pipeline (`canonicalize,cse`) on `op`: the operation of this pass, or one nested in it. Its
 * dependent dialects must be those of this pass. */
bool cute_pass_run_pipeline(cute_pass_run *run, const char *pipeline, MlirOperation op);
/* Notes that the pass has run on its operation, until the end of the pipeline; whether the pass `name` has. */
void cute_pass_note_run(cute_pass_run *run);
bool cute_pass_has_run(cute_pass_run *run, const char *name);
/* Whether the pass has failed so far. */
bool cute_pass_has_failed(const cute_pass_run *run);

/* ---- pipelines (pipelines.cpp) ---- */

/* A named pipeline. Its pointers must live as long as the process. */
typedef struct cute_pipeline {
    int id;           /* for use by `text` */
    const char *name; /* cute-full-lowering */
    const char *help;
    const cute_pass_option *options;
    int option_count;
    bool on_module; /* anchored on builtin.module */
    /* Returns the textual pipeline for these option values, to be freed; NULL after an error. */
    char *(*text)(const struct cute_pipeline *pipeline, const char *const *values, cute_diag *diag);
    const char *user; /* for use by `text` */
} cute_pipeline;

/* Copies `pipeline`. An unknown option is an error that lists the known ones. */
void cute_pipeline_register(const cute_pipeline *pipeline);
/* Normalizes a textual pipeline for MLIR's parser: removes comments (`// ...`), nests passes on gpu.module
 * or func.func that are directly in a builtin.module, and replaces print-ir{print-after-all} by print-ir,
 * setting *prints. To be freed. */
char *cute_pipeline_text(const char *text, bool *prints);
/* NULL if `text` is a list of passes for a builtin.module, else MLIR's reason, to be freed. */
char *cute_pipeline_check(const char *text);
/* The expanded pipeline of `text` for a builtin.module, one pass with its options per line, in a form that
 * MLIR parses again; to be freed. NULL after an error on stderr. */
char *cute_pipeline_print(const char *text);

/* ---- mlir-opt's driver ---- */

/* Values of the driver's own options. Strings live until the next call. */
typedef struct cute_opt_command {
    const char *input;  /* "-": standard input */
    const char *output; /* "-": standard output */
    cute_diag_format format;
    const char *source_map; /* "auto", "on" or "off" */
    const char *log_level;  /* NULL: not given */
    const char *remarks;    /* see cute_pass_manager_remarks */
    const char *warn;       /* see cute_warnings_as_remarks */
    bool timing;
    bool print_params;          /* print the input's parameters instead of running */
    const char *print_pipeline; /* print this pipeline instead of running; NULL: run */
    const char *const *defines; /* NAME=VALUE */
    intptr_t define_count;
    const char *const *folders; /* -I */
    intptr_t folder_count;
} cute_opt_command;

/* Declares all options, then parses. For --help (followed by `more_help`, which must stay alive) and
 * --version it prints and exits the process, as LLVM does. False after an invalid command line, with a
 * message on stderr. Call once per process. */
bool cute_opt_parse(int argc, char **argv, const char *version, const char *more_help,
                    MlirDialectRegistry registry, cute_opt_command *out);
/* Callbacks of a run. */
typedef struct cute_opt_hooks {
    void (*begin)(MlirContext made, void *context);                 /* before parsing */
    void (*parsed)(MlirOperation root, void *context);              /* before the passes */
    void (*write)(const char *bytes, size_t length, void *context); /* the whole output */
    /* Optional; called after `write` for each operation of the text, with its line (from 1); `entry` is
     * its first block, or null. Not called if the text contains locations. */
    void (*printed)(unsigned line, MlirLocation location, MlirBlock entry, void *context);
    void *context;
    const char *remarks; /* see cute_opt_command */
} cute_opt_hooks;
/* Runs the command line on `text`, named `label` in locations. False after an error. Options for MLIR
 * tests (such as -verify-diagnostics) use MLIR's own driver, which prints diagnostics to stderr and calls
 * `write` only. */
bool cute_opt_run(MlirStringRef label, MlirStringRef text, MlirDialectRegistry registry,
                  const cute_opt_hooks *hooks);

/* ---- conversions ---- */

/* Registers the translations to LLVM IR, for gpu-module-to-binary and mlirTranslateModuleToLLVMIR. */
void cute_translations_insert(MlirDialectRegistry registry);
/* Converts device and host code of a module to llvm and nvvm: arith, cf, func, gpu, math, memref, scf, ub,
 * and dialects with a ConvertToLLVM interface. False after an error. */
bool cute_convert_to_llvm(MlirOperation module);

/* Lowers scf in `op` to branches with upstream's patterns, in linear time. False after an error. */
bool cute_lower_loops(MlirOperation op);
/* Converts block arguments of non-LLVM types in each llvm.func at or in `op`, and inserts casts. */
void cute_lower_block_arguments(MlirOperation op);
/* Lowers vector reductions, scans and masked transfers in `op` to operations that convert-vector-to-llvm
 * supports. False after an error. */
bool cute_lower_vectors(MlirOperation op);

/* ---- queries missing in the C interface ---- */

/* Parses text or bytecode, named `label` in locations, wrapping it in a module if necessary. Null on
 * failure. */
MlirModule cute_module_parse(MlirContext context, MlirStringRef text, MlirStringRef label);
/* The same without verification, for a part of a module, which may name symbols of other parts. */
MlirModule cute_module_parse_part(MlirContext context, MlirStringRef text, MlirStringRef label);
/* Whether the type is an LLVM dialect compatible type. */
bool cute_type_is_llvm(MlirType type);
/* Whether the operation has no memory effects. */
bool cute_op_is_effect_free(MlirOperation op);
/* Whether it has no memory effects and no uses. */
bool cute_op_is_dead(MlirOperation op);
/* Emits an error at `location`. Unlike MLIR's C function it copies the text, which MLIR may print later
 * when passes run in parallel. */
void cute_emit_error(MlirLocation location, const char *text);
void cute_emit_warning(MlirLocation location, const char *text);
/* The same with notes at other locations; a warning unless `error`. */
typedef struct cute_emit_note {
    MlirLocation location;
    const char *text;
} cute_emit_note;
void cute_emit_with_notes(MlirLocation location, bool error, const char *text, const cute_emit_note *notes,
                          size_t count);
/* An identifier in a parsed text: a value, an operation or a type alias. Offsets are in bytes. */
typedef struct cute_parsed_mark {
    size_t offset, length;
    size_t definition, definition_length; /* 0: not known */
    MlirType type;                        /* of a value or an alias; null of an operation */
    MlirValue value;                      /* null of an alias or an operation */
} cute_parsed_mark;
/* cute_module_parse that also calls `visit` (optional) for each identifier of a valid module. */
MlirModule cute_module_parse_marked(MlirContext context, MlirStringRef text, MlirStringRef label,
                                    void (*visit)(const cute_parsed_mark *mark, void *user), void *user);
/* Calls `visit` with the name of each operation of the loaded dialects, sorted by name. */
void cute_operations_visit(MlirContext context, void (*visit)(MlirStringRef name, void *user), void *user);
/* The file, line and column of `location`, looking through names, fusions and calls; false if it has none. */
bool cute_location_place(MlirLocation location, MlirStringRef *file, unsigned *line, unsigned *column);
/* The form of a location apart from its file position: PLAIN, only a position; NAMED, a name
 * (loc("x"("f":1:2))); OTHER, its text without `loc(...)`, with the character `hole` for the position (0:
 * the complete text). *text is to be freed. */
typedef enum cute_location_kind {
    CUTE_LOCATION_PLAIN,
    CUTE_LOCATION_NAMED,
    CUTE_LOCATION_OTHER
} cute_location_kind;
cute_location_kind cute_location_form(MlirLocation location, char hole, MlirStringRef *name, char **text);
/* The inverse of cute_location_form; `place` if the text is invalid. */
MlirLocation cute_location_of_form(MlirLocation place, char hole, const char *text);
/* The outermost name of a NameLoc, or an empty string. */
MlirStringRef cute_location_name(MlirLocation location);
/* The location of a block argument, or of an operation's result. */
MlirLocation cute_argument_location(MlirValue value);
void cute_op_set_location(MlirOperation op, MlirLocation location);
/* Renames a symbol and its uses within `from`, an enclosing operation. */
void cute_symbol_rename(MlirOperation symbol, MlirStringRef name, MlirOperation from);
/* An operation or block argument with a location. */
typedef struct cute_placed {
    unsigned owner;    /* for an argument of an entry block: the line of the operation; otherwise 0 */
    intptr_t argument; /* its index; otherwise -1 */
    bool function;     /* the operation is a function */
} cute_placed;
/* Replaces the location of each operation under `root` and of each block argument that is in `file` by the
 * result of `move`. names_only: function arguments only. */
typedef MlirLocation (*cute_relocate)(MlirLocation old, unsigned line, unsigned column,
                                      const cute_placed *what, void *context);
void cute_locations_replace(MlirOperation root, MlirStringRef file, bool names_only, cute_relocate move,
                            void *context);
/* Prints `op` as cute_opt_run does; calls only `write` and `printed` of the hooks. `locations`: print
 * locations in the text and do not call `printed`. `verified`: `op` is known to be valid. */
size_t cute_print_placed(MlirOperation op, bool locations, bool verified, const cute_opt_hooks *hooks);
/* Calls `visit` after each pass of `manager`, including a failing one, until a pass leaves an invalid
 * module. `context` must outlive the run. */
typedef struct cute_passed {
    bool failed;  /* the pass, or the verifier after it; an error was emitted */
    bool changed; /* its operation changed (attributes and types included), or it ran other passes */
    bool nested;  /* on a nested operation, or run by another pass */
    double seconds;
} cute_passed;
typedef void (*cute_after_pass)(const char *pass, const cute_passed *done, void *context);
void cute_pass_manager_observe(MlirPassManager manager, cute_after_pass visit, void *context);
/* Enables remarks of our passes in `manager`: those in the comma-separated list `passes` ("": all; NULL:
 * none). CUTE_USAGE for an unknown pass. */
cute_status cute_pass_manager_remarks(MlirPassManager manager, const char *passes, cute_diag *diag);
/* Whether this list enables the remarks of a pass. */
bool cute_remarks_wanted(const char *passes, const char *pass);

/* ---- fatal errors ---- */

/* Calls `handler` with LLVM's message before LLVM aborts the process; it may longjmp. Once per process. */
void cute_llvm_on_fatal(void (*handler)(const char *reason));

#ifdef __cplusplus
}
#endif
#endif
