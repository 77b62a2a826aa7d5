/* The version from the file VERSION. */
#include "cute/base.h"

const char *cute_version(void)
{
    return CUTE_VERSION;
}
