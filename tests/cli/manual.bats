bats_require_minimum_version 1.5.0
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
        # other names of options are not shown
        $tool --help=json | jq -r '.options[].aliases // [] | .[]' | sort -u | comm -23 - help >aliases
        diff help <(comm -23 manual aliases) || { echo "$tool: < --help, > man page"; false; }
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

@test "the man page has each option's other names, values and default, and each variable, as the table of --help=json" {
    for tool in cute-ptx cute-link cute-run cute-dump; do $tool --help=json >$tool.json; done
    [ "$(jq '.options | length' cute-ptx.json)" -gt 25 ]
    jq -e '.options[] | select(.name == "emit") | .choices == ["ptx", "llvm", "mlir"] and .default == "ptx" and .type == "text"' cute-ptx.json
    jq -e '.options[] | select(.name == "lineinfo") | .environment == ["CUTLASS_LINEINFO", "CUTE_DSL_LINEINFO"] and .default == "0"' cute-ptx.json
    jq -e '.options[] | select(.name == "arch") | .aliases == ["gpu-arch"]' cute-ptx.json
    # the text and the JSON are one table
    for tool in cute-ptx cute-link cute-run cute-dump; do
        diff <(jq -r '.options[] | select(.name | length > 1) | .name' $tool.json | sort -u) <(help_options $tool)
    done
    run -2 cute-ptx --help=xml
    [[ $output == *"'--help' expects json or nothing, got 'xml'"* ]]
    python3 - "$ROOT" <<'PY'
import json, re, sys
bad = 0
for tool in ("cute-ptx", "cute-link", "cute-run", "cute-dump"):
    table = json.load(open(tool + ".json"))
    page = open(f"{sys.argv[1]}/docs/man/{tool}.1").read()
    page = re.sub(r"\\f.|\\(?=-)", "", page).replace('", "', ", ").replace('"', "").replace("\\", "")
    options = page[page.index(".SH OPTIONS"):page.index(".SH E", page.index(".SH OPTIONS"))]
    entries = re.split(r"\n\.T[PQ]\n", options)
    for o in table["options"]:
        name = o.get("name", o.get("letter"))
        own = [e for e in entries if re.search(rf"(?<![\w-])--?{re.escape(name)}(?![\w-])", "\n".join(e.split("\n")[:3]))]
        text = re.sub(r"\s+", " ", "\n".join(own))
        wanted = [("alias", a) for a in o.get("aliases", [])] + [("value", c) for c in o.get("choices", [])]
        o["default"] = {"stdout": "standard output"}.get(o.get("default"), o.get("default", "0"))
        if re.fullmatch(r"[\w.-]+|standard output", o["default"]) and o["type"] != "flag" and o["default"] != "0":
            wanted.append(("default", o["default"]))
        for what, word in wanted:
            if not re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", page if what == "alias" else text):
                print(f"{tool}: --{name}: no {what} '{word}' in the man page")
                bad += 1
sys.exit(bad != 0)
PY
}

@test "every environment variable of --help is in the man page" {
    for tool in cute-opt cute-ptx cute-link cute-run cute-dump; do
        variables=$("$tool" --help | sed -n '/^Environment:/,/^$/p' | grep -oE '^  [A-Z][A-Z_, ]+' | tr -d ',')
        [ "$(wc -w <<<"$variables")" -ge 3 ]
        for name in $variables; do
            sed -n '/^[.]SH ENVIRONMENT/,/^[.]SH E[A-DF-Z]/p' "$ROOT/docs/man/$tool.1" | tail -n +2 | grep -qw "$name" || { echo "$tool: no word of $name"; false; }
        done
    done
}

@test "every variable of ours that the library reads has a row in its table" {
    names=$(grep -rhoE '"CUTE_[A-Z0-9_]+"' "$ROOT"/lib --include='*.c' --include='*.cpp' | tr -d '"' | sort -u)
    [ "$(wc -w <<<"$names")" -ge 3 ]
    for name in $names; do grep -q "\"$name\"" "$ROOT/lib/base/options/settings.def" || { echo "no row of $name"; false; }; done
}

@test "Tab offers the options of --help and no others" {
    for tool in cute-opt cute-ptx cute-lsp cute-link cute-run cute-dump; do
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
    known=$(cute-ptx -arch sm_1 </dev/null 2>&1 | sed -n 's/.*note: known architectures: //p' | tr ' ' '\n' | sort)
    diff <(echo "$known") <(echo "$offered")
}
