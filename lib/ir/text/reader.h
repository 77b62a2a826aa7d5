// One parser and one printer for all operations of our dialects.
//
// Types may be omitted in the input, `%l = cute.make_layout(%s, %d)`: operand types are those of the
// definitions, result types are inferred. The printer writes all types.
#ifndef CUTE_LIB_IR_TEXT_READER_H
#define CUTE_LIB_IR_TEXT_READER_H

#include "lib/ir/ops/ops.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

namespace cute
{
using namespace mlir;

// For Dialect::getParseOperationHook and Dialect::getOperationPrinter: operations have no assembly format in
// .td files.
ParseResult readOperation(OpAsmParser &parser, OperationState &state);
void printOperation(Operation *op, OpAsmPrinter &printer);

// By uniqued operation name; owned by the dialect cute.
struct Spelling;
using Spellings = llvm::DenseMap<const void *, std::shared_ptr<Spelling>>;
// Called when a dialect has registered its operations.
void addSpellings(Dialect &dialect, const llvm::DenseMap<const void *, const cute_op_row *> &rows,
                  Spellings &spellings);

// Parses alternative type spellings; empty for other mnemonics. readSwizzleMode parses `mode=128B, bits=3`
// after `mode` to S<3,4,3>.
std::optional<Type> readOtherType(AsmParser &parser, SMLoc place, StringRef dialect, StringRef mnemonic);
FailureOr<std::string> readSwizzleMode(AsmParser &parser);

// The type of the value named by `operand`, or an error if it is not defined yet.
FailureOr<Type> typeOf(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand);
} // namespace cute

#endif
