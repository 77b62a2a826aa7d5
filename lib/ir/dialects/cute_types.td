// The dialect cute, its types and attributes.
#ifndef CUTE_IR_TYPES_TD
#define CUTE_IR_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

// Of each dialect whose operations reader.cpp reads and prints.
defvar Cute_reader = [{
    ::std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef) const override { return ::cute::readOperation; }
    ::llvm::unique_function<void(::mlir::Operation *, ::mlir::OpAsmPrinter &)>
    getOperationPrinter(::mlir::Operation *) const override { return ::cute::printOperation; }
}];

def Cute_Dialect : Dialect {
  let name = "cute";
  let cppNamespace = "::cute";
  let summary = "CuTe's layout algebra";
  let description = [{
    A layout maps coordinates to indices: a shape (a tree of extents) and a stride of the same profile,
    `L(c) = sum_i c_i * d_i`. Everything known at compile time is in the types, as text in CuTe's notation; only
    unknown leaves (`?`) are values at run time, `i32` each, or `i64` where written `?{i64}`.
    See "CuTe Layout Representation and Algebra" (C. Cecka) and the CuTe IR specification of NVIDIA/cutlass.

    Arguments of kernels are called in launch configurations and diagnostics as in the source (`%x` is `x`), or as
    `cute.name = "x"` says. `cute.dtype = f32` says what a pointer refers to.
  }];
  let useDefaultTypePrinterParser = 0; // most types are a row of types.def
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = Cute_reader # [{
    ::cute::OpRows rows;
    // Of reader.cpp: how each operation is written, and types by the names of values.
    Spellings spellings;
    ::llvm::StringMap<::mlir::Type> guesses;
    ::std::atomic<bool> guesses_wanted = false;
    ::std::mutex guessing;
    static constexpr ::llvm::StringLiteral textTypeName = "cute.text";
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
  }];
  // Comparisons fold to arith.constant. cute-to-base makes ub.poison; that dialect has no handle in the C interface.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::ub::UBDialect"];
}

// A type that is its text in CuTe's notation: a row of types.def. Parsing canonicalises the text (`(4,2)` as a layout becomes
// `(4,2):(1,4)`); `sugar` says what integers in place of the string mean.
class Cute_TextType<string cls, string mnem> : TypeDef<Cute_Dialect, cls> {
  let mnemonic = mnem;
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  // cute.cpp: the text, the row of types.def and the value that it describes
  let genStorageClass = 0;
  let storageClass = "TextStorage<CUTE_TYPE_INDEX_" # cls # ">";
  let extraClassDefinition = [{
    ::llvm::StringRef $cppClass::getText() const { return getImpl()->text; }
    ::mlir::Type $cppClass::parse(::mlir::AsmParser &parser) { return ::cute::parseQuoted<$cppClass, ::mlir::Type>(parser, CUTE_TYPE_INDEX_}] # cls # [{); }
    void $cppClass::print(::mlir::AsmPrinter &printer) const { ::cute::printText(printer, getText()); }
    ::llvm::LogicalResult $cppClass::verify(::llvm::function_ref<::mlir::InFlightDiagnostic()> error, ::llvm::StringRef text) {
      return ::cute::verifyText(error, CUTE_TYPE_INDEX_}] # cls # [{, text);
    }
  }];
}

// The same as an attribute: a compile-time value.
class Cute_TextAttr<string cls, string mnem> : AttrDef<Cute_Dialect, cls> {
  let mnemonic = mnem;
  let summary = "A compile-time value with the text of `!cute." # mnem # "`";
  let description = [{
    For attributes that describe values, such as the layout of an operand.
    ```mlir
    #cute.layout<"(2,3):(1,2)">
    ```
  }];
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDefinition = [{
    ::mlir::Attribute $cppClass::parse(::mlir::AsmParser &parser, ::mlir::Type) { return ::cute::parseQuoted<$cppClass, ::mlir::Attribute>(parser, CUTE_TYPE_INDEX_}] # cls # [{); }
    void $cppClass::print(::mlir::AsmPrinter &printer) const { ::cute::printText(printer, getText()); }
    ::llvm::LogicalResult $cppClass::verify(::llvm::function_ref<::mlir::InFlightDiagnostic()> error, ::llvm::StringRef text) {
      return ::cute::verifyText(error, CUTE_TYPE_INDEX_}] # cls # [{, text);
    }
  }];
}
multiclass Cute_Text<string cls, string mnem, string sum, string text> {
  def Type : Cute_TextType<cls, mnem> {
    let summary = sum;
    let description = text;
  }
  def Attr : Cute_TextAttr<cls, mnem>;
}

defm Cute_IntTuple : Cute_Text<"IntTuple", "int_tuple", "Scalar integer or recursive tuple of integers", [{
    Leaves are numbers, `?` (unknown, `i32`) or `?{i64}`; `?{div=8}` and `?{i64 div=128}` promise that the
    value is a multiple. `(2)`, a tuple of one, is not `2`. Sugar: `!cute.int_tuple<3>` is `"(?,?,?)"`.

    Refused, as in all types: numbers beyond 64 bits, more than 64 levels, more than 65536 leaves.

    ```mlir
    !cute.int_tuple<"(2,(?,4))">
    ```
  }]>;
defm Cute_Shape : Cute_Text<"Shape", "shape", "Scalar integer or recursive tuple of shape extents", [{
    Leaves as of an int_tuple. An extent of 0 may stand in a shape, but not in a layout.
    Sugar: `!cute.shape<2>` is `!cute.shape<"(?,?)">`.

    ```mlir
    !cute.shape<"(128,(?,64))">
    ```
  }]>;
defm Cute_Stride : Cute_Text<"Stride", "stride", "Scalar or recursive tuple of stride elements", [{
    Leaves as of an int_tuple, or basis vectors: `2@1` is 2 times the unit of mode 1 of the result, `1@0@1` that of
    mode 0 within mode 1 (innermost first). Sugar: `!cute.stride<2>` is `!cute.stride<"(?,?)">`.

    Refused: numbers other than 0 beside basis vectors, fractions of them, and vectors that make a mode of the result
    both a number and a tuple.

    ```mlir
    !cute.stride<"(1,?{i64})">
    !cute.stride<"(1@0,1@1)">
    ```
  }]>;
defm Cute_Coord : Cute_Text<"Coord", "coord", "Scalar integer, underscore wildcard, or recursive tuple of coordinates", [{
    Leaves as of an int_tuple, or `_`: a mode that the coordinate leaves open (`cute.slice`). `_` is known.
    Sugar: `!cute.coord<2>` is `!cute.coord<"(?,?)">`.

    ```mlir
    !cute.coord<"(?,_)">
    ```
  }]>;
defm Cute_Layout : Cute_Text<"Layout", "layout", "A function from coordinates to indices: shape and stride of one profile", [{
    `shape:stride`, the function `L(c) = sum_i c_i * d_i`. A shape alone means compact column-major strides.
    Sugar: `!cute.layout<2>` is `"(?,?):(?,?)"`.

    Refused: shape and stride of different profile, extents of 0 or less.

    ```mlir
    !cute.layout<"(128,64):(1,128)">
    !cute.layout<"(?,?):(?{i64},1)">
    ```
  }]>;
defm Cute_Tile : Cute_Text<"Tile", "tile", "A sequence of layouts, one for each mode that it divides; `_` takes a mode whole", [{
    Slots are layouts, `_`, or tiles of their own. Sugar: `!cute.tile<128, 64>` is `!cute.tile<"[128:1;64:1]">`.

    ```mlir
    !cute.tile<"[(4,2):(1,4);_]">
    ```
  }]>;
defm Cute_Swizzle : Cute_Text<"Swizzle", "swizzle", "A bit permutation of indices: `S<bits, base, shift>`", [{
    `S<B,M,S>` xors the B bits at position M+S into those at position M: `i ^ ((i >> S) & ((2^B - 1) << M))`; for a
    negative S those at M into those at M-S. It is its own inverse. See CuTe's swizzle.hpp.

    Refused: unless `|S| >= B` (the fields must not overlap) and `|S| + B + M <= 32`.

    ```mlir
    !cute.swizzle<"S<3,4,3>">
    ```
  }]>;
defm Cute_ComposedLayout : Cute_Text<"ComposedLayout", "composed_layout", "`A o offset o B`: the coordinate `c` maps to `A(offset + B(c))`", [{
    A is a swizzle or a layout, B a layout: what `cute.make_composed_layout` takes.

    ```mlir
    !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
    ```
  }]>;
// `!cute.int` of older IR: read as `!cute.int_tuple<"?">`, never printed.
def Cute_IntType : TypeDef<Cute_Dialect, "Int"> {
  let mnemonic = "int";
  let summary = "Sugar for `!cute.int_tuple<\"?\">`";
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::Type $cppClass::parse(::mlir::AsmParser &parser) { return IntTupleType::get(parser.getContext(), "?"); }
    void $cppClass::print(::mlir::AsmPrinter &) const {}
  }];
}

// A type that is a row of types.def (CUTE_IR_TEXT): one C++ class for all of a dialect (text.h). The definition documents it
// and is a constraint of operands.
class Cute_RowType<Dialect dialect, string cls, string mnem, string sum, string text> : TypeDef<dialect, cls> {
  let mnemonic = mnem;
  let summary = sum;
  let description = text;
  let builderCall = "";
  let predicate = CPred<"::cute::isRow($_self, CUTE_TYPE_INDEX_" # cls # ")">;
}

#endif
