// See shim.h. Kept thin: each function forwards a C call to C++.
#include "lib/ir/mlir/shim.h"

#include "lib/ir/mlir/extension.h"
#include "lib/ir/text/aliases.h"
#include "lib/ir/text/placeholders.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Debug/CLOptionsSetup.h"
#include "mlir/Debug/Counter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/ParseUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <tuple>

using namespace mlir;
namespace cl = llvm::cl;

namespace
{
class CPass;
} // namespace
struct cute_pass_run {
    CPass *pass;
};

namespace
{
// The passes that have run on an operation, kept by its analysis manager until the end of the pipeline.
struct RanPasses {
    explicit RanPasses(Operation *) {}
    bool isInvalidated(const AnalysisManager::PreservedAnalyses &) { return false; }
    std::shared_ptr<llvm::StringSet<>> names = std::make_shared<llvm::StringSet<>>();
};

class CPass : public Pass
{
  public:
    explicit CPass(const cute_pass *info)
        : Pass(TypeID::getFromOpaquePointer(info),
               info->anchor ? std::optional<StringRef>(info->anchor) : std::nullopt),
          info(info)
    {
        for (int i = 0; i < info->option_count; i++) {
            const cute_pass_option &o = info->options[i];
            auto desc = cl::desc(o.help);
            switch (o.kind) {
            case CUTE_PASS_BOOL: add<Option<bool>>(o.name, desc, cl::init(o.initial != 0)); break;
            case CUTE_PASS_INT: add<Option<int64_t>>(o.name, desc, cl::init(o.initial)); break;
            case CUTE_PASS_TEXT:
                add<Option<std::string>>(o.name, desc,
                                         cl::init(std::string(o.initial_text ? o.initial_text : "")));
                break;
            }
        }
    }
    StringRef getName() const override { return info->name; }
    StringRef getArgument() const override { return info->name; }
    StringRef getDescription() const override { return info->help; }
    void getDependentDialects(DialectRegistry &registry) const override
    {
        cute_dialects_insert(info->dialects, wrap(&registry));
    }
    void runOnOperation() override
    {
        cute_pass_run run{this};
        failed = false;
        info->run(wrap(getOperation()), &run);
    }
    bool canScheduleOn(RegisteredOperationName name) const override
    {
        return !info->anchor || name.getStringRef() == info->anchor;
    }
    std::unique_ptr<Pass> clonePass() const override { return std::make_unique<CPass>(info); }
    void fail()
    {
        failed = true;
        signalPassFailure();
    }
    void unchanged() { markAllAnalysesPreserved(); }
    llvm::StringSet<> &ranPasses() { return *getAnalysis<RanPasses>().names; }
    bool runNested(OpPassManager &manager, Operation *op)
    {
        // The end of a pipeline clears the analyses of its operation, which may be this one.
        auto names = getAnalysis<RanPasses>().names;
        bool done = succeeded(runPipeline(manager, op));
        getAnalysis<RanPasses>().names = names;
        return done;
    }
    template <class T> T &option(int i) { return static_cast<T &>(*options[i]); }

    const cute_pass *info;
    bool remarks = false; // enabled for this run
    bool failed = false;  // this run

  private:
    template <class T, class... A> void add(const char *name, A &&...args)
    {
        options.push_back(std::make_unique<T>(*this, name, std::forward<A>(args)...));
    }
    std::vector<std::unique_ptr<cl::Option>> options;
};

class Observer : public PassInstrumentation
{
  public:
    Observer(cute_after_pass visit, void *context) : visit(visit), context(context) {}
    void runBeforePass(Pass *pass, Operation *op) override
    {
        if (op != looked && !isGroup(pass)) look(looked = op, last);
        started.push_back(std::chrono::steady_clock::now());
    }
    void runAfterPass(Pass *pass, Operation *op) override { done(pass, op, false); }
    void runAfterPassFailed(Pass *pass, Operation *op) override { done(pass, op, true); }

  private:
    // Fingerprint of the printed IR: the addresses of uniqued objects.
    void look(Operation *inside, std::vector<uintptr_t> &all)
    {
        all.clear();
        auto add = [&](const void *what) { all.push_back(reinterpret_cast<uintptr_t>(what)); };
        inside->walk<WalkOrder::PreOrder>([&](Operation *op) {
            add(op);
            add(op->getBlock());
            add(op->getLoc().getAsOpaquePointer());
            add(op->getRawDictionaryAttrs().getAsOpaquePointer());
            all.push_back(size_t(op->hashProperties()));
            for (Value operand : op->getOperands()) add(operand.getAsOpaquePointer());
            for (Type type : op->getResultTypes()) add(type.getAsOpaquePointer());
            for (Block *successor : op->getSuccessors()) add(successor);
            for (Region &region : op->getRegions())
                for (Block &block : region) {
                    add(&block);
                    for (BlockArgument argument : block.getArguments()) {
                        add(argument.getType().getAsOpaquePointer());
                        add(argument.getLoc().getAsOpaquePointer());
                    }
                }
        });
    }
    // Adaptors only group passes; they have no argument.
    static bool isGroup(Pass *pass) { return pass->getArgument().empty(); }
    // Only `op` can have changed, so only it is verified. Passes after the first invalid IR are not reported.
    void done(Pass *pass, Operation *op, bool failed)
    {
        std::chrono::duration<double> t = std::chrono::steady_clock::now() - started.back();
        started.pop_back();
        if (wrong || isGroup(pass)) return;
        // After a pass that ran a nested pipeline the old fingerprint is gone: assume a change.
        bool same = op == looked;
        look(looked = op, now);
        bool changed = !same || now != last;
        wrong = changed && !failed && mlir::failed(verify(op));
        cute_passed passed = {failed || wrong, changed, !started.empty(), t.count()};
        std::swap(now, last);
        visit(pass->getArgument().str().c_str(), &passed, context);
    }
    cute_after_pass visit;
    void *context;
    bool wrong = false;
    Operation *looked = nullptr; // the operation of `last`
    std::vector<uintptr_t> last, now;
    std::vector<std::chrono::steady_clock::time_point> started;
};

// Enables remarks in our passes; other passes are unaffected.
class Remarks : public PassInstrumentation
{
  public:
    explicit Remarks(StringRef passes) : all(passes.empty())
    {
        SmallVector<StringRef> list;
        passes.split(list, ',', -1, /*KeepEmpty=*/false);
        for (StringRef name : list) names.insert(name.trim());
    }
    // The first unknown pass name, or an empty string.
    StringRef unknown() const
    {
        for (const auto &name : names)
            if (!PassInfo::lookup(name.getKey())) return name.getKey();
        return "";
    }
    void runBeforePass(Pass *pass, Operation *) override
    {
        // Only our passes have their argument as name. LLVM may lack the RTTI for a dynamic_cast.
        if (pass->getName().data() != pass->getArgument().data()) return;
        auto *ours = static_cast<CPass *>(pass);
        ours->remarks = wanted(ours->info->name);
    }
    bool wanted(StringRef pass) const { return all || names.contains(pass); }

  private:
    bool all;
    llvm::StringSet<> names;
};

// `passes` may be NULL.
bool addRemarks(PassManager &manager, const char *passes, std::string &unknown)
{
    if (!passes) return true;
    auto remarks = std::make_unique<Remarks>(passes);
    unknown = remarks->unknown().str();
    if (!unknown.empty()) return false;
    manager.addInstrumentation(std::move(remarks));
    return true;
}

struct DriverOptions {
    cl::opt<std::string> input{cl::Positional, cl::desc("<input file>"), cl::init("-")};
    cl::opt<std::string> output{"o", cl::desc("Output filename"), cl::value_desc("filename"), cl::init("-")};
    cl::list<std::string> defines{"D", cl::Prefix, cl::value_desc("NAME=VALUE"),
                                  cl::desc("Replace ${NAME} and integer expressions ${NAME*2} in the text")};
    cl::list<std::string> folders{"I", cl::Prefix, cl::value_desc("DIR"),
                                  cl::desc("Look there for files of lines //!include \"FILE\"")};
    cl::opt<std::string> diagnostics{"diagnostics",
                                     cl::desc("Form of diagnostics: text, full, json or sarif"),
                                     cl::value_desc("text|full|json|sarif"), cl::init("text")};
    cl::opt<std::string> sourceMap{"source-map",
                                   cl::desc("Append source-map comments to the output: auto (unless it is a "
                                            "terminal), on or off; off also ignores them in the input"),
                                   cl::value_desc("auto|on|off"), cl::init("auto")};
    cl::opt<std::string> remarks{
        "remarks", cl::ValueOptional, cl::value_desc("pass,..."),
        cl::desc("Emit remarks where passes were applied or missed, for the given passes or for all")};
    cl::opt<std::string> warn{
        "warn", cl::value_desc("index-overflow"),
        cl::desc("Name the operations that assume offsets of 32 bits, which the launch checks")};
    cl::opt<std::string> logLevel{"log-level", cl::value_desc("level"),
                                  cl::desc("error: errors only; warning (default); info: also subprocesses "
                                           "and the cache; debug: also files")};
    cl::opt<bool> timing{"timing", cl::desc("Print a timing breakdown to stderr")};
    cl::opt<bool> printParams{"print-params",
                              cl::desc("Print the parameters (//!param) of the input as JSON")};
    cl::opt<std::string> printPipeline{
        "print-pipeline", cl::value_desc("pipeline"),
        cl::desc("Print the passes of a pipeline for a builtin.module, and exit")};
};

// Options for MLIR tests use MLIR's driver: split input, expected diagnostics, reproducers. Its output needs
// no source map.
bool isForTests(const MlirOptMainConfig &config)
{
    return config.shouldVerifyDiagnostics() || !config.inputSplitMarker().empty() ||
           config.shouldVerifyRoundtrip() || config.shouldRunReproducer() ||
           !config.getReproducerFilename().empty() || !config.getIrdlFile().empty();
}

// Operation::print without its first pass, which prints the module only to collect aliases; namedIn finds
// them faster. Returns the number of alias lines, which `state` does not count.
unsigned printAlone(Operation *op, ArrayRef<Operation *> inside, AsmState &state,
                    FallbackAsmResourceMap &resources, raw_ostream &os)
{
    std::optional<cute::Named> named;
    if (!op->getBlock() && !state.getPrinterFlags().shouldPrintDebugInfo() && resources.getPrinters().empty())
        named = cute::namedIn(inside);
    if (!named) {
        op->print(os, state);
        return 0;
    }
    unsigned lines = 0;
    if (!named->types.empty() || !named->attributes.empty()) {
        // Print an operation that uses all aliases, and drop its own line, the last one.
        OperationState all(op->getLoc(), UnrealizedConversionCastOp::getOperationName());
        all.addTypes(named->types);
        all.addAttribute("all", ArrayAttr::get(op->getContext(), named->attributes));
        Operation *first = Operation::create(all);
        std::string text;
        llvm::raw_string_ostream names(text);
        first->print(names, state);
        first->destroy();
        StringRef kept = StringRef(names.str()).rtrim('\n').rsplit('\n').first;
        lines = unsigned(kept.count('\n')) + 1;
        os << kept << '\n';
    }
    // An operation with a parent is printed once, with the aliases of `state`.
    Region region;
    region.emplaceBlock().push_back(op);
    op->print(os, state);
    os << '\n';
    op->remove();
    return lines;
}

// Prints `op`, then reports the line of each operation.
// Returns how many operations there are.
size_t printPlaced(Operation *op, OpPrintingFlags flags, FallbackAsmResourceMap &resources,
                   const cute_opt_hooks *hooks)
{
    std::string result;
    llvm::raw_string_ostream os(result);
    os.SetBufferSize(64 << 10); // a printer writes a few characters at a time
    std::vector<Operation *> all;
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) { all.push_back(inner); });
    AsmState::LocationMap lines;
    bool wanted = hooks->printed && !flags.shouldPrintDebugInfo();
    if (wanted) lines.reserve(unsigned(all.size()));
    AsmState state(op, flags, wanted ? &lines : nullptr, &resources);
    unsigned above = printAlone(op, all, state, resources, os);
    os << '\n';
    os.flush();
    hooks->write(result.data(), result.size(), hooks->context);
    if (!wanted) return all.size();
    struct Printed {
        unsigned line;
        size_t index;
        Operation *op;
        bool operator<(const Printed &b) const { return std::tie(line, index) < std::tie(b.line, b.index); }
    };
    std::vector<Printed> printed;
    printed.reserve(lines.size());
    for (Operation *inner : all) {
        auto line = lines.find(inner);
        if (line != lines.end()) printed.push_back({line->second.first + above, printed.size(), inner});
    }
    // Regions may be printed in another order than they have.
    if (!std::is_sorted(printed.begin(), printed.end())) std::sort(printed.begin(), printed.end());
    for (const Printed &p : printed) {
        bool body = p.op->getNumRegions() && !p.op->getRegion(0).empty();
        hooks->printed(p.line, wrap(p.op->getLoc()), wrap(body ? &p.op->getRegion(0).front() : nullptr),
                       hooks->context);
    }
    return all.size();
}

// The same for the driver.
LogicalResult addRemarks(PassManager &manager, const char *passes)
{
    std::string unknown;
    if (addRemarks(manager, passes, unknown)) return success();
    llvm::errs() << "cute-opt: error: --remarks: unknown pass '" << unknown << "'\n";
    return failure();
}

// After parsing. A module whose functions launch kernels becomes a gpu.container_module if it is not marked as
// one.
bool settle(Operation *root, const cute::Placeholders &placeholders)
{
    if (failed(placeholders.report())) return false;
    root->walk([](gpu::LaunchFuncOp launch) {
        if (auto module = launch->getParentOfType<ModuleOp>())
            module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                            UnitAttr::get(module.getContext()));
    });
    return true;
}

// The same, and verifies.
bool complete(Operation *root, const cute::Placeholders &placeholders)
{
    return settle(root, placeholders) && succeeded(verify(root));
}

// The steps of mlir-opt for one module.
bool runOnce(std::unique_ptr<llvm::MemoryBuffer> buffer, DialectRegistry &registry,
             const MlirOptMainConfig &config, const cute_opt_hooks *hooks)
{
    MLIRContext context(registry);
    hooks->begin(wrap(&context), hooks->context);
    context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
    tracing::InstallDebugHandler debug(context, config.getDebugConfig());

    DefaultTimingManager manager;
    applyDefaultTimingManagerCLOptions(manager);
    TimingScope timing = manager.getRootScope(), parsing = timing.nest("Parser");
    auto sources = std::make_shared<llvm::SourceMgr>();
    sources->AddNewSourceBuffer(std::move(buffer), SMLoc());
    FallbackAsmResourceMap resources;
    ParserConfig parser(&context, /*verifyAfterParse=*/false, &resources);
    bool threads = context.isMultithreadingEnabled();
    context.disableMultithreading();
    std::optional<cute::Placeholders> placeholders(std::in_place);
    OwningOpRef<Operation *> op =
        parseSourceFileForTool(sources, parser, /*insertImplicitModule=*/!config.shouldUseExplicitModule());
    context.enableMultithreading(threads);
    parsing.stop();
    if (!op || !complete(*op, *placeholders)) return false;
    placeholders.reset();
    hooks->parsed(wrap(op.get()), hooks->context);

    PassManager passes(op.get()->getName(), PassManager::Nesting::Implicit);
    passes.enableVerifier(config.shouldVerifyPasses());
    if (failed(applyPassManagerCLOptions(passes))) return false;
    passes.enableTiming(timing);
    if (failed(addRemarks(passes, hooks->remarks))) return false;
    if (failed(config.setupPassPipeline(passes)) || failed(passes.run(*op))) return false;

    TimingScope printing = timing.nest("Output");
    if (!config.shouldEmitBytecode()) {
        if (config.bytecodeVersionToEmit())
            return succeeded(LogicalResult(
                emitError(UnknownLoc::get(&context), "bytecode version while not emitting bytecode")));
        printPlaced(op.get(), OpPrintingFlags(), resources, hooks);
        return true;
    }
    BytecodeWriterConfig writer(resources);
    if (auto version = config.bytecodeVersionToEmit()) writer.setDesiredBytecodeVersion(*version);
    if (config.shouldElideResourceDataFromBytecode()) writer.setElideResourceDataFlag();
    std::string result;
    llvm::raw_string_ostream os(result);
    if (failed(writeBytecodeToFile(op.get(), os, writer))) return false;
    os.flush();
    hooks->write(result.data(), result.size(), hooks->context);
    return true;
}
} // namespace

// Hides the options of LLVM's libraries from --help; --help-hidden shows them.
static void hideOptionsOfLibraries()
{
    for (auto &entry : cl::getRegisteredOptions()) {
        cl::Option *option = entry.second;
        bool common = llvm::any_of(option->Categories, [](cl::OptionCategory *category) {
            return category->getName() == "Generic Options" || category->getName() == "Color Options";
        });
        if (!common) option->setHiddenFlag(cl::Hidden);
    }
}

// The options that name plugins, which are loaded before the command line is parsed, so that their passes are options. mlir-opt's
// names are accepted, too.
struct PluginOptions {
    PluginOptions()
    {
        auto &options = cl::getRegisteredOptions();
        for (const char *name : {"load-pass-plugin", "load-dialect-plugin"}) {
            if (auto at = options.find(name); at != options.end()) at->second->removeArgument();
            hidden.push_back(std::make_unique<cl::list<std::string>>(StringRef(name), cl::Hidden));
        }
    }
    cl::list<std::string> shown{
        "load-plugin", cl::value_desc("FILE"),
        cl::desc("Add the passes, pipelines and operations of a plugin (.so), or a pass of "
                 "PDL patterns (.mlir)")};
    std::vector<std::unique_ptr<cl::list<std::string>>> hidden;
};

extern "C" {

void cute_pass_register(const cute_pass *pass)
{
    registerPass([pass] { return std::make_unique<CPass>(pass); });
}

bool cute_pass_is_known(const char *name)
{
    return PassInfo::lookup(name) || PassPipelineInfo::lookup(name);
}

int64_t cute_pass_int(const cute_pass_run *run, int i)
{
    CPass *p = run->pass;
    if (p->info->options[i].kind == CUTE_PASS_BOOL) return p->option<Pass::Option<bool>>(i).getValue();
    return p->option<Pass::Option<int64_t>>(i).getValue();
}
MlirStringRef cute_pass_text(const cute_pass_run *run, int i)
{
    return wrap(StringRef(run->pass->option<Pass::Option<std::string>>(i).getValue()));
}
const void *cute_pass_user(const cute_pass_run *run)
{
    return run->pass->info->user;
}
void cute_pass_fail(cute_pass_run *run)
{
    run->pass->fail();
}
void cute_pass_note_run(cute_pass_run *run)
{
    run->pass->ranPasses().insert(run->pass->info->name);
}
bool cute_pass_has_run(cute_pass_run *run, const char *name)
{
    return run->pass->ranPasses().contains(name);
}
bool cute_pass_has_failed(const cute_pass_run *run)
{
    return run->pass->failed;
}
void cute_pass_unchanged(cute_pass_run *run)
{
    run->pass->unchanged();
}
void cute_pass_print(cute_pass_run *, MlirStringRef text)
{
    llvm::errs() << unwrap(text);
}
bool cute_pass_wants_remarks(const cute_pass_run *run)
{
    return run->pass->remarks;
}
void cute_pass_remark(const cute_pass_run *run, MlirLocation location, const char *format, ...)
{
    if (!run->pass->remarks) return;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(nullptr, 0, format, args);
    std::string text(std::max(length, 0) + 1, '\0');
    vsnprintf(text.data(), text.size(), format, again);
    va_end(again);
    va_end(args);
    emitRemark(unwrap(location)) << Twine(text.c_str()) << " [" << run->pass->info->name << "]";
}
bool cute_pass_run_pipeline(cute_pass_run *run, const char *pipeline, MlirOperation op)
{
    OpPassManager manager(unwrap(op)->getName().getStringRef());
    return succeeded(parsePassPipeline(pipeline, manager, llvm::errs())) &&
           run->pass->runNested(manager, unwrap(op));
}

// Normalizes --pass-pipeline=TEXT for MLIR. LLVM's options keep pointers to the strings, which are never
// freed.
static std::vector<char *> withPipelineTexts(int argc, char **argv)
{
    static auto *kept = new std::deque<std::string>;
    std::vector<char *> all(argv, argv + argc);
    bool prints = false, verbatim = false;
    for (size_t i = 1; i < all.size() && !verbatim; i++) {
        StringRef word = all[i], text = word;
        verbatim = word == "--";
        if (!text.consume_front("-")) continue;
        text.consume_front("-");
        if (!text.consume_front("pass-pipeline")) continue;
        bool own = text.consume_front("="), print = false;
        if (!own && (!text.empty() || i + 1 >= all.size())) continue;
        std::string plain = own ? text.str() : all[++i];
        char *changed = cute_pipeline_text(plain.c_str(), &print);
        std::string option = own ? "--pass-pipeline=" : "";
        all[i] = kept->emplace_back(option + changed).data();
        free(changed);
        prints |= print;
    }
    if (prints) all.insert(all.begin() + 1, kept->emplace_back("--mlir-print-ir-after-all").data());
    return all;
}

bool cute_opt_parse(int argc, char **argv, const char *version, const char *more_help,
                    MlirDialectRegistry registry, cute_opt_command *out)
{
    std::vector<char *> arguments = withPipelineTexts(argc, argv);
    argc = (int)arguments.size();
    argv = arguments.data();
    hideOptionsOfLibraries();
    // Never freed: LLVM's parser keeps pointers to options.
    static DriverOptions *options = new DriverOptions;
    static cl::extrahelp more(more_help);
    static std::vector<const char *> defines, folders;
    registerAsmPrinterCLOptions();
    registerMLIRContextCLOptions();
    registerPassManagerCLOptions();
    registerDefaultTimingManagerCLOptions();
    tracing::DebugCounter::registerCLOptions();
    // LLVM ends the process if a pass has the name of an option.
    for (const char *name : cute::extensionPasses())
        if (cl::getRegisteredOptions().count(name)) {
            llvm::errs() << "cute-opt: error: the pass '" << name
                         << "' of a plugin has the name of an option\n";
            return false;
        }
    MlirOptMainConfig::registerCLOptions(*unwrap(registry));
    static PluginOptions *plugins = new PluginOptions;
    (void)plugins;
    cl::SetVersionPrinter([version](raw_ostream &os) {
        os << "cute-opt " << version << " (MLIR " << LLVM_VERSION_STRING << ")\n";
    });
    if (!cl::ParseCommandLineOptions(
            argc, argv,
            "cute-opt: parses, verifies, transforms and prints MLIR with the dialect "
            "cute\n",
            &llvm::errs()))
        return false;
    const std::string &format = options->diagnostics;
    if (format != "text" && format != "full" && format != "json" && format != "sarif") {
        llvm::errs() << "cute-opt: error: '--diagnostics' expects text, full, json or sarif, got '" << format
                     << "'\n";
        return false;
    }
    if (options->sourceMap != "auto" && options->sourceMap != "on" && options->sourceMap != "off") {
        llvm::errs() << "cute-opt: error: --source-map expects 'auto', 'on' or 'off', got '"
                     << options->sourceMap << "'\n";
        return false;
    }
    defines.clear();
    for (const std::string &d : options->defines) defines.push_back(d.c_str());
    folders.clear();
    for (const std::string &d : options->folders) folders.push_back(d.c_str());
    out->input = options->input.c_str();
    out->output = options->output.c_str();
    out->format = format == "json"    ? CUTE_DIAG_JSON
                  : format == "sarif" ? CUTE_DIAG_SARIF
                  : format == "full"  ? CUTE_DIAG_FULL
                                      : CUTE_DIAG_TEXT;
    out->source_map = options->sourceMap.c_str();
    out->remarks = options->remarks.getNumOccurrences() ? options->remarks.c_str() : nullptr;
    out->warn = options->warn.getNumOccurrences() ? options->warn.c_str() : nullptr;
    out->log_level = options->logLevel.getNumOccurrences() ? options->logLevel.c_str() : nullptr;
    out->timing = options->timing;
    out->print_params = options->printParams;
    out->print_pipeline =
        options->printPipeline.getNumOccurrences() ? options->printPipeline.c_str() : nullptr;
    out->defines = defines.data();
    out->define_count = defines.size();
    out->folders = folders.data();
    out->folder_count = folders.size();
    return true;
}

bool cute_opt_run(MlirStringRef label, MlirStringRef text, MlirDialectRegistry registry,
                  const cute_opt_hooks *hooks)
{
    MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
    std::string result;
    llvm::raw_string_ostream os(result);
    auto buffer = llvm::MemoryBuffer::getMemBuffer(unwrap(text), unwrap(label), false);
    bool ok = true;
    if (config.shouldShowDialects())
        for (const auto &name : unwrap(registry)->getDialectNames()) os << name << '\n';
    else if (isForTests(config)) {
        MlirOptMainConfig plain = config;
        config.setPassPipelineSetupFn([&](PassManager &manager) {
            return success(succeeded(addRemarks(manager, hooks->remarks)) &&
                           succeeded(plain.setupPassPipeline(manager)));
        });
        cute::Placeholders placeholders;
        ok = succeeded(MlirOptMain(os, std::move(buffer), *unwrap(registry), config));
    } else {
        return runOnce(std::move(buffer), *unwrap(registry), config, hooks);
    }
    os.flush();
    if (ok) hooks->write(result.data(), result.size(), hooks->context);
    return ok;
}

void cute_locations_replace(MlirOperation root, MlirStringRef file, bool names_only, cute_relocate move,
                            void *context)
{
    StringAttr name = StringAttr::get(unwrap(root)->getContext(), unwrap(file));
    auto placed = [&](Location location) {
        auto place = dyn_cast<FileLineColLoc>(location);
        return place && place.getFilename() == name ? place : FileLineColLoc();
    };
    auto moved = [&](FileLineColLoc old, const cute_placed &what) {
        return Location(unwrap(move(wrap(Location(old)), old.getLine(), old.getColumn(), &what, context)));
    };
    unwrap(root)->walk<WalkOrder::PreOrder>([&](Operation *op) {
        auto place = placed(op->getLoc());
        bool function = op->getNumRegions() && isa<FunctionOpInterface>(op);
        if (place && !names_only) op->setLoc(moved(place, {0, -1, false}));
        for (Region &region : op->getRegions())
            for (Block &block : region) {
                bool entry = region.getRegionNumber() == 0 && block.isEntryBlock();
                if (names_only && !(entry && function)) continue;
                for (BlockArgument argument : block.getArguments())
                    if (auto old = placed(argument.getLoc()))
                        argument.setLoc(
                            moved(old, {entry && place ? place.getLine() : 0,
                                        entry ? (intptr_t)argument.getArgNumber() : -1, function}));
            }
        return names_only && function ? WalkResult::skip() : WalkResult::advance();
    });
}

MlirModule cute_module_parse_part(MlirContext context, MlirStringRef text, MlirStringRef label)
{
    ParserConfig config(unwrap(context), /*verifyAfterParse=*/false);
    cute::Placeholders placeholders;
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(unwrap(text), config, unwrap(label));
    return module && settle(*module, placeholders) ? MlirModule{module.release().getOperation()}
                                                   : MlirModule{nullptr};
}

MlirModule cute_module_parse(MlirContext context, MlirStringRef text, MlirStringRef label)
{
    OwningOpRef<ModuleOp> module(unwrap(cute_module_parse_part(context, text, label)));
    return module && succeeded(verify(*module)) ? MlirModule{module.release().getOperation()}
                                                : MlirModule{nullptr};
}

namespace
{
// Converts AsmParserState to marks.
struct Marks {
    const char *begin, *end;
    void (*visit)(const cute_parsed_mark *mark, void *user);
    void *user;

    void tell(SMRange range, SMRange definition, Type type, Value value = {}) const
    {
        const char *from = range.Start.getPointer(), *to = range.End.getPointer();
        if (from < begin || to > end || from >= to) return;
        cute_parsed_mark mark = {size_t(from - begin), size_t(to - from), 0, 0, wrap(type), wrap(value)};
        if (definition.isValid()) {
            mark.definition = definition.Start.getPointer() - begin;
            mark.definition_length = definition.End.getPointer() - definition.Start.getPointer();
        }
        visit(&mark, user);
    }
    void tell(const AsmParserState::SMDefinition &definition, Type type, Value value = {}) const
    {
        tell(definition.loc, definition.loc, type, value);
        for (SMRange use : definition.uses) tell(use, definition.loc, type, value);
    }
    void tell(const AsmParserState::SMDefinition &definition, Value value) const
    {
        tell(definition, value.getType(), value);
    }
    // The symbol name that an operation defines: the first one after the operation name.
    SMRange symbolOf(const AsmParserState::OperationDefinition &op) const
    {
        auto name = op.op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
        const char *from = op.loc.End.getPointer();
        if (!name || name.empty() || from < begin || from >= end) return {};
        StringRef line = StringRef(from, end - from).take_until([](char c) { return c == '\n'; });
        size_t at = line.find('@');
        if (at == StringRef::npos || !line.substr(at + 1).starts_with(name.getValue())) return {};
        return {SMLoc::getFromPointer(from + at), SMLoc::getFromPointer(from + at + 1 + name.size())};
    }
    // The state still lists operations that the reader has replaced.
    void tell(const AsmParserState &state, Operation *root) const
    {
        llvm::DenseSet<void *> live;
        root->walk([&](Operation *op) {
            live.insert(op);
            for (Region &region : op->getRegions())
                for (Block &block : region) live.insert(&block);
        });
        for (const AsmParserState::OperationDefinition &op : state.getOpDefs()) {
            if (!live.contains(op.op)) continue;
            for (const auto &group : op.resultGroups)
                if (group.startIndex < op.op->getNumResults())
                    tell(group.definition, op.op->getResult(group.startIndex));
            SMRange symbol = symbolOf(op);
            tell(symbol, symbol, Type());
            for (SMRange use : op.symbolUses)
                if (use.Start != symbol.Start) tell(use, symbol.isValid() ? symbol : op.loc, Type());
        }
        for (const AsmParserState::BlockDefinition &block : state.getBlockDefs())
            for (auto [i, argument] : llvm::enumerate(block.arguments))
                if (live.contains(block.block) && i < block.block->getNumArguments())
                    tell(argument, block.block->getArgument(i));
        for (const AsmParserState::TypeAliasDefinition &alias : state.getTypeAliasDefs())
            tell(alias.definition, alias.value);
    }
};
} // namespace

MlirModule cute_module_parse_marked(MlirContext context, MlirStringRef text, MlirStringRef label,
                                    void (*visit)(const cute_parsed_mark *mark, void *user), void *user)
{
    MLIRContext *c = unwrap(context);
    ParserConfig config(c, /*verifyAfterParse=*/false);
    cute::Placeholders placeholders;
    auto sources = std::make_shared<llvm::SourceMgr>();
    sources->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(unwrap(text), unwrap(label), false),
                                SMLoc());
    Block block;
    AsmParserState state;
    if (failed(parseAsmSourceFile(*sources, &block, config, &state))) return MlirModule{nullptr};
    Location location = FileLineColLoc::get(c, unwrap(label), 0, 0);
    OwningOpRef<ModuleOp> module =
        mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&block, c, location);
    if (!module || !complete(*module, placeholders)) return MlirModule{nullptr};
    const llvm::MemoryBuffer *buffer = sources->getMemoryBuffer(sources->getMainFileID());
    Marks marks = {buffer->getBufferStart(), buffer->getBufferEnd(), visit, user};
    if (visit) marks.tell(state, *module);
    return MlirModule{module.release().getOperation()};
}

void cute_operations_visit(MlirContext context, void (*visit)(MlirStringRef name, void *user), void *user)
{
    for (RegisteredOperationName name : unwrap(context)->getRegisteredOperations())
        visit(wrap(name.getStringRef()), user);
}

void cute_emit_error(MlirLocation location, const char *text)
{
    emitError(unwrap(location)) << Twine(text);
}

void cute_emit_warning(MlirLocation location, const char *text)
{
    emitWarning(unwrap(location)) << Twine(text);
}

void cute_emit_with_notes(MlirLocation location, bool error, const char *text, const cute_emit_note *notes,
                          size_t count)
{
    InFlightDiagnostic told = error ? emitError(unwrap(location)) : emitWarning(unwrap(location));
    told << Twine(text);
    for (size_t i = 0; i < count; i++) told.attachNote(unwrap(notes[i].location)) << Twine(notes[i].text);
}

bool cute_location_place(MlirLocation location, MlirStringRef *file, unsigned *line, unsigned *column)
{
    auto place = dyn_cast<FileLineColLoc>(unwrap(location));
    if (!place) place = unwrap(location)->findInstanceOf<FileLineColLoc>();
    if (!place) return false;
    *file = wrap(place.getFilename().getValue());
    *line = place.getLine();
    *column = place.getColumn();
    return true;
}

static std::string textOf(Location location)
{
    std::string text;
    llvm::raw_string_ostream(text) << location;
    StringRef inside = text;
    return inside.consume_front("loc(") && inside.consume_back(")") ? inside.str() : std::string();
}

cute_location_kind cute_location_form(MlirLocation location, char hole, MlirStringRef *name, char **text)
{
    LocationAttr of = unwrap(location);
    if (isa<UnknownLoc>(of) || (hole && isa<FileLineColLoc>(of))) return CUTE_LOCATION_PLAIN;
    auto named = dyn_cast<NameLoc>(of);
    if (hole && named && isa<FileLineColLoc>(named.getChildLoc())) {
        *name = wrap(named.getName().getValue());
        return CUTE_LOCATION_NAMED;
    }
    std::string whole = textOf(of);
    auto place = hole ? of.findInstanceOf<FileLineColLoc>() : FileLineColLoc();
    std::string own = place ? textOf(place) : "";
    size_t at = own.empty() ? std::string::npos : whole.find(own);
    if (at != std::string::npos) whole.replace(at, own.size(), 1, hole);
    *text = strdup(whole.c_str());
    return CUTE_LOCATION_OTHER;
}

MlirLocation cute_location_of_form(MlirLocation place, char hole, const char *text)
{
    std::string whole = text, own = textOf(unwrap(place));
    size_t at = whole.find(hole);
    if (at != std::string::npos) whole.replace(at, 1, own);
    ScopedDiagnosticHandler quiet(unwrap(place).getContext(), [](Diagnostic &) { return success(); });
    auto found =
        dyn_cast_or_null<LocationAttr>(parseAttribute("loc(" + whole + ")", unwrap(place).getContext()));
    return found ? wrap(Location(found)) : place;
}

MlirStringRef cute_location_name(MlirLocation location)
{
    auto name = unwrap(location)->findInstanceOf<NameLoc>();
    return name ? wrap(name.getName().getValue()) : wrap(StringRef(""));
}

MlirLocation cute_argument_location(MlirValue value)
{
    return wrap(unwrap(value).getLoc());
}

bool cute_type_is_llvm(MlirType type)
{
    return LLVM::isCompatibleType(unwrap(type));
}

bool cute_op_is_effect_free(MlirOperation op)
{
    return isMemoryEffectFree(unwrap(op));
}
bool cute_op_is_dead(MlirOperation op)
{
    return isOpTriviallyDead(unwrap(op));
}

void cute_symbol_rename(MlirOperation symbol, MlirStringRef name, MlirOperation from)
{
    Operation *op = unwrap(symbol);
    auto renamed = StringAttr::get(op->getContext(), unwrap(name));
    if (succeeded(SymbolTable::replaceAllSymbolUses(op, renamed, unwrap(from))))
        SymbolTable::setSymbolName(op, renamed);
}

void cute_op_set_location(MlirOperation op, MlirLocation location)
{
    unwrap(op)->setLoc(unwrap(location));
}

void cute_llvm_on_fatal(void (*handler)(const char *reason))
{
    auto call = [](void *context, const char *reason, bool) {
        reinterpret_cast<void (*)(const char *)>(context)(reason);
    };
    llvm::install_fatal_error_handler(call, reinterpret_cast<void *>(handler));
    llvm::install_bad_alloc_error_handler(call, reinterpret_cast<void *>(handler));
}

size_t cute_print_placed(MlirOperation op, bool locations, bool verified, const cute_opt_hooks *hooks)
{
    FallbackAsmResourceMap resources;
    OpPrintingFlags flags;
    if (locations) flags.enableDebugInfo(true, false);
    if (verified) flags.assumeVerified();
    return printPlaced(unwrap(op), flags, resources, hooks);
}
void cute_pass_manager_observe(MlirPassManager manager, cute_after_pass visit, void *context)
{
    unwrap(manager)->addInstrumentation(std::make_unique<Observer>(visit, context));
}
bool cute_remarks_wanted(const char *passes, const char *pass)
{
    return passes && Remarks(passes).wanted(pass);
}
cute_status cute_pass_manager_remarks(MlirPassManager manager, const char *passes, cute_diag *diag)
{
    std::string unknown;
    if (addRemarks(*unwrap(manager), passes, unknown)) return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, nullptr, "--remarks: unknown pass '%s'", unknown.c_str());
}
}
