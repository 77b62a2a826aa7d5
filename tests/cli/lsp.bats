# cute-lsp: an editor's messages over standard input and output.

setup() {
    export PATH=$CUTE_BIN:$PATH PYTHONPATH=$BATS_TEST_DIRNAME
    ROOT=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR"
    cat >k.mlir <<'END'
!buf = !cute.memref<f32, smem, "(4,8):(8,1)">
func.func @f(%x: !buf, %i: i32) -> f32 {
  %l = cute.static "((2,2),4):((1,8),2)"
  %v = cute.load %x[%i, %i]
  return %v : f32
}
END
}

@test "errors come while one types, at their columns, and go when they are mended" {
    timeout 60 python3 - <<'END'
from lsp_client import Client, need
c = Client()
abilities = c.start()["capabilities"]
need(abilities["hoverProvider"] and abilities["textDocumentSync"]["change"] == 2, abilities)
uri, text = "file:///nowhere/k.mlir", open("k.mlir").read()
need(c.open(uri, text) == [], c.diagnostics)
wrong = c.change(uri, text.replace("%x[%i, %i]", "%x[%i, %i, %i]"))
need(len(wrong) == 1 and wrong[0]["severity"] == 1 and wrong[0]["range"]["start"] == {"line": 3, "character": 7}, wrong)
need("expects a coordinate of the shape (4,8)" in wrong[0]["message"], wrong)
# Columns are UTF-16: two for a character beyond the first plane, one for an e with an accent, which has two bytes.
wrong = c.change(uri, text.replace("return %v", "return %w"))
need(wrong[0]["range"] == {"start": {"line": 4, "character": 9}, "end": {"line": 4, "character": 11}}, wrong)
wide = 'func.func @g() { %s = arith.constant {t = "\U0001d11e\u00e9"} 1 : i32  %q = arith.addi %s, %r : i32 return }'
wrong = c.change(uri, wide)
need(wrong and wrong[0]["range"]["start"]["character"] == len(wide[:wide.index("%r")].encode("utf-16-le")) // 2, wrong)
need(c.change(uri, text) == [], c.diagnostics)
need(c.stop() == 0)
END
}

@test "hover shows a layout's size, cosize and table, of values, aliases, types and texts" {
    timeout 60 python3 - <<'END'
from lsp_client import Client, need
c = Client()
c.start()
uri, text = "file:///nowhere/k.mlir", open("k.mlir").read()
c.open(uri, text)
table = "1  |  8 |  9 | 10 | 11 | 12 | 13 | 14 | 15 |"
for what, offset in (("%x:", 1), ("!buf,", 2), ("!cute.memref", 3), ("%x[", 1), ('(4,8):(8,1)', 2)):
    shown = c.hover(uri, text, what, offset)
    need(shown and '!cute.memref<f32, smem, "(4,8):(8,1)">' in shown and "size 32, cosize 32" in shown and table in shown, what, shown)
shown = c.hover(uri, text, '"((2,2)', 4)
need('!cute.layout<"((2,2),4):((1,8),2)">' in shown and "size 16, cosize 16, injective, contiguous" in shown, shown)
need("3  |  9 | 11 | 13 | 15 |" in shown, shown)
need("%v : f32" in c.hover(uri, text, "%v :", 1))
need(c.hover(uri, text, "return", 1) is None)
# Also in a text that is not right.
broken = text.replace("return %v", "return %w")
need(c.change(uri, broken))
need(table in c.hover(uri, broken, "!cute.memref", 3))
# A large one is cut, one that is not static has no table.
large = '!a = !cute.layout<"(1024,1024):(1,1024)">\n!b = !cute.layout<"(?,8):(8,1)">\n'
need(c.change(uri, large) == [], c.diagnostics)
shown = c.hover(uri, large, "!cute.layout<\"(1024", 2)
need("size 1048576" in shown and len(shown) < 5000, shown)
need("no table" in c.hover(uri, large, '!cute.layout<"(?', 2))
# A place to go to.
c.change(uri, text)
there = c.at("textDocument/definition", uri, text, "%x[", 1)
need(there == {"uri": uri, "range": {"start": {"line": 1, "character": 13}, "end": {"line": 1, "character": 15}}}, there)
need(c.stop() == 0)
END
}

@test "hover shows the fragments of atoms and the threads of tiled copies and MMAs" {
    timeout 60 python3 - <<'END'
from lsp_client import Client, need
c = Client()
c.start()
uri = "file:///nowhere/a.mlir"
mma = '!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>'
text = f'!mma = {mma}\n!copy = !cute_nvgpu.atom.universal_copy<f32, 128 b>\n'
text += 'func.func private @f(!cute.tiled_mma<!mma, atom_layout_MNK = <"(2,2,1):(1,2,0)">>)\n'
wrong = c.open(uri, text)
shown = c.hover(uri, text, "!cute_nvgpu.sm80", 4)
need(shown and "SM80_16x8x16_F32F16F16F32_TN" in shown and "T0" in shown and "V1" in shown, shown, wrong)
need("mma.sync" in shown, shown)
need(c.stop() == 0)
END
    # One of the kernels, whole: its tiled copies and MMAs, whose types nobody wrote.
    defines=$(sed -n 's/^gemm_sm80 *[^ ]*\/gemm_sm80.mlir *//p' "$ROOT/kernels/kernels.txt" | head -1)
    timeout 100 python3 - "$ROOT/bench/schedules/hand/gemm_sm80/gemm_sm80.mlir" $defines <<'END'
import re, sys
from lsp_client import Client, need
path, defines = sys.argv[1], sys.argv[2:]
c = Client(*(f"-D{d}" for d in defines))
c.start()
uri, text = f"file://{path}", open(path).read()
wrong = c.open(uri, text)
need(wrong == [], wrong)
seen = set()
for name in sorted(set(re.findall(r"%[a-zA-Z_]\w*", text))):
    shown = c.hover(uri, text, name, 1) or ""
    for kind in ("!cute.tiled_mma", "!cute.tiled_copy"):
        if kind in shown.splitlines()[1:2].__str__() and "T0" in shown:
            seen.add(kind)
need(seen == {"!cute.tiled_mma", "!cute.tiled_copy"}, seen)
need(c.stop() == 0)
END
}

@test "hover shows the layout of a tile that the compiler chooses: threads, registers, coordinates and copies" {
    cat >tiles.mlir <<'END'
!H = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
!X = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @kernels {
  gpu.func @product(%a: !H, %b: !H, %c: !X) kernel {
    %i, %j = cute.tile.program<[64, 64]> %c
    %n = cute.tile.count<1, 64> %a
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum, %last = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %old = %zero)
        -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
      %x = cute.tile.load<[64, 64]> %a[%i, %k]
      %y = cute.tile.load<[64, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d, %acc : tensor<64x64xf32>, tensor<64x64xf32>
    }
    %p = cute.tile.sigmoid %sum
    %same = cute.tile.cast<f32> %p
    %in = cute.tile.lt %same, %last
    %z = cute.tile.where %in, %p, 0.0
    cute.tile.store %z, %c[%i, %j]
    gpu.return
  }
  gpu.func @softmax(%x: !X) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %r, %q = cute.tile.program<[8, 64]> %x
    %row = cute.tile.load<[8, 64]> %x[%r, %q]
    %m = cute.tile.reduce<max, 1> %row
    %e = cute.tile.sub %row, %m
    cute.tile.store %e, %x[%r, %q]
    gpu.return
  }
  gpu.func @large(%x: !X) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %r, %q = cute.tile.program<[256, 256]> %x
    %big = cute.tile.load<[256, 256]> %x[%r, %q]
    cute.tile.store %big, %x[%r, %q]
    gpu.return
  }
}
func.func @plain(%t: tensor<4xf32>) -> tensor<4xf32> {
  return %t : tensor<4xf32>
}
func.func private @stated(%given: tensor<8x4xf32, #cute.layout<"((4,8),(1)):((1@1,1@0),(0))">>,
                          %wrong: tensor<8x4xf32, #cute.layout<"((4,8),(4)):((1@1,1@0),(1@1))">>) {
  return
}
END
    ARCH=sm_90a timeout 60 python3 - <<'END'
import time
from lsp_client import Client, need
c = Client()
c.start()
uri, text = "file:///nowhere/tiles.mlir", open("tiles.mlir").read()
need(c.open(uri, text) == [], c.diagnostics)
def shows(name, *lines):
    shown = c.hover(uri, text, name, 1)
    need(shown and all(line in shown for line in lines), name, shown)
    return shown
# A load: adjacent elements in 16 bytes.
shows("%row", "%row : tensor<8x64xf32>", "128 threads, 4 values each: ((16,8),(4)):((4@1,1@0),(1@1))", "4 registers per thread\n",
      "thread 0: (0,0)  (0,1)  (0,2)  (0,3)\n", "thread 3: (0,12) (0,13) (0,14) (0,15)\n...\n")
need("thread 4" not in shows("%row") and "held" not in shows("%row"))
# An elementwise operation with a smaller tile has the distribution of the larger one; a reduction leaves copies.
shows("%e =", "128 threads, 4 values each: ((16,8),(4)):((4@1,1@0),(1@1))")
shows("%m =", "%m : tensor<8x1xf32>", "128 threads, 1 value each: ((16,8),(1)):((0,1@0),(0))",
      "1 register per thread; each element is held by 16 threads\n", "thread 0: (0,0)\nthread 1: (0,0)\n")
# An accumulator has the distribution of the MMA, also in loops and in elementwise operations on it.
fragment = "128 threads, 32 values each: ((4,8,2,2),(2,2,2,4)):((2@1,1@0,16@0,8@1),(1@1,8@0,32@0,16@1))"
for name in ("%acc", "%old", "%d =", "%sum", "%last", "%zero", "%p =", "%same", "%z =", "%p, 0.0"):
    shows(name, fragment, "32 registers per thread\n", "thread 1: (0,2) (0,3) (8,2) (8,3) (32,2) (32,3) (40,2) (40,3) ...\n")
shows("%in", "tensor<64x64xi1>", fragment, "1 register per thread\n")
shows("%x = cute.tile.load", "16 registers per thread", "((8,16),(8,4)):((8@1,1@0),(1@1,16@0))")
# An encoding in the text is shown, unless its coordinates are outside of the tile.
shows("%given", "32 threads, 1 value each: ((4,8),(1)):((1@1,1@0),(0))")
# A tile that takes too many registers, and tensors of other programs.
for name in ("%big", "%t:", "%wrong"):
    shown = c.hover(uri, text, name, 1)
    need("tensor<" in shown and "thread" not in shown, name, shown)
# A document without tiles.
plain = open("k.mlir").read()
need(c.open("file:///nowhere/k.mlir", plain) == [])
need(c.hover("file:///nowhere/k.mlir", plain, "%v", 1) == "```mlir\n%v : f32\n```\n")
start = time.time()
for i in range(10):
    shows("%sum", fragment)
need(time.time() - start < 10, time.time() - start)
broken = text.replace("%x, %y, %acc", "%x, %row, %acc")
need(c.change(uri, broken) != [] and c.hover(uri, broken, "%row", 1) is None)
need(c.stop() == 0)
END
    # The architecture is $ARCH; for an unknown one nothing is compiled.
    for arch in sm_75 sm_1; do
        ARCH=$arch timeout 60 python3 - $arch <<'END'
import sys
from lsp_client import Client, need
c = Client()
c.start()
uri, text = "file:///nowhere/tiles.mlir", open("tiles.mlir").read()
need(c.open(uri, text) == [], c.diagnostics)
shown = c.hover(uri, text, "%sum", 1)
need("tensor<64x64xf32>" in shown and ("128 threads, 32 values each" in shown) == (sys.argv[1] == "sm_75"), shown)
need(c.stop() == 0)
END
    done
}

@test "names of -D have the values of the command line or of comments; without one it is no error" {
    timeout 60 python3 - <<'END'
from lsp_client import Client, need
text = '// RUN: cute-opt %s -D M=4 -D T="f32"\n!l = !cute.memref<${T}, smem, "(${M},${N*2}):(${N*2},1)">\nfunc.func private @f(!l)\n'
uri = "file:///nowhere/d.mlir"
c = Client()
c.start()
wrong = c.open(uri, text)
need(len(wrong) == 1 and wrong[0]["severity"] == 3 and wrong[0]["range"]["start"]["line"] == 1, wrong)
need("no value for 'N'" in wrong[0]["message"] and "-D N=VALUE" in wrong[0]["message"], wrong)
need(c.stop() == 0)
c = Client("-D", "N=4")
c.start()
need(c.open(uri, text) == [], c.diagnostics)
shown = c.hover(uri, text, "!cute.memref", 2)
need("(4,8):(8,1)" in shown and "size 32" in shown, shown)
need("size 32" in c.hover(uri, text, "!l)", 1))
wrong = c.change(uri, text + "func.func private @g(!l, !m)\n")
need(wrong[0]["range"]["start"]["line"] == 3 and "alias id 'm'" in wrong[0]["message"], wrong)
need(c.stop() == 0)
END
}

@test "parts of a text are changed at columns of UTF-16, over ends of lines and with CRLF" {
    timeout 60 python3 - <<'END'
from lsp_client import Client, need
c = Client()
c.start()
uri = "file:///nowhere/u.mlir"
text = '// \U0001d11e\u00e9\r\nfunc.func @g(%a: i32) -> i32 {\r\n  return %a : i32 // \U0001d11e\r\n}\r\n'
need(c.open(uri, text) == [], c.diagnostics)
def edit(line, start, end_line, end, new):
    return {"range": {"start": {"line": line, "character": start}, "end": {"line": end_line, "character": end}}, "text": new}
wrong = c.edit(uri, edit(2, 10, 2, 11, "b"))
need(len(wrong) == 1 and wrong[0]["range"] == {"start": {"line": 2, "character": 9}, "end": {"line": 2, "character": 11}}, wrong)
# Two changes: the second counts with the first. The first is behind a pair of surrogates and makes two lines of one.
need(c.edit(uri, edit(0, 5, 0, 6, "e\n//"), edit(3, 10, 3, 11, "a")) == [], c.diagnostics)
need(c.edit(uri, edit(3, 17, 4, 0, "\n")) == [], c.diagnostics)
shown = c.request("textDocument/hover", textDocument={"uri": uri}, position={"line": 3, "character": 10})["result"]
need("%a : i32" in shown["contents"]["value"], shown)
need(len(c.edit(uri, edit(4, 0, 900, 0, ""))) == 1, c.diagnostics)
need(c.edit(uri, edit(900, 0, 900, 0, "}")) == [], c.diagnostics)
# What makes no sense changes nothing.
c.notify("textDocument/didChange", textDocument={"uri": uri}, contentChanges=[edit(3, 5, 2, 0, "x"), {"range": 3, "text": "x"}, {}, 3])
need(c.edit(uri, edit(0, 0, 0, 0, "")) == [], c.diagnostics)
# Two documents of one server know nothing of each other.
need(c.open("file:///nowhere/v.mlir", text.replace("@g", "@h").replace("return %a", "return %z")) != [])
need(c.edit(uri, edit(0, 0, 0, 0, "")) == [], c.diagnostics)
need(c.stop() == 0)
END
}

@test "a large text that is typed into is checked when the typing rests" {
    timeout 100 python3 - <<'END'
from lsp_client import Client, need
c = Client()
c.start()
uri = "file:///nowhere/l.mlir"
body = "".join(f'  %{i} = cute.static "((2,2),{i + 2}):((1,8),2)"\n' for i in range(3000))
text = "func.func @f() {\n" + body + "  return\n}\n"
need(c.open(uri, text) == [], c.diagnostics)
for i in range(200):
    c.notify("textDocument/didChange", textDocument={"uri": uri, "version": i + 3},
             contentChanges=[{"text": "x", "range": {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 2}}}])
seen = 0
while (message := c.read())["params"].get("version") != 202:
    seen += 1
need(message["params"]["diagnostics"] and seen < 150, seen)
need(c.stop() == 0)
END
}

@test "references, symbols and what may follow, also where the text is not right yet" {
    timeout 60 python3 - <<'END'
from lsp_client import Client, need
c = Client()
c.start()
uri = "file:///nowhere/s.mlir"
text = """!buf = !cute.memref<f32, smem, "(4,8):(8,1)">
gpu.module @kernels {
  func.func private @help(%x: !buf, %i: i32) -> f32 {
    %v = cute.load %x[%i, %i] // @not "
    return %v : f32
  }
  gpu.func @main(%x: !buf) kernel {
    %c = arith.constant {why = "{ \\" @neither"} 1 : i32
    %r = func.call @help(%x, %c) : (!buf, i32) -> f32
    gpu.return
  }
}
"""
need(c.open(uri, text) == [], c.diagnostics)
def starts(places):
    return sorted((p["range"]["start"]["line"], p["range"]["start"]["character"]) for p in places)
def at(method, what, offset=1, **more):
    before = text[:text.index(what) + offset]
    return c.request("textDocument/" + method, textDocument={"uri": uri}, **more,
                     position={"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1})["result"]
need(starts(at("references", "%i:")) == [(2, 36), (3, 22), (3, 26)], at("references", "%i:"))
need(starts(at("references", "%i:", context={"includeDeclaration": False})) == [(3, 22), (3, 26)])
need(starts(at("references", "@help(%x, %c")) == [(2, 20), (8, 19)], at("references", "@help(%x, %c"))
need(starts(at("references", "@help(%x:")) == [(2, 20), (8, 19)], at("references", "@help(%x:"))
need(starts([at("definition", "@help(%x, %c")]) == [(2, 20)])
need(starts(at("documentHighlight", "%i:")) == [(2, 36), (3, 22), (3, 26)])
need(at("references", "= cute.load", 0) == [])
def outline():
    def read(symbols):
        return [(s["name"], s["kind"], s["range"]["start"]["line"], s["range"]["end"]["line"], read(s.get("children", []))) for s in symbols]
    return read(c.request("textDocument/documentSymbol", textDocument={"uri": uri})["result"])
want = [("!buf", 5, 0, 0, []), ("@kernels", 2, 1, 11, [("@help", 12, 2, 5, []), ("@main", 12, 6, 10, [])])]
need(outline() == want, outline())
text = text.replace("gpu.return", "%z = cute.la")
need(c.change(uri, text) != [])
need(outline() == want, outline())
def names(*where):
    return [i["label"] for i in at("completion", *where)]
need("cute.layout.make" in names("cute.la", 7) or all(n.startswith("cute.la") for n in names("cute.la", 7)) and names("cute.la", 7), names("cute.la", 7))
need(names("call @help", 7) == ["@help"], names("call @help", 7))
need(names("%c) :", 1) == ["%x", "%i", "%v", "%c", "%r", "%z"], names("%c) :", 1))
item = at("completion", "!buf, %i", 2)[0]
need(item["label"] == "!buf" and item["textEdit"]["range"]["start"]["character"] == 30, item)
need(c.stop() == 0)
END
}

@test "the kernels that ship are checked with the values that a comment gives them, and found right" {
    timeout 100 python3 - "$ROOT"/kernels/*/*.mlir <<'END'
import sys
from lsp_client import Client, need
c = Client()
c.start()
for path in sys.argv[1:]:
    wrong = c.open(f"file://{path}", open(path).read())
    need(wrong == [], path, wrong[:1])
need(c.stop() == 0)
END
}

@test "a text that is cut off or mistyped anywhere has an error at a place of it, and none once it is mended" {
    timeout 200 python3 - "$ROOT/bench/schedules/hand/copy.mlir" <<'END'
import random, sys
from lsp_client import Client, need
c = Client()
c.start()
uri, text = "file:///nowhere/t.mlir", open(sys.argv[1]).read()
draw = random.Random(1)
bits = ["%", "!", '"', "<", ">", "(", ")", "{", "}", ":", "->", "?", "9" * 30, "-1", "\u00e9", "\U0001d11e", "cute.", "S<3,4,3>", "\r\n", "${", "//!include \"x\"\n", "loc(", "#", "@", "\\", "\x01"]
need(c.open(uri, text) == [])
for step in range(400):
    cut = draw.randrange(len(text))
    broken = text[:cut] + (draw.choice(bits) + text[cut + draw.randrange(20):] if step % 3 else "")
    lines = broken.split("\n")
    for wrong in c.change(uri, broken):
        start, end = wrong["range"]["start"], wrong["range"]["end"]
        need(start["line"] < len(lines) and end["line"] == start["line"], step, wrong)
        need(start["character"] <= end["character"] <= len(lines[start["line"]].encode("utf-16-le")) // 2, step, wrong)
        need("LLVM gave up" not in wrong["message"], wrong)
    at = {"textDocument": {"uri": uri}, "position": {"line": draw.randrange(len(lines)), "character": draw.randrange(80)}}
    for method in ("hover", "definition", "references", "documentSymbol", "completion"):
        need("error" not in c.request("textDocument/" + method, **at), step, method)
need(c.change(uri, text) == [])
need(c.stop() == 0)
END
}

@test "included files are read; what is wrong in them is said at the line that includes them" {
    mkdir inc
    echo '!buf = !cute.memref<f32, smem, "(4,8):(8,1)">' >inc/types.mlir
    timeout 60 python3 - "$PWD" <<'END'
import os, sys
from lsp_client import Client, need
uri = f"file://{sys.argv[1]}/m.mlir"
text = '// one\n//!include "types.mlir"\nfunc.func private @f(!buf)\n'
c = Client("-I", "inc")
c.start()
need(c.open(uri, text) == [], c.diagnostics)
need("size 32" in c.hover(uri, text, "!buf", 1))
there = c.at("textDocument/definition", uri, text, "!buf", 1)
need(there["uri"].endswith("inc/types.mlir") and there["range"]["start"] == {"line": 0, "character": 0}, there)
open("inc/types.mlir", "w").write('!buf = !cute.memref<f32, smem, "(4,8:(8,1)">\n')
wrong = c.change(uri, text)
need(wrong[0]["range"]["start"]["line"] == 1 and "inc/types.mlir:1:" in wrong[0]["message"], wrong)
wrong = c.change(uri, text.replace("types", "tapes"))
need("cannot find 'tapes.mlir'" in wrong[0]["message"] and wrong[0]["range"]["start"]["line"] == 1, wrong)
need(c.stop() == 0)
END
}

@test "requests that make no sense get an error of JSON-RPC, and the server goes on" {
    timeout 60 python3 - <<'END'
from lsp_client import Client, need
c = Client()
need(c.request("textDocument/hover")["error"]["code"] == -32002)
c.start()
need(c.request("textDocument/hover", position={"line": 0, "character": 0})["error"]["code"] == -32602)
need(c.request("no/such")["error"]["code"] == -32601)
c.notify("no/such")
c.notify("textDocument/didChange", contentChanges=7)
c.process.stdin.write(b"Content-Length: 3\r\n\r\n{[}")
c.process.stdin.flush()
need(c.read()["error"]["code"] == -32700)
need(c.open("untitled:x", "") == [])
need(c.at("textDocument/hover", "untitled:x", "", "") is None)
need(c.request("textDocument/hover", textDocument={"uri": "untitled:x"}, position={"line": 2**40, "character": 2**40})["result"] is None)
need(c.stop() == 0)
END
    run bash -c 'printf "Content-Length: 10\r\n\r\n{}" | cute-lsp'
    [ "$status" -eq 1 ]
    [[ "$output" == *"the stream ends within a message"* ]]
    run cute-lsp k.mlir
    [ "$status" -eq 2 ]
}

@test "a thousand mutated conversations end without a crash" {
    timeout 300 python3 - <<'END'
import json, random, subprocess
from lsp_client import need
text = open("k.mlir").read()
def frame(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
uri = "file:///nowhere/k.mlir"
at = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 19}}
good = [frame(m) for m in (
    {"id": 1, "method": "initialize", "params": {"capabilities": {}}}, {"method": "initialized", "params": {}},
    {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": text}}},
    {"id": 2, "method": "textDocument/hover", "params": at}, {"id": "x", "method": "textDocument/definition", "params": at},
    {"method": "textDocument/didChange", "params": {"textDocument": {"uri": uri}, "contentChanges": [{"text": text[:100]}]}},
    {"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}}, {"id": 3, "method": "shutdown"}, {"method": "exit"})]
draw = random.Random(1)
for step in range(1000):
    parts = [bytearray(part) for part in good]
    for _ in range(draw.randint(1, 6)):
        part = draw.choice(parts)
        kind, where = draw.randrange(5), draw.randrange(len(part)) if part else 0
        if kind == 0 and part: part[where] = draw.randrange(256)
        elif kind == 1: part[where:where] = bytes(draw.choices(b'{}[]",:\\0-9"!<>${%', k=draw.randint(1, 8)))
        elif kind == 2: del part[where:where + draw.randint(1, 20)]
        elif kind == 3:
            head, _, body = bytes(part).partition(b"\r\n\r\n")
            body = bytearray(body)
            if body: body[draw.randrange(len(body))] = draw.choice(b'{}[]",:0"')
            part[:] = b"Content-Length: %d\r\n\r\n%s" % (len(body), bytes(body))
        else: parts[draw.randrange(len(parts))] = bytearray(draw.choice(good))
    done = subprocess.run(["cute-lsp"], input=b"".join(parts), capture_output=True, timeout=20)
    if done.returncode not in (0, 1):
        open("crash.bin", "wb").write(b"".join(parts))
    need(done.returncode in (0, 1), step, done.returncode, done.stderr[-500:], b"".join(parts)[:3000])
END
}
