# tests/run itself: a failure must never be counted as a success.

# verdict CODE PATTERN <TAP: the states that the runner sees, "failed" and "passed" counted.
verdict() {
    python3 - "$BATS_TEST_DIRNAME/../run" "$1" "$2" 3<&0 <<'EOF'
import importlib.machinery, importlib.util, os, re, sys
loader = importlib.machinery.SourceFileLoader("run", sys.argv[1])
sys.dont_write_bytecode = True
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
sys.modules["run"] = module
loader.exec_module(module)
text = os.fdopen(3).read()
results = module.tap("t", int(sys.argv[2]), text, re.compile(sys.argv[3]) if sys.argv[3] else None)
print(*(sum(r.state == s for r in results) for s in ("passed", "failed", "skipped")))
EOF
}

tap() { tr ';' '\n' <<<"$1" | verdict "$2" "${3:-}"; }

@test "passed, failed and skipped tests are counted" {
    [ "$(tap 'ok 1 - a;not ok 2 - b;ok 3 - c # skip no GPU;1..3' 1)" = "1 1 1" ]
}

@test "a program that crashes after its last test fails" {
    [ "$(tap 'ok 1 - a;1..1' -11)" = "1 1 0" ]
    [ "$(tap 'ok 1 - a;1..1' 23)" = "1 1 0" ]
}

@test "a program that stops before its plan fails" {
    [ "$(tap 'ok 1 - a' 0)" = "1 1 0" ]
    [ "$(tap '1..3;ok 1 - a;ok 2 - b' 0)" = "2 1 0" ]
    [ "$(tap '' 0)" = "0 1 0" ]
}

@test "a pattern picks tests by name, but a crash is shown all the same" {
    [ "$(tap 'ok 1 - apple;ok 2 - pear;1..2' 0 pear)" = "1 0 0" ]
    [ "$(tap 'ok 1 - apple;ok 2 - pear;1..2' 0 '^t$')" = "2 0 0" ]
    [ "$(tap 'ok 1 - apple;ok 2 - pear;1..2' -11 pear)" = "1 1 0" ]
}
