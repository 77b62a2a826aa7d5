/* Output of views. */
#ifndef CUTE_TOOLS_CUTE_DUMP_OUTPUT_H
#define CUTE_TOOLS_CUTE_DUMP_OUTPUT_H

#include "lib/base/buffer.h"
#include "lib/base/text/json.h"

/* Prints JSON text that ends with a newline; takes ownership of `value`. */
void cute_dump_json(json_t *value, cute_buffer *out);

#endif
