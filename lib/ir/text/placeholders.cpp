// See placeholders.h. MLIR's parser replaces the uses of a placeholder and destroys it when its name is
// defined. An operation in custom form resolves its operands before it parses its regions, but is created
// after them: if a region defines the name of such an operand, the operation gets a destroyed value. The
// programs are linked with --wrap, so that destruction is intercepted here and placeholders live until the
// text is parsed. They are in no block, which the verifier would report as an unlinked operand.
//
// With split input, each text has its own context, which owns its placeholders.
//
// After a parse error the parser destroys the current region; uses of its values by operations that were
// parsed before are dropped.
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
// On the heap: the longjmp of a fatal error skips the destructor.
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
