// See registers.h.
#include "lib/ptx/registers.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace llvm;

namespace
{
constexpr unsigned WORD = 32, ACCESS = 128; // bits of a register, and of the widest access

struct Needs {
    bool memory = false, vectors = false, loops = false;
};

void mark_assembly(CallBase &call)
{
    auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
    if (!assembly || assembly->hasSideEffects()) return;
    call.setDoesNotAccessMemory();
    call.setDoesNotThrow();
    if (assembly->getAsmString().find(".sync") != std::string::npos) call.setConvergent();
}

Needs look_through(Function &function)
{
    Needs needs;
    for (Instruction &i : instructions(function)) {
        if (auto *call = dyn_cast<CallBase>(&i)) mark_assembly(*call);
        if (isa<AllocaInst>(i)) needs.memory = true;
        if (auto *vector = dyn_cast<FixedVectorType>(i.getType()))
            needs.vectors |= vector->getPrimitiveSizeInBits() > ACCESS;
        needs.loops |= i.isTerminator() && i.getMetadata(LLVMContext::MD_loop);
    }
    return needs;
}
} // namespace

void cute_llvm_prepare(LLVMModuleRef m, LLVMTargetMachineRef machine)
{
    Module &module = *unwrap(m);
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager graphs;
    ModuleAnalysisManager modules;
    PassBuilder builder(reinterpret_cast<TargetMachine *>(machine));
    bool registered = false;
    for (Function &function : module) {
        if (function.isDeclaration()) continue;
        Needs needs = look_through(function);
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
        if (needs.memory && needs.loops) {
            LoopPassManager unroll;
            unroll.addPass(LoopRotatePass());
            unroll.addPass(LoopFullUnrollPass(3, /*OnlyWhenForced=*/true));
            passes.addPass(SimplifyCFGPass());
            passes.addPass(createFunctionToLoopPassAdaptor(std::move(unroll)));
            passes.addPass(SROAPass(SROAOptions::ModifyCFG));
            passes.addPass(EarlyCSEPass());
        }
        passes.run(function, functions);
        functions.invalidate(function, PreservedAnalyses::none());
    }
}
