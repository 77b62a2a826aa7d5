// Loads under a condition in loops with wgmma: one instruction with a predicate in place of a branch.
//
// Products are under way across such a branch. LLVM moves operations on sums behind it to the block that uses their results, and so beyond the next
// product, whose sums are then in other registers: ptxas copies them, and for that waits for each product.
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include "lib/ptx/guarded_loads.h"

using namespace llvm;

namespace
{
constexpr unsigned GLOBAL = 1;

bool has_wgmma(const Loop &loop)
{
    for (const BasicBlock *block : loop.blocks())
        for (const Instruction &i : *block) {
            auto *call = dyn_cast<CallBase>(&i);
            auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
            if (text && StringRef(text->getAsmString()).contains("wgmma.mma_async")) return true;
        }
    return false;
}

// The bits of an element that a register of its own kind holds; 0 for others.
unsigned bits_of(const Type *type)
{
    unsigned bits = type->isIntegerTy() || type->isFloatingPointTy() ? type->getPrimitiveSizeInBits() : 0;
    return bits == 16 || bits == 32 || bits == 64 ? bits : 0;
}

// The only load of a block whose other operations, of its address, are free of side effects.
LoadInst *only_load(BasicBlock &block)
{
    LoadInst *load = nullptr;
    for (Instruction &i : block) {
        if (i.isTerminator()) break;
        auto *own = dyn_cast<LoadInst>(&i);
        if ((own && load) || (!own && !isSafeToSpeculativelyExecute(&i))) return nullptr;
        if (own) load = own;
    }
    return load && load->getNextNode() == block.getTerminator() ? load : nullptr;
}

// A block with one load, the branch around it, and the value behind both.
struct Guarded {
    LoadInst *load;
    BranchInst *branch;
    PHINode *value;
};

bool match_guarded(BasicBlock &block, Guarded *out)
{
    BasicBlock *from = block.getSinglePredecessor(), *to = block.getSingleSuccessor();
    auto *branch = from ? dyn_cast<BranchInst>(from->getTerminator()) : nullptr;
    LoadInst *load = only_load(block);
    if (!branch || !branch->isConditional() || !to || !load) return false;
    bool around = branch->getSuccessor(0) == to || branch->getSuccessor(1) == to;
    auto *value = dyn_cast<PHINode>(&to->front());
    if (!around || !value || !load->isSimple() || load->getPointerAddressSpace() != GLOBAL ||
        !bits_of(load->getType()) || !load->hasOneUse() || *load->user_begin() != value ||
        to->hasNPredecessorsOrMore(3))
        return false;
    auto *other = dyn_cast<Constant>(value->getIncomingValueForBlock(from));
    *out = {load, branch, value};
    return other && other->isNullValue();
}

void load_with_predicate(const Guarded &g)
{
    static const char *const kinds[] = {"h", "r", "l"};
    BasicBlock *block = g.load->getParent(), *to = g.value->getParent();
    Type *type = g.load->getType();
    unsigned bits = bits_of(type);
    while (&block->front() != g.load) block->front().moveBefore(g.branch);
    IRBuilder<> at(g.branch);
    Value *condition = g.branch->getCondition();
    if (g.branch->getSuccessor(0) == to) condition = at.CreateNot(condition);
    Type *word = at.getIntNTy(bits);
    std::string b = "b" + std::to_string(bits);
    std::string text = "mov." + b + " $0, 0; @$2 ld.global." + b + " $0, [$1];",
                registers = std::string("=&") + kinds[Log2_32(bits) - 4] + ",l,b";
    auto *form = FunctionType::get(word, {g.load->getPointerOperandType(), at.getInt1Ty()}, false);
    auto *call = at.CreateCall(form, InlineAsm::get(form, text, registers, true),
                               {g.load->getPointerOperand(), condition});
    call->setDoesNotThrow();
    call->setOnlyReadsMemory();
    g.value->replaceAllUsesWith(at.CreateBitCast(call, type));
    g.value->eraseFromParent();
    at.CreateBr(to);
    to->removePredecessor(block);
    g.branch->eraseFromParent();
    DeleteDeadBlock(block);
    MergeBlockIntoPredecessor(to);
}
} // namespace

void cute_predicate_loads(Function &function)
{
    DominatorTree tree(function);
    LoopInfo loops(tree);
    SmallVector<Guarded, 32> found;
    for (Loop *loop : loops.getLoopsInPreorder()) {
        if (!loop->isInnermost() || !has_wgmma(*loop)) continue;
        for (BasicBlock *block : loop->blocks()) {
            Guarded g{};
            if (match_guarded(*block, &g)) found.push_back(g);
        }
    }
    for (const Guarded &g : found) load_with_predicate(g);
}
