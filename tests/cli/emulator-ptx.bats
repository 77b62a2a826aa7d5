#!/usr/bin/env bats
# PTX as people write it by hand, on the emulator. Values are those of the code that ptxas 13.0 makes of the same text.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
}

# begins k.ptx
head() {
    printf '.version 8.6\n.target sm_90a\n.address_size 64\n' >k.ptx
}

# VALUE EXPRESSION...: each expression as the operand of a mov has the value.
values() {
    head
    printf '.visible .entry k(.param .u64 p) {\n.reg .b64 o; .reg .b32 r; .reg .f32 f;\nld.param.u64 o, [p];\n' >>k.ptx
    n=0
    while [ $# -gt 0 ]; do
        case $1 in
        f:*) printf 'mov.f32 f, %s; st.global.f32 [o+%d], f;\n' "$2" $((4 * n)) >>k.ptx ;;
        *) printf 'mov.u32 r, %s; st.global.u32 [o+%d], r;\n' "$2" $((4 * n)) >>k.ptx ;;
        esac
        printf '%s\n' "${1#f:}" >>expected
        n=$((n + 1))
        shift 2
    done
    printf 'ret; }\n' >>k.ptx
    printf '{"grid":1,"block":1,"buffers":{"o":{"dtype":"i32","shape":[%d]}},"args":["o"],"outputs":{"o":"o.raw"}}' $n >k.json
    cute-run k.ptx --config k.json --device emulator >log 2>&1 || { cat log; return 1; }
    od -An -v -t d4 -w4 o.raw | tr -d ' ' >got
    diff expected got
}

@test "constant expressions have C's operators, precedence and conversions to unsigned" {
    values 1 '7 % 3' 10 '3 > 2 ? 10 : 20' 1 '(3 <= 2) + (1 == 1) + (2 != 2) * 4' 1 '(1 && 0) || 2' 255 '(-1 >> 60) & 0xff' \
        1 '(-1 / 2U) >> 62' 19 '1 << 4 | 3 & 6 ^ 1' -3 '-7 / 2' 1 '((.u64) -1 > 0)' 1 '-1 < 0' -1 '!0 ? ~0 : 0' \
        497 '0777 + 0b11U + 0xFU - WARP_SZ'
}

@test "constant expressions may be of floating-point numbers" {
    values f:1065353216 1. f:1056964608 .5 f:1082130432 '1.5 * 2.0 - -1.0'
}

@test "a constant expression that divides by zero is refused at the operator" {
    head
    printf '.visible .entry k() { .reg .b32 r;\n    mov.u32 r, 1 / 0;\nret; }\n' >>k.ptx
    printf '{"grid":1,"block":1,"args":[]}' >k.json
    run -1 cute-run k.ptx --config k.json --device emulator
    [[ $output == *"k.ptx:5:18: error: division by zero"* ]]
}

@test "PTX for an architecture above sm_90a does not load, and one of no known name neither" {
    printf '{"grid":1,"block":1,"args":[]}' >k.json
    for target in sm_100a sm_120; do
        printf '.version 8.8\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n' $target >k.ptx
        run -1 cute-run k.ptx --config k.json --device emulator
        [[ $output == *"k.ptx:2:9: error: PTX for $target does not load: the emulator is an sm_90a device"* ]]
    done
    printf '.version 8.8\n.target gfx90a\n.address_size 64\n.visible .entry k() { ret; }\n' >k.ptx
    run -1 cute-run k.ptx --config k.json --device emulator
    [[ $output == *"error: expected an architecture such as sm_90a, got 'gfx90a'"* ]]
}

@test "a cooperative launch that no H100 holds at once is refused" {
    head
    printf '.visible .entry k() { ret; }\n' >>k.ptx
    # 2048 threads a multiprocessor: two blocks of 1024 on each of 132
    printf '{"grid":264,"block":1024,"cooperative":true,"args":[]}' >k.json
    cute-run k.ptx --config k.json --device emulator
    printf '{"grid":265,"block":1024,"cooperative":true,"args":[]}' >k.json
    run -1 cute-run k.ptx --config k.json --device emulator
    [[ $output == *"cooperative launch of 265 clusters exceeds the 264 that fit on an H100"* ]]
}

@test "instructions of types or roundings that they do not have are refused, as ptxas does" {
    printf '{"grid":1,"block":1,"args":[]}' >k.json
    while IFS='|' read -r instruction message; do
        head
        printf '.visible .entry k() { .reg .b32 %%r<4>; .reg .f32 %%f<4>; .reg .pred %%p<2>;\n    %s;\nret; }\n' "$instruction" >>k.ptx
        run -1 cute-run k.ptx --config k.json --device emulator
        [[ $output == *"k.ptx:5:5: error: $message"* ]] || { echo "$instruction: $output"; false; }
    done <<'EOF'
and.u32 %r1, %r2, %r3|and does not support type .u32
add.b32 %r1, %r2, %r3|add does not support type .b32
neg.u32 %r1, %r2|neg does not support type .u32
div.f32 %f1, %f2, %f3|div.f32 requires one of the modifiers approx full rn rz rm rp
fma.f32 %f1, %f2, %f3, %f3|fma.f32 requires one of the modifiers rn rz rm rp
ex2.f32 %f1, %f2|ex2.f32 requires one of the modifiers approx
add.rn.rz.f32 %f1, %f2, %f3|add has more than one rounding
setp.lt.gt.u32 %p1, %r1, %r2|setp has more than one comparison
EOF
}
