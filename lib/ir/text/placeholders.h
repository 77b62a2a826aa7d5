// Placeholders of values that are used before their definition. An operation that still has one after parsing
// uses a value that its own region defines; this is reported as an error here, where MLIR 19 would access
// freed memory.
#ifndef CUTE_LIB_IR_TEXT_PLACEHOLDERS_H
#define CUTE_LIB_IR_TEXT_PLACEHOLDERS_H
#include "mlir/Support/LLVM.h"

namespace cute
{
// Lives during parsing and verification of a text, for the current thread.
class Placeholders
{
  public:
    Placeholders();
    ~Placeholders();
    Placeholders(const Placeholders &) = delete;
    Placeholders &operator=(const Placeholders &) = delete;
    // Emits an error at each operand that is still a placeholder.
    llvm::LogicalResult report() const;
    struct State;

  private:
    State *state;
};
} // namespace cute
#endif
