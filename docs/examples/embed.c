/* Compiles a kernel, links it, runs it and reads the result: embed [DEVICE], such as emulator or cuda:0. */
#include <cute/arguments.h>
#include <cute/compile.h>
#include <cute/link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "gpu.module @m {\n"
                             "  gpu.func @twice(%x: memref<${N}xf32>, %s: f32) kernel {\n"
                             "    %i = gpu.thread_id x\n"
                             "    %v = memref.load %x[%i] : memref<${N}xf32>\n"
                             "    %w = arith.mulf %v, %s : f32\n"
                             "    memref.store %w, %x[%i] : memref<${N}xf32>\n"
                             "    gpu.return\n"
                             "  }\n"
                             "}\n";

static cute_diag *diag;

static void check(cute_status status)
{
    if (status == CUTE_OK) return;
    fputs(cute_diag_render(diag, CUTE_DIAG_TEXT, false), stderr);
    exit(status);
}

int main(int argc, char **argv)
{
    float x[32];
    for (int i = 0; i < 32; i++) x[i] = (float)i;
    diag = cute_diag_create();

    cute_compiler *compiler; /* MLIR to PTX */
    cute_compiled *compiled;
    check(cute_compiler_create(&compiler, diag));
    check(cute_compiler_set(compiler, "arch", "sm_90a", diag));
    check(cute_compiler_set(compiler, "define", "N=32", diag));
    check(cute_compiler_run(compiler, "twice.mlir", source, strlen(source), &compiled, diag));

    cute_linker *linker; /* PTX to a cubin, which keeps the PTX for the emulator */
    size_t length;
    const char *ptx = cute_compiled_text(compiled, 0, &length);
    check(cute_linker_create(&linker, diag));
    check(cute_linker_add(linker, "twice.ptx", ptx, length, diag));
    check(cute_linker_link(linker, diag));
    const void *cubin = cute_linker_output(linker, &length);

    cute_module *module; /* the cubin on a device, with memory */
    cute_device *device;
    cute_device_module *loaded;
    cute_address memory;
    check(cute_module_open("twice.cubin", cubin, length, NULL, &module, diag));
    check(cute_device_open(argc > 1 ? argv[1] : NULL, &device, diag));
    check(cute_device_load_module(device, module, &loaded, diag));
    check(cute_device_alloc(device, sizeof x, &memory, diag));
    check(cute_device_upload(device, memory, x, sizeof x, diag));

    cute_arguments *arguments; /* a launch of 1 block of 32 threads */
    cute_device_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.size = sizeof launch;
    launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = 32;
    launch.block[1] = launch.block[2] = 1;
    check(cute_arguments_create(device, loaded, module, "twice", &arguments, diag));
    check(cute_arguments_set_address(arguments, "x", memory, diag));
    check(cute_arguments_set_real(arguments, "s", 2, diag));
    check(cute_arguments_launch(arguments, &launch, diag));
    check(cute_device_download(device, x, memory, sizeof x, diag));
    printf("%s: x[31] = %g\n", cute_device_get_info(device)->kind, x[31]);

    cute_arguments_destroy(arguments);
    cute_device_close(device);
    cute_module_close(module);
    cute_linker_destroy(linker);
    cute_compiled_destroy(compiled);
    cute_compiler_destroy(compiler);
    cute_diag_destroy(diag);
    return 0;
}
