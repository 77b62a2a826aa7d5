/* PassGetImpl, and the errors of passes. */
#ifndef CUTE_LIB_EPILOGUE_IMPLEMENT_H
#define CUTE_LIB_EPILOGUE_IMPLEMENT_H

#include "lib/epilogue/epilogue.h"

/* An error at a place of the tree's text: CUTE_INVALID. */
cute_status epilogue_fail(const epilogue_tree *tree, size_t offset, size_t length, cute_diag *diag,
                          const char *format, ...) CUTE_PRINTF(5, 6);
cute_status epilogue_implement(epilogue_tree *tree, cute_diag *diag);
cute_status epilogue_implemented(epilogue_tree *tree, cute_diag *diag);

static inline bool epilogue_is_matrix(const epilogue_node *n)
{
    return n->shape.rows && n->shape.mul;
}
/* A reduction of results of several tiles, which a kernel of its stage combines. */
static inline bool epilogue_is_combined(const epilogue_node *n)
{
    return n->impl == EPILOGUE_PARTIAL;
}

#endif
