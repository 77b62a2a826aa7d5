// Loops that carry a factor of a product in registers, and wait for the product in the regions of a branch: two iterations in one.
//
// While a product reads the factor of one iteration, the next one is computed, in front of the branch. LLVM takes the registers of a product for free
// once it is issued, and in a loop of one iteration the next factor is written to those of the first: ptxas then waits for each product. With two
// iterations the factors change places.
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

#include "lib/ptx/alternate_factors.h"

using namespace llvm;

namespace
{
constexpr unsigned WORD = 32;           // bits of a register
constexpr unsigned LEAST_WORDS = 4;     // of a factor: those of one instruction
constexpr unsigned MOST_WORDS = 32;     // two of more have no place beside the sums
constexpr unsigned INSTRUCTIONS = 6000; // of a loop that is not made longer

const InlineAsm *assembly_of(const Instruction &i, StringRef part)
{
    auto *call = dyn_cast<CallBase>(&i);
    auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    return text && StringRef(text->getAsmString()).contains(part) ? text : nullptr;
}

// A product whose factor is carried by the loop, and the waits for it, of which an iteration runs one.
struct Product {
    CallBase *product = nullptr;
    SmallVector<const CallBase *, 2> waits;
    SmallVector<PHINode *, MOST_WORDS> words;
};

// Words of a factor that the loop carries: inputs in registers that are not sums.
void add_words(CallBase &call, const InlineAsm &text, const Loop &loop, Product *out)
{
    unsigned argument = 0;
    for (const InlineAsm::ConstraintInfo &c : text.ParseConstraints()) {
        if (c.Type != InlineAsm::isInput) continue;
        const Value *value = call.getArgOperand(argument++);
        while (auto *cast = dyn_cast<BitCastInst>(value)) value = cast->getOperand(0);
        auto *phi = dyn_cast<PHINode>(const_cast<Value *>(value));
        if (c.Codes.front() != "r" || !phi || phi->getParent() != loop.getHeader()) continue;
        if (phi->getType()->getPrimitiveSizeInBits() != WORD) continue;
        out->words.push_back(phi);
        out->product = &call;
    }
}

bool find_product(const Loop &loop, const DominatorTree &tree, Product *out)
{
    unsigned size = 0;
    for (BasicBlock *block : loop.blocks()) {
        size += block->size();
        for (Instruction &i : *block)
            if (const InlineAsm *text = assembly_of(i, "wgmma.mma_async"))
                add_words(cast<CallBase>(i), *text, loop, out);
    }
    if (!loop.getLoopLatch() || out->words.size() < LEAST_WORDS || out->words.size() > MOST_WORDS ||
        size > INSTRUCTIONS)
        return false;
    for (BasicBlock *block : loop.blocks())
        for (Instruction &i : *block)
            if (assembly_of(i, "wait_group.sync.aligned 0;") && isa<StructType>(i.getType()) &&
                tree.dominates(out->product, &i))
                out->waits.push_back(cast<CallBase>(&i));
    return out->waits.size() > 1;
}

// The word of the next iteration behind a wait, if a loop computes it.
Instruction *next_word(const PHINode &word, const Loop &loop, const CallBase &wait, const DominatorTree &tree)
{
    Value *value = word.getIncomingValueForBlock(loop.getLoopLatch());
    auto *merged = dyn_cast<PHINode>(value);
    if (merged && merged->getParent() != loop.getHeader())
        for (unsigned i = 0; i < merged->getNumIncomingValues(); i++)
            if (tree.dominates(&wait, merged->getIncomingBlock(i)->getTerminator()))
                value = merged->getIncomingValue(i);
    auto *computed = dyn_cast<Instruction>(value);
    return computed && loop.contains(computed) && !isa<PHINode>(computed) ? computed : nullptr;
}

// A word that is taken from a conversion of a whole tile, which LLVM moved behind the wait: a conversion of its elements, behind these.
Instruction *convert_alone(Instruction *word, const DominatorTree &tree)
{
    auto *part = dyn_cast<ShuffleVectorInst>(word);
    auto *whole = part ? dyn_cast<CastInst>(part->getOperand(0)) : nullptr;
    if (!whole || !isa<FixedVectorType>(whole->getSrcTy())) return word;
    SmallVector<Instruction *, 4> elements;
    Instruction *last = nullptr;
    for (int at : part->getShuffleMask()) {
        Value *element = at < 0 ? nullptr : findScalarElement(whole->getOperand(0), at);
        elements.push_back(dyn_cast_or_null<Instruction>(element));
        if (!elements.back() || isa<PHINode>(element)) return word;
        if (!last || tree.dominates(last, elements.back())) last = elements.back();
    }
    IRBuilder<> builder(last->getNextNode());
    Type *element = whole->getSrcTy()->getScalarType();
    Value *own = PoisonValue::get(FixedVectorType::get(element, elements.size()));
    for (unsigned i = 0; i < elements.size(); i++) own = builder.CreateInsertElement(own, elements[i], i);
    return cast<Instruction>(builder.CreateCast(whole->getOpcode(), own, part->getType()));
}

// The words of the next iteration in front of a wait; none where one is computed behind it.
SmallVector<Instruction *, MOST_WORDS> next_words(const Product &p, const Loop &loop, const CallBase &wait,
                                                  const DominatorTree &tree)
{
    SmallVector<Instruction *, MOST_WORDS> next;
    for (const PHINode *word : p.words) {
        Instruction *computed = next_word(*word, loop, wait, tree);
        if (!computed) return {};
        Instruction *own = convert_alone(computed, tree);
        if (!tree.dominates(own, &wait)) return {};
        if (own != computed) computed->replaceAllUsesWith(own);
        next.push_back(own);
    }
    return next;
}

// Reorders the operations from which the words are computed: one word after the other, each followed by the sums that it completes. In the
// order of whole tiles ptxas finds nothing to issue in front of the wait but the first operation on each element.
class WordByWord
{
    BasicBlock::iterator begin, end;
    SmallPtrSet<const Instruction *, 32> left;
    SmallVector<Instruction *, 64> placed; // whose users are not looked at yet
    Instruction *anchor = nullptr;

    bool is_ready(const Instruction &i) const
    {
        for (const Use &use : i.operands())
            if (auto *operand = dyn_cast<Instruction>(use.get()); operand && left.contains(operand))
                return false;
        return true;
    }
    void place(Instruction *i)
    {
        if (!left.count(i)) return;
        for (Use &use : i->operands())
            if (auto *operand = dyn_cast<Instruction>(use)) place(operand);
        i->moveBefore(anchor);
        left.erase(i);
        placed.push_back(i);
    }
    void place_users()
    {
        while (!placed.empty()) {
            Instruction *i = placed.pop_back_val();
            for (User *user : i->users()) {
                auto *next = dyn_cast<Instruction>(user);
                if (next && left.count(next) && is_ready(*next)) place(next);
            }
        }
    }

  public:
    void run(ArrayRef<Instruction *> words)
    {
        Instruction *first = words.front();
        BasicBlock *block = first->getParent();
        auto moves = [](const Instruction &i) {
            return !isa<PHINode>(i) && !i.isTerminator() && !i.mayHaveSideEffects() && !i.mayReadFromMemory();
        };
        if (any_of(words, [&](Instruction *word) { return word->getParent() != block; })) return;
        if (!moves(*first)) return;
        begin = end = first->getIterator();
        while (begin != block->begin() && moves(*std::prev(begin))) --begin;
        while (moves(*end)) ++end;
        anchor = &*end;
        SmallVector<Instruction *, 512> order;
        for (auto at = begin; at != end; ++at) {
            left.insert(&*at);
            order.push_back(&*at);
        }
        for (Instruction *word : words) {
            place(word);
            place_users();
        }
        for (Instruction *i : order) place(i);
    }
};

// Keeps LLVM from moving the words to the wait, in a branch behind them: behind the last one an assembly without instructions has all of them as
// operands.
void keep_in_front(SmallVectorImpl<Instruction *> &words, const DominatorTree &tree)
{
    Instruction *last = words.front();
    for (Instruction *word : words)
        if (tree.dominates(last, word)) last = word;
    IRBuilder<> at(last->getNextNode());
    SmallVector<Type *, MOST_WORDS> types(words.size(), at.getInt32Ty());
    SmallVector<Value *, MOST_WORDS> arguments;
    std::string outputs, inputs;
    for (unsigned i = 0; i < words.size(); i++) {
        arguments.push_back(at.CreateBitCast(words[i], at.getInt32Ty()));
        outputs += "=r,";
        inputs += (i ? "," : "") + std::to_string(i);
    }
    auto *form = FunctionType::get(StructType::get(at.getContext(), types), types, false);
    auto *call = at.CreateCall(form, InlineAsm::get(form, "", outputs + inputs, true), arguments);
    call->setDoesNotThrow();
    for (unsigned i = 0; i < words.size(); i++) {
        auto *kept = cast<Instruction>(at.CreateBitCast(at.CreateExtractValue(call, i), words[i]->getType()));
        words[i]->replaceUsesWithIf(kept, [&](Use &use) { return tree.dominates(kept, use); });
        words[i] = kept;
    }
}

// Copies the factor on the exit from the first of the two iterations. Otherwise LLVM coalesces the registers of both factors, which meet in the exit
// block.
void move_at_exit(const Product &p, Loop &loop, BasicBlock *exit, DominatorTree &tree, LoopInfo &loops)
{
    BasicBlock *latch = loop.getLoopLatch();
    SmallPtrSet<const Value *, MOST_WORDS> last;
    SmallVector<PHINode *, MOST_WORDS> words;
    SmallVector<BasicBlock *, 2> from;
    for (const PHINode *word : p.words) last.insert(word->getIncomingValueForBlock(latch));
    for (BasicBlock *block : predecessors(exit))
        if (block != latch) from.push_back(block);
    for (PHINode &phi : exit->phis())
        if (phi.getBasicBlockIndex(latch) >= 0 && last.contains(phi.getIncomingValueForBlock(latch)))
            words.push_back(&phi);
    for (BasicBlock *block : from) {
        BasicBlock *edge = SplitEdge(block, exit, &tree, &loops);
        IRBuilder<> at(edge->getTerminator());
        auto *form = FunctionType::get(at.getInt32Ty(), {at.getInt32Ty()}, false);
        for (PHINode *phi : words) {
            Value *word = at.CreateBitCast(phi->getIncomingValueForBlock(edge), at.getInt32Ty());
            auto *call = at.CreateCall(form, InlineAsm::get(form, "mov.b32 $0, $1;", "=r,r", true), {word});
            call->setDoesNotThrow();
            phi->setIncomingValueForBlock(edge, at.CreateBitCast(call, phi->getType()));
        }
    }
}

// Has the next factor ready where the branch to a wait is taken.
void compute_in_front(const Product &p, const CallBase &wait, const Loop &loop, const DominatorTree &tree)
{
    SmallVector<Instruction *, MOST_WORDS> next = next_words(p, loop, wait, tree);
    if (next.empty() || next.front()->getParent() == wait.getParent()) return;
    WordByWord().run(next);
    keep_in_front(next, tree);
}
} // namespace

bool cute_factor_alternates(const Loop &loop, const DominatorTree &tree)
{
    Product product;
    return loop.isInnermost() && find_product(loop, tree, &product);
}

void cute_alternate_factors(Function &function, const TargetMachine &machine)
{
    DominatorTree tree(function);
    LoopInfo loops(tree);
    SmallVector<Loop *, 2> found;
    for (Loop *loop : loops.getLoopsInPreorder())
        if (cute_factor_alternates(*loop, tree)) found.push_back(loop);
    if (found.empty()) return;
    AssumptionCache assumptions(function);
    TargetLibraryInfoImpl names(Triple(function.getParent()->getTargetTriple()));
    TargetLibraryInfo library(names, &function);
    ScalarEvolution evolution(function, library, assumptions, tree, loops);
    TargetTransformInfo costs = machine.getTargetTransformInfo(function);
    OptimizationRemarkEmitter remarks(&function);
    UnrollLoopOptions two = {};
    two.Count = 2;
    two.Force = true;
    for (Loop *loop : found) {
        Product product;
        if (!find_product(*loop, tree, &product)) continue;
        for (const CallBase *wait : product.waits) compute_in_front(product, *wait, *loop, tree);
        simplifyLoop(loop, &tree, &loops, &evolution, &assumptions, nullptr, false);
        formLCSSARecursively(*loop, tree, &loops, &evolution);
        BasicBlock *exit = loop->getUniqueExitBlock();
        UnrollLoop(loop, two, &loops, &evolution, &tree, &assumptions, &costs, &remarks, true);
        if (exit) move_at_exit(product, *loop, exit, tree, loops);
    }
}
