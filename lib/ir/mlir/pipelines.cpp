// Named pipelines with options, and printing of pipelines. See shim.h.
#include "lib/ir/mlir/shim.h"

#include "mlir/Pass/Pass.h"
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
    cute_pipeline placed = pipeline;
    placed.on_module = manager.getOpAnchorName() == "builtin.module";
    char *passes = placed.text(&placed, texts.data(), diag);
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

// The anchor operation of a pass, such as "gpu.module"; empty for any operation or an unknown pass.
std::string restrictedTo(StringRef name)
{
    const PassInfo *info = PassInfo::lookup(name);
    OpPassManager any;
    auto silent = [](const Twine &) { return failure(); };
    if (!info || failed(info->addToPipeline(any, "", silent)) || any.size() != 1) return "";
    return any.begin()->getOpName().value_or("").str();
}

// Normalizes a textual pipeline: drops comments, nests passes in their anchor operation, and removes the
// `print-after-all` option of print-ir, which is set on the pass manager instead.
class PipelineText
{
  public:
    explicit PipelineText(StringRef text) : plain(withoutComments(text)), rest(plain) {}
    std::string of(StringRef anchor)
    {
        std::string out;
        while (!rest.empty() && rest.front() != ')') {
            StringRef name = take(",(){");
            if (rest.consume_front("(")) {
                out += name.str() + "(" + of(name.trim());
                if (rest.consume_front(")")) out += ")"; // otherwise MLIR reports that it is missing
                out += take(",)");
            } else {
                out += pass(name, anchor);
            }
            if (rest.consume_front(",")) out += ",";
        }
        return out;
    }
    StringRef left() const { return rest; } // after an unmatched bracket
    bool prints = false;                    // after all passes

  private:
    // Only outside of options, where a path may contain two slashes.
    static std::string withoutComments(StringRef text)
    {
        std::string out;
        int depth = 0;
        for (size_t i = 0; i < text.size(); i++) {
            depth += (text[i] == '{') - (text[i] == '}');
            if (!depth && text.substr(i).starts_with("//")) i = std::min(text.find('\n', i), text.size());
            if (i < text.size()) out += text[i];
        }
        return out;
    }
    StringRef take(const char *until)
    {
        StringRef taken = rest.take_until([until](char c) { return strchr(until, c); });
        rest = rest.drop_front(taken.size());
        return taken;
    }
    // `{...}` with its braces.
    std::string options()
    {
        size_t depth = 0, length = 0;
        char quote = 0;
        for (char c : rest) {
            length++;
            if (quote ? c == quote : c == '"' || c == '\'') quote = quote ? 0 : c;
            if (!quote) depth += (c == '{') - (c == '}');
            if (!depth) break;
        }
        std::string text = rest.take_front(length).str();
        rest = rest.drop_front(length);
        return text;
    }
    std::string pass(StringRef name, StringRef anchor)
    {
        std::string given = !rest.empty() && rest.front() == '{' ? options() : "";
        if (name.trim() == "print-ir") dropPrintAfterAll(given);
        std::string all = name.str() + given + take(",)").str(), inside = restrictedTo(name.trim());
        bool nests = !anchor.empty() && anchor != "any" && !inside.empty() && inside != anchor &&
                     inside != "builtin.module";
        return nests ? inside + "(" + all + ")" : all;
    }
    void dropPrintAfterAll(std::string &given)
    {
        static constexpr StringLiteral word = "print-after-all";
        size_t at = given.find(word);
        if (at == std::string::npos) return;
        StringRef value = StringRef(given).substr(at + word.size());
        value = value.starts_with("=") ? value.take_until([](char c) { return strchr(" ,}", c); }) : "";
        prints |= value.empty() || value == "=true" || value == "=1";
        given.erase(at, word.size() + value.size());
        if (StringRef(given).find_first_not_of("{ ,}") == StringRef::npos) given.clear();
    }
    std::string plain;
    StringRef rest;
};

// One line per pass.
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

char *cute_pipeline_text(const char *text, bool *prints)
{
    PipelineText pipeline(text);
    StringRef whole = StringRef(text).trim();
    std::string out = pipeline.of(whole.starts_with("builtin.module(") ? "" : "builtin.module");
    out += pipeline.left();
    *prints = pipeline.prints;
    return strdup(out.c_str());
}

char *cute_pipeline_check(const char *text)
{
    OpPassManager manager("builtin.module");
    std::string reason;
    llvm::raw_string_ostream os(reason);
    if (succeeded(parsePassPipeline(text, manager, os))) return nullptr;
    return strdup(StringRef(os.str()).trim().str().c_str());
}

char *cute_pipeline_print(const char *text)
{
    OpPassManager manager("builtin.module");
    bool prints;
    std::unique_ptr<char, decltype(&free)> plain(cute_pipeline_text(text, &prints), free);
    StringRef inner = StringRef(plain.get()).trim();
    if (inner.consume_front("builtin.module(") && !inner.consume_back(")")) inner = plain.get();
    if (failed(parsePassPipeline(inner, manager, llvm::errs()))) return nullptr;
    std::string passes;
    llvm::raw_string_ostream os(passes);
    manager.printAsTextualPipeline(os);
    return strdup(inLines(os.str()).c_str());
}
}
