/* launch.json: any text is a plan or an error with a reason. Large buffers are not filled, so a plan is all. */
#include <stdlib.h>
#include <string.h>

#include "cute/launch.h"
#include "cute/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A kernel of each kind of argument, as tests/data/run/kernels.ptx has them. */
static const char ptx[] =
    "//!cute {\"format\":1,\"kernel\":\"k\",\"module\":\"m\",\"arch\":\"sm_90a\",\"args\":["
    "{\"name\":\"A\",\"type\":\"memref<?xf32>\",\"kind\":\"memref\",\"dtype\":\"f32\",\"first\":0,\"count\":"
    "1,\"access\":\"read\","
    "\"shape\":[null],\"strides\":[1]},"
    "{\"name\":\"n\",\"type\":\"i32\",\"kind\":\"scalar\",\"dtype\":\"i32\",\"first\":1,\"count\":1},"
    "{\"name\":\"M\",\"type\":\"memref<4x8xf16>\",\"kind\":\"memref\",\"dtype\":\"f16\",\"first\":2,"
    "\"count\":7,\"shape\":[4,8],"
    "\"strides\":[8,1]},"
    "{\"name\":\"map\",\"kind\":\"tensor_map\",\"dtype\":\"f16\",\"first\":9,\"count\":1,\"box\":[64,64],"
    "\"swizzle\":\"swizzle_128b\"},"
    "{\"name\":\"s\",\"kind\":\"struct\",\"first\":10,\"count\":1,\"fields\":[{\"name\":\"p\",\"offset\":0,"
    "\"size\":8},"
    "{\"name\":\"x\",\"dtype\":\"f32\",\"offset\":8,\"size\":4}]}],"
    "\"params\":[{\"size\":8,\"align\":8},{\"size\":4,\"align\":4},{\"size\":8,\"align\":8},{\"size\":8,"
    "\"align\":8},{\"size\":8,"
    "\"align\":8},{\"size\":8,\"align\":8},{\"size\":8,\"align\":8},{\"size\":8,\"align\":8},{\"size\":8,"
    "\"align\":8},{\"size\":128,"
    "\"align\":64},{\"size\":16,\"align\":8}]}\n"
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k(.param .u64 p0, .param .u32 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4, "
    ".param .u64 p5,\n"
    ".param .u64 p6, .param .u64 p7, .param .u64 p8, .param .align 64 .b8 p9[128], .param .align 8 .b8 "
    "p10[16])\n{\n ret;\n}\n";
/* And one of which nothing is known but sizes. */
static const char bare[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 c)\n{\n ret;\n}\n";

/* Names of files would be opened. */
static bool names_a_file(const uint8_t *data, size_t size)
{
    return memmem(data, size, "npy", 3) || memmem(data, size, "raw", 3) || memmem(data, size, "\\u", 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || names_a_file(data, size)) return 0;
    const char *source = data[0] % 2 ? ptx : bare;
    cute_diag *diag = cute_diag_create();
    cute_module *module = NULL;
    if (cute_module_open("k.ptx", source, strlen(source), NULL, &module, diag) != CUTE_OK) abort();
    cute_launch_options options = {.size = sizeof options, .dry_run = true};
    cute_launch *launch = NULL;
    cute_status status =
        cute_launch_open("launch.json", (const char *)data, size, NULL, module, &options, &launch, diag);
    if ((status != CUTE_OK) != (cute_diag_errors(diag) != 0))
        abort(); /* refused without a word, or with praise */
    if (status == CUTE_OK) free(cute_launch_report(launch, size % 2, true));
    free(cute_diag_render(diag, CUTE_DIAG_TEXT, false));
    cute_launch_close(launch);
    cute_module_close(module);
    cute_diag_destroy(diag);
    return 0;
}
