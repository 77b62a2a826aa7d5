/* The JSON schema of REPORT.json (report.schema.json) as text. */
#ifndef CUTE_LIB_REPORT_FOLDER_SCHEMA_H
#define CUTE_LIB_REPORT_FOLDER_SCHEMA_H

const char *cute_report_schema(void);

#endif
