/* The linker: PTX, cubins, fatbins, archives, device objects and gpu.binary to one cubin or fatbin, in memory. It runs
 * ptxas, nvlink and fatbinary of the CUDA toolkit (https://docs.nvidia.com/cuda), which is looked for as cute-link(1)
 * says. What was linked is read with cute/cubin.h and loaded with cute/device.h.
 *
 * Safe in threaded programs: the programs are started without running anything of the host's in a forked child; signal
 * handlers, umask and the working directory stay as they are; descriptors are closed on exec; children end with the
 * thread that linked. Temporary files are in memory, else under $TMPDIR. */
#ifndef CUTE_LINK_H
#define CUTE_LINK_H

#include "cute/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options, inputs and the result. Used by one thread at a time; several linkers are independent. */
typedef struct cute_linker cute_linker;

CUTE_API cute_status cute_linker_create(cute_linker **out, cute_diag *diag);
/* NULL is taken. */
CUTE_API void cute_linker_destroy(cute_linker *linker);

/* Sets an option of cute-link(1) by its long name; `value` is copied. A flag is "1" or "0" (NULL: 1); what may be given
 * several times adds to what is there.
 *
 *     arch          sm_75 ... sm_121f, or native: the GPU's; several with fatbin; default: what the input
 *                   says, else ARCH, else sm_90a
 *     opt-level     0 to 3, of ptxas; default 3
 *     maxrregcount  registers of a thread at most
 *     tool-timeout  seconds that ptxas or nvlink may take; default 0, any
 *     Xptxas        options for ptxas, with commas or blanks between them; several
 *     library, library-path     libNAME.a, and where it is; several
 *     cuda-path     the folder of the toolkit
 *     fatbin, relocatable, lineinfo, device-debug, strip     flags
 *     allow         wgmma-serialized, setmaxnreg-ignored: what is a warning then, with Werror too; several
 *     Werror, disable-warnings, verbose     flags
 *
 * CUTE_USAGE: no such option, or a value that is none. */
CUTE_API cute_status cute_linker_set(cute_linker *linker, const char *option, const char *value,
                                     cute_diag *diag);
/* Adds an input: `length` bytes, copied. `label` names it in messages. */
CUTE_API cute_status cute_linker_add(cute_linker *linker, const char *label, const void *bytes, size_t length,
                                     cute_diag *diag);
/* Links the inputs. CUTE_INVALID: an input is wrong, or what ptxas and nvlink say is an error (their messages are in the
 * diag, with places in the source where the PTX has them); CUTE_USAGE: options that contradict each other;
 * CUTE_SYSTEM: no toolkit. May be called again after further options and inputs. */
CUTE_API cute_status cute_linker_link(cute_linker *linker, cute_diag *diag);
/* What the last link made, NULL without; valid until the next one. */
CUTE_API const void *cute_linker_output(const cute_linker *linker, size_t *length);
/* The programs that the last link ran, as one would type them, a line each; "" before it, valid until the next one. */
CUTE_API const char *cute_linker_commands(const cute_linker *linker);

#ifdef __cplusplus
}
#endif
#endif
