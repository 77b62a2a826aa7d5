# scripts/setup: on a machine where something is missing.

setup() {
    SETUP=$BATS_TEST_DIRNAME/../../scripts/setup
    BIN=$BATS_TEST_TMPDIR/bin
    mkdir "$BIN"
    for program in sh cat tr mktemp tail rm ls; do ln -s "$(command -v $program)" "$BIN/$program"; done
    fake apt-get 'echo "apt-get $*" >>"$LOG"'
    fake id 'echo 0'
    export LOG=$BATS_TEST_TMPDIR/log
}

fake() { printf '#!/bin/sh\n%s\n' "$2" >"$BIN/$1"; chmod +x "$BIN/$1"; }

@test "nothing is printed where everything is there" {
    run "$SETUP"
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "root gets the missing packages installed, and only those" {
    run env PATH="$BIN" LLVM=/nonexistent "$SETUP" build
    [ "$status" -eq 0 ]
    grep -q '^apt-get update' "$LOG"
    grep -q '^apt-get install.* libmlir-19-dev' "$LOG"
    ! grep -q 'libjansson-dev' "$LOG"
    ! grep -q ' bats' "$LOG"
}

@test "the packages of LLVM are those of the prefix's version" {
    run env PATH="$BIN" LLVM=/nonexistent/llvm-21 "$SETUP" build test
    [ "$status" -eq 0 ]
    grep -q '^apt-get install.* libmlir-21-dev .*libclang-rt-21-dev' "$LOG"
    ! grep -q -- '-19' "$LOG" || false
}

@test "the tests get jsonschema for Python" {
    ! /usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip "it is installed"
    fake python3 'exit 1'
    run env PATH="$BIN" "$SETUP" test
    grep -q '^apt-get install.* python3-jsonschema' "$LOG"
}

@test "a demo that cannot get the CUDA parts ends with that and what to do, other targets go on" {
    cd "$BATS_TEST_DIRNAME/../.."
    fake parts 'echo "$*" >>"$LOG"; echo "cannot download it; install the CUDA toolkit" >&2; exit 3'
    run make --no-print-directory demo BUILD="$BATS_TEST_TMPDIR/build" CUDA_PARTS="$BIN/parts"
    [ "$status" -ne 0 ]
    [ "${lines[0]}" = "cannot download it; install the CUDA toolkit" ]
    [[ "${lines[1]}" == make*"Error 3" ]]
    [ "${#lines[@]}" -eq 2 ]
    [ "$(cat "$LOG")" = "--need bin/ptxas build/cuda" ]
    run make --no-print-directory setup-build BUILD="$BATS_TEST_TMPDIR/build" CUDA_PARTS="$BIN/parts"
    [ "$status" -eq 0 ]
    [[ "$output" == *"continuing without the missing parts of CUDA"* ]]
}

@test "who may not install gets the one command to run" {
    fake id 'echo 1000'
    fake sudo 'exit 1'
    run env PATH="$BIN" LLVM=/nonexistent "$SETUP" build
    [ "$status" -eq 3 ]
    [[ "$output" == *"sudo sh -c 'apt-get update &&"*"libmlir-19-dev"* ]]
    [ ! -e "$LOG" ]
}

@test "a sudo that asks nothing is used" {
    fake id 'echo 1000'
    fake sudo '[ "$1" = -n ] && exit 0; echo sudo >>"$LOG"; exec "$@"'
    run env PATH="$BIN" LLVM=/nonexistent "$SETUP" build
    [ "$status" -eq 0 ]
    [ "$(head -n 1 "$LOG")" = sudo ]
    grep -q '^apt-get install' "$LOG"
}

@test "a failed installation shows the reason and the command" {
    fake apt-get 'echo "E: no network" >&2; exit 100'
    run env PATH="$BIN" LLVM=/nonexistent "$SETUP" build
    [ "$status" -eq 3 ]
    [[ "$output" == *"E: no network"* ]]
    [[ "$output" == *"apt-get install"* ]]
}

@test "without apt-get the names of the packages are printed" {
    rm "$BIN/apt-get"
    run env PATH="$BIN" LLVM=/nonexistent "$SETUP" build
    [ "$status" -eq 3 ]
    [[ "$output" == *"no apt-get; install these packages"*"libmlir-19-dev"* ]]
}
