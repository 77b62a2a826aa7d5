// How operations of our dialects are read and printed: one reader and one printer for all of them.
//
// Operations may be written without types: `%l = cute.make_layout(%s, %d)`. They are then those of the operands where
// these are defined, and what follows from them; in memory and in print nothing is left out.
#ifndef CUTE_LIB_IR_TEXT_READER_H
#define CUTE_LIB_IR_TEXT_READER_H

#include "lib/ir/ops/ops.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

namespace cute
{
using namespace mlir;

// For Dialect::getParseOperationHook and Dialect::getOperationPrinter: the definitions of operations (.td) have no
// format of their own.
ParseResult readOperation(OpAsmParser &parser, OperationState &state);
void printOperation(Operation *op, OpAsmPrinter &printer);

// By the identity of names, for the dialect cute.
struct Spelling;
using Spellings = llvm::DenseMap<const void *, std::shared_ptr<Spelling>>;
// For a dialect that has just registered its operations.
void addSpellings(Dialect &dialect, const llvm::DenseMap<const void *, const cute_op_row *> &rows,
                  Spellings &spellings);

// Types under other names; none: there is no such name. And `mode=128B, bits=3` behind `mode`, as S<3,4,3>.
std::optional<Type> readOtherType(AsmParser &parser, SMLoc place, StringRef dialect, StringRef mnemonic);
FailureOr<std::string> readSwizzleMode(AsmParser &parser);

// The type of the value that `operand` names, which must be defined above; an error at its place otherwise.
FailureOr<Type> typeOf(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand);
} // namespace cute

#endif
