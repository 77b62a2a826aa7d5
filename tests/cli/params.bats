#!/usr/bin/env bats
# Parameters of a source: //!param lines.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
    cat >k.mlir <<'END'
//!param BM = 64 in 32, 64, 128
  //!param T = f16
func.func @f(%x: vector<${BM}x${T}>) -> vector<${BM}x${T}> {
  return %x : vector<${BM}x${T}>
}
END
}

@test "a parameter has its default, which -D overrides, whatever the candidates" {
    cute-opt k.mlir | grep -q 'vector<64xf16>'
    cute-opt -D BM=48 -D T=f32 k.mlir | grep -q 'vector<48xf32>'
    sed 's/BM}x/BM*2}x/g' k.mlir | cute-opt - | grep -q 'vector<128xf16>'
    cute-opt k.mlir | cute-opt | grep -q 'vector<64xf16>'
}

@test "--print-params lists names, defaults and candidates, of included files, too" {
    [ "$(cute-opt --print-params k.mlir | jq -c .)" = '[{"name":"BM","value":"64","candidates":["32","64","128"]},{"name":"T","value":"f16","candidates":[]}]' ]
    printf '//!include "k.mlir"\n//!param LAST = 1\n' >all.mlir
    [ "$(cute-opt --print-params all.mlir | jq -c 'map(.name)')" = '["BM","T","LAST"]' ]
    cute-opt all.mlir | grep -q 'vector<64xf16>'
    printf 'func.func @f() { return }\n' | cute-opt --print-params | jq -e '. == []'
}

@test "a default may be an expression of -D and of parameters above it" {
    sed -i '1i //!param BN = ${D > 64 ? 2 * (BM - D) : BM / 2} in 8, 16' k.mlir
    sed -i '1i //!param BM = ${D == 128 ? 192 : 64}' k.mlir
    sed -i '/^\/\/!param BM = 64 in/d; s/BM}x/BN}x/g' k.mlir
    cute-opt -D D=128 k.mlir | grep -q 'vector<128xf16>'
    cute-opt -D D=64 k.mlir | grep -q 'vector<32xf16>'
    cute-opt -D D=64 -D BM=96 k.mlir | grep -q 'vector<48xf16>'
    cute-opt -D BN=24 -D BM=1 k.mlir | grep -q 'vector<24xf16>'
    [ "$(cute-opt --print-params -D D=128 k.mlir | jq -c 'map(.value)')" = '["192","128","f16"]' ]
    [ "$(cute-opt --print-params -D D=64 -D BN=24 k.mlir | jq -c 'map(.value)')" = '["64","${D > 64 ? 2 * (BM - D) : BM / 2}","f16"]' ]
    run -1 cute-opt k.mlir
    [[ $output == *"k.mlir:1:"*"error: unknown name 'D'"*"-D D=VALUE"* ]]
    run -1 cute-opt --print-params -D D=wide k.mlir
    [[ $output == *"k.mlir:1:17: error: expected an integer for 'D', got 'wide'"* ]]
    sed -i 's/? 192/? BN/' k.mlir # a parameter below it
    run -1 cute-opt -D D=128 k.mlir
    [[ $output == *"k.mlir:1:"*"error: unknown name 'BN'"* ]]
}

@test "lines that are no parameter, and names declared twice, are errors at their place" {
    for line in '//!param' '//!param 2X = 1' '//!param X' '//!param X =' '//!param X = 1 of 2' '//!param X = 1 in' '//!param X = 1 in 2,' '//!param X = 1 2' '//!param X = ${1 + 1' '//!param X = ${1}2'; do
        printf '// first\n%s\n' "$line" >wrong.mlir
        run -1 cute-opt wrong.mlir
        [[ $output == *"wrong.mlir:2:"*"error: expected '//!param NAME = VALUE' or '//!param NAME = VALUE in VALUE, VALUE'"* ]] || { echo "$line: $output"; false; }
    done
    printf '//!param X = 1\n//!param X = 2\n' >wrong.mlir
    run -1 cute-opt wrong.mlir
    [[ $output == *"wrong.mlir:2:10: error: the parameter 'X' is declared twice"*"wrong.mlir:1:10: note: the first declaration is here"* ]]
}
