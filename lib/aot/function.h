/* The functions of a library: their parameters, and the writers of their parts. */
#ifndef CUTE_LIB_AOT_FUNCTION_H
#define CUTE_LIB_AOT_FUNCTION_H

#include "lib/aot/aot.h"
#include "lib/base/numbers/integers.h"
#include "lib/launch/plan/hostplan.h"

enum { AOT_MODES = 16 }; /* dimensions of a tensor */

/* A parameter. Its leaves, numbers in the order of docs/metadata.md, are stored in an array before the plan is evaluated. */
typedef struct aot_param {
    host_param host;
    const char *name; /* identifier */
    int64_t bytes;    /* more than 0: passed as that many bytes (unknown types, tensor maps) */
    size_t first;     /* its first leaf */
    int modes;        /* a tensor's dimensions: one for each leaf of its layout */
    cute_int extents[AOT_MODES], strides[AOT_MODES];
    int unit; /* bytes of an element; 0: unknown */
} aot_param;

/* The implementation of a function for one group of inputs. */
typedef struct aot_body {
    aot_param *params;
    host_plan plan; /* json NULL: launches `kernel` */
    const cute_kernel *kernel;
} aot_body;

typedef struct aot_function {
    const char *name;   /* in the source: "sum" */
    const char *symbol; /* "k_sum" */
    bool plan;          /* a launch plan; false: a kernel, with the launch's shape as first parameter */
    size_t param_count, leaf_count, temporary_count;
    const aot_body *bodies; /* by group */
} aot_function;

typedef struct aot_writer {
    cute_arena *arena;
    const cute_aot_input *input;
    const char *prefix, *upper; /* "k", "K" */
    aot_function *functions;
    size_t function_count;
    bool ranks[AOT_MODES + 1];      /* of tensors */
    bool operations[CUTE_INTEGERS]; /* used by plans */
    bool math;                      /* plans use <math.h> */
    cute_diag *diag;
} aot_writer;

/* ---- params.c ---- */

/* The parameters of a plan or kernel; *leaves is the number of their leaves. */
cute_status aot_read_plan_params(aot_writer *w, const char *label, aot_body *body, size_t *leaves);
cute_status aot_read_kernel_params(aot_writer *w, const char *label, aot_body *body, size_t *count,
                                   size_t *leaves);
/* "const k_tensor2 *x, float alpha": the declarations, with a comma after each. */
void aot_put_declarations(const aot_writer *w, const aot_function *f, cute_buffer *out);
/* "x, alpha, " */
void aot_put_names(const aot_function *f, cute_buffer *out);
/* A static function that checks the arguments of group `group` and stores the leaves. */
void aot_put_check(const aot_writer *w, const aot_function *f, size_t group, cute_buffer *out);
/* The C type of a scalar; NULL: a pointer. */
const char *aot_scalar_type(const char *dtype);
/* The expression of one number of a scalar type as a leaf. */
void aot_put_leaf(cute_buffer *out, const char *dtype, const char *expression);
/* Names of the parameters of C that a scalar, tuple or struct has: "n", or "n_0" ...; in `arena`. */
const char *aot_part_name(const aot_writer *w, const aot_param *p, size_t part);
/* Whether a parameter is one number or several, and of which type part `part` is. */
bool aot_is_number(const aot_param *p);
const char *aot_part_dtype(const aot_param *p, size_t part);

/* ---- plan.c, kernel.c ---- */

/* A static function that evaluates the plan of a group. */
cute_status aot_put_plan(aot_writer *w, const aot_function *f, size_t group, cute_buffer *out);
/* A static function that launches the kernel of a group. */
cute_status aot_put_kernel(aot_writer *w, const aot_function *f, size_t group, cute_buffer *out);
/* The index of a kernel in its module; false: there is none. */
bool aot_kernel_index(const cute_module *module, const char *name, size_t *out);
/* A constant as C: "{"sum", 6, 2, ...}", the static part of a tensor map. */
void aot_put_map(const char *tensor, const cute_tensor_map *map, cute_buffer *out);
/* The parameters of a launch as local variables, "p0" ..., and their list, "params". */
cute_status aot_put_param_room(const aot_writer *w, const cute_kernel *kernel, cute_buffer *out);
/* Stores the value of expression `value` as leaf `leaf` of an argument; false: the argument has no such leaf. */
bool aot_put_store(const cute_kernel *kernel, const cute_arg *arg, size_t leaf, const char *value,
                   cute_buffer *out);
/* The compiler's assumption about offsets, from an argument's parameter. */
cute_status aot_put_offsets(aot_writer *w, const cute_arg *arg, cute_buffer *out);
/* The number of leaves that a launch passes for an argument. */
size_t aot_leaf_count(const cute_arg *arg);

/* ---- faces.c ---- */

/* Functions with DLPack tensors and with TVM-FFI's packed arguments. */
void aot_put_face_declarations(const aot_writer *w, const aot_function *f, cute_buffer *out);
void aot_put_faces(const aot_writer *w, const aot_function *f, cute_buffer *out);
/* The types that the faces use; before the first of them. */
void aot_put_face_types(const aot_writer *w, cute_buffer *out);
void aot_put_torch(const aot_writer *w, cute_buffer *out);

/* A name in a comment of C. */
void aot_put_comment(const char *text, cute_buffer *out);
/* A string literal of C. */
void aot_put_string(const char *text, cute_buffer *out);

#endif
