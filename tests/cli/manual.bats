# --help, the man pages and the completion name the same options.

setup() {
    ROOT=$BATS_TEST_DIRNAME/../..
    PATH=$CUTE_BIN:$PATH
    cd "$BATS_TEST_TMPDIR"
}

# Options of two letters or more, without dashes: nvcc's -arch is --arch.
help_options() { "$1" --help | grep -E '^ +-' | grep -oE -- '(^| )--?[A-Za-z][A-Za-z0-9-]+' | sed 's/^ *-*//' | sort -u; }

# Those that have an entry in the man page.
manual_options() {
    sed -n '/^\.SH OPTIONS/,/^\.SH E/p' "$ROOT/docs/man/$1.1" | grep -A2 -E '^\.T[PQ]' | sed 's/\\-/-/g; s/\\f.//g' |
        grep -E '^\.(B|BI|BR) ' | grep -oE -- '[ ,"]--?[A-Za-z][A-Za-z0-9-]+' | sed 's/^[ ,"]*-*//' | grep -vE '^O[0-3]$' | sort -u
}

# What Tab offers after "--".
completed_options() {
    # shellcheck disable=SC1091
    source "$ROOT/mk/completion.bash"
    compopt() { :; }
    COMP_WORDS=("$1" --)
    COMP_CWORD=1
    _cute "$1" -- "$1"
    printf '%s\n' "${COMPREPLY[@]}" | sed 's/^-*//; s/=$//' | sort -u
}

@test "every option of --help is in the man page, and every option of the man page in --help" {
    for tool in cute-ptx cute-link cute-run cute-dump; do
        help_options $tool >help
        manual_options $tool >manual
        [ "$(wc -l <help)" -gt 10 ]
        diff help manual || { echo "$tool: < --help, > man page"; false; }
    done
    # cute-opt has all of mlir-opt's; its page names the most used.
    help_options cute-opt >help
    manual_options cute-opt >manual
    [ "$(wc -l <manual)" -gt 5 ]
    [ -z "$(comm -13 help manual)" ]
}

@test "every pass and pipeline of ours is in cute-opt's man page, and those of the page exist" {
    cute-opt --help | grep -oE '^      --(cute-[a-z-]+|base-prepare|one-shot-convert-to-llvm|attach-nvvm-target|emit-gpu-binary)\b' |
        tr -d ' ' | sort -u >help
    sed -n '/^.SH PASSES/,/^.SH EXIT/s/\\-/-/gp' "$ROOT/docs/man/cute-opt.1" |
        grep -oE -- '--(cute-[a-z-]+|base-prepare|one-shot-convert-to-llvm|attach-nvvm-target|emit-gpu-binary)\b' | sort -u >manual
    [ "$(wc -l <help)" -gt 25 ]
    diff help manual || { echo "< --help, > man page"; false; }
}

@test "every environment variable of --help is in the man page" {
    for tool in cute-ptx cute-link cute-run cute-dump; do
        variables=$("$tool" --help | sed -n '/^Environment:/,/^$/p' | grep -oE '^  [A-Z][A-Z_, ]+' | tr -d ',')
        [ "$(wc -w <<<"$variables")" -ge 3 ]
        for name in $variables; do
            sed -n '/^[.]SH ENVIRONMENT/,/^[.]SH EXAMPLES/p' "$ROOT/docs/man/$tool.1" | tail -n +2 | grep -qw "$name" || { echo "$tool: no word of $name"; false; }
        done
    done
}

@test "Tab offers the options of --help and no others" {
    for tool in cute-opt cute-ptx cute-link cute-run cute-dump; do
        diff <("$tool" --help | grep -E '^ *-' | sed -E 's/^ *(-[A-Za-z], *)?//' | grep -oE -- '^--[A-Za-z][A-Za-z0-9_-]*' | sed 's/^--//' | sort -u) \
            <(completed_options $tool) || { echo "$tool: < --help, > completion"; false; }
    done
}

@test "every view of cute-dump has an entry in its man page" {
    views=$(cute-dump --help | sed -nE '/^Views:/,/^$/s/^  ([a-z]+) .*/\1/p')
    [ "$(wc -w <<<"$views")" -ge 5 ]
    for view in $views; do
        grep -qxF ".B $view" "$ROOT/docs/man/cute-dump.1" || { echo "no entry for the view '$view'"; false; }
    done
}

@test "every key of launch.json's schema is in its man page" {
    cute-run --schema | jq -r '[.. | objects | .properties? // empty | keys[]] | unique[]' | grep -v '^[$]' >keys
    [ "$(wc -l <keys)" -gt 40 ]
    while read -r key; do
        sed 's/\\(dq/"/g; s/\\-/-/g' "$ROOT/docs/man/launch.json.5" | grep -qw -- "$key" || { echo "no word of '$key'"; false; }
    done <keys
}

@test "the architectures that Tab offers are those that the tools know" {
    # shellcheck disable=SC1091
    offered=$(source "$ROOT/mk/completion.bash" && compopt() { :; } && COMP_WORDS=(cute-ptx -arch sm) && COMP_CWORD=2 && _cute cute-ptx sm -arch && printf '%s\n' "${COMPREPLY[@]}" | sort)
    known=$(cute-ptx -arch sm_1 </dev/null 2>&1 | sed -n 's/.*note: known: //p' | tr ' ' '\n' | sort)
    diff <(echo "$known") <(echo "$offered")
}
