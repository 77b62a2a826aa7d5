#!/usr/bin/env bats
# Names that a file has chosen to disturb a terminal, a page or a program: shown with their control characters escaped.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
    K=$BATS_TEST_DIRNAME/../../kernels/vector_add/vector_add.mlir
    cute-ptx "$K" | cute-link --strip -o plain.cubin
    # The same length, so that the section of names stays as it is: ESC ] 0 ; x BEL, a byte that is no UTF-8, an entity.
    python3 - <<'PY'
data = open("plain.cubin", "rb").read()
assert data.count(b"vector_add") > 1
open("s.cubin", "wb").write(data.replace(b"vector_add", b"\x1b]0;x\x07\xff<&z"))
PY
}

# Neither bytes that a terminal acts upon, nor what is not UTF-8.
clean() {
    python3 - "$1" <<'PY'
import sys
data = open(sys.argv[1], "rb").read().decode("utf-8")
bad = sorted({hex(ord(c)) for c in data if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160})
sys.exit(f"{sys.argv[1]}: {bad}" if bad else 0)
PY
}

@test "no view of cute-dump prints them as they are" {
    for view in show elf resources cfg explain histogram images sass all accesses layouts lines source occupancy ptx; do
        cute-dump $view s.cubin >out 2>err || true
        cat err >>out
        clean out || { echo "$view"; false; }
    done
    cute-dump resources s.cubin | grep -qF '<U+001B>]0;x<U+0007><FF><&'
    cute-dump show s.cubin | grep -qF '<U+001B>]0;x<U+0007><FF><&'
}

@test "pictures and pages with them are XML" {
    for view in "resources --svg" "cfg --svg" "explain --html"; do
        cute-dump $view s.cubin >out || { [ "$view" != "resources --svg" ]; continue; }
        clean out
        python3 -c 'import sys, xml.dom.minidom as m; m.parse("out")' || { echo "$view"; false; }
    done
    cute-dump resources --svg s.cubin | grep -qF '&lt;U+001B&gt;]0;x&lt;U+0007&gt;&lt;FF&gt;&lt;&amp;'
}

@test "JSON with them is JSON" {
    for view in show elf resources cfg explain histogram images sass all; do
        cute-dump $view --json s.cubin >out
        clean out
        python3 -c 'import json; json.load(open("out", encoding="utf-8"))' || { echo "$view"; false; }
    done
}

@test "neither cute-run nor cute-link prints them" {
    printf '{"kernel": "%s", "grid": [1], "block": [32], "args": []}' x >l.json
    cute-run s.cubin --config l.json --dry-run >out 2>&1 || true
    cute-run s.cubin --list >>out 2>&1 || true
    cute-run s.cubin >>out 2>&1 || true
    clean out
    cute-link -v --verbose s.cubin -o t.cubin >out 2>&1
    clean out
    cute-ptx "$K" -o "$(printf 'a\033]b.ptx')"
    cute-link -v --verbose "$(printf 'a\033]b.ptx')" -o t.cubin >out 2>&1
    cute-link --dry-run "$(printf 'a\033]b.ptx')" >>out
    clean out
}
