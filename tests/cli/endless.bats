#!/usr/bin/env bats
# Files without an end, where the tools read one: an error within a second or two, in bounded memory.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    KERNELS=$BATS_TEST_DIRNAME/../../kernels
    cd "$BATS_TEST_TMPDIR"
    # a sanitizer's shadow takes more address space than there is
    case ${MAKEFLAGS:-} in *SANITIZE*) ;; *) ulimit -v 8000000 ;; esac
}

config() {
    python3 - "$KERNELS/vector_add/launch.json" "$@" <<'PY'
import json, sys
c = json.load(open(sys.argv[1]))
c["params"]["n"] = 64
c["buffers"]["a"]["init"] = json.loads(sys.argv[2])
if len(sys.argv) > 3: c["check"] = {"c": json.loads(sys.argv[3])}
json.dump(c, open("c.json", "w"))
PY
}

@test "an endless .npy is refused by its first bytes, or read as far as its header says" {
    cute-ptx "$KERNELS/vector_add/vector_add.mlir" -o v.ptx
    config '{"npy": "/dev/zero"}'
    run -1 timeout 20 cute-run v.ptx --config c.json --device emulator
    [[ $output == *"/dev/zero: error: not a .npy file: expected the magic string"* ]]
    mkfifo f.npy
    config '{"npy": "f.npy"}'
    (printf '\223NUMPY\001\000\106\000%-69s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (64,), }"; cat /dev/zero) >f.npy 2>/dev/null &
    run -0 timeout 20 cute-run v.ptx --config c.json --device emulator
    wait
    printf '\223NUMPY\002\000\377\377\377\177' >long.npy
    config '{"npy": "long.npy"}'
    run -1 timeout 20 cute-run v.ptx --config c.json --device emulator
    [[ $output == *"expected a .npy header of at most 65536 bytes, got 2147483647"* ]]
}

@test "raw bytes are read as far as the tensor has them, and so many are skipped at most" {
    cute-ptx "$KERNELS/vector_add/vector_add.mlir" -o v.ptx
    config '{"raw": "/dev/zero", "skip": 4611686018427387904}'
    run -1 timeout 20 cute-run v.ptx --config c.json --device emulator
    [[ $output == *"'/dev/zero' is not a regular file: expected to skip at most 1 GiB, got 4611686018427387904 bytes"* ]]
    config '{"raw": "/dev/zero", "skip": 100}'
    run -0 timeout 20 cute-run v.ptx --config c.json --device emulator
    config '"uniform"' '{"raw": "/dev/zero"}'
    run -1 timeout 20 cute-run v.ptx --config c.json --device emulator
    [[ $output == *"expected the 256 bytes of 'c', got 257 in /dev/zero"* ]]
}

@test "standard input and files that are read whole end at 1 GiB where they are no plain files" {
    for tool in cute-opt cute-ptx cute-link "cute-dump elf -"; do
        run -1 timeout 60 $tool </dev/zero
        [[ $output == *"'<stdin>' is too long: expected at most 1 GiB"* ]] || { echo "$tool: $output"; false; }
    done
}

@test "a line of cute-dump layout and bitcode that is linked end, too" {
    run -1 timeout 20 cute-dump layout </dev/zero
    [[ $output == *"<stdin>:1: error: expected at most 16777216 bytes per line"* ]]
    run -1 timeout 20 cute-ptx "$KERNELS/vector_add/vector_add.mlir" --link-libraries /dev/zero
    [[ $output == *"/dev/zero: error: cannot link this bitcode: not a plain file"* ]]
}
