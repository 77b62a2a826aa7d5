/* cute-to-base on pointers, views and iterators: the `lower` of their rows. */
#ifndef CUTE_LIB_IR_OPS_VIEW_H
#define CUTE_LIB_IR_OPS_VIEW_H

#include "lib/ir/ops/ops.h"

/* Operations that keep the lowered value: make_arith_tuple_iter, deref_arith_tuple_iter, recast_iter,
 * assume. */
bool cute_lower_same(const cute_op_row *row, const cute_op_lowering *l);
bool cute_lower_make_view(const cute_op_row *row, const cute_op_lowering *l);
bool cute_lower_get_iter(const cute_op_row *row, const cute_op_lowering *l);
bool cute_lower_get_layout(const cute_op_row *row, const cute_op_lowering *l);
bool cute_lower_add_offset(const cute_op_row *row, const cute_op_lowering *l);
bool cute_lower_apply_swizzle(const cute_op_row *row, const cute_op_lowering *l);
bool cute_lower_inttoptr(const cute_op_row *row, const cute_op_lowering *l);
bool cute_lower_ptrtoint(const cute_op_row *row, const cute_op_lowering *l);

#endif
