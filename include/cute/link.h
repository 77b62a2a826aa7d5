/* The linker: PTX, cubins, fatbins, archives, device objects and gpu.binary to one cubin or fatbin, in memory. It runs
 * ptxas, nvlink and fatbinary of the CUDA toolkit (https://docs.nvidia.com/cuda), which is located as described in
 * cute-link(1). Read the result with cute/cubin.h and load it with cute/device.h.
 *
 * Safe in multithreaded programs: no host code runs in a forked child; signal handlers, umask and the working directory
 * are unchanged; descriptors are closed on exec; child processes end with the thread that linked. Temporary files are in
 * memory, else under $TMPDIR. */
#ifndef CUTE_LINK_H
#define CUTE_LINK_H

#include "cute/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options, inputs and the result. Used by one thread at a time; several linkers are independent. */
typedef struct cute_linker cute_linker;

CUTE_API cute_status cute_linker_create(cute_linker **out, cute_diag *diag);
/* NULL is allowed. */
CUTE_API void cute_linker_destroy(cute_linker *linker);

/* Sets an option of cute-link(1) by its long name; `value` is copied. A flag is "1" or "0" (NULL: 1); options
 * marked "several" accumulate.
 *
 *     arch          sm_75 ... sm_121f, or native: that of the GPU; several with fatbin; default: that of
 *                   the input, else $ARCH, else sm_90a
 *     opt-level     0 to 3, of ptxas; default 3
 *     maxrregcount  maximum registers per thread
 *     tool-timeout  seconds allowed for ptxas or nvlink; default 0, unlimited
 *     Xptxas        options for ptxas, separated by commas or blanks; several
 *     library, library-path     libNAME.a and its search folder; several
 *     cuda-path     the folder of the toolkit
 *     fatbin, relocatable, lineinfo, device-debug, strip     flags
 *     allow         wgmma-serialized, setmaxnreg-ignored: errors to downgrade to warnings, even with Werror;
 *                   several
 *     Werror, disable-warnings, verbose     flags
 *
 * CUTE_USAGE: unknown option or invalid value. */
CUTE_API cute_status cute_linker_set(cute_linker *linker, const char *option, const char *value,
                                     cute_diag *diag);
/* Adds an input: `length` bytes, copied. `label` names it in messages. */
CUTE_API cute_status cute_linker_add(cute_linker *linker, const char *label, const void *bytes, size_t length,
                                     cute_diag *diag);
/* Links the inputs. CUTE_INVALID: an input is wrong, or ptxas or nvlink failed (their messages are in the
 * diag, with places in the source if the PTX has them); CUTE_USAGE: options that contradict each other;
 * CUTE_SYSTEM: no toolkit. May be called again after adding options and inputs. */
CUTE_API cute_status cute_linker_link(cute_linker *linker, cute_diag *diag);
/* The result of the last link, or NULL; valid until the next one. */
CUTE_API const void *cute_linker_output(const cute_linker *linker, size_t *length);
/* The command lines of the programs run by the last link, one per line ("" before it); valid until the next
 * one. */
CUTE_API const char *cute_linker_commands(const cute_linker *linker);

#ifdef __cplusplus
}
#endif
#endif
