/* The JSON Schema of launch.json, and validation against it. */
#ifndef CUTE_LIB_LAUNCH_CONFIG_SCHEMA_H
#define CUTE_LIB_LAUNCH_CONFIG_SCHEMA_H

#include "lib/launch/config/document.h"

/* The text of launch.schema.json. */
const char *cute_launch_schema(size_t *length);
/* Validates a document; reports every violation, up to 20. */
cute_status cute_launch_validate(const cute_document *document, cute_diag *diag);

#endif
