// Unrolling and scalarization for tensors in registers, and the choice of pointer width.
#include "lib/ptx/registers.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <mutex>

using namespace llvm;

namespace
{
constexpr unsigned WORD = 32, ACCESS = 128; // bits of a register, and of the widest access
constexpr int UNROLL_ROUNDS = 4;            // of unrolling, one per loop level

struct Needs {
    bool memory = false, vectors = false;
};

void mark_assembly(CallBase &call)
{
    auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
    if (!assembly) return;
    call.setDoesNotThrow();
    if (assembly->getAsmString().find(".sync") != std::string::npos) call.setConvergent();
    if (!assembly->hasSideEffects()) call.setDoesNotAccessMemory();
}

Needs scan_needs(Function &function)
{
    Needs needs;
    for (Instruction &i : instructions(function)) {
        if (auto *call = dyn_cast<CallBase>(&i)) mark_assembly(*call);
        if (isa<AllocaInst>(i)) needs.memory = true;
        if (auto *vector = dyn_cast<FixedVectorType>(i.getType()))
            needs.vectors |= vector->getPrimitiveSizeInBits() > ACCESS;
    }
    return needs;
}
void run_passes(FunctionPassManager &passes, Function &function, FunctionAnalysisManager &functions)
{
    functions.invalidate(function, passes.run(function, functions));
}

// Whether an alloca is indexed by a loop-variant address.
bool indexes_registers(Loop &loop, ScalarEvolution &evolution)
{
    for (BasicBlock *block : loop.blocks())
        for (Instruction &i : *block) {
            auto *address = dyn_cast<GetElementPtrInst>(&i);
            if (!address || address->hasAllConstantIndices() ||
                !isa<AllocaInst>(getUnderlyingObject(address)))
                continue;
            if (!evolution.isLoopInvariant(evolution.getSCEV(address), &loop)) return true;
        }
    return false;
}

// Marks innermost loops with a low trip count that index registers for unrolling, unless the program disables
// it. False: no loop was marked.
bool ask_for_unrolling(Function &function, FunctionAnalysisManager &functions)
{
    ScalarEvolution &evolution = functions.getResult<ScalarEvolutionAnalysis>(function);
    bool asked = false;
    for (Loop *loop : functions.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
        unsigned count = loop->isInnermost() ? evolution.getSmallConstantTripCount(loop) : 0;
        if (count == 0 || count > CUTE_UNROLLED_ITERATIONS ||
            findOptionMDForLoop(loop, "llvm.loop.unroll.disable") || !indexes_registers(*loop, evolution))
            continue;
        asked = true;
        loop->setLoopID(makePostTransformationMetadata(
            function.getContext(), loop->getLoopID(), {"llvm.loop.unroll."},
            {MDNode::get(function.getContext(),
                         MDString::get(function.getContext(), "llvm.loop.unroll.full"))}));
    }
    return asked;
}
} // namespace

// Vectors loaded from memory stay one access: VectorCombine would load the elements that a permutation of registers takes one by one,
// which later passes do not always join.
static void keep_vector_loads()
{
    static std::once_flag once;
    std::call_once(once, [] {
        auto &options = cl::getRegisteredOptions();
        auto found = options.find("disable-vector-combine");
        if (found != options.end()) static_cast<cl::opt<bool> *>(found->second)->setValue(true);
    });
}

void cute_llvm_prepare(LLVMModuleRef m, LLVMTargetMachineRef machine)
{
    keep_vector_loads();
    Module &module = *unwrap(m);
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager graphs;
    ModuleAnalysisManager modules;
    PassBuilder builder(reinterpret_cast<TargetMachine *>(machine));
    bool registered = false;
    for (Function &function : module) {
        if (function.isDeclaration()) continue;
        Needs needs = scan_needs(function);
        if (!needs.memory && !needs.vectors) continue;
        if (!registered) {
            builder.registerModuleAnalyses(modules);
            builder.registerCGSCCAnalyses(graphs);
            builder.registerFunctionAnalyses(functions);
            builder.registerLoopAnalyses(loops);
            builder.crossRegisterProxies(loops, functions, graphs, modules);
            registered = true;
        }
        FunctionPassManager passes;
        if (needs.vectors) {
            ScalarizerPassOptions options;
            options.ScalarizeVariableInsertExtract = false;
            options.ScalarizeMinBits = WORD;
            passes.addPass(ScalarizerPass(options));
        }
        passes.addPass(SROAPass(SROAOptions::ModifyCFG));
        passes.addPass(EarlyCSEPass());
        if (needs.memory) {
            passes.addPass(SimplifyCFGPass());
            passes.addPass(createFunctionToLoopPassAdaptor(LoopRotatePass()));
        }
        run_passes(passes, function, functions);
        if (!needs.memory) continue;
        // First the loops that the program marks, then, from the innermost outwards, those that index
        // registers.
        bool more = true;
        for (int round = 0; more && round < UNROLL_ROUNDS; round++) {
            FunctionPassManager unroll;
            unroll.addPass(createFunctionToLoopPassAdaptor(LoopFullUnrollPass(3, /*OnlyWhenForced=*/true)));
            unroll.addPass(SROAPass(SROAOptions::ModifyCFG));
            unroll.addPass(EarlyCSEPass());
            run_passes(unroll, function, functions);
            more = ask_for_unrolling(function, functions);
        }
    }
}

// ---- short pointers ----

namespace
{
constexpr unsigned SHARED = 3;

// LLVM 19 selects these intrinsics with either pointer width; for others on shared memory this is unverified.
bool takes_short_pointers(const IntrinsicInst &call)
{
    StringRef name = Intrinsic::getBaseName(call.getIntrinsicID());
    if (!name.starts_with("llvm.nvvm.")) return true;
    for (const Use &argument : call.args())
        if (argument->getType()->isPointerTy() && argument->getType()->getPointerAddressSpace() == SHARED)
            return name.starts_with("llvm.nvvm.ldmatrix.");
    return true;
}

// Whether the module has tensors in registers and no intrinsic that requires 64-bit shared addresses. The
// program's own conversions of such pointers (to integers, other spaces) are correct in both widths.
bool wants_short_pointers(Module &module)
{
    bool registers = false;
    for (Function &function : module)
        for (Instruction &i : instructions(function)) {
            registers |= isa<AllocaInst>(i);
            if (auto *call = dyn_cast<IntrinsicInst>(&i))
                if (!takes_short_pointers(*call)) return false;
        }
    return registers;
}
} // namespace

LLVMTargetMachineRef cute_llvm_machine(LLVMModuleRef module, LLVMTargetRef target, const char *triple,
                                       const char *chip, const char *features, LLVMCodeGenOptLevel level)
{
    // The option is read only when the machine is created.
    static std::mutex lock;
    std::lock_guard<std::mutex> guard(lock);
    auto &options = cl::getRegisteredOptions();
    auto found = options.find("nvptx-short-ptr");
    auto *option = found == options.end() ? nullptr : static_cast<cl::opt<bool> *>(found->second);
    if (option) option->setValue(wants_short_pointers(*unwrap(module)));
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, triple, chip, features, level,
                                                           LLVMRelocDefault, LLVMCodeModelDefault);
    if (option) option->setValue(false);
    return machine;
}
