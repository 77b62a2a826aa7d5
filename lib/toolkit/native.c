/* Queries the compute capability of device 0 from libcuda, without creating a context. */
#include "lib/toolkit/native.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/options/settings.h"
#include "lib/base/system/library.h"

enum { MAJOR = 75, MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_... */

typedef int (*call_init)(unsigned);
typedef int (*call_get)(int *device, int index);
typedef int (*call_attribute)(int *value, int attribute, int device);

static bool find_symbol(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* Returns 90; or 0 and the reason. */
static int query_compute_capability(void *library, const char **reason)
{
    call_init init;
    call_get get;
    call_attribute attribute;
    int device, major = 0, minor = 0;
    *reason = "the driver is too old";
    if (!find_symbol(library, "cuInit", &init) || !find_symbol(library, "cuDeviceGet", &get) ||
        !find_symbol(library, "cuDeviceGetAttribute", &attribute))
        return 0;
    *reason = "the driver reports no GPU";
    if (init(0) != 0 || get(&device, 0) != 0) return 0;
    *reason = "the driver does not report the GPU's compute capability";
    if (attribute(&major, MAJOR, device) != 0 || attribute(&minor, MINOR, device) != 0) return 0;
    return major * 10 + minor;
}

cute_status cute_arch_parse_native(const char *text, const cute_arch **out, cute_diag *diag)
{
    if (strcmp(text, "native") != 0) return cute_arch_parse(text, NULL, out, diag);
    const char *reason = "no CUDA driver";
    void *library = cute_driver_open(NULL, NULL);
    int number = library ? query_compute_capability(library, &reason) : 0;
    if (library) dlclose(library);
    if (!number) {
        cute_fail(diag, CUTE_SYSTEM, NULL, "-arch=native: %s", reason);
        cute_note(diag, NULL, "specify the architecture, such as -arch=sm_90a");
        return CUTE_SYSTEM;
    }
    char name[16];
    snprintf(name, sizeof name, "sm_%da", number);
    if ((*out = cute_arch_find(name)) != NULL) return CUTE_OK;
    name[strlen(name) - 1] = '\0';
    return cute_arch_parse(name, NULL, out, diag);
}

cute_status cute_arch_choose_native(const char *option, const cute_arch **out, cute_diag *diag)
{
    const char *variable = option ? option : cute_setting_default("arch", NULL);
    return variable && !strcmp(variable, "native") ? cute_arch_parse_native(variable, out, diag)
                                                   : cute_arch_choose(option, out, diag);
}
