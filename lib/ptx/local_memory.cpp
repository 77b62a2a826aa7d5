// Finds tensors that are still allocas after optimization, and the access that prevents registers.
#include "lib/ptx/local_memory.h"

#include "lib/passes/passes.h"
#include "lib/ptx/registers.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <set>

using namespace llvm;

// ---- names ----

namespace
{
constexpr char PREFIX[] = "cute.registers."; // and the index; optimization adds a suffix

bool index_of(const AllocaInst &memory, size_t *index)
{
    StringRef name = memory.getName();
    return name.consume_front(PREFIX) && !name.consumeInteger(10, *index);
}
} // namespace

void cute_llvm_name_tensors(MlirOperation gpu_module, LLVMModuleRef m,
                            void (*each)(MlirOperation op, void *context), void *context)
{
    size_t index = 0;
    unwrap(gpu_module)->walk([&](mlir::LLVM::LLVMFuncOp op) {
        Function *function = unwrap(m)->getFunction(op.getName());
        if (op.empty() || !function || function->isDeclaration()) return;
        // Translation preserves the order within a block.
        SmallVector<AllocaInst *> made;
        SmallVector<mlir::Operation *> asked;
        for (Instruction &i : function->getEntryBlock())
            if (auto *memory = dyn_cast<AllocaInst>(&i)) made.push_back(memory);
        for (mlir::Operation &i : op.getBody().front())
            if (isa<mlir::LLVM::AllocaOp>(i)) asked.push_back(&i);
        for (size_t i = 0; made.size() == asked.size() && i < made.size(); i++) {
            if (!asked[i]->hasAttrOfType<mlir::StringAttr>(CUTE_REGISTERS)) continue;
            made[i]->setName(PREFIX + Twine(index++));
            each(wrap(asked[i]), context);
        }
    });
}

// ---- reasons ----

namespace
{
struct Reason {
    std::string text, instead;
    const Instruction *at = nullptr;
};

struct Analyses {
    LoopInfo &loops;
    ScalarEvolution &evolution;
};

constexpr char CONSTANT[] = "constant coordinates, or induction variables of loops with constant bounds";
constexpr char INLINE[] = "the values as operands, or a tensor in smem or gmem";

Reason of_index(const GetElementPtrInst &address, const Analyses &a)
{
    const SCEV *value = a.evolution.getSCEV(const_cast<GetElementPtrInst *>(&address));
    // The innermost loop in which the index varies.
    Loop *loop = a.loops.getLoopFor(address.getParent());
    while (loop && a.evolution.isLoopInvariant(value, loop)) loop = loop->getParentLoop();
    bool counts = loop && a.evolution.hasComputableLoopEvolution(value, loop);
    if (!counts) return {"it is indexed by a run-time value", CONSTANT, &address};
    if (findOptionMDForLoop(loop, "llvm.loop.unroll.disable"))
        return {"it is indexed in a loop with unrolling disabled", "a loop without 'disable'", &address};
    if (!a.evolution.getSmallConstantTripCount(loop))
        return {"it is indexed in a loop with run-time bounds",
                "constant bounds, so that the loop is unrolled", &address};
    // LLVM may have unrolled it partially, so the original trip count is unknown here.
    return {
        formatv(
            "it is indexed in a loop that was not fully unrolled: it has more than {0} iterations or exits",
            CUTE_UNROLLED_ITERATIONS),
        "#llvm.loop_annotation<unroll = <full = true>> on the loop, or fewer iterations", &address};
}

Reason of_call(const CallBase &call)
{
    if (auto *callee = call.getCalledFunction())
        return {formatv("its address is passed to '{0}'", callee->getName()), INLINE, &call};
    return {call.isInlineAsm() ? "its address is an operand of inline assembly"
                               : "its address is passed to a function",
            INLINE, &call};
}

// Why a use prevents registers; without text: it does not.
Reason of_use(const Use &use, const Analyses &a)
{
    auto *user = cast<Instruction>(use.getUser());
    if (auto *access = dyn_cast<LoadInst>(user); access && access->isVolatile())
        return {"it is read by a volatile access", "a non-volatile access", user};
    if (auto *access = dyn_cast<StoreInst>(user)) {
        if (access->getValueOperand() == use.get()) return {"its address is stored", INLINE, user};
        if (access->isVolatile())
            return {"it is written by a volatile access", "a non-volatile access", user};
    }
    if (isa<PtrToIntInst>(user)) return {"its address is converted to an integer", INLINE, user};
    if (isa<AtomicRMWInst>(user) || isa<AtomicCmpXchgInst>(user))
        return {"it is updated atomically", "loads and stores", user};
    if (auto *address = dyn_cast<GetElementPtrInst>(user); address && !address->hasAllConstantIndices())
        return of_index(*address, a);
    if (isa<PHINode>(user) || isa<SelectInst>(user) || isa<CmpInst>(user))
        return {"its address is selected at run time", "a select between loaded values", user};
    if (isa<ReturnInst>(user)) return {"its address is returned", INLINE, user};
    auto *call = dyn_cast<CallBase>(user);
    if (call && !call->isLifetimeStartOrEnd() && !isa<AnyMemIntrinsic>(call)) return of_call(*call);
    return {};
}

Reason reason_of(const AllocaInst &memory, const Analyses &a)
{
    SmallPtrSet<const Value *, 16> seen;
    SmallVector<const Value *> addresses{&memory};
    while (!addresses.empty()) {
        const Value *address = addresses.pop_back_val();
        if (!seen.insert(address).second) continue;
        for (const Use &use : address->uses()) {
            Reason reason = of_use(use, a);
            if (!reason.text.empty()) return reason;
            if (isa<GetElementPtrInst>(use.getUser()) || isa<CastInst>(use.getUser()))
                addresses.push_back(use.getUser());
        }
    }
    return {"LLVM did not split its accesses", "accesses of whole elements"};
}

// The place of an instruction, or else of the first access through the address that it computes.
const DILocation *place_of(const Instruction *at)
{
    if (!at) return nullptr;
    const DILocation *place = at->getDebugLoc().get();
    for (const User *user : at->users()) {
        if (place && place->getLine()) break;
        if (auto *access = dyn_cast<Instruction>(user)) place = access->getDebugLoc().get();
    }
    return place && place->getLine() ? place : nullptr;
}
} // namespace

void cute_llvm_local_tensors(LLVMModuleRef m, LLVMTargetMachineRef machine,
                             void (*each)(const cute_local_tensor *tensor, void *context), void *context)
{
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager graphs;
    ModuleAnalysisManager modules;
    PassBuilder builder(reinterpret_cast<TargetMachine *>(machine));
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
    std::set<size_t> told;
    for (Function &function : *unwrap(m)) {
        if (function.isDeclaration()) continue;
        for (Instruction &i : instructions(function)) {
            auto *memory = dyn_cast<AllocaInst>(&i);
            cute_local_tensor tensor = {};
            if (!memory || !index_of(*memory, &tensor.index) || !told.insert(tensor.index).second) continue;
            Analyses a{functions.getResult<LoopAnalysis>(function),
                       functions.getResult<ScalarEvolutionAnalysis>(function)};
            Reason reason = reason_of(*memory, a);
            std::string file;
            if (const DILocation *place = place_of(reason.at)) {
                StringRef directory = place->getDirectory(), name = place->getFilename();
                file =
                    directory.empty() || name.starts_with("/") ? name.str() : (directory + "/" + name).str();
                tensor.line = place->getLine();
                tensor.column = place->getColumn();
            }
            tensor.reason = reason.text.c_str();
            tensor.instead = reason.instead.c_str();
            tensor.file = file.c_str();
            each(&tensor, context);
        }
    }
}
