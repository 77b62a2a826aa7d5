// What stands for a value while its definition is not read yet. An operation that keeps it takes a value that its own region
// defines: an error here, where MLIR 19 would read memory that is freed.
#ifndef CUTE_LIB_IR_TEXT_PLACEHOLDERS_H
#define CUTE_LIB_IR_TEXT_PLACEHOLDERS_H
#include "mlir/Support/LLVM.h"

namespace cute
{
// Lives while a text is parsed and what was read is verified. Of this thread.
class Placeholders
{
  public:
    Placeholders();
    ~Placeholders();
    Placeholders(const Placeholders &) = delete;
    Placeholders &operator=(const Placeholders &) = delete;
    // An error at each operand that is still one.
    llvm::LogicalResult report() const;
    struct State;

  private:
    State *state;
};
} // namespace cute
#endif
