// Rematerialization. A value that is live across a loop but unused in it occupies a register throughout.
// After loops with high register pressure, such values are recomputed from special registers, parameters and
// values that are live in the loop anyway; with still more pressure also those that only a branch of the loop uses, in the branch. If warps diverge permanently at a branch whose sides set their own
// register counts with setmaxnreg, values computed from parameters that both sides use are computed on each
// side. ptxas rematerializes the other way round: products of a parameter and a constant in each iteration of
// a loop that uses them, a multiplication of 64 bits by four instructions. Sums of shifts stay in registers.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Local.h"

#include "lib/ptx/alternate_factors.h"
#include "lib/ptx/copy_loops.h"
#include "lib/ptx/guarded_loads.h"
#include "lib/ptx/registers.h"
#include "lib/ptx/swizzles.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace
{
constexpr unsigned WORD = 32;
constexpr unsigned HIGH_PRESSURE_WORDS =
    64;                              // loop-carried words from which a loop has high register pressure
constexpr unsigned FULL_WORDS = 128; // from which as many as MANY_WORDS are not kept for a branch of a loop
constexpr unsigned MANY_WORDS = 16;
constexpr int MAX_DEPTH = 12; // maximum depth of a recomputed expression

unsigned words_carried(const Loop &loop, const DataLayout &layout)
{
    unsigned words = 0;
    for (const PHINode &phi : loop.getHeader()->phis())
        words += divideCeil(layout.getTypeSizeInBits(phi.getType()).getFixedValue(), WORD);
    return words;
}

// "%tid.x" of llvm.nvvm.read.ptx.sreg.tid.x, or empty. To LLVM, reads of volatile registers access memory.
std::string special_register(const Value *value)
{
    auto *call = dyn_cast<IntrinsicInst>(value);
    StringRef name = call ? Intrinsic::getBaseName(call->getIntrinsicID()) : "";
    if (!name.consume_front("llvm.nvvm.read.ptx.sreg.") || !call->doesNotAccessMemory() ||
        !call->getType()->isIntegerTy(WORD))
        return "";
    return ("%" + name).str();
}

bool is_parameter(const Value *value)
{
    if (auto *load = dyn_cast<LoadInst>(value))
        return load->isSimple() && is_parameter(load->getPointerOperand());
    if (auto *step = dyn_cast<GetElementPtrInst>(value))
        return step->hasAllConstantIndices() && is_parameter(step->getPointerOperand());
    auto *argument = dyn_cast<Argument>(value);
    return argument && (!argument->getType()->isPointerTy() || argument->hasByValAttr());
}

// Cheap and free of side effects.
bool is_arithmetic(const Instruction *i)
{
    return isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst, SelectInst, ExtractValueInst>(i) &&
           !i->isIntDivRem();
}

// A choice of registers.
bool is_choice(const Instruction *i)
{
    return isa<InsertElementInst, ExtractElementInst, ShuffleVectorInst>(i);
}

// The index of a warp, which a shuffle makes uniform: shfl.sync.idx of lane 0 of all lanes.
bool is_warp_uniform(const Value *value)
{
    auto *call = dyn_cast<IntrinsicInst>(value);
    return call && call->getIntrinsicID() == Intrinsic::nvvm_shfl_sync_idx_i32 &&
           match(call->getArgOperand(0), m_AllOnes()) && match(call->getArgOperand(2), m_Zero());
}

bool is_product_of_warpgroups(const Instruction &i)
{
    auto *call = dyn_cast<CallBase>(&i);
    auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    return text && StringRef(text->getAsmString()).contains("wgmma.");
}

// All lanes of a warp execute a loop with products of warpgroups, and leave it together.
bool is_of_warps(const Loop &loop)
{
    return any_of(loop.blocks(),
                  [](const BasicBlock *block) { return any_of(*block, is_product_of_warpgroups); });
}

// Values computed before a loop that it uses, if at all, only in a region: the blocks that one block dominates, behind the loop or in it. They are
// recomputed there.
class RegionValues
{
    const Loop &loop;
    const DominatorTree &tree;
    BasicBlock *region;
    Instruction *place;
    DenseMap<Value *, Value *> made;
    SmallPtrSet<User *, 32> copies;

  public:
    RegionValues(const Loop &l, const DominatorTree &t, BasicBlock *r)
        : loop(l), tree(t), region(r), place(&*r->getFirstInsertionPt())
    {
    }

    // If there are so many words of them.
    void run(unsigned least, const DataLayout &layout)
    {
        SmallVector<WeakTrackingVH, 32> values;
        unsigned words = 0;
        for (Instruction *i : before())
            if (only_in_region(*i) && computable(i, MAX_DEPTH) && !is_kept(i)) {
                values.push_back(i);
                bool known = i->getType()->isSized() && !i->getType()->isIntegerTy(1);
                words += known ? divideCeil(layout.getTypeSizeInBits(i->getType()).getFixedValue(), WORD) : 0;
            }
        if (words < least) return;
        for (WeakTrackingVH &value : values) {
            Value *again = compute(value);
            value->replaceUsesWithIf(
                again, [&](Use &use) { return is_in_region(use) && !copies.count(use.getUser()); });
        }
        RecursivelyDeleteTriviallyDeadInstructionsPermissive(values);
    }

  private:
    // Values computed before the loop, in any order.
    SmallVector<Instruction *, 64> before() const
    {
        SmallVector<Instruction *, 64> found;
        for (DomTreeNode *node = tree.getNode(region)->getIDom(); node; node = node->getIDom()) {
            if (loop.contains(node->getBlock())) continue;
            for (Instruction &i : *node->getBlock())
                if (!i.getType()->isVoidTy()) found.push_back(&i);
        }
        return found;
    }

    BasicBlock *block_of(const Use &use) const
    {
        auto *user = cast<Instruction>(use.getUser());
        auto *phi = dyn_cast<PHINode>(user);
        return phi ? phi->getIncomingBlock(use) : user->getParent();
    }

    bool is_in_region(const Use &use) const { return tree.dominates(region, block_of(use)); }

    // A user in the loop: a phi of its header uses the value before it.
    bool is_in_loop(const Use &use) const
    {
        return loop.contains(cast<Instruction>(use.getUser())) && !is_in_region(use);
    }

    bool used_in_loop(const Value &value) const
    {
        return any_of(value.uses(), [&](const Use &use) { return is_in_loop(use); });
    }

    // Used in the region, and else only in front of the loop.
    bool only_in_region(const Instruction &i) const
    {
        bool inside = loop.contains(region);
        return !used_in_loop(i) && any_of(i.uses(), [&](const Use &use) { return is_in_region(use); }) &&
               (!inside || all_of(i.uses(), [&](const Use &use) {
                   return is_in_region(use) || tree.dominates(block_of(use), loop.getHeader());
               }));
    }

    // Values that are live in the loop anyway.
    bool is_kept(Value *value) const
    {
        return isa<Constant>(value) || isa<Argument>(value) || used_in_loop(*value);
    }

    bool computable(Value *value, int depth)
    {
        if (is_kept(value) || !special_register(value).empty()) return true;
        if (isa<LoadInst>(value)) return is_parameter(value);
        auto *i = dyn_cast<Instruction>(value);
        if (i && depth > 0 && is_warp_uniform(value))
            return !loop.contains(region) && is_of_warps(loop) && computable(i->getOperand(1), depth - 1);
        bool choice = i && loop.contains(region) && is_choice(i);
        if (!i || depth == 0 || (!choice && !is_arithmetic(i))) return false;
        return all_of(i->operands(), [&](Value *operand) { return computable(operand, depth - !choice); });
    }

    // Inline assembly with side effects, which keeps LLVM from merging the copy with the original value.
    Value *opaque(StringRef text, Value *source, Type *type)
    {
        IRBuilder<> at(place);
        SmallVector<Value *, 1> sources;
        if (source) sources.push_back(source);
        SmallVector<Type *, 1> types;
        if (source) types.push_back(source->getType());
        auto *form = FunctionType::get(type, types, false);
        auto *call = at.CreateCall(form, InlineAsm::get(form, text, source ? "=r,r" : "=r", true), sources);
        call->setDoesNotThrow();
        return call;
    }

    Value *compute(Value *value)
    {
        auto found = made.find(value);
        if (found != made.end()) return found->second;
        std::string name = special_register(value);
        Value *again = value;
        // A special register that is read in a branch of a loop keeps ptxas from uniform registers in all of it.
        bool reads = !name.empty() && !loop.contains(region);
        if (reads) {
            again = opaque("mov.u32 $0, " + name + ";", nullptr, value->getType());
        } else if (!name.empty() || is_kept(value)) {
            if (isa<Instruction>(value) && value->getType()->isIntegerTy(WORD))
                again = opaque("mov.b32 $0, $1;", value, value->getType());
        } else if (!isa<LoadInst>(value)) {
            SmallVector<Value *, 4> operands;
            for (Value *operand : cast<Instruction>(value)->operands()) operands.push_back(compute(operand));
            Instruction *copy = cast<Instruction>(value)->clone();
            for (unsigned k = 0; k < operands.size(); k++) copy->setOperand(k, operands[k]);
            copy->insertBefore(place->getIterator());
            copies.insert(copy);
            again = copy;
        }
        return made[value] = again;
    }
};

bool sets_registers(const BasicBlock &block)
{
    return any_of(block, [](const Instruction &i) {
        auto *call = dyn_cast<CallBase>(&i);
        if (!call) return false;
        if (auto *text = dyn_cast<InlineAsm>(call->getCalledOperand()))
            return StringRef(text->getAsmString()).contains("setmaxnreg");
        const Function *callee = call->getCalledFunction();
        return callee && callee->getName().contains("nvvm.setmaxnreg");
    });
}

// The sides of one branch. A value from before the branch that both sides use is recomputed on each, if that
// needs no additional register.
class BranchSides
{
    const DominatorTree &tree;
    BasicBlock *branch;

  public:
    BranchSides(const DominatorTree &t, BasicBlock *block) : tree(t), branch(block) {}

    void run()
    {
        for (DomTreeNode *node = tree.getNode(branch); node; node = node->getIDom())
            for (Instruction &i : make_early_inc_range(reverse(*node->getBlock())))
                if (is_arithmetic(&i) && !i.use_empty() && only_on_sides(i) && is_free(i)) move(i);
    }

  private:
    bool is_on(const Use &use, const BasicBlock *side) const
    {
        auto *user = cast<Instruction>(use.getUser());
        auto *phi = dyn_cast<PHINode>(user);
        return tree.dominates(side, phi ? phi->getIncomingBlock(use) : user->getParent());
    }

    bool used_on(const Value &value, const BasicBlock *side) const
    {
        return any_of(value.uses(), [&](const Use &use) { return is_on(use, side); });
    }

    bool only_on_sides(const Instruction &value) const
    {
        return all_of(value.uses(), [&](const Use &use) {
            return any_of(successors(branch), [&](BasicBlock *side) { return is_on(use, side); });
        });
    }

    // Parameters are in constant memory and need no registers.
    static bool from_parameters(const Value *value, int depth)
    {
        if (isa<Constant>(value) || is_parameter(value)) return true;
        auto *i = dyn_cast<Instruction>(value);
        if (!i || depth == 0 || !is_arithmetic(i)) return false;
        return all_of(i->operands(),
                      [&](const Value *operand) { return from_parameters(operand, depth - 1); });
    }

    bool is_free(const Instruction &value) const
    {
        return all_of(value.operands(), [&](const Value *operand) {
            return from_parameters(operand, MAX_DEPTH) || all_of(successors(branch), [&](BasicBlock *side) {
                       return !used_on(value, side) || used_on(*operand, side);
                   });
        });
    }

    void move(Instruction &value)
    {
        for (BasicBlock *side : successors(branch)) {
            if (!used_on(value, side)) continue;
            Instruction *copy = value.clone();
            copy->insertBefore(side->getFirstInsertionPt()->getIterator());
            value.replaceUsesWithIf(copy, [&](const Use &use) { return is_on(use, side); });
        }
        value.eraseFromParent();
    }
};

// Handles the last branch that dominates each setmaxnreg and is the only way to reach its sides.
void recompute_on_sides(Function &function, const DominatorTree &tree)
{
    SmallPtrSet<BasicBlock *, 4> branches;
    for (BasicBlock &block : function) {
        if (!sets_registers(block)) continue;
        DomTreeNode *node = tree.getNode(&block);
        while (node && node->getIDom() && succ_size(node->getIDom()->getBlock()) < 2) node = node->getIDom();
        if (node && node->getIDom()) branches.insert(node->getIDom()->getBlock());
    }
    for (BasicBlock &block : function)
        if (branches.count(&block)) BranchSides(tree, &block).run();
}
// x (2^a + 2^b) or x (2^a - 2^b) as shifts; null for other constants.
Value *multiple_by_shifts(BinaryOperator &product)
{
    auto *factor = dyn_cast<ConstantInt>(product.getOperand(1));
    if (!factor || !factor->getType()->isIntegerTy(64) || factor->isNegative()) return nullptr;
    uint64_t value = factor->getZExtValue(), low = value & -value, high = value - low;
    bool difference = !isPowerOf2_64(high);
    if (difference) high = value + low;
    if (!isPowerOf2_64(high)) return nullptr;
    IRBuilder<> builder(&product);
    Value *x = product.getOperand(0), *many = builder.CreateShl(x, Log2_64(high)),
          *few = builder.CreateShl(x, Log2_64(low));
    return difference ? builder.CreateSub(many, few) : builder.CreateAdd(many, few);
}

// Products in front of `loop` that it uses. Of those that do not wrap, LLVM's strength reduction makes sums.
void shift_multiples(const Loop &loop)
{
    SmallSetVector<BinaryOperator *, 16> products;
    for (BasicBlock *block : loop.blocks())
        for (Instruction &i : *block)
            for (Value *operand : i.operands()) {
                auto *product = dyn_cast<BinaryOperator>(operand);
                if (product && product->getOpcode() == Instruction::Mul && !product->hasNoSignedWrap() &&
                    !loop.contains(product))
                    products.insert(product);
            }
    for (BinaryOperator *product : products)
        if (Value *sum = multiple_by_shifts(*product)) {
            product->replaceAllUsesWith(sum);
            product->eraseFromParent();
        }
}

// The descriptors of a tile's parts are one descriptor plus constants. LLVM adds these in front of the loop; in it, ptxas keeps as many in uniform
// registers as there are left, which it does not decide the other way round.
void add_in_loop(const Loop &loop)
{
    for (BasicBlock *block : loop.blocks())
        for (Instruction &i : *block) {
            if (!is_product_of_warpgroups(i)) continue;
            SmallDenseMap<Value *, Value *> copies;
            for (Use &use : i.operands()) {
                auto *sum = dyn_cast<BinaryOperator>(use.get());
                bool adds = sum &&
                            (sum->getOpcode() == Instruction::Add || sum->getOpcode() == Instruction::Or) &&
                            sum->getType()->isIntegerTy(WORD) && isa<ConstantInt>(sum->getOperand(1));
                if (!adds || loop.contains(sum)) continue;
                Value *&copy = copies[sum];
                if (!copy) {
                    // Inline assembly, which LLVM does not move.
                    std::string text = sum->getOpcode() == Instruction::Add ? "add.s32" : "or.b32";
                    text += " $0, $1, " +
                            std::to_string(cast<ConstantInt>(sum->getOperand(1))->getSExtValue()) + ";";
                    auto *form = FunctionType::get(sum->getType(), {sum->getType()}, false);
                    copy = IRBuilder<>(&i).CreateCall(form, InlineAsm::get(form, text, "=r,r", true),
                                                      {sum->getOperand(0)});
                }
                use.set(copy);
            }
        }
}

// Blocks of a loop, but not of loops in it, that some iterations skip.
SmallVector<BasicBlock *, 4> branches_of(const Loop &loop, const DominatorTree &tree)
{
    SmallVector<BasicBlock *, 4> found;
    BasicBlock *latch = loop.getLoopLatch();
    for (BasicBlock *block : loop.blocks()) {
        bool inner = any_of(loop.getSubLoops(), [&](const Loop *own) { return own->contains(block); });
        BasicBlock *from = block->getSinglePredecessor();
        if (latch && !inner && from && loop.contains(from) && succ_size(from) > 1 &&
            !tree.dominates(block, latch))
            found.push_back(block);
    }
    return found;
}
} // namespace

void cute_llvm_recompute(LLVMModuleRef m, LLVMTargetMachineRef machine)
{
    Module &module = *unwrap(m);
    for (Function &function : module) {
        if (function.isDeclaration()) continue;
        cute_predicate_loads(function);
        DominatorTree tree(function);
        recompute_on_sides(function, tree);
        LoopInfo loops(tree);
        for (Loop *loop : loops.getLoopsInPreorder()) {
            BasicBlock *exit = loop->getUniqueExitBlock();
            cute_shorten_copies(*loop, tree);
            if (words_carried(*loop, module.getDataLayout()) < HIGH_PRESSURE_WORDS) continue;
            shift_multiples(*loop);
            if (exit) RegionValues(*loop, tree, exit).run(0, module.getDataLayout());
            if (words_carried(*loop, module.getDataLayout()) <= FULL_WORDS) continue;
            cute_share_swizzles(function, tree, *loop);
            add_in_loop(*loop);
            unsigned least = cute_factor_alternates(*loop, tree) ? 0 : MANY_WORDS;
            for (BasicBlock *branch : branches_of(*loop, tree))
                RegionValues(*loop, tree, branch).run(least, module.getDataLayout());
        }
        cute_alternate_factors(function, *reinterpret_cast<TargetMachine *>(machine));
    }
}
