/* Operations computed by lib/layout: on operand types for inference, on SSA integers for expansion. Also
 * helpers shared by families. */
#ifndef CUTE_LIB_IR_OPS_ALGEBRA_H
#define CUTE_LIB_IR_OPS_ALGEBRA_H

#include "lib/ir/ops/ops.h"

/* ---- errors ---- */

/* "'cute.size' op ..." at `location`, without the operation where `name` is NULL. Returns false. */
bool cute_op_fail(MlirLocation location, const char *name, const char *format, ...) CUTE_PRINTF(3, 4);
/* Emits the messages of `diag` at `location`. Returns false. */
bool cute_op_fail_diag(MlirLocation location, const cute_diag *diag);

/* ---- rows ---- */

bool cute_algebra_infer(const cute_op_row *row, const cute_op_query *query, cute_op_types *out);
cute_status cute_algebra_expand(const cute_op_row *row, const cute_expansion *x, MlirOperation op);
/* The head of a row for an operation of the algebra. */
#define CUTE_ALGEBRA(id, op)          .name = "cute." #op, .algebra = CUTE_OP_##id, .infer = cute_algebra_infer
#define CUTE_ALGEBRA_EXPANDED(id, op) CUTE_ALGEBRA(id, op), .expand = cute_algebra_expand

/* ---- lib/layout on operations ---- */

/* The result of `operation` on the types of the query's operands, without code. */
cute_status cute_algebra_apply(cute_arena *arena, const cute_op_query *query, cute_operation operation,
                               cute_value *result, cute_diag *diag);
/* The result of `op` on given operand values; the array must have room for two more. `arith` as in
 * cute_apply. */
cute_status cute_algebra_evaluate(const cute_op_row *row, MlirOperation op, cute_arena *arena,
                                  const cute_arith *arith, cute_value *operands, cute_value *result,
                                  cute_diag *diag);
/* Converts an operand to a value of the algebra with SSA integers as dynamic leaves. */
typedef cute_status (*cute_value_binder)(const cute_expansion *x, MlirOperation op, MlirValue operand,
                                         cute_value *out);
/* Emits `operation` before `op` and replaces the only result, with operands that `bind` reads. */
cute_status cute_algebra_emit(const cute_op_row *row, const cute_expansion *x, MlirOperation op,
                              cute_value_binder bind);
/* Inserts the operation of `r` before `where`; null, without a diagnostic, if it is invalid. */
MlirOperation cute_rewrite_insert(MlirOperation where, const cute_rewrite *r);

/* ---- helpers for families ---- */

/* Rules: the operand itself; the first operand of the operation that defines it. */
bool cute_rule_operand(MlirOperation op, MlirOperation source, cute_rewrite *out);
bool cute_rule_source_operand(MlirOperation op, MlirOperation source, cute_rewrite *out);
/* Lowers an operation that only assembles a value, by its row's `parts`. */
bool cute_lower_parts(const cute_op_row *row, const cute_op_lowering *l);
/* Replaces the single result of l->op by `value` and destroys the operation. */
void cute_lowered(const cute_op_lowering *l, MlirValue value);

/* ---- SSA values as values of the algebra (values.c) ---- */

/* Binds the dynamic leaves of an operand to the SSA integers that it was made from, or to the results of a
 * get_scalars inserted before `op`. */
cute_status cute_value_bind(const cute_expansion *x, MlirOperation op, MlirValue operand, cute_value *out);
/* The same, with static leaves as SSA integers too. */
cute_status cute_value_bind_all(const cute_expansion *x, MlirOperation op, MlirValue operand,
                                cute_value *out);
/* Replaces result `index` of `op` by `value`, whose dynamic leaves have handles; the result of a
 * comparison is an i1. */
cute_status cute_value_replace(const cute_expansion *x, MlirOperation op, intptr_t index,
                               const cute_value *value);

#endif
