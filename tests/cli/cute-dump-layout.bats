# cute-dump layout as a user runs it: answers, errors, JSON, tables, pictures. Expected values are CuTe's documentation
# or worked out in the comment beside them.

setup() {
    ROOT=$BATS_TEST_DIRNAME/../..
    data=$BATS_TEST_DIRNAME/../data/layout
    PATH=$CUTE_BIN:$PATH
    cd "$BATS_TEST_TMPDIR"
}

layout() { cute-dump layout "$@"; }

# The answer to one expression.
answers() { # EXPRESSION ANSWER
    local got
    got=$(layout "$1" 2>/dev/null) || true
    [ "$got" = "$2" ] || { printf '%s\n  is       %s\n  expected %s\n' "$1" "$got" "$2"; return 1; }
}

# What it says on standard error, and its exit code.
refuses() { # CODE TEXT COMMAND...
    local code=$1 text=$2
    shift 2
    run --separate-stderr "$@"
    [ "$status" -eq "$code" ] || { echo "exit code $status, not $code: $stderr"; return 1; }
    grep -qF -- "$text" <<<"$stderr" || { echo "not said: $text"; echo "$stderr"; return 1; }
}

bats_require_minimum_version 1.5.0

@test "every expression in the tables of docs/layouts.md answers what it says" {
    python3 - "$ROOT/docs/layouts.md" <<'END'
import re, subprocess, sys
text, wrong = open(sys.argv[1]).read(), 0
rows = re.findall(r"^\| `([^`]*)` \| `([^`]*)` \|", text, re.M)
got = subprocess.run(["cute-dump", "layout"], input="".join(e + "\n" for e, _ in rows), stdout=subprocess.PIPE, text=True)
for (expression, expected), line in zip(rows, got.stdout.splitlines(), strict=True):
    if line != expected:
        wrong += 1
        print(f"{expression}\n--- is\n{line}\n--- expected\n{expected}")
print(len(rows), "examples")
sys.exit(wrong > 0 or len(rows) < 80)
END
}

@test "docs/layouts.md names every function" {
    layout --help | sed -n '/^Functions/,/^$/p' | tail -n +2 | tr -s ' ' '\n' | grep . >functions
    [ "$(wc -l <functions)" -ge 75 ]
    while read -r name; do
        grep -qw -- "$name" "$ROOT/docs/layouts.md" || { echo "no word of $name"; false; }
    done <functions
}

@test "expressions come from arguments, from standard input, and from both" {
    [ "$(layout 8:1 '4:2')" = $'8:1\n4:2' ]
    [ "$(printf '8:1\n4:2' | layout)" = $'8:1\n4:2' ]
    [ "$(printf '8:1\n4:2\n' | layout 2:1 - 3:1)" = $'2:1\n8:1\n4:2\n3:1' ]
    [ "$(layout $'8:1\n4:2')" = $'8:1\n4:2' ]
    [ "$(printf '8:1\r\n4:2\r\n' | layout)" = $'8:1\n4:2' ]
    [ -z "$(layout </dev/null)" ]
}

@test "comments and blank lines answer nothing" {
    [ "$(printf '# first\n\n  \n8:1 # behind\n#\n4:2#\n' | layout)" = $'8:1\n4:2' ]
}

@test "let names a value for the lines that follow, and naming it again replaces it" {
    [ "$(printf 'let a = (4,8):(8,1)\nlet b=size(a)\nb\nlet a = 4:2\nlet a = composition(a, 2:1)\na\nb\n' | layout)" = $'32\n2:2\n32' ]
    refuses 1 "unknown name 'a'" layout 'a' 'let a = 8:1'
    refuses 1 "'o' is a reserved word" layout 'let o = 8:1'
    refuses 1 "expected a name after 'let'" layout 'let 8 = 8:1'
    refuses 1 "expected '=' after the name" layout 'let a 8:1'
    [ "$(layout 'let a = size(' 'a' 2>/dev/null)" = $'error: expected a value, but the expression ends\nerror: unknown name \'a\'; \'let NAME = ...\' names a value' ]
}

@test "numbers that are attributes stand behind the arguments or in angle brackets" {
    answers 'group_modes<1,3>((2,3,4):(1,2,6))' '(2,(3,4)):(1,(2,6))'
    answers 'get<[1,0]>((2,(3,4)):(1,(2,6)))' '3:2'
    answers 'get((2,(3,4)):(1,(2,6)), (1,0))' '3:2'
    answers 'size<1>((4,8):(8,1))' '8'
    answers 'recast_layout<32,8>((8,4):(1,8))' '(2,4):(1,2)'
    answers 'append_to_rank<3>(4:1, 1:0)' '(4,1,1):(1,0,0)'
    refuses 1 'it takes no numbers in <>' layout 'coalesce<1>(8:1)'
    refuses 1 'group_modes: a number is missing; usage: group_modes(A, BEGIN, END)' layout 'group_modes(8:1, 0)'
}

@test "tuples, layouts and tiles are built from names and calls" {
    [ "$(layout 'let s = (4,8)' 's:(8,1)' '(size(s),2):(1,size(s))' '[s:(8,1);_;size(s)]' 'composition((64,64), [8:1;8:1])' | tr '\n' ' ')" = \
        '(4,8):(8,1) (32,2):(1,32) [(4,8):(8,1);_;32:1] (8,8):(1,64) ' ]
    answers '(4,8):(8,1) o 8:2' '(2,4):(16,1)'
    answers '((4,8):(8,1))' '(4,8):(8,1)'
    answers '(_4,_8):(_8,_1)' '(4,8):(8,1)'
    answers 'Sw<3,4,3> o 0 o (_8,_64):(_64,_1)' 'S<3,4,3> o 0 o (8,64):(64,1)'
}

@test "slice takes CuTe's order of arguments too" {
    answers 'slice((_,2), (4,8):(8,1))' '(4):(8)'
    answers 'slice((4,8):(8,1), (_,2))' '(4):(8)'
}

@test "what is not known stays so, with its width and divisor" {
    answers 'size((?,4))' '?'
    answers 'crd2idx((1,?), (3,4):(1,3))' '?'
    answers 'logical_divide((?,8):(1,?), (_,2))' '(?,(2,4)):(1,(?,?))'
    answers 'coalesce((?{i64},2):(1,?{i64 div=8}))' '(?{i64},2):(1,?{i64 div=8})'
}

@test "an error is answered in its place, with place and caret on standard error, and the run goes on" {
    run --separate-stderr layout '8:1' '(2,3):(1)' 'foo(8:1)' 'compositon(8:1, 4:1)' 'size(' '4:1'
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 6 ]
    [ "${lines[0]}" = 8:1 ]
    [ "${lines[1]}" = 'error: stride (1) is not congruent to shape (2,3)' ]
    [ "${lines[2]}" = "error: unknown function 'foo'" ]
    [ "${lines[3]}" = "error: unknown function 'compositon'; did you mean 'composition'?" ]
    [ "${lines[4]}" = 'error: expected a value, but the expression ends' ]
    [ "${lines[5]}" = 4:1 ]
    [ "$(grep -A2 -F 'argument 2' <<<"$stderr")" = $'<argument 2>:1:7: error: stride (1) is not congruent to shape (2,3)\n(2,3):(1)\n      ^~~' ]
    printf '8:1\n\n  complement(4:1, (1,2)x)\n' >input
    refuses 1 $'<stdin>:3:24: error: expected \',\' or \')\', not \'x\'\n  complement(4:1, (1,2)x)\n                       ^' bash -c 'cute-dump layout <input'
}

@test "what stands on standard output in place is not repeated when both are one pipe" {
    [ "$(layout '(2,3):(1)' 4:1 2>&1)" = $'error: stride (1) is not congruent to shape (2,3)\n4:1' ]
}

@test "at a terminal the caret follows the answer" {
    command -v script >/dev/null || skip "no script(1)"
    [ "$(script -qec "cute-dump layout '(2,3):(1)' 4:1" /dev/null </dev/null | tr -d '\r' | grep -v '^$')" = \
        $'error: stride (1) is not congruent to shape (2,3)\n(2,3):(1)\n      ^~~\n4:1' ]
}

@test "messages are JSON on request" {
    run --separate-stderr layout --diagnostics=json 'foo(1)'
    [ "$(jq -r '[.file, .line, .column, .message] | join(" ")' <<<"$stderr")" = "<argument 1> 1 1 unknown function 'foo'" ]
}

@test "wrong numbers, nesting and sizes are refused with what is wrong" {
    refuses 1 'the number does not fit in 64 bits' layout '9223372036854775808:1'
    refuses 1 'does not fit in 64 bits' layout 'size((4294967296,4294967296))'
    refuses 1 'expects positive shape mode' layout '(4,0):(1,4)'
    refuses 1 'nested deeper than' layout "$(printf '%0.s(' {1..200})"
    refuses 1 "S<bits,base,shift> needs" layout 'S<4,0,3>'
    refuses 1 'a tuple contains numbers, not a layout' layout '(8:1,4:1)'
    refuses 1 'argument 1 must be a shape, not the coordinate (_,1)' layout 'make_identity_layout((_,1))'
    refuses 1 'crd2idx: argument 2 must be a shape, layout or swizzle, not the tile [4:1]' layout 'crd2idx(1, [4])'
    refuses 1 'coalesce: too many arguments; usage: coalesce(A, [PROFILE])' layout 'coalesce(1:1, 1, 1)'
    refuses 1 "expected a stride with '@' or a coordinate with '_'" layout '(1@0,_)'
}

@test "a left inverse of a layout that is not injective comes with a warning" {
    refuses 0 'layout (4,2):(1,0) is not injective' layout 'left_inverse((4,2):(1,0))'
    [ "$(layout --json 'left_inverse((4,2):(1,0))' 2>/dev/null | jq -r '.result, (.warning | test("not injective"))')" = $'4:1\ntrue' ]
    run --separate-stderr layout 'left_inverse((4,8):(8,1))'
    [ -z "$stderr" ]
}

@test "JSON has one object a line, also for lines that are refused" {
    printf '(4,8):(8,1)\n(4,2):(1,0)\nsize(8:1)\nbad\n(?,2):(1,4)\nlet a = 1\n' | layout --json 2>/dev/null >out || [ $? -eq 1 ]
    [ "$(wc -l <out)" -eq 5 ]
    [ "$(jq -c '[.input, .result, .error != null, .size, .cosize, .injective, .contiguous]' out)" = \
        '["(4,8):(8,1)","(4,8):(8,1)",false,32,32,true,true]
["(4,2):(1,0)","(4,2):(1,0)",false,8,4,false,false]
["size(8:1)","8",false,null,null,null,null]
["bad",null,true,null,null,null,null]
["(?,2):(1,4)","(?,2):(1,4)",false,null,null,null,null]' ]
}

# Of layouts too large to try: by hand.
@test "injective and contiguous are right for layouts of any size" {
    facts() { layout --json "$1" | jq -c '[.size, .cosize, .injective, .contiguous]'; }
    # row-major, padded by one element a row
    [ "$(facts '(1048576,1048576):(1048577,1)')" = '[1099511627776,1099512676351,true,false]' ]
    [ "$(facts '(1048576,1048576):(1048576,1)')" = '[1099511627776,1099511627776,true,true]' ]
    # row 1 begins one element before the end of row 0
    [ "$(facts '(1048576,1048576):(1048575,1)')" = '[1099511627776,1099510579201,false,false]' ]
    # 2a + 3b of a < 3, b < 2: 0 2 4 3 5 7; and with b < 3 both 6 = 2*3 and 6 = 3*2 need a = 3
    [ "$(facts '(3,2):(2,3)')" = '[6,8,true,false]' ]
    [ "$(facts '(4,3):(2,3)')" = '[12,13,false,false]' ]
    # coprime strides meet first at 1000003 * 1000033: one extent short of it, and beyond
    [ "$(facts '(1000033,1000003):(1000003,1000033)' | jq -c .[2])" = true ]
    [ "$(facts '(1000034,1000004):(1000003,1000033)' | jq -c .[2])" = false ]
    # a swizzle moves blocks of 2^10 within themselves
    [ "$(facts 'S<3,4,3> o 0 o (1024,1048576):(1048576,1)')" = '[1073741824,1073741824,true,true]' ]
    [ "$(facts '(4,8):(1@0,1@1)' | jq -c .[2:])" = '[true,true]' ]
    [ "$(facts '(4,-8)' | jq -c .[2:])" = '[null,null]' ]
    [ "$(facts '(4,8):(-1,-4)' | jq -c .[2:])" = '[true,true]' ]
}

@test "tables are as in the files" {
    for name in rank1 rank2 rank3 swizzle basis threads; do
        options=$(sed -n 's/^# options: *//p' "$data/$name.txt")
        expression=$(sed -n 's/^# expression: *//p' "$data/$name.txt")
        eval "layout --table $options" '"$expression"' >got
        diff <(grep -v '^#' "$data/$name.txt") got || { echo "$name: < the file, > is"; false; }
    done
}

@test "a table's numbers are those of crd2idx" {
    layout --table '(4,(2,3)):(5,(3,20))' | tail -n +4 | grep '|' | sed 's/^ *[0-9]* *|//; s/|/ /g' | tr -s ' ' '\n' | grep . >table
    for m in 0 1 2 3; do for n in 0 1 2 3 4 5; do echo "crd2idx(($m,$n), (4,(2,3)):(5,(3,20)))"; done; done | layout >indices
    diff indices table
}

@test "of a tensor its layout is drawn, in the banks of its elements" {
    diff <(layout --table 'memref<f16, smem, "(4,8):(8,1)">' | tail -n +2) <(layout --table '(4,8):(8,1)' | tail -n +2)
    diff <(layout --svg --color=bank 'memref<f16, smem, "(4,64):(64,1)">') \
        <(layout --svg --color=bank --element-bits=16 '(4,64):(64,1)')
}

@test "a value that is no layout has no table, a shape has that of its compact layout" {
    [ "$(layout --table 'size((4,8))')" = 32 ]
    [ "$(layout --table '(2,2)')" = "$(layout --table '(2,2)'; )" ]
    diff <(layout --table '(2,2)' | tail -n +2) <(layout --table '(2,2):(1,2)' | tail -n +2)
}

@test "pictures are as in the files" {
    for name in rank2 swizzle threads rank3; do
        options=$(sed -n 's/^# options: *//p' "$data/$name.txt")
        expression=$(sed -n 's/^# expression: *//p' "$data/$name.txt")
        for kind in svg tex; do
            eval "layout --$kind $options" '"$expression"' -o "got.$kind"
            diff "$data/$name.$kind" "got.$kind" || { echo "$name.$kind: < the file, > is"; false; }
        done
    done
}

@test "SVG is XML that has every cell, its index and a title" {
    layout --svg --color=bank --element-bits=16 'S<3,3,3> o 0 o (8,64):(64,1)' -o a.svg
    layout --svg --tv='(8,8)' '((4,8),2):((16,1),8)' -o b.svg
    layout --svg 'make_identity_layout((4,(2,3)))' -o c.svg
    python3 - <<'END'
import xml.etree.ElementTree as xml
ns = "{http://www.w3.org/2000/svg}"
def read(name):
    root = xml.parse(name).getroot()
    assert root.tag == ns + "svg"
    texts = [t.text for t in root.iter(ns + "text") if t.get("class") in (None, "w")]
    return root.find(ns + "title").text, len(list(root.iter(ns + "rect"))) - 1, texts, {r.get("fill") for r in root.iter(ns + "rect")}
title, cells, texts, fills = read("a.svg")
assert title == "S<3,3,3> o 0 o (8,64):(64,1)" and cells == 512, (title, cells)
assert sorted(map(int, texts)) == list(range(512))
assert len(fills) == 33, len(fills)  # 32 banks and the paper
title, cells, texts, _ = read("b.svg")
assert cells == 64 and len(texts) == 128 and texts.count("T31") == 2 and texts.count("V1") == 32
title, cells, texts, _ = read("c.svg")
assert cells == 24 and "(3,(1,2))" in texts and "(0,(0,0))" in texts, texts
END
}

@test "TeX is balanced, has every cell, and compiles where there is LaTeX" {
    layout --tex '(4,(2,2)):(1,(8,4))' -o a.tex
    layout --tex --tv='(8,8)' --color=bank '((4,8),2):((16,1),8)' -o b.tex
    layout --tex --color=none '(2,3,2):(6,2,1)' -o c.tex
    for file in a b c; do
        python3 - $file.tex <<'END'
import re, sys
text = open(sys.argv[1]).read()
depth = 0
for c in re.sub(r"(?m)%.*$", "", text):
    depth += (c == "{") - (c == "}")
    assert depth >= 0
assert depth == 0
assert [e for e in re.findall(r"\\(begin|end)\{(\w+)\}", text)].count(("begin", "document")) == 1
used, defined = set(re.findall(r"\{(c\d+)\}\{", text)), set(re.findall(r"definecolor\{(c\d+)\}", text))
assert used <= defined, (used, defined)
END
    done
    [ "$(grep -c '^\\cell' a.tex)" -eq 16 ]
    [ "$(grep -c '^\\cell.*shortstack' b.tex)" -eq 64 ]
    [ "$(grep -c '^\\cell' c.tex)" -eq 12 ]
    if command -v pdflatex >/dev/null && kpsewhich standalone.cls tikz.sty >/dev/null; then
        for file in a b c; do pdflatex -interaction=nonstopmode -halt-on-error $file.tex >log || { tail log; false; }; done
    fi
}

@test "what makes no picture is refused, and no file is written" {
    refuses 1 '(1024,1024) has 1048576 cells; a picture shows at most 65536' layout --svg '(1024,1024)' -o x.svg
    refuses 1 '(65,64) has 4160 cells; a picture shows at most 4096' layout --tex '(65,64)' -o x.svg
    refuses 1 'a picture needs known numbers' layout --svg '(?,4):(1,4)' -o x.svg
    refuses 1 'expected a layout to draw, got 8' layout --svg 'size(8:1)' -o x.svg
    refuses 1 'compose it with a layout' layout --svg 'S<3,4,3>' -o x.svg
    refuses 1 'expected one layout per picture' layout --svg 8:1 4:1 -o x.svg
    refuses 1 'no layout to draw' layout --svg 'let a = 8:1' -o x.svg
    refuses 1 'T2 V0 is at 4, outside the tile (2,2)' layout --svg --tv='(2,2)' '(4,1):(2,0)' -o x.svg
    refuses 1 'two modes' layout --svg --tv='(2,2)' '4:1' -o x.svg
    refuses 1 'has 9223372036854775807 or more cells' layout --svg '(4611686018427387904,4611686018427387904):(1,1)' -o x.svg
    [ ! -e x.svg ]
    [ "$(layout --table '(1024,1024):(1,1024)' '8:1' 2>/dev/null | sed -n '2p;3p')" = $'error: (1024,1024) has 1048576 cells; a picture shows at most 65536\n8:1' ]
}

@test "values that several threads hold are counted" {
    refuses 0 '4 values map to an occupied cell; the first value of a cell is shown' layout --svg --tv='(2,2)' '(4,2):(1,0)' -o x.svg
    [ -s x.svg ]
}

@test "options that contradict each other or are out of range are refused" {
    refuses 2 '--json, --table, --svg and --tex are mutually exclusive' layout --json --svg 8:1
    refuses 2 '--tv requires --table, --svg or --tex' layout --tv='(8,8)' 8:1
    refuses 2 '--color requires --svg or --tex' layout --color=bank --table 8:1
    refuses 2 "unknown color 'red'" layout --svg --color=red 8:1
    refuses 2 "--tv expects a static tile shape" layout --svg --tv='(8,0)' 8:1
    refuses 2 'expected --element-bits=N from 1 to 65536' layout --svg --element-bits=-1 8:1
    refuses 2 "unknown option '--tabel'; did you mean '--table'?" layout --tabel 8:1
}

@test "-o writes a file whole, and where it can't is said" {
    layout -o out 8:1 4:2
    [ "$(cat out)" = $'8:1\n4:2' ]
    refuses 3 "No such file or directory" layout -o none/out 8:1
}

@test "options may stand before the view" {
    [ "$(cute-dump --json layout 8:1 | jq -r .result)" = 8:1 ]
    [ "$(cute-dump -o out layout 8:1; cat out)" = 8:1 ]
}

@test "lines are answered as they come" {
    mkfifo in out
    layout <in >out &
    pid=$!
    exec 7>in 8<out
    for i in 1 2 3; do
        echo "size($i:1)" >&7
        read -r -t 10 answer <&8
        [ "$answer" = $i ]
    done
    exec 7>&- 8<&-
    wait $pid
}

@test "a pipe closed by its reader ends it quietly" {
    run --separate-stderr timeout 10 bash -c 'yes "(4,8):(8,1)" | cute-dump layout | head -1'
    [ "$output" = '(4,8):(8,1)' ]
    [ -z "$stderr" ]
}

@test "a thousand expressions take a fraction of a second" {
    for i in {1..125}; do
        echo "composition((4,8):(8,1), 8:2)
logical_divide((16,4):(1,16), [8:1;4:1])
crd2idx(13, S<1,4,4> o 5 o 16:1)
coalesce((2,4):(1,2), (1))
zipped_divide((128,64):(64,1), (32,16))
complement((2,2):(1,6), 24)
blocked_product((2,5):(5,1), (3,4):(1,3))
right_inverse((4,8):(8,1))"
    done >many
    # processor time: how long one waits depends on who else computes
    took=$({ TIMEFORMAT='%U %S'; time layout <many >answers; } 2>&1 | awk '{ print int(($1 + $2) * 1000) }')
    [ "$(wc -l <answers)" -eq 1000 ]
    # some 5 ms; sanitized a tenth of a second
    [ "$took" -lt 400 ] || { echo "$took ms"; false; }
}

@test "the options of --help are in the man page and offered by Tab" {
    layout --help | grep -E '^ +-' | grep -oE -- '--[a-z][a-z-]+' | sort -u >help
    for option in $(cat help); do
        sed 's/\\-/-/g' "$ROOT/docs/man/cute-dump-layout.1" | grep -qF -- "$option" || { echo "no word of $option"; false; }
    done
    # shellcheck disable=SC1091
    source "$ROOT/mk/completion.bash"
    compopt() { :; }
    COMP_WORDS=(cute-dump layout --)
    COMP_CWORD=2
    _cute cute-dump -- layout || true
    diff help <(printf '%s\n' "${COMPREPLY[@]}" | sed 's/=$//' | grep '^--' | sort -u)
}

@test "--atom shows who holds each element of each operand" {
    # PTX ISA, m8n8k4 of f64: A row lane / 4, column lane % 4; B (k,n) = (lane % 4, lane / 4); C columns 2 (lane % 4) + {0, 1}.
    run layout --atom SM80_8x8x4_F64F64F64F64_TN
    [ "$status" -eq 0 ]
    [[ $output == *"PTX          mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"* ]]
    [[ $output == *"C            f64 (M,N)       ((4,8),2):((16,1),8), 2 registers of 64 bits"* ]]
    [ "$(grep -c '^A (M,K)\|^B (N,K)\|^C (M,N)' <<<"$output")" -eq 3 ]
    layout --atom SM80_8x8x4_F64F64F64F64_TN --operand=a >a
    [ "$(grep '^ 3 ' a)" = " 3  | T12V0 | T13V0 | T14V0 | T15V0 |" ]
    layout --atom --operand=C 'sm80.mma<8x8x4, elem_type = (f64, f64, f64) >' >c
    [ "$(grep '^ 1 ' c)" = " 1  |  T4V0 |  T4V1 |  T5V0 |  T5V1 |  T6V0 |  T6V1 |  T7V0 |  T7V1 |" ]
    # ldmatrix.trans: thread 4g + t has elements 2t and 2t + 1 of column g; row r is at the address of thread r.
    layout --atom=SM75_U16x2_LDSM_T --operand=destination >d
    [ "$(grep '^ 5 ' d)" = " 5  |  T2V1 |  T6V1 | T10V1 | T14V1 | T18V1 | T22V1 | T26V1 | T30V1 |" ]
    layout --atom=SM75_U16x2_LDSM_T --operand=source >s
    [ "$(grep '^ 5 ' s)" = " 5  | T5V0 | T5V1 | T5V2 | T5V3 | T5V4 | T5V5 | T5V6 | T5V7 |" ]
}

@test "--atom lists instructions, and gives facts as JSON" {
    [ "$(layout --atom | grep -c '_TN .* !cute_nvgpu.sm80.mma<')" -eq 36 ]
    [ "$(layout --atom=list)" = "$(layout --atom)" ]
    layout --json --atom=list | python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert len(rows) == len({r["type"] for r in rows}) > 60
one = next(r for r in rows if r["name"] == "SM89_16x8x32_F32E4M3E5M2F32_TN")
assert one["arch"] == 89 and one["operands"][1]["type"] == "f8E5M2" and one["operands"][0]["registers"] == 4, one'
    [ "$(layout --atom SM80_16x8x8_F16F16F16F16_TN UniversalFMA | grep -c '^threads')" -eq 2 ]
}

@test "--atom draws all operands in one picture" {
    layout --svg --atom SM80_16x8x16_F32F16F16F32_TN -o mma.svg
    # 16x16 of A, 16x8 of B, 16x8 of C, and the ground
    [ "$(grep -c '<rect' mma.svg)" -eq $((256 + 128 + 128 + 1)) ]
    layout --tex --atom SM80_8x8x4_F64F64F64F64_TN -o mma.tex
    [ "$(grep -c '^.cell{' mma.tex)" -eq $((32 + 32 + 64)) ]
    refuses 1 'which is too large; --operand selects one' layout --svg --atom SM80_16x8x256_S32U1U1S32_TN_XORPOPC
    layout --svg --atom SM80_16x8x256_S32U1U1S32_TN_XORPOPC --operand=b -o b.svg
    [ "$(grep -c '<rect' b.svg)" -eq $((8 * 256 + 1)) ]
}

@test "an operand in shared memory, which all threads read, is drawn once" {
    layout --svg --atom SM90_64x16x16_F32BF16BF16_SS -o mma.svg
    [ "$(grep -c '<rect' mma.svg)" -eq $((64 * 16 + 16 * 16 + 64 * 16 + 1)) ]
    [ "$(grep -c '>all<' mma.svg)" -eq $((64 * 16 + 16 * 16)) ]
    [ "$(grep -c '>T127<' mma.svg)" -eq 8 ]
    grep -q '; colours: threads<' mma.svg
    layout --svg --atom SM90_64x256x16_F32BF16BF16_SS --operand=b -o b.svg
    [ "$(grep -c '<rect' b.svg)" -eq $((256 * 16 + 1)) ]
}

@test "a picture of a tiled copy or MMA shows who has what of its tile" {
    # 2 x 4 threads along rows, two neighbours each: (1,5) is the second value of the thread in row 1, column 2.
    layout --table 'make_tiled_copy(UniversalCopy, (2,4):(4,1), (1,2):(0,1))' >copy
    [ "$(grep '^ 1 ' copy)" = " 1  | T4V0 | T4V1 | T5V0 | T5V1 | T6V0 | T6V1 | T7V0 | T7V1 |" ]
    [ "$(grep -c '^source and destination (M,N)' copy)" -eq 1 ]
    # PTX ISA, ldmatrix: thread t gives the address of row t % 8 of matrix t / 8, and gets elements 2 (t % 4) of row t / 4.
    local ldsm='make_tiled_copy_A(SM75_U32x4_LDSM_N, make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN))'
    layout --table "$ldsm" | sed -n '/^source/,/^destination/p' | grep -q '^ 9  |  T9V0 |  T9V1 .*| T25V6 | T25V7 |$'
    layout --table --operand=destination "$ldsm" | grep -q '^ 9  |  T4V2 |  T4V3 |  T5V2 .*|  T7V6 |  T7V7 |$'
    # Two by two warps: row 17 and column 9 are row 1 and column 1 of warp 3's C.
    layout --table --operand=c 'make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))' | grep '^17 ' | cut -d'|' -f11 | grep -q 'T100V1'
    [ "$(layout --table 'make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))' | grep -c '^A (M,K)\|^B (N,K)\|^C (M,N)')" -eq 3 ]
    # 32x16 of A, 16x16 of B, 32x16 of C, and the ground
    layout --svg 'make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))' -o mma.svg
    [ "$(grep -c '<rect' mma.svg)" -eq $((512 + 256 + 512 + 1)) ]
    # four warps, as many colours, as often each
    layout --svg --operand=c --color=warp 'make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2))' -o warps.svg
    [ "$(grep -o '<rect[^>]*fill="#[0-9a-f]*"' warps.svg | grep -o '#[0-9a-f]*' | grep -v '#ffffff$' | sort | uniq -c | grep -c '^ *128 #')" -eq 4 ]
    layout --tex 'make_tiled_copy(UniversalCopy, (2,4):(4,1), (1,2):(0,1))' -o copy.tex
    [ "$(grep -c '^.cell{' copy.tex)" -eq 16 ]
    [ "$(layout --table UniversalCopy | tail -3)" = "$(layout --atom UniversalCopy | tail -3)" ]
    refuses 2 "'UniversalCopy' has source and destination" layout --table --operand=c 'make_tiled_copy(UniversalCopy, 4:1, 2:1)'
    refuses 2 'a layout has no operands' layout --table --operand=c 8:1
    refuses 1 '--tv does not apply to a tiled copy or MMA, which defines its own tile' layout --table --tv='(4,4)' 'make_tiled_copy(UniversalCopy, 4:1, 2:1)'
    refuses 1 'expected one layout per picture' layout --svg UniversalFMA UniversalCopy
    refuses 1 'a picture shows at most 65536' layout --svg 'make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (64,64))'
}

@test "--atom shows a wgmma: what all threads have in shared memory, the registers of C" {
    layout --atom SM90_64x8x16_F32F16F16_SS >atom.txt
    grep -q '^A  *f16 (M,K)  *(128,(64,16)):(0,(1,64)), in smem by a matrix descriptor$' atom.txt
    grep -q '^C  *f32 (M,N)  *((4,8,4),(2,2,1)):((128,1,16),(64,8,512)), 4 registers of 32 bits$' atom.txt
    layout --atom SM90_64x256x256_S32U1U1_RS_TN_ANDPOPC >atom.txt
    grep -q 'wgmma.mma_async.sync.aligned.m64n256k256.s32.b1.b1.and.popc' atom.txt
    [ "$(layout --svg --atom --operand=b SM90_64x8x16_F32F16F16_SS | grep -c '>all<')" -eq 128 ]
}

@test "--atom says what there is instead" {
    refuses 1 "did you mean 'SM80_16x8x16_F32F16F16F32_TN'?" layout --atom SM80_16x8x16_F32F16F16F32_TT
    refuses 1 "nearest: '!cute_nvgpu.sm80.mma<16x8x8, elem_type = (f16, f16, f32) >'" \
        layout --atom 'sm80.mma<16x8x4, elem_type = (f16, f16, f32) >'
    refuses 2 "'UniversalFMA' has a, b and c" layout --atom=UniversalFMA --operand=d
    refuses 2 "'UniversalCopy' has source and destination" layout --atom=UniversalCopy --operand=a
    refuses 2 '--operand requires --atom, --table' layout --operand=a 8:1
    refuses 2 '--tv does not apply to --atom, which defines its own tile' layout --atom --table --tv='(8,8)'
    refuses 2 'cannot draw a list of atoms' layout --atom --svg
    refuses 2 'expected one atom per picture, got 2' layout --atom --svg UniversalFMA UniversalCopy
}
