/* The version, as the file VERSION has it. */
#include "cute/base.h"

const char *cute_version(void)
{
    return CUTE_VERSION;
}
