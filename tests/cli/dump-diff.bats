# cute-dump diff: what differs between two dump folders, modules or MLIR files.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    dump=$CUTE_BIN/cute-dump
    cat >k.mlir <<'END'
gpu.module @m {
  gpu.func @k(%x: memref<?xf32>, %n: index) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%i] : memref<?xf32>
    }
    gpu.return
  }
}
END
    sed 's/addf/mulf/' k.mlir >l.mlir
    "$dump" run k.mlir -o a -arch sm_90a
}

@test "a dump beside itself, and one of the same input beside it, have no difference" {
    [ "$("$dump" diff a a | tail -1)" = "no differences" ]
    "$dump" run k.mlir -o again -arch sm_90a --changed
    "$dump" diff a again --json | jq -e '.same == false and .options == [{name: "passes", a: "all", b: "changed"}]
        and .ir == [] and .ptx == [] and (.kernels | all(.resources == [] and .opcodes == []))'
}

@test "O0 beside O3 differs in its options, its opcodes and its PTX, and the counts are those of the histogram" {
    "$dump" run k.mlir -o b -arch sm_90a -O0
    "$dump" diff b a --json >d.json
    jq -e '.options == [{name: "O", a: "0", b: "3"}] and .same == false and .machine_code and (.ptx | length) == 1
           and .ptx[0].added > 0 and .ptx[0].removed > 0 and (.kernels[0].opcodes | length) > 3' d.json
    for side in a:b b:a; do
        "$dump" histogram "${side#*:}/cubin/m.cubin" --json >h.json
        jq -e --slurpfile h h.json --arg side "${side%:*}" '.kernels[0].opcodes
            | all(.[]; . as $row | ([$h[0].functions[0].opcodes[] | select(.opcode == $row.name) | .count] | add // 0) == $row[$side])' d.json
    done
}

@test "a difference of the input is shown where it begins and where it changes, as a unified diff" {
    "$dump" run l.mlir -o b -arch sm_90a
    "$dump" diff a b --json >d.json
    jq -r '.ir[0] | "\(.pass) \(.added) \(.removed)"' d.json | grep -qx '00-before 1 1'
    jq -r '.ir[0].diff' d.json | grep -q '^-.*arith.addf'
    jq -r '.ir[0].diff' d.json | grep -q '^+.*arith.mulf'
    # llvm.fadd takes the place of arith.addf in one pass; the passes between say nothing new.
    [ "$(jq '.ir | length' d.json)" -lt 12 ] && jq -e 'any(.ir[]; .diff | contains("+      %") and contains("llvm.fmul"))' d.json
    grep -v '^//!' a/00-before.mlir >plain
    patch -s -o patched plain <(jq -r '.ir[0].diff' d.json)
    cmp patched <(grep -v '^//!' b/00-before.mlir)
}

@test "passes and cubins of one of them only are named" {
    "$dump" run k.mlir -o b -arch sm_90a --pass-pipeline=cse
    "$dump" diff a b --json | jq -e '.passes_only_a == [] and .passes_only_b == ["cse"]'
    sed 's/@m /@other /' k.mlir >o.mlir
    "$dump" run o.mlir -o c -arch sm_90a
    "$dump" diff a c --json | jq -e '[.files[] | [.name, .a, .b]] == [["cubin/m.cubin", "there", null], ["cubin/other.cubin", null, "there"]]'
}

@test "cubins, PTX and MLIR files are compared too, and a mix of them is refused" {
    "$dump" run l.mlir -o b -arch sm_90a
    "$dump" diff a/cubin/m.cubin b/cubin/m.cubin | grep -q 'FMUL'
    "$dump" diff a/m.ptx b/m.ptx 2>note | grep -q '^-.*add'
    grep -q 'SASS is not compared' note
    "$dump" diff k.mlir l.mlir | grep -q '^+.*arith.mulf'
    run "$dump" diff a a/cubin/m.cubin
    [ "$status" -eq 1 ] && [[ "$output" == *"expected two dump folders, two modules or two MLIR files"* ]]
    mkdir empty
    run "$dump" diff a empty
    [ "$status" -eq 1 ] && [[ "$output" == *"expected a dump folder, with a REPORT.json"* ]]
    echo '[1, {"pipeline": 3}]' >empty/REPORT.json
    run "$dump" diff empty a
    [ "$status" -le 3 ]
    run "$dump" diff a
    [ "$status" -eq 2 ]
}

@test "the page is one file without scripts in which texts are escaped, and colours are for a terminal only" {
    "$dump" run l.mlir -o b -arch sm_90a
    "$dump" diff a b --html -o d.html
    python3 - <<'END'
from html.parser import HTMLParser
class P(HTMLParser):
    void = {"meta", "br"}
    def __init__(self): super().__init__(); self.stack = []; self.seen = set()
    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not any(k in ("src", "href") for k, _ in attrs)
        if tag not in self.void: self.stack.append(tag)
    def handle_startendtag(self, tag, attrs):  # XML writes void elements so
        assert tag in self.void, tag
        self.handle_starttag(tag, attrs)
    def handle_endtag(self, tag): assert self.stack.pop() == tag, tag
p = P(); p.feed(open("d.html").read())
assert not p.stack and "script" not in p.seen and {"table", "details", "ins", "del"} <= p.seen
END
    grep -q 'memref&lt;' d.html && ! grep -q 'memref<' d.html
    ! "$dump" diff a b | grep -q $'\033'
}

@test "values that only have other names are no difference, operands that changed places are" {
    cat >x.mlir <<'IN'
func.func @f(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %b : i32
  %1 = arith.subi %0, %b : i32
  %2 = arith.muli %1, %0 : i32
  return %2 : i32
}
func.func @g(%a: i32, %b: i32) -> i32 {
  %0 = arith.subi %a, %b : i32
  return %0 : i32
}
IN
    # One operation more renumbers those behind it.
    sed '2i \  %9 = arith.xori %a, %a : i32' x.mlir | "$CUTE_BIN/cute-opt" | grep -v '^//!' >y.mlir
    "$CUTE_BIN/cute-opt" x.mlir | grep -v '^//!' >x2.mlir
    "$dump" diff x2.mlir y.mlir --json >d.json
    jq -e '.ir[0] | .added == 1 and .removed == 0' d.json
    # The two arguments of the second function, which are named as those of the first.
    sed 's/subi %arg0, %arg1/subi %arg1, %arg0/' y.mlir >z.mlir
    "$dump" diff x2.mlir z.mlir --json | jq -e '.ir[0] | .added == 2 and .removed == 1 and (.diff | contains("+    %0 = arith.subi %arg1, %arg0"))'
    # One operand twice instead of two.
    sed 's/muli %2, %1/muli %2, %2/' y.mlir >z.mlir
    ! cmp y.mlir z.mlir
    "$dump" diff x2.mlir z.mlir --json | jq -e '.ir[0] | .added == 2 and .removed == 1'
    # Where nothing else differs, names do.
    sed 's/%1/%one/g' x.mlir >z.mlir
    "$dump" diff x.mlir z.mlir --json | jq -e '.same == false and .ir[0].added == 2'
}

@test "a text shows the first lines of what is long and says how many there are, JSON has all" {
    for side in a b; do
        { echo 'func.func @f() {'; for i in $(seq 100); do echo "  \"test.op\"() {$side = $i} : () -> ()"; done; echo '  return'; echo '}'; } >$side.mlir
    done
    "$dump" diff a.mlir b.mlir >d.txt
    grep -qx 'IR: 100 lines added, 100 removed' d.txt
    grep -qx '(166 more lines: --html shows more, --json all)' d.txt
    [ "$("$dump" diff a.mlir b.mlir --json | jq -r '.ir[0].diff' | grep -c '^[-+] ')" = 200 ]
}

@test "definitions that differ are told one by one" {
    sed 's/addf/${OP}/' k.mlir >p.mlir
    "$dump" run p.mlir -D OP=addf -D X=1 -o p -arch sm_90a
    "$dump" run p.mlir -D OP=mulf -D X=1 -o q -arch sm_90a
    "$dump" diff p q --json | jq -e '.options == [{name: "-D OP", a: "addf", b: "mulf"}]'
}

@test "no line of a text is wider than 100 columns, and of two long lines what differs is shown" {
    long() { printf 'module {\n  "test.op"() {%s, x = %s} : () -> ()\n}\n' "$(seq -s ', ' -f 'a%.0f = 1' 60)" "$1"; }
    long 1 >a.mlir
    long 2 >b.mlir
    "$dump" diff a.mlir b.mlir >d.txt
    [ "$(awk 'length > 100' d.txt | wc -l)" = 0 ]
    grep -q '^-[.][.][.].*x = 1} : () -> ()$' d.txt && grep -q '^+[.][.][.].*x = 2} : () -> ()$' d.txt
    "$dump" diff a.mlir b.mlir --json | jq -e '.ir[0].diff | contains("a1 = 1")'
}

@test "reports that are damaged, lead out of their folder or miss a file are told" {
    "$dump" run k.mlir -o whole -arch sm_90a
    refuses() { run "$dump" diff bad whole; [ "$status" -eq "$1" ] && [[ "$output" == *"$2"* ]]; }
    cp -r whole bad
    head -c 1000 whole/REPORT.json >bad/REPORT.json
    refuses 1 'not valid JSON'
    echo '[]' >bad/REPORT.json
    refuses 1 "expected the report of 'cute-dump run'"
    jq '.pipeline[3].file = "../../secret.mlir"' whole/REPORT.json >bad/REPORT.json
    refuses 1 "expected the name of a file in the folder, got '../../secret.mlir'"
    jq '.outputs = ["/x.cubin"]' whole/REPORT.json >bad/REPORT.json
    refuses 1 "expected the name of a file in the folder, got '/x.cubin'"
    cp whole/REPORT.json bad && rm bad/pass-003-*
    refuses 3 "bad/pass-003-"
    jq '.functions = 0 | .versions = 5 | .outputs = [null, 1] | .pipeline = [3, {"name": [], "file": 7}]' whole/REPORT.json >bad/REPORT.json
    run "$dump" diff bad whole
    [ "$status" -eq 0 ]
}
