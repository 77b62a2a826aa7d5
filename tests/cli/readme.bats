# README.md is true: its commands print what it shows, its files and targets exist.

setup() {
    PATH=$CUTE_BIN:$PATH
    ROOT=$BATS_TEST_DIRNAME/../..
    README=$ROOT/README.md
    cd "$BATS_TEST_TMPDIR"
}

# What README shows under the line `    $ COMMAND`, without its indent.
shown() { sed -n "\\|^    \\$ $1\$|,/^\$/p" "$README" | sed '1d; /^$/d; s/^    //'; }

@test "the pipe at the top works as written" {
    cp "$ROOT/kernels/vector_add/vector_add.mlir" kernel.mlir
    cp "$ROOT/kernels/vector_add/launch.json" .
    sed -n '/^    cute-opt /,/^$/p' "$README" | sed 's/^    //' >commands
    grep -q 'cute-opt kernel.mlir | cute-ptx -arch sm_90a | cute-link > kernel.cubin' commands
    bash -e commands
}

@test "what cute-run says of vector_add is what is shown" {
    cute-opt "$ROOT/kernels/vector_add/vector_add.mlir" | cute-ptx | cute-link >vector_add.cubin
    diff <(shown 'cute-run vector_add.cubin') <(cute-run vector_add.cubin)
    sed 's/"args": \["a", "b", "c", "n"\]/"args": ["a", "n", "c", "n"]/' "$ROOT/kernels/vector_add/launch.json" >launch.json
    run cute-run vector_add.cubin --config launch.json --dry-run
    [ "$status" -eq 1 ]
    diff <(shown 'cute-run vector_add.cubin --config launch.json --dry-run') <(echo "$output")
}

@test "what is shown of the emulator is what it says" {
    mkdir -p build && ln -sfn "$CUTE_BIN/../bugs" build/bugs
    for command in 'cute-run build/bugs/expect_tx_short.ptx --config build/bugs/launch.json' \
        'cute-run build/bugs/dropped_barrier.ptx --config build/bugs/launch.json --check=race'; do
        run $command --device emulator
        [ "$status" -ne 0 ]
        shown "$command" >"$BATS_TEST_TMPDIR/shown"
        [ -s "$BATS_TEST_TMPDIR/shown" ]
        while IFS= read -r line; do [[ "$output" == *"$line"* ]] || { echo "not said: $line"; echo "$output"; false; }; done <"$BATS_TEST_TMPDIR/shown"
    done
}

@test "the pieces of a kernel and of a launch.json that are shown are in the files" {
    squeeze() { tr -s ' ' | sed 's/^ //; s/ $//'; }
    sed -n '/^    %atom/,/^$/p' "$README" | grep . | squeeze >pieces
    [ "$(wc -l <pieces)" -ge 3 ]
    squeeze <"$ROOT/docs/tutorial/3_copy.mlir" >kernel
    while read -r line; do grep -qxF -- "$line" kernel || { echo "not in the kernel: $line"; false; }; done <pieces
    for key in $(sed -n '/^    "params"/,/^$/p' "$README" | grep -oE '^    "[a-z]+"' | tr -d ' "'); do
        jq -e "has(\"$key\")" "$ROOT/kernels/vector_add/launch.json" >/dev/null
    done
}

@test "files, folders and make targets that are named exist" {
    grep -oE '\]\([A-Za-z][A-Za-z0-9_/.-]*\)' "$README" | tr -d '])(' >links
    for folder in $(sed -n '/^| folder/,/^$/p' "$README" | cut -d'|' -f2 | grep -oE '`[a-z/]+`' | tr -d '`'); do echo "$folder"; done >>links
    [ "$(wc -l <links)" -ge 8 ]
    while read -r link; do [ -e "$ROOT/$link" ] || { echo "no $link"; false; }; done <links
    for target in $(grep -v -e apt-get -e "can make" "$README" | grep -oE 'make (-j )?(&& make )?[a-z]+' | grep -oE '[a-z]+$' | sort -u); do
        [ "$target" = make ] || grep -qE "^make $target\b" "$ROOT/mk/help.txt" || [ "$target" = help ] || { echo "no target $target"; false; }
    done
}
