// Named pipelines with options, and the passes that a pipeline runs. See shim.h.
#include "lib/ir/shim.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace
{
class PipelineOptions : public detail::PassOptions
{
  public:
    explicit PipelineOptions(const cute_pipeline &row) : pipeline(&row)
    {
        for (int i = 0; i < pipeline->option_count; i++) {
            const cute_pass_option &o = pipeline->options[i];
            std::string initial = o.initial_text ? o.initial_text : "";
            switch (o.kind) {
            case CUTE_PASS_BOOL: add<bool>(o, initial == "true"); break;
            case CUTE_PASS_INT: add<int64_t>(o, o.initial); break;
            case CUTE_PASS_TEXT: add<std::string>(o, initial); break;
            }
        }
    }
    LogicalResult parse(StringRef text, function_ref<LogicalResult(const Twine &)> error)
    {
        std::string errors;
        llvm::raw_string_ostream os(errors);
        if (succeeded(parseFromString(text, os))) return success();
        StringRef unknown = os.str();
        unknown = unknown.contains("no such option ") ? unknown.split("no such option ").second.rtrim() : "";
        std::string message = "pipeline '" + std::string(pipeline->name) + "' ";
        if (unknown.empty())
            message += "does not take '" + text.str() + "'";
        else
            message += "has no option '" + unknown.str() + "'";
        message += pipeline->option_count ? "; it has " : "; it has none";
        for (int i = 0; i < pipeline->option_count; i++)
            message += std::string(i ? ", " : "") + pipeline->options[i].name;
        return error(message);
    }
    std::vector<std::string> values() const
    {
        std::vector<std::string> all;
        for (auto &value : texts) all.push_back(value());
        return all;
    }

  private:
    static std::string textOf(bool value) { return value ? "true" : "false"; }
    static std::string textOf(int64_t value) { return std::to_string(value); }
    static std::string textOf(const std::string &value) { return value; }
    template <class T> void add(const cute_pass_option &o, T initial)
    {
        auto option = std::make_unique<Option<T>>(*this, o.name, cl::desc(o.help), cl::init(initial));
        texts.push_back([o = option.get()] { return textOf(o->getValue()); });
        options.push_back(std::move(option));
    }
    const cute_pipeline *pipeline;
    std::vector<std::unique_ptr<cl::Option>> options;
    std::vector<std::function<std::string()>> texts;
};

LogicalResult build(const cute_pipeline &pipeline, OpPassManager &manager, StringRef text,
                    function_ref<LogicalResult(const Twine &)> error)
{
    PipelineOptions options(pipeline);
    if (failed(options.parse(text, error))) return failure();
    std::vector<std::string> values = options.values();
    std::vector<const char *> texts;
    for (const std::string &value : values) texts.push_back(value.c_str());
    cute_diag *diag = cute_diag_create();
    char *passes = pipeline.text(&pipeline, texts.data(), diag);
    std::string message;
    for (size_t i = 0; i < cute_diag_count(diag); i++)
        message += (i ? StringRef(message).ends_with("?") ? " " : "; " : "") +
                   std::string(cute_diag_get(diag, i)->text);
    cute_diag_destroy(diag);
    if (!passes) return error("pipeline '" + Twine(pipeline.name) + "': " + message);
    LogicalResult result = parsePassPipeline(passes, manager, llvm::errs());
    free(passes);
    return result;
}

// A line for each pass.
std::string inLines(StringRef text)
{
    std::string out;
    int depth = 0, braces = 0;
    auto newline = [&] { out += "\n" + std::string(2 * depth, ' '); };
    for (char c : text) {
        braces += (c == '{') - (c == '}');
        if (c == ')' && !braces) depth--, newline();
        if (c == ' ' && (out.back() == '{' || out.back() == ' ')) continue;
        out += c;
        if (c == '(' && !braces) depth++, newline();
        if (c == ',' && !braces) newline();
    }
    return out + "\n";
}
} // namespace

extern "C" {

void cute_pipeline_register(const cute_pipeline *pipeline)
{
    registerPassPipeline(
        pipeline->name, pipeline->help,
        [pipeline = *pipeline](OpPassManager &manager, StringRef text,
                               function_ref<LogicalResult(const Twine &)> error) {
            return build(pipeline, manager, text, error);
        },
        [pipeline = *pipeline](function_ref<void(const detail::PassOptions &)> visit) {
            visit(PipelineOptions(pipeline));
        });
}

char *cute_pipeline_print(const char *text)
{
    OpPassManager manager("builtin.module");
    StringRef inner = StringRef(text).trim();
    if (inner.consume_front("builtin.module(") && !inner.consume_back(")")) inner = text;
    if (failed(parsePassPipeline(inner, manager, llvm::errs()))) return nullptr;
    std::string passes;
    llvm::raw_string_ostream os(passes);
    manager.printAsTextualPipeline(os);
    return strdup(inLines(os.str()).c_str());
}
}
