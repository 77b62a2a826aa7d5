// Loops that copy to shared memory by cp.async.
//
// - The addresses of an iteration are one address plus distances that the loop does not change. LLVM's strength reduction makes an induction
//   variable of each address, or two: an addition of 64 bits per address more than that of the distance. Inline assembly behind the first address
//   hides from LLVM that it advances. If it is a base plus an index of 32 bits, the index is hidden, because ptxas scales and adds an index at once.
// - There are seven predicate registers. A row's predicate p, of which a copy's is p and (x < n), is kept in a general register if there are more,
//   and costs an instruction to be a predicate again. Such a row has a limit instead, n if p and else the least integer, with which x is compared.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

#include "lib/ptx/copy_loops.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace
{
constexpr unsigned KEPT_PREDICATES = 6; // in registers of their own, beside one for the comparison

bool is_copy(const Instruction &i)
{
    auto *call = dyn_cast<CallBase>(&i);
    auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    return text && StringRef(text->getAsmString()).starts_with("cp.async.c") && call->arg_size() >= 2;
}

// A copy of `value` that LLVM cannot analyse.
Value *hide(Value *value, Instruction *behind)
{
    IRBuilder<> at(behind->getParent(), std::next(behind->getIterator()));
    const char *text = value->getType()->isIntegerTy(32) ? "mov.b32 $0, $1;" : "mov.b64 $0, $1;",
               *registers = value->getType()->isIntegerTy(32) ? "=r,r" : "=l,l";
    auto *form = FunctionType::get(value->getType(), {value->getType()}, false);
    auto *call = at.CreateCall(form, InlineAsm::get(form, text, registers, false), {value});
    call->setDoesNotThrow();
    call->setDoesNotAccessMemory();
    return call;
}

class Copies
{
    Loop &loop;
    SmallVector<CallBase *, 32> copies;
    DenseMap<Value *, Value *> hidden; // indices

  public:
    explicit Copies(Loop &l) : loop(l)
    {
        for (BasicBlock *block : loop.blocks())
            for (Instruction &i : *block)
                if (is_copy(i)) copies.push_back(cast<CallBase>(&i));
    }

    void run()
    {
        SmallSetVector<GetElementPtrInst *, 16> firsts;
        for (CallBase *copy : copies) {
            auto *far = dyn_cast<GetElementPtrInst>(copy->getArgOperand(1));
            auto *first = far ? dyn_cast<GetElementPtrInst>(far->getPointerOperand()) : nullptr;
            if (first && first->getNumIndices() == 1 && loop.contains(first) &&
                loop.isLoopInvariant(first->getPointerOperand()) && is_distance(*far))
                firsts.insert(first);
        }
        for (GetElementPtrInst *first : firsts) hide_first(*first);
        limit_rows();
    }

  private:
    bool is_distance(const GetElementPtrInst &step) const
    {
        return loop.contains(&step) && !step.hasAllConstantIndices() &&
               all_of(step.indices(), [&](const Use &index) { return loop.isLoopInvariant(index.get()); });
    }

    void hide_first(GetElementPtrInst &first)
    {
        Value *index = nullptr;
        bool narrow =
            match(first.getOperand(1), m_ZExtOrSExt(m_Value(index))) && index->getType()->isIntegerTy(32);
        auto *from = narrow ? dyn_cast<Instruction>(index) : nullptr;
        auto *wide = narrow ? dyn_cast<CastInst>(first.getOperand(1)) : nullptr;
        if (!from || isa<PHINode>(from) || !loop.contains(from)) {
            Instruction *known = &first;
            Value *again = hide(known, known);
            first.replaceUsesWithIf(again, [&](const Use &use) { return use.getUser() != again; });
            return;
        }
        Value *&again = hidden[index];
        if (!again) again = hide(index, from);
        IRBuilder<> at(&first);
        first.setOperand(1, at.CreateCast(wide->getOpcode(), again, wide->getType()));
        if (wide->use_empty()) wide->eraseFromParent();
    }

    // p and (x < n) of `not (p and (x < n))`, a copy's last operand
    struct Row {
        BinaryOperator *both;
        Value *p, *x, *n;
    };

    bool match_row(const CallBase &copy, Row *out) const
    {
        Value *both = nullptr, *sides[2] = {nullptr, nullptr};
        Value *last = copy.getArgOperand(copy.arg_size() - 1);
        if (!match(last, m_Not(m_Value(both))) || !match(both, m_And(m_Value(sides[0]), m_Value(sides[1]))))
            return false;
        for (int i = 0; i < 2; i++) {
            ICmpInst::Predicate predicate;
            Value *p = sides[i], *x = nullptr, *n = nullptr;
            if (!loop.isLoopInvariant(p) || isa<Constant>(p) ||
                !match(sides[1 - i], m_ICmp(predicate, m_Value(x), m_Value(n))) ||
                predicate != ICmpInst::ICMP_SLT || !loop.isLoopInvariant(n) || loop.isLoopInvariant(x))
                continue;
            *out = {dyn_cast<BinaryOperator>(both), p, x, n};
            return out->both && loop.contains(out->both);
        }
        return false;
    }

    void limit_rows()
    {
        BasicBlock *before = loop.getLoopPreheader();
        SmallSetVector<Value *, 16> kept;
        DenseMap<std::pair<Value *, Value *>, Value *> limits;
        for (CallBase *copy : copies) {
            Row row{};
            if (!before || !match_row(*copy, &row)) continue;
            if (kept.contains(row.p) || (kept.size() < KEPT_PREDICATES && kept.insert(row.p))) continue;
            Value *&limit = limits[{row.p, row.n}];
            IRBuilder<> at(before->getTerminator());
            if (!limit)
                limit = at.CreateSelect(
                    row.p, row.n,
                    ConstantInt::get(row.n->getType(),
                                     APInt::getSignedMinValue(row.n->getType()->getIntegerBitWidth())));
            at.SetInsertPoint(row.both);
            Value *compared = at.CreateICmpSLT(row.x, limit);
            row.both->replaceAllUsesWith(compared);
            row.both->eraseFromParent();
        }
    }
};
} // namespace

void cute_shorten_copies(Loop &loop)
{
    if (loop.isInnermost()) Copies(loop).run();
}
