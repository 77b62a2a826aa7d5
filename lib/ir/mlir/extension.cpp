// Dialects of plugins, as MLIR's dynamic dialects, and passes of PDL patterns. See extension.h.
#include "lib/ir/mlir/extension.h"

#include "lib/ir/mlir/llvm_compat.h"

#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/ExtensibleDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;

namespace
{
struct Added {
    const cute_plugin_operation *row;
    const plugin_library *library;
};
struct Lists {
    std::map<std::string, std::vector<Added>> dialects;
    llvm::StringSet<> loaded;
    std::vector<const char *> passes;
    std::vector<const cute_plugin_step *> steps;
};
// On the heap and never freed, as passes of other threads may use it when the process exits.
Lists &lists()
{
    static Lists *all = new Lists;
    return *all;
}

// ---- operations ----

LogicalResult countIs(Operation *op, const char *what, int expected, size_t got)
{
    if (expected < 0 || size_t(expected) == got) return success();
    return op->emitOpError("expects ")
           << expected << " " << what << (expected == 1 ? "" : "s") << ", got " << got;
}

LogicalResult verifyAdded(const Added &added, Operation *op)
{
    const cute_plugin_operation &row = *added.row;
    if (failed(countIs(op, "operand", row.operands, op->getNumOperands())) ||
        failed(countIs(op, "result", row.results, op->getNumResults())) ||
        failed(countIs(op, "region", row.regions, op->getNumRegions())) ||
        failed(countIs(op, "successor", row.successors, op->getNumSuccessors())))
        return failure();
    SmallVector<StringRef> attributes;
    StringRef(row.attributes ? row.attributes : "").split(attributes, ',', -1, /*KeepEmpty=*/false);
    for (StringRef name : attributes)
        if (!op->hasAttr(name.trim()))
            return op->emitOpError("expects the attribute '") << name.trim() << "'";
    if (!row.verify) return success();
    plugin_mark mark;
    plugin_enter(&mark, added.library, "verifier", row.name);
    bool ok = row.verify(wrap(op));
    plugin_leave(&mark);
    return success(ok);
}

// `%a, %b {attributes} : (types) -> types`, then regions.
ParseResult parseAdded(OpAsmParser &parser, OperationState &state)
{
    SmallVector<OpAsmParser::UnresolvedOperand> operands;
    SMLoc at = parser.getCurrentLocation();
    FunctionType type;
    if (parser.parseOperandList(operands) || parser.parseOptionalAttrDict(state.attributes)) return failure();
    if (succeeded(parser.parseOptionalColon())) {
        if (parser.parseType(type)) return failure();
    } else if (operands.empty()) {
        type = parser.getBuilder().getFunctionType({}, {});
    } else {
        return parser.emitError(at, "expected ': (types of operands) -> types of results'");
    }
    if (parser.resolveOperands(operands, type.getInputs(), at, state.operands)) return failure();
    state.addTypes(type.getResults());
    for (;;) {
        std::unique_ptr<Region> region;
        OptionalParseResult found = parser.parseOptionalRegion(region);
        if (!found.has_value()) return success();
        if (failed(*found)) return failure();
        state.addRegion(std::move(region));
    }
}

void printAdded(Operation *op, OpAsmPrinter &printer, StringRef)
{
    if (op->getNumSuccessors()) return printer.printGenericOp(op);
    printer << op->getName().getStringRef();
    if (op->getNumOperands()) printer << ' ' << op->getOperands();
    printer.printOptionalAttrDict(op->getAttrs());
    if (op->getNumOperands() || op->getNumResults()) {
        printer << " : ";
        printer.printFunctionalType(op);
    }
    for (Region &region : op->getRegions()) {
        printer << ' ';
        printer.printRegion(region);
    }
}

void addOperation(DynamicDialect *dialect, const Added &added)
{
    StringRef name = StringRef(added.row->name).split('.').second;
    dialect->registerDynamicOp(DynamicOpDefinition::get(
        name, dialect, [added](Operation *op) { return verifyAdded(added, op); },
        [](Operation *) { return success(); }, parseAdded, printAdded));
}

// ---- patterns ----

class PatternPass : public Pass
{
  public:
    struct Text {
        const char *name, *help;
        StringRef text;
    };
    explicit PatternPass(const Text *text)
        : Pass(TypeID::getFromOpaquePointer(text), std::nullopt), text(text)
    {
    }
    PatternPass(const PatternPass &other) = default;
    // Not the same pointer as the argument: see Remarks in shim.cpp.
    StringRef getName() const override { return "PatternPass"; }
    StringRef getArgument() const override { return text->name; }
    StringRef getDescription() const override { return text->help; }
    bool canScheduleOn(RegisteredOperationName) const override { return true; }
    std::unique_ptr<Pass> clonePass() const override { return std::make_unique<PatternPass>(*this); }
    LogicalResult initialize(MLIRContext *context) override
    {
        OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text->text, ParserConfig(context));
        if (!module) return failure();
        RewritePatternSet set{PDLPatternModule(std::move(module))};
        patterns = FrozenRewritePatternSet(std::move(set));
        return success();
    }
    void runOnOperation() override
    {
        int64_t operations = 0;
        getOperation()->walk([&](Operation *) { operations++; });
        // MLIR rewrites without end by default.
        int64_t most = 10000 + 100 * operations;
        if (succeeded(cute::applyPatterns(getOperation(), patterns, most))) return;
        getOperation()->emitError() << "the patterns of " << text->name << " still match after 10 rounds or "
                                    << most << " rewrites: one undoes another, or matches its own result";
        signalPassFailure();
    }

  private:
    const Text *text;
    FrozenRewritePatternSet patterns;
};

bool isNative(Operation *op)
{
    return isa<pdl::ApplyNativeConstraintOp, pdl::ApplyNativeRewriteOp, pdl_interp::ApplyConstraintOp,
               pdl_interp::ApplyRewriteOp>(op) ||
           (isa<pdl::RewriteOp>(op) && op->hasAttr("name"));
}
} // namespace

const std::vector<const char *> &cute::extensionPasses()
{
    return lists().passes;
}

extern "C" {

void cute_extension_add_operation(const cute_plugin_operation *row, const plugin_library *library)
{
    lists().dialects[StringRef(row->name).split('.').first.str()].push_back({row, library});
}

bool cute_extension_has_operation(const char *name)
{
    for (const Added &added : lists().dialects[StringRef(name).split('.').first.str()])
        if (StringRef(added.row->name) == name) return true;
    return false;
}

void cute_extension_load(const char *dialects)
{
    SmallVector<StringRef> names;
    StringRef(dialects).split(names, ',', -1, /*KeepEmpty=*/false);
    for (StringRef name : names) lists().loaded.insert(name.trim());
}

void cute_extension_add_step(const cute_plugin_step *row)
{
    lists().steps.push_back(row);
}

const cute_plugin_step *cute_extension_step(size_t index)
{
    return index < lists().steps.size() ? lists().steps[index] : nullptr;
}

void cute_extension_note_pass(const char *name)
{
    lists().passes.push_back(name);
}

bool cute_registry_has(MlirDialectRegistry registry, const char *dialect, size_t length)
{
    return bool(unwrap(registry)->getDialectAllocator(StringRef(dialect, length)));
}

void cute_extensions_insert(MlirDialectRegistry registry)
{
    Lists &all = lists();
    for (const auto &[name, added] : all.dialects)
        if (!added.empty())
            unwrap(registry)->insertDynamic(name, [&added = added](MLIRContext *, DynamicDialect *dialect) {
                for (const Added &one : added) addOperation(dialect, one);
            });
    if (all.loaded.empty()) return;
    // Passes must not load dialects while they run. Every context loads the builtin dialect first.
    unwrap(registry)->addExtension(
        std::function<void(MLIRContext *, BuiltinDialect *)>([](MLIRContext *context, BuiltinDialect *) {
            for (const auto &name : lists().loaded) context->getOrLoadDialect(name.getKey());
        }));
}

MlirOperation cute_patterns_native(MlirOperation patterns)
{
    Operation *found = nullptr;
    unwrap(patterns)->walk([&](Operation *op) {
        if (isNative(op)) found = op;
        return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    return wrap(found);
}

size_t cute_patterns_count(MlirOperation patterns)
{
    size_t count = 0;
    unwrap(patterns)->walk([&](Operation *op) {
        auto function = dyn_cast<pdl_interp::FuncOp>(op);
        count += isa<pdl::PatternOp>(op) || (function && function.getSymName() == "matcher");
    });
    return count;
}

void cute_patterns_try(MlirModule patterns)
{
    ModuleOp module = unwrap(patterns);
    for (StringRef name : {"pdl", "pdl_interp"}) lists().loaded.insert(name);
    for (Dialect *dialect : module->getContext()->getLoadedDialects())
        if (!dialect->getNamespace().empty()) lists().loaded.insert(dialect->getNamespace());
    module->walk([&](pdl::OperationOp op) {
        if (std::optional<StringRef> name = op.getOpName()) {
            StringRef dialect = name->split('.').first;
            if (module->getContext()->getOrLoadDialect(dialect)) lists().loaded.insert(dialect);
        }
    });
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
    RewritePatternSet set{PDLPatternModule(std::move(copy))};
    FrozenRewritePatternSet frozen(std::move(set));
}

void cute_patterns_register(const char *name, const char *help, const char *text, size_t length)
{
    auto *row = new PatternPass::Text{name, help, StringRef(text, length)};
    registerPass([row] { return std::make_unique<PatternPass>(row); });
}

MlirOperation cute_stray_user(MlirOperation root)
{
    SmallVector<Operation *> strays;
    auto look = [&](Value value) {
        for (Operation *user : value.getUsers())
            if (!user->getBlock() && user != unwrap(root)) strays.push_back(user);
    };
    unwrap(root)->walk([&](Operation *op) {
        for (Value result : op->getResults()) look(result);
        for (Region &region : op->getRegions())
            for (Block &block : region)
                for (BlockArgument argument : block.getArguments()) look(argument);
    });
    for (Operation *stray : strays) stray->dropAllReferences();
    return wrap(strays.empty() ? nullptr : strays.front());
}
}
