/* Compiles in several threads with one compiler, and launches what was made, each thread on an emulator of its own. Some
 * of the sources are wrong, and with one LLVM gives up: threads THREADS ROUNDS; exit code 0 where all went as it should. */
#include <cute/arguments.h>
#include <cute/compile.h>
#include <cute/emulator.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char good[] =
    "gpu.module @m {\n"
    "  gpu.func @add(%a: memref<32xi32> {cute.name = \"a\"}, %b: i32 {cute.name = \"b\"}) kernel {\n"
    "    %i = gpu.thread_id x\n"
    "    %v = memref.load %a[%i] : memref<32xi32>\n"
    "    %w = arith.addi %v, %b : i32\n"
    "    memref.store %w, %a[%i] : memref<32xi32>\n"
    "    gpu.return\n"
    "  }\n"
    "}\n";
static const char wrong[] =
    "gpu.module @m { gpu.func @k(%a: i32) kernel { %b = arith.addi %a, %c : i32 gpu.return } }";
static const char fatal[] = "gpu.module @m {\n"
                            "  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {\n"
                            "    llvm.call_intrinsic \"llvm.x86.sse2.pause\"() : () -> ()\n"
                            "    llvm.return\n"
                            "  }\n"
                            "}\n";

static cute_compiler *compiler;
static int rounds;

static cute_compiled *compile(const char *source, cute_status expected, const char *message)
{
    cute_compiled *compiled;
    cute_diag *diag = cute_diag_create();
    cute_status status = cute_compiler_run(compiler, "k.mlir", source, strlen(source), &compiled, diag);
    char *said = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    if (status != expected || !said || !strstr(said, message)) {
        fprintf(stderr, "status %d, expected %d and '%s', got: %s\n", (int)status, (int)expected, message,
                said ? said : "");
        exit(1);
    }
    free(said);
    cute_diag_destroy(diag);
    return compiled;
}

static int launch(const cute_compiled *compiled, int32_t add)
{
    int32_t memory[32] = {0};
    size_t length;
    cute_module *module = NULL;
    cute_device *device = NULL;
    cute_device_module *loaded;
    cute_arguments *arguments = NULL;
    cute_device_launch shape;
    memset(&shape, 0, sizeof shape);
    shape.size = sizeof shape;
    for (int d = 0; d < 3; d++) shape.grid[d] = shape.block[d] = 1;
    shape.block[0] = 32;
    const char *ptx = cute_compiled_text(compiled, 0, &length);
    int bad = cute_module_open("k.ptx", ptx, length, NULL, &module, NULL) ||
              cute_emulator_open(NULL, &device, NULL) ||
              cute_emulator_register(device, memory, sizeof memory, NULL) ||
              cute_device_load_module(device, module, &loaded, NULL) ||
              cute_arguments_create(device, loaded, module, "add", &arguments, NULL) ||
              cute_arguments_set_address(arguments, "a", (uintptr_t)memory, NULL) ||
              cute_arguments_set_integer(arguments, "b", add, NULL) ||
              cute_arguments_launch(arguments, &shape, NULL);
    for (int i = 0; i < 32; i++) bad = bad || memory[i] != add;
    cute_arguments_destroy(arguments);
    cute_device_close(device);
    cute_module_close(module);
    return bad;
}

static void *work(void *context)
{
    int number = *(int *)context;
    for (int i = 0; i < rounds; i++) {
        cute_compiled *compiled = compile(good, CUTE_OK, "");
        if (launch(compiled, number * 100 + i)) exit(2);
        cute_compiled_destroy(compiled);
        compile(wrong, CUTE_INVALID, "k.mlir:1:");
        if (i % 2) compile(fatal, CUTE_INVALID, "LLVM gave up in stage 'codegen' of gpu.module @m");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    pthread_t threads[MOST];
    int numbers[MOST], count = argc > 1 ? atoi(argv[1]) : 4;
    rounds = argc > 2 ? atoi(argv[2]) : 4;
    if (count > MOST || cute_compiler_create(&compiler, NULL)) return 1;
    for (int i = 0; i < count; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i])) return 1;
    }
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    cute_compiler_destroy(compiler);
    return 0;
}
