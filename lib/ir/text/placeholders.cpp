// See placeholders.h. MLIR's parser destroys a placeholder when its name is defined, after its uses became uses of the
// definition. An operation in its custom form resolves its operands before its regions are read, but is made after them: if a
// region defines the name of such an operand, the operation gets a value that is gone. The programs are linked with
// --wrap, so that what the parser destroys comes here; a placeholder lives until the text is read. It is in no block, which
// the verifier calls an unlinked operand.
//
// Where a text is one of several, it has a context of its own, with which its placeholders go.
//
// Where the text is wrong, it destroys the region it is in; operations that were read before may use a value of that region, by
// a name that was not defined yet. Such uses are dropped.
#include "lib/ir/text/placeholders.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

#include <vector>

using namespace mlir;

extern "C" {
void __real__ZN4mlir9Operation7destroyEv(Operation *op);
void __wrap__ZN4mlir9Operation7destroyEv(Operation *op);
void __real__ZN4mlir5BlockD1Ev(Block *block);
void __wrap__ZN4mlir5BlockD1Ev(Block *block);
void __real__ZN4mlir11MLIRContextD1Ev(MLIRContext *context);
void __wrap__ZN4mlir11MLIRContextD1Ev(MLIRContext *context);
}

struct cute::Placeholders::State {
    std::vector<Operation *> all;
    State *outer;
};

static thread_local cute::Placeholders::State *latest;

void __wrap__ZN4mlir9Operation7destroyEv(Operation *op)
{
    bool placeholder = latest && !op->getBlock() && op->getNumOperands() == 0 && op->getNumResults() == 1 &&
                       isa<UnrealizedConversionCastOp>(op);
    if (placeholder)
        latest->all.push_back(op);
    else
        __real__ZN4mlir9Operation7destroyEv(op);
}

void __wrap__ZN4mlir5BlockD1Ev(Block *block)
{
    if (latest) block->dropAllDefinedValueUses();
    __real__ZN4mlir5BlockD1Ev(block);
}

void __wrap__ZN4mlir11MLIRContextD1Ev(MLIRContext *context)
{
    if (latest)
        llvm::erase_if(latest->all, [context](Operation *op) {
            if (op->getContext() != context) return false;
            op->dropAllUses();
            __real__ZN4mlir9Operation7destroyEv(op);
            return true;
        });
    __real__ZN4mlir11MLIRContextD1Ev(context);
}

namespace cute
{
// Not on the stack: a fatal error jumps over the destructor.
Placeholders::Placeholders() : state(new State{{}, latest})
{
    latest = state;
}

Placeholders::~Placeholders()
{
    latest = state->outer;
    for (Operation *op : state->all) {
        op->dropAllUses();
        __real__ZN4mlir9Operation7destroyEv(op);
    }
    delete state;
}

LogicalResult Placeholders::report() const
{
    LogicalResult result = success();
    for (Operation *op : state->all)
        for (OpOperand &use : op->getUses()) {
            emitError(op->getLoc()) << "'" << use.getOwner()->getName() << "' op operand #"
                                    << use.getOperandNumber()
                                    << " is defined in a region of the operation itself; expected a value "
                                       "that is defined before the operation";
            result = failure();
        }
    return result;
}
} // namespace cute
