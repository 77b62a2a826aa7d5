// How operations of our dialects are read and printed: one reader and one printer for all of them.
//
// Operations may be written without types: `%l = cute.make_layout(%s, %d)`. They are then those of the operands where
// these are defined, and what follows from them; in memory and in print nothing is left out.
#ifndef CUTE_LIB_IR_READER_H
#define CUTE_LIB_IR_READER_H

#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

namespace cute
{
using namespace mlir;

// For Dialect::getParseOperationHook and Dialect::getOperationPrinter: the definitions of operations (.td) have no
// format of their own.
std::optional<Dialect::ParseOpHook> readerOf(MLIRContext *context, StringRef operation);
void printOperation(Operation *op, OpAsmPrinter &printer);

// The type of the value that `operand` names, which must be defined above; an error at its place otherwise. A guess
// that is right saves most of the time.
FailureOr<Type> typeOf(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand, Type guess = {});
} // namespace cute

#endif
