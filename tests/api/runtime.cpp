/* cute/cute.hpp in a program: compiles, launches, multiplies and is refused, on the emulator. Prints nothing if all is well. */
#define CUTE_HPP_COMPILER
#include <cute/cute.hpp>

#include <cstring>

using namespace cute::runtime;

static const char source[] = "gpu.module @m {\n"
                             "  gpu.func @scale(%x: memref<${N}xf32>, %s: f32) kernel attributes "
                             "{nvvm.reqntid = array<i32: 32, 1, 1>} {\n"
                             "    %i = gpu.thread_id x\n"
                             "    %v = memref.load %x[%i] : memref<${N}xf32>\n"
                             "    %w = arith.mulf %v, %s : f32\n"
                             "    memref.store %w, %x[%i] : memref<${N}xf32>\n"
                             "    gpu.return\n"
                             "  }\n"
                             "}\n";

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) std::printf("runtime.cpp:%d: %s\n", __LINE__, #condition);                         \
    } while (0)

template <class F> static void refused(const char *text, F function)
{
    try {
        function();
        std::printf("expected '%s', got no error\n", text);
    } catch (const Error &error) {
        if (!std::strstr(error.what(), text)) std::printf("expected '%s', got '%s'\n", text, error.what());
    }
}

static KernelExecutor scale(const Device &device, const DeviceBuffer<float> &x)
{
    /* The module and the device outlive the variables that named them. */
    Module module = CuteCompiler(Arch::SM90).define("N", "32").compile(source, "scale.mlir");
    KernelExecutor kernel(device, module, "scale");
    kernel.set("x", x).set("s", 2.0f);
    return kernel;
}

/* x[i] = 3 x[i] + 1 of 32 elements. */
static ModuleBuilder triple()
{
    ModuleBuilder builder;
    cute_ir *ir = builder.get();
    cute_ir_kernel(CUTE_AT(ir), "triple");
    cute_ir_value x = cute_ir_argument(CUTE_AT(ir), "x", "memref<32xf32>");
    cute_ir_value i = cute_ir_thread(CUTE_AT(ir), CUTE_IR_X);
    cute_ir_value v = cute_ir_load(CUTE_AT(ir), x, CUTE_VALUES(i));
    v = cute_ir_fma(CUTE_AT(ir), v, CUTE_NUMBER(3), CUTE_REAL(1));
    cute_ir_store(CUTE_AT(ir), v, x, CUTE_VALUES(i));
    cute_ir_end(CUTE_AT(ir), CUTE_NO_VALUES, nullptr);
    return builder;
}

static const char product[] = "!A = !cute.memref<f32, gmem, align<16>, \"(?,?{div=4}):(?{i64 div=4},1)\">\n"
                              "!B = !cute.memref<f32, gmem, align<16>, \"(?{div=4},?):(1,?{i64 div=4})\">\n"
                              "gpu.module @m {\n"
                              "  gpu.func @own(%A: !A, %B: !B, %D: !A) kernel {\n"
                              "    %i, %j = cute.tile.program<[16, 16]> %D\n"
                              "    %c0 = arith.constant 0 : i32\n"
                              "    %a = cute.tile.load<[16, 16]> %A[%i, %c0]\n"
                              "    %b = cute.tile.load<[16, 16]> %B[%j, %c0]\n"
                              "    %zero = arith.constant dense<0.0> : tensor<16x16xf32>\n"
                              "    %d = cute.tile.gemm %a, %b, %zero\n"
                              "    cute.tile.store %d, %D[%i, %j]\n"
                              "    gpu.return\n"
                              "  }\n"
                              "}\n";

/* A product of the caller, by source and compiled; a refused one leaves the one before. */
static void test_products(GemmExecutor<float, float, float> gemm, const std::vector<float> &a,
                          const std::vector<float> &b)
{
    std::vector<float> want = gemm.execute(a, b), d(64);
    gemm.execute(a.data(), b.data(), d.data());
    CHECK(d == want);
    gemm.compile_from_mlir(product);
    refused("no kernels in", [&] { gemm.compile_from_mlir("func.func @x() { return }"); });
    refused("no host function 'other'", [&] { gemm.compile_from_mlir(product, "other"); });
    CHECK(gemm.execute(a, b) == want);
    Module module = CuteCompiler(Arch::SM90).compile(product, "product.mlir");
    gemm.load_compiled(module, "own");
    CHECK(gemm.execute(a, b) == want);
    refused("cannot open /nowhere", [&] { gemm.load_compiled("/nowhere"); });
    d.assign(64, 0);
    gemm.execute(a.data(), b.data(), d.data());
    CHECK(d == want);
}

static void test_builder(const Device &device)
{
    ModuleBuilder builder = triple();
    CHECK(builder.text().find("math.fma") != std::string::npos);
    DeviceBuffer<float> x(device, std::vector<float>(32, 1.5f));
    KernelExecutor kernel(device, CuteCompiler(Arch::SM90).compile(builder), "triple");
    kernel.set("x", x).launch({{1, 1, 1}, {32, 1, 1}});
    kernel.synchronize();
    CHECK(x.download() == std::vector<float>(32, 5.5f));
    refused("runtime.cpp:", [&] {
        cute_ir_end(CUTE_AT(builder.get()), CUTE_NO_VALUES, nullptr);
        builder.text();
    });
    refused("cute_ir_end expects an open kernel", [&] { CuteCompiler().compile_to_ptx(builder); });
    refused("no kernels", [] { CuteCompiler().compile_to_ptx(ModuleBuilder()); });
}

int main()
{
    try {
        Device device("emulator");
        DeviceBuffer<float> x(device, std::vector<float>(32, 1.5f));
        KernelExecutor kernel = scale(device, x);
        kernel.launch({{1, 1, 1}, {32, 1, 1}});
        kernel.set("s", 0.5).launch({{1, 1, 1}});
        kernel.synchronize();
        CHECK(x.download() == std::vector<float>(32, 1.5f));
        DeviceBuffer<float> moved = std::move(x);
        CHECK(moved.size() == 32 && moved.download()[31] == 1.5f);
        CHECK(std::strcmp(kernel.kernel().name, "scale") == 0);
        refused("no argument 'y'", [&] { kernel.set("y", 1); });
        refused("cannot open /nowhere", [] { Module::load("/nowhere"); });
        refused("expected at most 32 elements, got 33", [&] { moved.upload(std::vector<float>(33)); });
        refused("scale.mlir:1:1: error", [] { CuteCompiler().compile("nothing", "scale.mlir"); });
        CHECK(name_of(Arch::SM80) == "sm_80" && name_of(Arch::SM90) == "sm_90a");

        test_builder(device);

        GemmExecutor<float, float, float> gemm(device, 8, 8, 8);
        std::vector<float> a(64), b(64);
        for (int i = 0; i < 64; i++) {
            a[static_cast<std::size_t>(i)] = static_cast<float>(i % 7);
            b[static_cast<std::size_t>(i)] = i / 8 == i % 8 ? 2.0f : 0.0f;
        }
        std::vector<float> d = gemm.execute(a, b);
        for (std::size_t i = 0; i < 64; i++) CHECK(d[i] == 2 * a[i]);
        test_products(std::move(gemm), a, b);
    } catch (const Error &error) {
        std::printf("%s\n", error.what());
        return error.status();
    }
    return 0;
}
