/* The contents of a cubin: header, sections, symbols and attributes, as text or JSON. */
#ifndef CUTE_LIB_REPORT_MODULE_ELFVIEW_H
#define CUTE_LIB_REPORT_MODULE_ELFVIEW_H

#include "lib/base/text/json.h"
#include "lib/cubin/elf/elf.h"

/* CUTE_INVALID: an attribute section is damaged; `out` has everything before it. */
cute_status cute_report_elf(const cute_elf *elf, cute_buffer *out, cute_diag *diag);
cute_status cute_report_elf_json(const cute_elf *elf, json_t **out, cute_diag *diag);

#endif
