/* The libraries from C++17: owners of their handles, which throw Error. Header-only; the contracts are those of the C headers that it
 * includes. Objects are used by one thread at a time, as their device is.
 *
 *     using namespace cute::runtime;
 *     Device device;                                             // GPU 0, else the emulator
 *     KernelExecutor kernel(device, Module::load("k.cubin"), "vector_add");
 *     DeviceBuffer<float> a(device, 1000), b(device, 1000), c(device, 1000);
 *     kernel.set("a", a).set("b", b).set("c", c).set("n", 1000);
 *     kernel.launch({{4, 1, 1}, {256, 1, 1}});
 *     device.synchronize();
 *
 * CuteCompiler needs libcute-compiler (pkg-config cute-compiler, CMake cute::compiler), and CUTE_HPP_COMPILER defined before the
 * include; the rest libcute (cute, cute::cute). */
#ifndef CUTE_CUTE_HPP
#define CUTE_CUTE_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cute/arguments.h"
#include "cute/cubin.h"
#include "cute/device.h"
#include "cute/emulator.h"
#include "cute/gemm.h"
#include "cute/link.h"
#include "cute/plan.h"
#ifdef CUTE_HPP_COMPILER
#include "cute/build.h"
#include "cute/compile.h"
#endif

namespace cute
{
namespace runtime
{

/* A message of the libraries, as the tools print it. */
class Error : public std::runtime_error
{
  public:
    Error(cute_status status, const std::string &text) : std::runtime_error(text), status_(status) {}
    cute_status status() const { return status_; }

  private:
    cute_status status_;
};

namespace detail
{

class Diag
{
  public:
    Diag() : diag_(cute_diag_create()) {}
    Diag(const Diag &) = delete;
    Diag &operator=(const Diag &) = delete;
    ~Diag() { cute_diag_destroy(diag_); }
    operator cute_diag *() { return diag_; }
    std::string text() const
    {
        std::unique_ptr<char, decltype(&std::free)> rendered(cute_diag_render(diag_, CUTE_DIAG_TEXT, false),
                                                             &std::free);
        return rendered ? rendered.get() : "";
    }

  private:
    cute_diag *diag_;
};

/* Calls a function whose last parameter is a diag. */
template <class F, class... Args> void check(F function, Args &&...args)
{
    Diag diag;
    cute_status status = function(std::forward<Args>(args)..., static_cast<cute_diag *>(diag));
    if (status != CUTE_OK) throw Error(status, diag.text());
}

template <class T, void (*destroy)(T *)> struct Destroy {
    void operator()(T *value) const { destroy(value); }
};
template <class T, void (*destroy)(T *)> using Owner = std::unique_ptr<T, Destroy<T, destroy>>;

} // namespace detail

/* ---- architectures ---- */

enum class Arch {
    SM75 = 75,
    SM80 = 80,
    SM86 = 86,
    SM89 = 89,
    SM90 = 90,
    SM100 = 100,
    SM103 = 103,
    SM120 = 120
};

/* "sm_90a": with the features of exactly this architecture, where it has such. */
inline std::string name_of(Arch arch)
{
    int number = static_cast<int>(arch);
    return "sm_" + std::to_string(number) + (number >= 90 ? "a" : "");
}

/* ---- element types ---- */

/* Storage of 16-bit floats, without arithmetic. Types of your own are elements if TypeName has a specialization. */
struct Half {
    std::uint16_t bits;
};
struct BFloat16 {
    std::uint16_t bits;
};
template <class T> struct TypeName;
template <> struct TypeName<float> {
    static constexpr const char *value = "f32";
};
template <> struct TypeName<Half> {
    static constexpr const char *value = "f16";
};
template <> struct TypeName<BFloat16> {
    static constexpr const char *value = "bf16";
};
template <> struct TypeName<std::int8_t> {
    static constexpr const char *value = "i8";
};
template <> struct TypeName<std::int32_t> {
    static constexpr const char *value = "i32";
};
#ifdef __CUDA_FP16_TYPES_EXIST__
template <> struct TypeName<__half> {
    static constexpr const char *value = "f16";
};
#endif
#ifdef __CUDA_BF16_TYPES_EXIST__
template <> struct TypeName<__nv_bfloat16> {
    static constexpr const char *value = "bf16";
};
#endif

/* ---- devices and memory ---- */

/* A GPU or the emulator. Everything that is created on a device keeps it. */
class Device
{
  public:
    explicit Device(const std::string &name = "any")
    {
        cute_device *device = nullptr;
        detail::check(cute_device_open, name.c_str(), &device);
        device_.reset(device, cute_device_close);
    }
    static Device emulator(const cute_emulator_options &options)
    {
        cute_device *device = nullptr;
        detail::check(cute_emulator_open, &options, &device);
        return Device(device);
    }
    const cute_device_info &info() const { return *cute_device_get_info(device_.get()); }
    void synchronize() const { detail::check(cute_device_sync, device_.get()); }
    cute_device *get() const { return device_.get(); }

  private:
    explicit Device(cute_device *device) : device_(device, cute_device_close) {}
    std::shared_ptr<cute_device> device_;
};

/* `count` elements in the memory of a device. */
template <class T> class DeviceBuffer
{
    static_assert(std::is_trivially_copyable<T>::value, "expected elements that can be copied as bytes");

  public:
    DeviceBuffer(const Device &device, std::size_t count) : device_(device), count_(count)
    {
        detail::check(cute_device_alloc, device_.get(), count * sizeof(T), &address_);
    }
    DeviceBuffer(const Device &device, const std::vector<T> &values) : DeviceBuffer(device, values.size())
    {
        upload(values);
    }
    DeviceBuffer(DeviceBuffer &&other) noexcept
        : device_(other.device_), count_(other.count_), address_(std::exchange(other.address_, 0))
    {
    }
    DeviceBuffer &operator=(DeviceBuffer &&other) noexcept
    {
        std::swap(device_, other.device_);
        std::swap(count_, other.count_);
        std::swap(address_, other.address_);
        return *this;
    }
    ~DeviceBuffer() { cute_device_free(device_.get(), address_, nullptr); }

    void upload(const std::vector<T> &values)
    {
        if (values.size() > count_)
            throw Error(CUTE_USAGE, "expected at most " + std::to_string(count_) + " elements, got " +
                                        std::to_string(values.size()));
        detail::check(cute_device_upload, device_.get(), address_, values.data(), values.size() * sizeof(T));
    }
    std::vector<T> download() const
    {
        std::vector<T> values(count_);
        detail::check(cute_device_download, device_.get(), values.data(), address_, count_ * sizeof(T));
        return values;
    }
    void fill(std::uint8_t byte)
    {
        detail::check(cute_device_fill, device_.get(), address_, byte, count_ * sizeof(T));
    }
    cute_address address() const { return address_; }
    std::size_t size() const { return count_; }

  private:
    Device device_;
    std::size_t count_;
    cute_address address_ = 0;
};

/* ---- modules and kernels ---- */

/* A cubin, a fatbin or PTX. Copies share it. */
class Module
{
  public:
    explicit Module(const std::string &image, const std::string &label = "<image>")
    {
        cute_module *module = nullptr;
        detail::check(cute_module_open, label.c_str(), image.data(), image.size(), nullptr, &module);
        module_.reset(module, cute_module_close);
    }
    static Module load(const std::string &path)
    {
        std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
        std::string image;
        char part[65536];
        if (!file) throw Error(CUTE_SYSTEM, "cannot open " + path);
        while (std::size_t length = std::fread(part, 1, sizeof part, file.get())) image.append(part, length);
        return Module(image, path);
    }
    const cute_module *get() const { return module_.get(); }

  private:
    std::shared_ptr<cute_module> module_;
};

/* The shape of a launch. Zeros select the values of the kernel's source. */
struct LaunchConfig {
    std::int64_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
    std::int64_t shared_mem = 0;
    std::int64_t cluster[3] = {0, 0, 0};
    bool cooperative = false, programmatic = false;
    cute_stream *stream = nullptr;
};

/* A tensor map, for an argument of a kernel. */
class TMADescriptor
{
  public:
    /* A matrix of `rows` rows of `columns` elements, `row_bytes` apart, and a box of them. */
    TMADescriptor(cute_tensor_map_type type, cute_address address, std::uint64_t rows, std::uint64_t columns,
                  std::uint64_t row_bytes, std::uint32_t box_rows, std::uint32_t box_columns,
                  cute_tensor_map_swizzle swizzle = CUTE_MAP_SWIZZLE_NONE,
                  cute_tensor_map_promotion promotion = CUTE_MAP_L2_128B)
        : map_()
    {
        map_.size = sizeof map_;
        map_.type = type;
        map_.rank = 2;
        map_.address = address;
        map_.dims[0] = columns;
        map_.dims[1] = rows;
        map_.strides[0] = row_bytes;
        map_.box[0] = box_columns;
        map_.box[1] = box_rows;
        map_.element_strides[0] = map_.element_strides[1] = 1;
        map_.swizzle = swizzle;
        map_.l2_promotion = promotion;
    }
    explicit TMADescriptor(const cute_tensor_map &map) : map_(map) {}
    const cute_tensor_map &get() const { return map_; }

  private:
    cute_tensor_map map_;
};

/* A kernel with its arguments, which stay set for later launches. */
class KernelExecutor
{
  public:
    /* `name` empty: the only kernel of the module. */
    KernelExecutor(const Device &device, const Module &module, const std::string &name = "")
        : device_(device), module_(module)
    {
        cute_device_module *loaded = nullptr;
        cute_arguments *arguments = nullptr;
        detail::check(cute_device_load_module, device_.get(), module_.get(), &loaded);
        loaded_ = std::shared_ptr<cute_device_module>(
            loaded, [device](cute_device_module *m) { cute_device_unload(device.get(), m, nullptr); });
        detail::check(cute_arguments_create, device_.get(), loaded, module_.get(),
                      name.empty() ? nullptr : name.c_str(), &arguments);
        arguments_.reset(arguments);
    }
    template <class T> KernelExecutor &set(const std::string &name, const DeviceBuffer<T> &buffer)
    {
        detail::check(cute_arguments_set_address, arguments_.get(), name.c_str(), buffer.address());
        return *this;
    }
    template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
    KernelExecutor &set(const std::string &name, T value)
    {
        if (std::is_floating_point<T>::value)
            detail::check(cute_arguments_set_real, arguments_.get(), name.c_str(),
                          static_cast<double>(value));
        else
            detail::check(cute_arguments_set_integer, arguments_.get(), name.c_str(),
                          static_cast<std::int64_t>(value));
        return *this;
    }
    KernelExecutor &set(const std::string &name, const TMADescriptor &map)
    {
        detail::check(cute_arguments_set_map, arguments_.get(), name.c_str(), &map.get());
        return *this;
    }
    KernelExecutor &set_memref(const std::string &name, cute_address address,
                               const std::vector<std::int64_t> &shape,
                               const std::vector<std::int64_t> &strides = {})
    {
        if (!strides.empty() && strides.size() != shape.size())
            throw Error(CUTE_USAGE, "expected as many strides as extents");
        detail::check(cute_arguments_set_memref, arguments_.get(), name.c_str(), address, std::int64_t{0},
                      shape.size(), shape.data(), strides.empty() ? nullptr : strides.data());
        return *this;
    }
    /* Does not wait on a GPU. */
    void launch(const LaunchConfig &config = {})
    {
        cute_device_launch launch = {};
        launch.size = sizeof launch;
        for (int i = 0; i < 3; i++) {
            launch.grid[i] = config.grid[i];
            launch.block[i] = config.block[i];
            launch.cluster[i] = config.cluster[i];
        }
        launch.dynamic_smem = config.shared_mem;
        launch.cooperative = config.cooperative;
        launch.programmatic = config.programmatic;
        launch.stream = config.stream;
        detail::check(cute_arguments_launch, arguments_.get(), &launch);
    }
    const cute_kernel &kernel() const { return *cute_arguments_kernel(arguments_.get()); }
    void synchronize() const { device_.synchronize(); }

  private:
    Device device_;
    Module module_;
    std::shared_ptr<cute_device_module> loaded_;
    detail::Owner<cute_arguments, cute_arguments_destroy> arguments_;
};

/* The launches of host functions, described by a launch.json (cute/plan.h); owns their temporaries. */
class PlanExecutor
{
  public:
    PlanExecutor(const Device &device, const Module &module, const std::string &config)
        : device_(device), module_(module)
    {
        cute_plan_runner *plan = nullptr;
        detail::check(cute_plan_open, device_.get(), module_.get(), config.c_str(), config.size(), nullptr,
                      &plan);
        plan_.reset(plan);
        std::size_t bytes = cute_plan_workspace(plan);
        if (!bytes) return;
        workspace_.reset(new DeviceBuffer<std::uint8_t>(device_, bytes));
        detail::check(cute_plan_set_workspace, plan, workspace_->address());
    }
    template <class T> PlanExecutor &set(const std::string &name, const DeviceBuffer<T> &buffer)
    {
        detail::check(cute_plan_set_buffer, plan_.get(), name.c_str(), buffer.address());
        return *this;
    }
    void start(cute_stream *stream = nullptr) { detail::check(cute_plan_start, plan_.get(), stream); }

  private:
    Device device_;
    Module module_;
    std::unique_ptr<DeviceBuffer<std::uint8_t>> workspace_;
    detail::Owner<cute_plan_runner, cute_plan_close> plan_;
};

/* ---- matrix products ---- */

/* D = A B of row-major matrices: A is m x k, B is k x n, D is m x n. Other problems: the constructor with a cute_gemm_problem. The kernel is
 * chosen, or, after compile_from_mlir or load_compiled, the caller's: cute_gemm_options.source and .module. */
template <class TA, class TB, class TC> class GemmExecutor
{
  public:
    GemmExecutor(const Device &device, std::int64_t m, std::int64_t n, std::int64_t k)
        : GemmExecutor(device, problem_of(m, n, k))
    {
    }
    GemmExecutor(const Device &device, cute_gemm_problem problem,
                 const cute_gemm_compiler *compiler = nullptr)
        : device_(device), problem_(problem), compiler_(compiler)
    {
        problem_.type_a = TypeName<TA>::value;
        problem_.type_b = TypeName<TB>::value;
        problem_.type_d = TypeName<TC>::value;
        create(cute_gemm_options{});
    }
    /* A product in MLIR, by its host function (empty: its only one). If it is refused, the kernel before remains. */
    void compile_from_mlir(const std::string &mlir, const std::string &function = std::string())
    {
        cute_gemm_options options = {};
        options.source = mlir.data();
        options.source_length = mlir.size();
        options.function = function.empty() ? nullptr : function.c_str();
        create(options);
        module_.reset();
    }
    /* A compiled product: a cubin or PTX. */
    void load_compiled(const Module &module, const std::string &function = std::string())
    {
        std::unique_ptr<Module> kept(new Module(module));
        cute_gemm_options options = {};
        options.module = kept->get();
        options.function = function.empty() ? nullptr : function.c_str();
        create(options);
        module_ = std::move(kept);
    }
    void load_compiled(const std::string &path, const std::string &function = std::string())
    {
        load_compiled(Module::load(path), function);
    }
    static cute_gemm_problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k)
    {
        cute_gemm_problem problem = {};
        problem.size = sizeof problem;
        problem.m = m;
        problem.n = n;
        problem.k = k;
        problem.batch = 1;
        problem.alpha = 1;
        return problem;
    }
    /* On the device; does not wait on a GPU. */
    void execute(const DeviceBuffer<TA> &a, const DeviceBuffer<TB> &b, DeviceBuffer<TC> &d,
                 cute_stream *stream = nullptr)
    {
        cute_gemm_operands operands = {};
        operands.size = sizeof operands;
        operands.a = a.address();
        operands.b = b.address();
        operands.c = operands.d = d.address();
        operands.workspace = workspace_ ? workspace_->address() : 0;
        operands.stream = stream;
        detail::check(cute_gemm_run, gemm_.get(), &operands);
    }
    /* From and to memory of the host; waits. */
    std::vector<TC> execute(const std::vector<TA> &a, const std::vector<TB> &b)
    {
        DeviceBuffer<TA> on_a(device_, a);
        DeviceBuffer<TB> on_b(device_, b);
        DeviceBuffer<TC> on_d(device_, static_cast<std::size_t>(problem_.m * problem_.n));
        execute(on_a, on_b, on_d);
        device_.synchronize();
        return on_d.download();
    }
    /* Packed arrays of the host; waits. */
    void execute(const TA *a, const TB *b, TC *d)
    {
        const std::size_t m = static_cast<std::size_t>(problem_.m * problem_.batch),
                          n = static_cast<std::size_t>(problem_.n), k = static_cast<std::size_t>(problem_.k);
        const cute_gemm_array arrays[] = {
            {"A", const_cast<TA *>(a), m * k * sizeof(TA)},
            {"B", const_cast<TB *>(b), static_cast<std::size_t>(problem_.batch) * k * n * sizeof(TB)},
            {"D", d, m * n * sizeof(TC)}};
        detail::check(cute_gemm_run_host, gemm_.get(), arrays, std::size_t{3});
    }
    const cute_gemm *get() const { return gemm_.get(); }

  private:
    void create(cute_gemm_options options)
    {
        cute_gemm *gemm = nullptr;
        options.size = sizeof options;
        options.device = device_.get();
        options.compiler = compiler_;
        detail::check(cute_gemm_create, &problem_, std::size_t{1}, &options, &gemm);
        std::size_t bytes = cute_gemm_workspace(gemm);
        gemm_.reset(gemm);
        workspace_.reset(bytes ? new DeviceBuffer<std::uint8_t>(device_, bytes) : nullptr);
    }

    Device device_;
    cute_gemm_problem problem_;
    const cute_gemm_compiler *compiler_;
    std::unique_ptr<Module> module_; /* outlives the plan */
    std::unique_ptr<DeviceBuffer<std::uint8_t>> workspace_;
    detail::Owner<cute_gemm, cute_gemm_destroy> gemm_;
};

/* ---- compilation ---- */

/* Links PTX and device objects to a cubin; options as cute_linker_set takes them. */
class Linker
{
  public:
    Linker()
    {
        cute_linker *linker = nullptr;
        detail::check(cute_linker_create, &linker);
        linker_.reset(linker);
    }
    Linker &set(const std::string &option, const std::string &value)
    {
        detail::check(cute_linker_set, linker_.get(), option.c_str(), value.c_str());
        return *this;
    }
    Linker &add(const std::string &image, const std::string &label = "<image>")
    {
        detail::check(cute_linker_add, linker_.get(), label.c_str(), image.data(), image.size());
        return *this;
    }
    std::string link()
    {
        std::size_t length = 0;
        detail::check(cute_linker_link, linker_.get());
        const void *output = cute_linker_output(linker_.get(), &length);
        return std::string(static_cast<const char *>(output), length);
    }

  private:
    detail::Owner<cute_linker, cute_linker_destroy> linker_;
};

#ifdef CUTE_HPP_COMPILER
/* Owns a module of cute/build.h, for whose functions get() is. */
class ModuleBuilder
{
  public:
    ModuleBuilder()
    {
        cute_ir *ir = nullptr;
        detail::check(cute_ir_create, &ir);
        ir_.reset(ir);
    }
    cute_ir *get() const { return ir_.get(); }
    /* MLIR; the first error is an exception. `lines`: with the places of the calls. */
    std::string text(bool lines = false) const
    {
        const char *text = nullptr;
        std::size_t length = 0;
        detail::check(cute_ir_print, ir_.get(), lines, &text, &length);
        return std::string(text, length);
    }

  private:
    detail::Owner<cute_ir, cute_ir_destroy> ir_;
};

/* MLIR to PTX and cubins; options as cute_compiler_set takes them. */
class CuteCompiler
{
  public:
    explicit CuteCompiler(Arch arch = Arch::SM90)
    {
        cute_compiler *compiler = nullptr;
        detail::check(cute_compiler_create, &compiler);
        compiler_.reset(compiler);
        set("arch", name_of(arch));
    }
    CuteCompiler &set(const std::string &option, const std::string &value)
    {
        detail::check(cute_compiler_set, compiler_.get(), option.c_str(), value.c_str());
        return *this;
    }
    CuteCompiler &define(const std::string &name, const std::string &value)
    {
        return set("define", name + "=" + value);
    }
    std::string compile_to_ptx(const std::string &source, const std::string &label = "<source>")
    {
        cute_compiled *compiled = nullptr;
        detail::check(cute_compiler_run, compiler_.get(), label.c_str(), source.data(), source.size(),
                      &compiled);
        return text_of(compiled);
    }
    std::string compile_to_ptx(const ModuleBuilder &builder)
    {
        cute_compiled *compiled = nullptr;
        detail::check(cute_ir_compile, builder.get(), compiler_.get(), &compiled);
        return text_of(compiled);
    }
    std::string compile_to_cubin(const std::string &ptx, const std::string &label = "<ptx>")
    {
        return Linker().add(ptx, label).link();
    }
    Module compile(const std::string &source, const std::string &label = "<source>")
    {
        return Module(compile_to_cubin(compile_to_ptx(source, label), label), label);
    }
    Module compile(const ModuleBuilder &builder, const std::string &label = "<builder>")
    {
        return Module(compile_to_cubin(compile_to_ptx(builder), label), label);
    }

  private:
    /* The first text; takes ownership. */
    static std::string text_of(cute_compiled *compiled)
    {
        detail::Owner<cute_compiled, cute_compiled_destroy> owner(compiled);
        std::size_t length = 0;
        const char *text = cute_compiled_text(compiled, 0, &length);
        if (!text) throw Error(CUTE_INVALID, "the source has no gpu.module");
        return std::string(text, length);
    }

    detail::Owner<cute_compiler, cute_compiler_destroy> compiler_;
};
#endif

} // namespace runtime
} // namespace cute

#endif
