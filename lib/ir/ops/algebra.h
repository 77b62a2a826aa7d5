/* Operations whose results lib/layout computes: from the operands' types, and once more from the program's
 * integers. Also what families share. */
#ifndef CUTE_LIB_IR_OPS_ALGEBRA_H
#define CUTE_LIB_IR_OPS_ALGEBRA_H

#include "lib/ir/ops/ops.h"

/* ---- errors ---- */

/* "'cute.size' op ..." at `location`, without the operation where `name` is NULL. Returns false. */
bool cute_op_fail(MlirLocation location, const char *name, const char *format, ...) CUTE_PRINTF(3, 4);
/* What `diag` has to say, at `location`. Returns false. */
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
/* The same of `op` on values that the caller has for its operands; behind them there is room for two more. `arith` as of
 * cute_apply. */
cute_status cute_algebra_evaluate(const cute_op_row *row, MlirOperation op, cute_arena *arena,
                                  const cute_arith *arith, cute_value *operands, cute_value *result,
                                  cute_diag *diag);
/* How an operand becomes a value of the algebra whose unknown leaves are integers of the program. */
typedef cute_status (*cute_value_binder)(const cute_expansion *x, MlirOperation op, MlirValue operand,
                                         cute_value *out);
/* Emits `operation` before `op` and replaces the only result, with operands that `bind` reads. */
cute_status cute_algebra_emit(const cute_op_row *row, const cute_expansion *x, MlirOperation op,
                              cute_value_binder bind);
/* The new operation of `r` before `where`; null, without a diagnostic, when the algebra refuses it. */
MlirOperation cute_rewrite_insert(MlirOperation where, const cute_rewrite *r);

/* ---- what families share ---- */

/* Rules: the operand itself; the first operand of the operation that defines it. */
bool cute_rule_operand(MlirOperation op, MlirOperation source, cute_rewrite *out);
bool cute_rule_source_operand(MlirOperation op, MlirOperation source, cute_rewrite *out);
/* Lowers an operation that only puts a value together, as its row's `parts` say. */
bool cute_lower_parts(const cute_op_row *row, const cute_op_lowering *l);
/* The only result of l->op becomes `value`, and the operation goes. */
void cute_lowered(const cute_op_lowering *l, MlirValue value);

/* ---- values of the program as values of the algebra (values.c) ---- */

/* The operand with its unknown leaves bound to the integers that it was made of, or else to the results of a
 * get_scalars before `op`. */
cute_status cute_value_bind(const cute_expansion *x, MlirOperation op, MlirValue operand, cute_value *out);
/* The same with known leaves as integers of the program too. */
cute_status cute_value_bind_all(const cute_expansion *x, MlirOperation op, MlirValue operand,
                                cute_value *out);
/* Result `index` of `op` becomes `value`, whose unknown leaves have handles; that of a comparison is an i1
 * itself. */
cute_status cute_value_replace(const cute_expansion *x, MlirOperation op, intptr_t index,
                               const cute_value *value);

#endif
