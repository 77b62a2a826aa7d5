// Vectorizes 8- and 16-byte stores of vectors assembled from single bytes. LLVM's NVPTX backend has no such
// vector type and emits a sequence of 4-byte stores; it does not split words that inline assembly combines.
#include "lib/ptx/registers.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace
{
constexpr unsigned WORD = 32, PAIR = 64;

// Whether an element of a vector of words was assembled from four bytes.
bool has_bytes(Value *vector)
{
    while (auto *insert = dyn_cast<InsertElementInst>(vector)) {
        auto *word = dyn_cast<BitCastInst>(insert->getOperand(1));
        auto *of = word ? dyn_cast<FixedVectorType>(word->getSrcTy()) : nullptr;
        if (of && of->getElementType()->isIntegerTy(8)) return true;
        vector = insert->getOperand(0);
    }
    return false;
}

bool is_split_store(StoreInst &store)
{
    auto *type = dyn_cast<FixedVectorType>(store.getValueOperand()->getType());
    unsigned bits = type ? (unsigned)type->getPrimitiveSizeInBits().getFixedValue() : 0;
    if ((bits != PAIR && bits != 2 * PAIR) || !store.isSimple() || store.getAlign().value() * 8 < bits ||
        isa<Constant>(store.getValueOperand()))
        return false;
    return type->getElementType()->isIntegerTy(8) ||
           (type->getElementType()->isIntegerTy(WORD) && has_bytes(store.getValueOperand()));
}

void join_byte_store(StoreInst &store)
{
    IRBuilder<> b(&store);
    Value *value = store.getValueOperand();
    unsigned words = (unsigned)value->getType()->getPrimitiveSizeInBits().getFixedValue() / WORD;
    Type *word = b.getInt32Ty(), *pair = b.getInt64Ty();
    value = b.CreateBitCast(value, FixedVectorType::get(word, words));
    InlineAsm *move = InlineAsm::get(FunctionType::get(pair, {word, word}, false), "mov.b64 $0, {$1, $2};",
                                     "=l,r,r", false);
    Value *joined = PoisonValue::get(FixedVectorType::get(pair, words / 2));
    for (unsigned i = 0; i < words; i += 2) {
        Value *low = b.CreateExtractElement(value, i), *high = b.CreateExtractElement(value, i + 1);
        CallInst *both = b.CreateCall(move, {low, high});
        both->setDoesNotAccessMemory();
        both->setDoesNotThrow();
        if (words == 2) {
            joined = both;
            break;
        }
        joined = b.CreateInsertElement(joined, both, i / 2);
    }
    b.CreateAlignedStore(joined, store.getPointerOperand(), store.getAlign())->copyMetadata(store);
    store.eraseFromParent();
}

#if LLVM_VERSION_MAJOR == 21
// Works around LLVM 21 storing two floats without rounding them to 16 bits (llvm/llvm-project#149571).
void separate_rounding(Function &function)
{
    SmallVector<FPTruncInst *, 16> vectors;
    for (Instruction &i : instructions(function))
        if (auto *round = dyn_cast<FPTruncInst>(&i); round && isa<FixedVectorType>(round->getType()))
            vectors.push_back(round);
    for (FPTruncInst *round : vectors) {
        IRBuilder<> b(round);
        auto *type = cast<FixedVectorType>(round->getType());
        Value *all = PoisonValue::get(type);
        for (unsigned i = 0; i < type->getNumElements(); i++) {
            Value *one = b.CreateExtractElement(round->getOperand(0), i);
            all = b.CreateInsertElement(all, b.CreateFPTrunc(one, type->getElementType()), i);
        }
        round->replaceAllUsesWith(all);
        round->eraseFromParent();
    }
}
#else
void separate_rounding(Function &) {}
#endif
} // namespace

void cute_llvm_join_bytes(LLVMModuleRef m)
{
    for (Function &function : *unwrap(m)) {
        separate_rounding(function);
        SmallVector<StoreInst *, 16> stores;
        for (Instruction &i : instructions(function))
            if (auto *store = dyn_cast<StoreInst>(&i); store && is_split_store(*store))
                stores.push_back(store);
        for (StoreInst *store : stores) join_byte_store(*store);
    }
}
