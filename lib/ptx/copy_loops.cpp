// Loops that copy to shared memory by cp.async, or by loads of which each has a predicate.
//
// - The addresses of an iteration are one address plus distances that the loop does not change. LLVM's strength reduction makes an induction
//   variable of each address, or two: an addition of 64 bits per address more than that of the distance. Inline assembly behind the first address
//   hides from LLVM that it advances. If it is a base plus an index of 32 bits, the index is hidden, because ptxas scales and adds an index at once.
// - Loads of narrow elements have distances that are multiples of a stride. ptxas computes these again in each iteration, each from a parameter that it
//   loads under the predicate of the load, one behind the other. Here each address is the one before plus a step.
// - There are seven predicate registers. A row's predicate p, of which a copy's is p and (x < n), is kept in a general register if there are more,
//   and costs an instruction to be a predicate again. Such a row has a limit instead, n if p and else the least integer, with which x is compared.
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
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
constexpr unsigned LEAST_ROWS = 4;      // loads from which a chain of addresses is shorter
constexpr unsigned MOST_STEPS = 2;      // registers of 64 bits for the distances of a chain

bool is_copy(const Instruction &i)
{
    auto *call = dyn_cast<CallBase>(&i);
    auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    return text && StringRef(text->getAsmString()).starts_with("cp.async.c") && call->arg_size() >= 2;
}

// The branch around a block that has `load`, or null.
BranchInst *guard_of(const LoadInst &load)
{
    const BasicBlock *from = load.getParent()->getSinglePredecessor();
    auto *branch = from ? dyn_cast<BranchInst>(const_cast<BasicBlock *>(from)->getTerminator()) : nullptr;
    return branch && branch->isConditional() ? branch : nullptr;
}

// `value` as a multiple of another value.
std::pair<Value *, int64_t> multiple_of(Value *value)
{
    Value *of = nullptr;
    const APInt *factor = nullptr;
    if (match(value, m_Mul(m_Value(of), m_APInt(factor))) && factor->isSignedIntN(32))
        return {of, factor->getSExtValue()};
    if (match(value, m_Shl(m_Value(of), m_APInt(factor))) && factor->ult(32))
        return {of, int64_t{1} << factor->getZExtValue()};
    return {value, 1};
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
    const DominatorTree &tree;
    SmallVector<CallBase *, 32> copies;
    SmallVector<LoadInst *, 32> loads; // with predicates
    DenseMap<Value *, Value *> hidden; // indices

  public:
    Copies(Loop &l, const DominatorTree &t) : loop(l), tree(t)
    {
        for (BasicBlock *block : loop.blocks())
            for (Instruction &i : *block) {
                if (is_copy(i)) copies.push_back(cast<CallBase>(&i));
                auto *load = dyn_cast<LoadInst>(&i);
                if (load && load->isSimple() && guard_of(*load) && loop.contains(guard_of(*load)))
                    loads.push_back(load);
            }
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
        chain_loads();
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

    // A load at a base address plus `factor` times a stride.
    struct Far {
        LoadInst *load;
        GetElementPtrInst *step;
        int64_t factor;
    };

    void chain_loads()
    {
        MapVector<std::pair<GetElementPtrInst *, Value *>, SmallVector<Far, 32>> rows;
        for (LoadInst *load : loads) {
            auto *step = dyn_cast<GetElementPtrInst>(load->getPointerOperand());
            auto *first = step ? dyn_cast<GetElementPtrInst>(step->getPointerOperand()) : nullptr;
            if (!first || !loop.contains(first) || step->getNumIndices() != 1 || !is_distance(*step))
                continue;
            auto [stride, factor] = multiple_of(step->getOperand(1));
            rows[{first, stride}].push_back({load, step, factor});
        }
        for (auto &[key, found] : rows)
            if (found.size() >= LEAST_ROWS) chain(*key.first, *key.second, found);
    }

    // The distance from the previous row; for the first row, from the base address.
    static int64_t apart(const SmallVectorImpl<Far> &rows, size_t i)
    {
        return i ? rows[i].factor - rows[i - 1].factor : rows[0].factor;
    }

    // Rows at few different distances, whose branches follow each other in the same order.
    bool is_chain(const SmallVectorImpl<Far> &rows) const
    {
        SmallSet<int64_t, 8> distances;
        for (size_t i = 0; i < rows.size(); i++) {
            distances.insert(apart(rows, i));
            if (rows[i].step->getSourceElementType() != rows[0].step->getSourceElementType() ||
                (i && !tree.dominates(guard_of(*rows[i - 1].load)->getParent(),
                                      guard_of(*rows[i].load)->getParent())))
                return false;
        }
        return distances.size() <= MOST_STEPS && !distances.contains(0);
    }

    void chain(GetElementPtrInst &first, Value &stride, SmallVectorImpl<Far> &rows)
    {
        BasicBlock *before = loop.getLoopPreheader();
        sort(rows, [](const Far &a, const Far &b) { return a.factor < b.factor; });
        if (!before || !is_chain(rows) || !loop.isLoopInvariant(&stride)) return;
        DenseMap<int64_t, Value *> steps;
        Value *own = hide(&first, &first);
        first.replaceUsesWithIf(own, [&](const Use &use) { return use.getUser() != own; });
        for (size_t i = 0; i < rows.size(); i++) {
            IRBuilder<> at(before->getTerminator());
            Value *&step = steps[apart(rows, i)];
            if (!step) step = at.CreateMul(&stride, ConstantInt::get(stride.getType(), apart(rows, i), true));
            at.SetInsertPoint(guard_of(*rows[i].load));
            own = at.CreateGEP(rows[i].step->getSourceElementType(), own, {step});
            rows[i].load->setOperand(0, own);
            if (rows[i].step->use_empty()) rows[i].step->eraseFromParent();
        }
    }

    // p and (x < n) of `p and (x < n)`: a branch's condition, or not a copy's last operand
    struct Row {
        BinaryOperator *both;
        Value *p, *x, *n;
    };

    bool match_row(Value *both, Row *out) const
    {
        Value *sides[2] = {nullptr, nullptr};
        if (!match(both, m_And(m_Value(sides[0]), m_Value(sides[1])))) return false;
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
        SmallSetVector<Value *, 32> conditions;
        DenseMap<std::pair<Value *, Value *>, Value *> limits;
        for (CallBase *copy : copies) {
            Value *both = nullptr;
            if (match(copy->getArgOperand(copy->arg_size() - 1), m_Not(m_Value(both))))
                conditions.insert(both);
        }
        for (LoadInst *load : loads) conditions.insert(guard_of(*load)->getCondition());
        for (Value *both : conditions) {
            Row row{};
            if (!before || !match_row(both, &row)) continue;
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

void cute_shorten_copies(Loop &loop, const DominatorTree &tree)
{
    if (loop.isInnermost()) Copies(loop, tree).run();
}
