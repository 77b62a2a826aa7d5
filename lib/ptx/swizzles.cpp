// Addresses that a swizzle permutes, x ^ ((x >> s) & mask): a multiple of the swizzle's period that x adds may be added behind it. Accesses that
// differ by such a constant then have one address and offsets in the instruction, instead of an address, and a register, each.
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

#include <map>
#include <tuple>

#include "lib/ptx/swizzles.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace
{
constexpr unsigned ADDRESS = 32; // bits of an address in shared memory

struct Swizzled {
    Value *x;
    uint64_t shift, mask, period;
};

bool match_swizzle(Instruction &i, Swizzled *out)
{
    const APInt *shift = nullptr, *mask = nullptr;
    if (!i.getType()->isIntegerTy(ADDRESS)) return false;
    for (unsigned side = 0; side < 2; side++) {
        Value *x = i.getOpcode() == Instruction::Xor ? i.getOperand(side) : nullptr;
        if (!x || !match(i.getOperand(1 - side), m_And(m_LShr(m_Specific(x), m_APInt(shift)), m_APInt(mask))))
            continue;
        uint64_t from = mask->getZExtValue() << shift->getZExtValue();
        *out = {x, shift->getZExtValue(), mask->getZExtValue(), PowerOf2Ceil(from + 1)};
        return out->mask && from <= UINT32_MAX / 2;
    }
    return false;
}

class Offsets
{
    const DominatorTree &tree;
    const DataLayout &layout;
    // by base, remaining constant, shift and mask
    std::map<std::tuple<Value *, uint64_t, uint64_t, uint64_t>, Instruction *> made;

    // The integer or pointer to which an address adds a constant.
    Value *split(Value *x, uint64_t *constant) const
    {
        Value *base = nullptr;
        const APInt *added = nullptr;
        if (match(x, m_Add(m_Value(base), m_APInt(added))) ||
            match(x, m_DisjointOr(m_Value(base), m_APInt(added)))) {
            *constant = added->getZExtValue();
            return base;
        }
        auto *pointer = dyn_cast<PtrToIntOperator>(x);
        if (!pointer) return x;
        Value *of = pointer->getPointerOperand();
        if (layout.getIndexTypeSizeInBits(of->getType()) != ADDRESS) return x;
        APInt offset(ADDRESS, 0);
        base = of->stripAndAccumulateConstantOffsets(layout, offset, true);
        if (base->getType() != of->getType()) return x;
        *constant = offset.getZExtValue();
        return base;
    }

  public:
    Offsets(const DominatorTree &t, const DataLayout &l) : tree(t), layout(l) {}

    void run(Instruction &i)
    {
        Swizzled s{};
        if (!match_swizzle(i, &s)) return;
        uint64_t constant = 0;
        Value *base = split(s.x, &constant);
        uint64_t rest = constant & (s.period - 1), many = constant - rest;
        Instruction *&known = made[{base, rest, s.shift, s.mask}];
        bool usable = known && tree.dominates(known, &i);
        if (!usable && many == 0) {
            known = &i;
            return;
        }
        IRBuilder<> b(&i);
        if (!usable) {
            Value *y = base->getType()->isPointerTy() ? b.CreatePtrToInt(base, i.getType()) : base;
            if (rest) y = b.CreateAdd(y, b.getInt32((uint32_t)rest));
            known = cast<Instruction>(BinaryOperator::CreateXor(
                y, b.CreateAnd(b.CreateLShr(y, s.shift), b.getInt32((uint32_t)s.mask)), "", &i));
        }
        i.replaceAllUsesWith(many ? b.CreateAdd(known, b.getInt32((uint32_t)many)) : known);
    }
};

bool used_in(const Value &address, const Loop &loop)
{
    return any_of(address.users(), [&](const User *user) {
        auto *i = cast<Instruction>(user);
        return loop.contains(i) || (isa<IntToPtrInst>(i) && used_in(*i, loop));
    });
}
} // namespace

void cute_share_swizzles(Function &function, const DominatorTree &tree, const Loop &loop)
{
    Offsets offsets(tree, function.getParent()->getDataLayout());
    for (BasicBlock *block : depth_first(&function.getEntryBlock())) {
        if (!tree.dominates(block, loop.getHeader()) || loop.contains(block)) continue;
        for (Instruction &i : make_early_inc_range(*block))
            if (used_in(i, loop)) offsets.run(i);
    }
}
