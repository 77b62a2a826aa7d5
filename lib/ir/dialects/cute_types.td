// The dialect cute, its types and attributes.
#ifndef CUTE_IR_TYPES_TD
#define CUTE_IR_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

// Shared by the dialects whose operations reader.cpp parses and prints.
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
    A layout maps coordinates to indices. It consists of a shape (a tree of extents) and a stride of the same profile:
    `L(c) = sum_i c_i * d_i`. Static values are part of the type, as text in CuTe's notation; only dynamic leaves (`?`)
    are run-time values, of type `i32`, or `i64` if written `?{i64}`.
    See "CuTe Layout Representation and Algebra" (C. Cecka) and the CuTe IR specification of NVIDIA/cutlass.

    Launch configurations and diagnostics refer to a kernel argument by its name in the source (`x` for `%x`), or by the
    argument attribute `cute.name = "x"`. `cute.dtype = f32` gives the element type of a pointer argument.
  }];
  let useDefaultTypePrinterParser = 0; // most types are a row of types.def
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = Cute_reader # [{
    ::cute::OpRows rows;
    // Owned by reader.cpp: the assembly format of each operation, and guessed types by value name.
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

// A type whose only parameter is its text in CuTe's notation: a row of types.def. Parsing canonicalizes the text (`(4,2)`
// as a layout becomes `(4,2):(1,4)`); `sugar` defines the meaning of integers in place of the string.
class Cute_TextType<string cls, string mnem> : TypeDef<Cute_Dialect, cls> {
  let mnemonic = mnem;
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  // cute.cpp: the text, its row of types.def and the parsed value
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

// The corresponding attribute: a compile-time value.
class Cute_TextAttr<string cls, string mnem> : AttrDef<Cute_Dialect, cls> {
  let mnemonic = mnem;
  let summary = "Compile-time value with the syntax of `!cute." # mnem # "`";
  let description = [{
    Used by attributes that describe values, such as the layout of an operand.
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
    Leaves are integers, `?` (dynamic, `i32`) or `?{i64}`; `?{div=8}` and `?{i64 div=128}` state that the
    value is a multiple of the divisor. `(2)`, a tuple of one leaf, differs from `2`. Shorthand:
    `!cute.int_tuple<3>` is `"(?,?,?)"`.

    Errors, as in all types: integers beyond 64 bits, more than 64 levels, more than 65536 leaves.

    ```mlir
    !cute.int_tuple<"(2,(?,4))">
    ```
  }]>;
defm Cute_Shape : Cute_Text<"Shape", "shape", "Scalar integer or recursive tuple of shape extents", [{
    Leaves are those of an int_tuple. A shape may have an extent of 0, a layout may not. Shorthand:
    `!cute.shape<2>` is `!cute.shape<"(?,?)">`.

    ```mlir
    !cute.shape<"(128,(?,64))">
    ```
  }]>;
defm Cute_Stride : Cute_Text<"Stride", "stride", "Scalar or recursive tuple of stride elements", [{
    Leaves are those of an int_tuple, or scaled basis vectors: `2@1` is 2 times the unit vector of mode 1 of
    the codomain, `1@0@1` the unit vector of mode 0 within mode 1 (innermost first). Shorthand:
    `!cute.stride<2>` is `!cute.stride<"(?,?)">`.

    Errors: nonzero integers mixed with basis vectors, fractional basis vectors, and vectors that make a mode
    of the codomain both an integer and a tuple.

    ```mlir
    !cute.stride<"(1,?{i64})">
    !cute.stride<"(1@0,1@1)">
    ```
  }]>;
defm Cute_Coord : Cute_Text<"Coord", "coord", "Scalar integer, underscore wildcard, or recursive tuple of coordinates", [{
    Leaves are those of an int_tuple, or `_`, which leaves the mode free (`cute.slice`). `_` counts as static.
    Shorthand: `!cute.coord<2>` is `!cute.coord<"(?,?)">`.

    ```mlir
    !cute.coord<"(?,_)">
    ```
  }]>;
defm Cute_Layout : Cute_Text<"Layout", "layout", "Function from coordinates to indices: a shape and a stride of the same profile", [{
    `shape:stride`, the function `L(c) = sum_i c_i * d_i`. A shape alone has compact column-major strides.
    Shorthand: `!cute.layout<2>` is `"(?,?):(?,?)"`.

    Errors: shape and stride of different profiles, non-positive extents.

    ```mlir
    !cute.layout<"(128,64):(1,128)">
    !cute.layout<"(?,?):(?{i64},1)">
    ```
  }]>;
defm Cute_Tile : Cute_Text<"Tile", "tile", "Sequence of layouts, one per mode that it divides; `_` keeps a whole mode", [{
    Slots are layouts, `_`, or nested tiles. Shorthand: `!cute.tile<128, 64>` is `!cute.tile<"[128:1;64:1]">`.

    ```mlir
    !cute.tile<"[(4,2):(1,4);_]">
    ```
  }]>;
defm Cute_Swizzle : Cute_Text<"Swizzle", "swizzle", "Bit permutation of indices: `S<bits, base, shift>`", [{
    `S<B,M,S>` XORs the B bits at position M+S into the B bits at position M: `i ^ ((i >> S) & ((2^B - 1) <<
    M))`; if S is negative, the bits at M into those at M-S. It is its own inverse. See CuTe's swizzle.hpp.

    Errors: `|S| < B` (overlapping fields), `|S| + B + M > 32`.

    ```mlir
    !cute.swizzle<"S<3,4,3>">
    ```
  }]>;
defm Cute_ComposedLayout : Cute_Text<"ComposedLayout", "composed_layout", "`A o offset o B`: the coordinate `c` maps to `A(offset + B(c))`", [{
    A is a swizzle or a layout, B is a layout; see `cute.make_composed_layout`.

    ```mlir
    !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
    ```
  }]>;
// `!cute.int` of older IR: parsed as `!cute.int_tuple<"?">`, never printed.
def Cute_IntType : TypeDef<Cute_Dialect, "Int"> {
  let mnemonic = "int";
  let summary = "Shorthand for `!cute.int_tuple<\"?\">`";
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::Type $cppClass::parse(::mlir::AsmParser &parser) { return IntTupleType::get(parser.getContext(), "?"); }
    void $cppClass::print(::mlir::AsmPrinter &) const {}
  }];
}

// A type that is a row of types.def (CUTE_IR_TEXT): all of a dialect share one C++ class (text.h). This definition
// documents the type and constrains operands.
class Cute_RowType<Dialect dialect, string cls, string mnem, string sum, string text> : TypeDef<dialect, cls> {
  let mnemonic = mnem;
  let summary = sum;
  let description = text;
  let builderCall = "";
  let predicate = CPred<"::cute::isRow($_self, CUTE_TYPE_INDEX_" # cls # ")">;
}

#endif
