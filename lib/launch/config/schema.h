/* The JSON Schema of launch.json, and its validator. */
#ifndef CUTE_LIB_LAUNCH_CONFIG_SCHEMA_H
#define CUTE_LIB_LAUNCH_CONFIG_SCHEMA_H

#include "lib/launch/config/document.h"

/* The text of launch.schema.json. */
const char *cute_launch_schema(size_t *length);
/* Checks a document against it; every violation is a message of its own. */
cute_status cute_launch_validate(const cute_document *document, cute_diag *diag);

#endif
