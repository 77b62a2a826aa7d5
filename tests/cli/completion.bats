# Completion in bash and zsh: what Tab offers.
bats_require_minimum_version 1.5.0

setup() {
    # shellcheck disable=SC1091
    source "$BATS_TEST_DIRNAME/../../mk/completion.bash"
    compopt() { :; } # only allowed inside a real completion
    PATH=$BATS_TEST_TMPDIR:$PATH
    cat >"$BATS_TEST_TMPDIR/cute-x" <<'EOF'
#!/bin/sh
cat <<'HELP'
usage: cute-x [options] [file...]

Views:
  ptx    the PTX
  sass   the machine code

Options:
  -o, --output=FILE           write to FILE; see --arch
      --arch=SM               the architecture
      --lineinfo              keep lines
  -l, --library=NAME          link NAME
HELP
EOF
    chmod +x "$BATS_TEST_TMPDIR/cute-x"
    ln -s cute-x "$BATS_TEST_TMPDIR/cute-dump"
}

# complete WORD...: the last word is the one being typed.
complete_words() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _cute "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

@test "long options come from the tool's help" {
    [ "$(complete_words cute-x --l | tr '\n' ' ')" = "--library= --lineinfo " ]
    [ "$(complete_words cute-x --o)" = "--output=" ]
}

@test "architectures are offered after -arch, with a space or an equals sign" {
    [ "$(complete_words cute-x -arch sm_90)" = $'sm_90\nsm_90a' ]
    [ "$(complete_words cute-x --arch = sm_75)" = sm_75 ]
    [ "$(complete_words cute-x --arch = | head -n 1)" = sm_100 ]
}

@test "the values that an option may have are offered, as --help lists them" {
    PATH=$CUTE_BIN:${PATH#"$BATS_TEST_TMPDIR":}
    [ "$(complete_words cute-ptx --emit = | tr '\n' ' ')" = "llvm mlir ptx " ]
    [ "$(complete_words cute-ptx -emit m)" = mlir ]
    [ "$(complete_words cute-ptx --static-checks = s)" = strict ]
    [ "$(complete_words cute-dump layout --color = t)" = thread ]
    for tool in cute-opt cute-ptx cute-link cute-run cute-dump; do
        [ "$(complete_words $tool --diagnostics = | tr '\n' ' ')" = "full json sarif text " ]
    done
}

@test "a word without a dash completes to files" {
    cd "$BATS_TEST_TMPDIR"
    touch kernel.mlir
    [ "$(complete_words cute-x ker)" = kernel.mlir ]
}

@test "each tool offers its own options" {
    PATH=$CUTE_BIN:${PATH#"$BATS_TEST_TMPDIR":}
    for tool in cute-opt cute-ptx cute-lsp cute-link cute-run cute-dump; do
        [ "$(complete_words "$tool" --vers)" = --version ]
    done
    [[ "$(complete_words cute-opt --cute-full)" == --cute-full-lowering* ]]
    [ "$(complete_words cute-link --maxr)" = --maxrregcount= ]
}

@test "the first word of cute-dump completes to its views" {
    cd "$BATS_TEST_TMPDIR"
    [ "$(complete_words cute-dump s)" = sass ]
}

# zsh_complete WORD...: what zsh's completion is given for the last word.
zsh_complete() {
    PATH=$CUTE_BIN:$PATH zsh -f -c '
        _describe() { [[ $1 == -o ]] && shift; print -rl -- ${(P)2}; }
        _files() { print files; }
        compadd() { print -rl -- "$@"; }
        compset() { [[ ${words[CURRENT]} == *=* ]]; }
        offer() { local file=$1; shift; local words=("$@") CURRENT=$#; source $file; }
        offer "$@"' zsh "$BATS_TEST_DIRNAME/../../mk/completion.zsh" "$@"
}

@test "zsh offers the options, views and architectures of each tool" {
    command -v zsh >/dev/null || skip "no zsh"
    for tool in cute-opt cute-ptx cute-link cute-run cute-dump cute-lsp; do
        zsh_complete $tool --d | grep -q '^--diagnostics=' || { echo "$tool"; zsh_complete $tool --d; return 1; }
        [ "$(zsh_complete $tool k)" = files ] || [ $tool = cute-dump ]
    done
    zsh_complete cute-dump oc | grep -q '^occupancy:.*numbers'
    zsh_complete cute-dump oc | grep -qx files
    [ "$(zsh_complete cute-dump occupancy k)" = files ]
    zsh_complete cute-dump layout --c | grep -q '^--color='
    run ! grep -q '^--color' <(zsh_complete cute-dump sass --c)
    zsh_complete cute-ptx -arch sm | grep -qx sm_121f
    zsh_complete cute-link --arch=sm | grep -qx native
    [ "$(zsh_complete cute-link --output=x)" = files ]
}
