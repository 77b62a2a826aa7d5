/* See schema.h. */
#include "lib/report/folder/schema.h"

static const char text[] = {
#include "report.schema.inc"
    '\0'};

const char *cute_report_schema(void)
{
    return text;
}
