bats_require_minimum_version 1.5.0
# Plugins, built outside of the tree against an installed copy, with gcc and clang.

setup_file() {
    case ${MAKEFLAGS:-} in *SANITIZE*) return 0 ;; esac
    cd "$BATS_TEST_DIRNAME/../.."
    export DEST=$BATS_FILE_TMPDIR/dest ROOT=$PWD LLVM=${LLVM:-/usr/lib/llvm-19}
    make --no-print-directory install DESTDIR="$DEST" PREFIX=/opt/cute >"$BATS_FILE_TMPDIR/log" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/log"; return 1; }
    export CUTE=-I$DEST/opt/cute/include
    for compiler in gcc "$LLVM/bin/clang"; do
        folder=$BATS_FILE_TMPDIR/$(basename "$compiler")
        cp -r "$DEST/opt/cute/share/cute/plugin" "$folder"
        make -s -C "$folder" CC="$compiler" CUTE="$CUTE" CFLAGS=-Werror LLVM="$LLVM" || return 1
    done
    export GCC=$BATS_FILE_TMPDIR/gcc CLANG=$BATS_FILE_TMPDIR/clang
}

setup() {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "a plugin wants the sanitizer's run-time" ;; esac
    PATH=$DEST/opt/cute/bin:$PATH
    cd "$BATS_TEST_TMPDIR"
    MINE=$GCC/libmine.so WATCH=$GCC/libwatch.so
    cat >f.mlir <<'EOF'
func.func @f(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  return %c : i32
}
EOF
    cat >k.mlir <<'EOF'
gpu.module @m {
  gpu.func @k(%x: !cute.memref<f32, gmem, "?:1">, %y: !cute.memref<f32, gmem, "?:1">) kernel {
    %i = nvvm.read.ptx.sreg.tid.x : i32
    %a = cute.memref.load %x[%i]
    %b = mine.scale %a {factor = 3.0 : f32} : (f32) -> f32
    cute.memref.store %y[%i], %b
    gpu.return
  }
}
EOF
    cat >k.json <<'EOF'
{ "kernel": "k", "grid": 1, "block": 64, "args": ["x", "y"],
  "buffers": { "x": { "dtype": "f32", "shape": [64], "init": "normal" }, "y": { "dtype": "f32", "shape": [64] } },
  "check": { "y": "x[i] * 3" } }
EOF
}

# A plugin with a mistake: wrong NAME [linker options] -> NAME.so
wrong() {
    name=$1
    shift
    gcc -std=c17 -O1 -fPIC -shared "$CUTE" -I"$LLVM/include" -DWRONG_"$name" -o "$name.so" "$ROOT/tests/plugin/wrong.c" "$@"
}

# refused NAME TEXT...: cute-opt ends with 1 and says all of it, after the file's name.
refused() {
    file=$1
    shift
    run -1 --separate-stderr cute-opt --load-plugin="$file" f.mlir
    said=$stderr
    [[ $said == "$file: error: "* ]] || { echo "$said"; false; }
    for text in "$@"; do [[ $said == *"$text"* ]] || { echo "$said"; echo "expected: $text"; false; }; done
}

@test "a pass with options changes the IR, as an option and in a pipeline" {
    sed -n '5p' k.mlir >line
    for plugin in "$GCC" "$CLANG"; do
        run -0 cute-opt --load-plugin="$plugin/libmine.so" k.mlir --pass-pipeline='builtin.module(mine-lower{times=2},cse)'
        [ "$(grep -c arith.addf <<<"$output")" -eq 2 ]
        [ "$(grep -c arith.mulf <<<"$output")" -eq 1 ]
        [[ $output != *mine.scale* ]]
        run -0 cute-opt --load-plugin "$plugin/libmine.so" k.mlir --mine-lower
        [ "$(grep -c arith.addf <<<"$output")" -eq 0 ]
        [[ $output == *"arith.mulf"* ]]
    done
    # the names of mlir-opt
    run -0 cute-opt --load-pass-plugin="$MINE" k.mlir --mine-lower
    [[ $output == *"arith.mulf"* ]]
    run -0 cute-opt --load-dialect-plugin="$MINE" k.mlir
    [[ $output == *"mine.scale %"*" {factor = 3.000000e+00 : f32} : (f32) -> f32"* ]]
}

@test "passes, pipelines and their options are in --help" {
    wrong nothing
    run -0 cute-opt --load-plugin=./nothing.so --load-plugin="$MINE" --help
    [[ $output == *"--mine-lower "*"Lower mine.scale to arith"*"--times=<long>"*"Additions of the factor"* ]]
    [[ $output == *"--wrong-nothing "*"--count=<long>"* ]]
    [[ $output == *"--wrong-all "*"A pipeline"* ]]
    run -0 cute-opt --help
    [[ $output == *"--load-plugin=<FILE>"* ]]
    [[ $output != *mine-lower* ]]
}

@test "a plugin is written in C or in C++" {
    cat >hello.c <<'EOF'
#include <mlir-c/IR.h>
#include <cute/plugin.h>
static const cute_host *host;
static void run_hello(MlirOperation root, cute_pass_run *run)
{
    host->compiler->warning(mlirOperationGetLocation(root), "hello");
    host->compiler->unchanged(run);
}
static const cute_plugin_pass passes[] = {{.name = "mine-hello", .help = "Greet", .run = run_hello}};
CUTE_PLUGIN cute_plugin_info = {CUTE_PLUGIN_VERSION, .name = "mine", .host = &host, .passes = CUTE_ROWS(passes)};
EOF
    for compiler in "gcc -std=c17" "$LLVM/bin/clang -std=c17" "g++ -std=c++20 -xc++" "$LLVM/bin/clang++ -std=c++20 -xc++"; do
        $compiler -Wall -Wextra -Werror -Wno-missing-field-initializers -fvisibility=hidden -fPIC -shared "$CUTE" -I"$LLVM/include" hello.c -o hello.so
        run -0 --separate-stderr cute-opt --load-plugin=hello.so f.mlir --mine-hello
        [ "$stderr" = "f.mlir: warning: hello" ]
        rm hello.so
    done
}

@test "a wrong option of a plugin's pass is refused with the pass's name" {
    run -1 --separate-stderr cute-opt --load-plugin="$MINE" k.mlir --pass-pipeline='builtin.module(mine-lower{time=2})'
    [[ $stderr == *"mine-lower"*"time"* ]] || { echo "$stderr"; false; }
    run -1 --separate-stderr cute-opt --load-plugin="$MINE" k.mlir --pass-pipeline='builtin.module(mine-lower{times=x})'
    [[ $stderr == *"times"* ]] || { echo "$stderr"; false; }
}

@test "a named pipeline of a plugin and a step in the default lowering run" {
    wrong nothing
    run -0 cute-opt --load-plugin=nothing.so --print-pipeline=wrong-all
    [[ $output == *"wrong-nothing{count=1"*"canonicalize"* ]]
    run -0 cute-opt --load-plugin=nothing.so --print-pipeline=cute-full-lowering
    [[ $(tr -d '\n ' <<<"$output") == *"cute-wrap-kernels,wrong-last,cute-tile-expand,"* ]] || { echo "$output"; false; }
    run -0 cute-opt --print-pipeline=cute-full-lowering
    [[ $output != *wrong* ]]
    # cute-ptx runs it, too
    sed -i '/mine.scale/d; s/, %b$/, %a/' k.mlir
    run -0 --separate-stderr cute-ptx --load-plugin=nothing.so --mlir-print-ir-after-all k.mlir
    [[ $stderr == *"IR Dump After wrong-last"*"IR Dump After cute-tile-expand"* ]]
}

@test "an operation of a plugin is verified at its place" {
    sed -i 's/ {factor = 3.0 : f32}//' k.mlir
    run -1 --separate-stderr cute-opt --load-plugin="$MINE" k.mlir
    [[ $stderr == "k.mlir:5:10: error: 'mine.scale' op expects the attribute 'factor'"*"    %b = mine.scale %a : (f32) -> f32"$'\n'"         ^"* ]] ||
        { echo "$stderr"; false; }
    sed -i 's/mine.scale %a/mine.scale %a, %a {factor = 3.0 : f32}/; s/(f32) ->/(f32, f32) ->/' k.mlir
    run -1 --separate-stderr cute-opt --load-plugin="$MINE" k.mlir
    [[ $stderr == "k.mlir:5:10: error: 'mine.scale' op expects 1 operand, got 2"* ]] || { echo "$stderr"; false; }
    sed -i 's/%a, %a/%i/; s/(f32, f32)/(i32)/' k.mlir
    run -1 --separate-stderr cute-opt --load-plugin="$MINE" k.mlir
    [[ $stderr == "k.mlir:5:10: error: 'mine.scale' op expects f32, got another type"* ]] || { echo "$stderr"; false; }
    sed -i 's/ : (i32) -> f32//' k.mlir
    run -1 --separate-stderr cute-opt --load-plugin="$MINE" k.mlir
    [[ $stderr == "k.mlir:5:21: error: custom op 'mine.scale' expected ': (types of operands) -> types of results'"* ]] || { echo "$stderr"; false; }
}

@test "an operation with regions is read and printed" {
    wrong nothing
    printf 'func.func @f(%%a: i32) {\n  wrong.any %%a {n = 1 : i32} : (i32) -> () {\n    gpu.yield\n  } {\n  ^bb0(%%x: i32):\n    %%y = wrong.any %%x : (i32) -> i32\n    gpu.yield %%y : i32\n  }\n  return\n}\n' >r.mlir
    cute-opt --load-plugin=nothing.so r.mlir --source-map=off >once
    cute-opt --load-plugin=nothing.so once --source-map=off >twice
    diff once twice
    grep -q 'wrong.any %arg0 {n = 1 : i32} : (i32) -> () {' once
}

@test "a kernel with an operation of a plugin runs on the emulator" {
    cute-ptx --load-plugin="$MINE" --pass-pipeline=mine-lower -lineinfo k.mlir >k.ptx
    cute-run k.ptx -c k.json -d emulator --check=all
    # the same in a single program, by a step
    cat >step.c <<'EOF'
#include <cute/plugin.h>
static const cute_plugin_step steps[] = {{"cute-full-lowering", "cute-import-kernels", NULL, "mine-lower"}};
CUTE_PLUGIN cute_plugin_info = {CUTE_PLUGIN_VERSION, .name = "step", .steps = CUTE_ROWS(steps)};
EOF
    gcc -std=c17 -fPIC -shared "$CUTE" -o step.so step.c
    cute-run --load-plugin="$MINE" --load-plugin=step.so k.mlir -c k.json -d emulator --check=all
    # without the lowering
    run -1 --separate-stderr cute-ptx --load-plugin="$MINE" k.mlir
    [[ $stderr == "k.mlir:5:10: error: 'mine.scale' op is not lowered to PTX on (f32)"* ]]
}

@test "a pipeline that lowers the kernels replaces the default lowering" {
    pipeline='builtin.module(mine-lower,cute-to-nvvm{cubin-format=bin opt-level=3})'
    cute-ptx --load-plugin="$MINE" --pass-pipeline="$pipeline" -lineinfo k.mlir >k.ptx
    cute-run k.ptx -c k.json -d emulator --check=all
    cute-ptx --load-plugin="$MINE" --pass-pipeline="$pipeline" --mlir-print-ir-after-all k.mlir 2>err >k.ptx
    [ "$(grep -c 'Dump After cute-nvgpu-copy-lowering' err)" -eq 1 ]
    # one by one
    cat >g.mlir <<'EOF'
gpu.module @m {
  gpu.func @k(%x: memref<64xf32>, %y: memref<64xf32>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %x[%i] : memref<64xf32>
    %three = arith.constant 3.0 : f32
    %b = arith.mulf %a, %three : f32
    memref.store %b, %y[%i] : memref<64xf32>
    gpu.return
  }
}
EOF
    own='gpu.module(convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true},convert-index-to-llvm'
    rest='),finalize-memref-to-llvm,gpu.module(canonicalize,reconcile-unrealized-casts)'
    cute-ptx --pass-pipeline="builtin.module($own,convert-arith-to-llvm$rest)" g.mlir >g.ptx
    cute-run g.ptx -c k.json -d emulator --check=all
    run -1 --separate-stderr cute-ptx --pass-pipeline='builtin.module(gpu.module(convert-gpu-to-nvvm))' g.mlir
    [[ $stderr == "g.mlir:2:"*": error: 'builtin.unrealized_conversion_cast' op is not lowered to PTX"*"note: the pipeline lowers the kernels to llvm.func, so the default lowering does not run"* ]] ||
        { echo "$stderr"; false; }
    # passes that do not lower kernels are before the default lowering
    cute-ptx --pass-pipeline='builtin.module(canonicalize,cse)' g.mlir >/dev/null
    run -1 --separate-stderr cute-ptx -arch sm_80 --load-plugin="$MINE" --pass-pipeline="$pipeline" k.mlir
    [[ $stderr == "k.mlir:1:1: error: the pipeline lowers the kernels for sm_90a, and cute-ptx generates PTX for sm_80"*"cubin-chip=sm_80"* ]]
    cute-ptx -arch sm_80 --load-plugin="$MINE" --pass-pipeline='builtin.module(mine-lower,cute-to-nvvm{cubin-chip=sm_80})' k.mlir |
        grep -q '^.target sm_80'
}

@test "a file of PDL patterns is a pass of its name" {
    cat >add_to_or.mlir <<'EOF'
pdl.pattern @add : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %y = pdl.operand : %type
  %add = pdl.operation "arith.addi" (%x, %y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %add {
    %or = pdl.operation "arith.ori" (%x, %y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
    pdl.replace %add with %or
  }
}
EOF
    run -0 cute-opt --load-plugin=add_to_or.mlir f.mlir --add-to-or
    [[ $output == *"arith.ori %arg0, %arg1 : i32"* ]]
    [[ $output != *arith.addi* ]]
    run -0 cute-opt --load-plugin=add_to_or.mlir f.mlir --pass-pipeline='builtin.module(func.func(add-to-or),cse)'
    [[ $output == *"arith.ori"* ]]
    run -0 cute-opt --load-plugin=add_to_or.mlir --help
    [[ $output == *"--add-to-or "*"Apply the patterns of add_to_or.mlir until none matches"* ]]
    cute-ptx --load-plugin=add_to_or.mlir --pass-pipeline=add-to-or --emit=mlir f.mlir | grep -q arith.ori
    # PDL that is lowered to pdl_interp
    cute-opt --convert-pdl-to-pdl-interp add_to_or.mlir --source-map=off >lowered.mlir
    run -0 cute-opt --load-plugin=lowered.mlir f.mlir --lowered
    [[ $output == *"arith.ori"* ]] || { echo "$output"; false; }
}

@test "wrong patterns are refused at their place" {
    cat >p.mlir <<'EOF'
pdl.pattern @add : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %add = pdl.operation "arith.addi" (%x, %x : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %add {
    pdl.replace %add with (%x : !pdl.value)
  }
}
EOF
    cp p.mlir p-q.mlir
    cute-opt --load-plugin=p-q.mlir f.mlir --p-q >/dev/null
    # -p is an option of MLIR
    run -2 --separate-stderr cute-opt --load-plugin=p.mlir f.mlir
    [[ $stderr == *"Option 'p' registered"*"error: a pass of a plugin has the name of an option"*"rename the pass"* ]] || { echo "$stderr"; false; }
    sed 's/pdl.replace %add/pdl.replase %add/' p.mlir >syntax.mlir
    run -1 --separate-stderr cute-opt --load-plugin=syntax.mlir f.mlir
    [[ $stderr == "syntax.mlir:6:5: error: "*"    pdl.replase %add with"*"    ^"* ]] || { echo "$stderr"; false; }
    sed 's/benefit(1)/benefit(-1)/' p.mlir >verify.mlir
    run -1 --separate-stderr cute-opt --load-plugin=verify.mlir f.mlir
    [[ $stderr == "verify.mlir:1:1: error: "* ]] || { echo "$stderr"; false; }
    sed '/pdl.rewrite/i\  pdl.apply_native_constraint "even"(%x : !pdl.value)' p.mlir >native.mlir
    run -1 --separate-stderr cute-opt --load-plugin=native.mlir f.mlir
    [[ $stderr == "native.mlir:5:3: error: 'pdl.apply_native_constraint' calls a native function"*"note: "* ]] || { echo "$stderr"; false; }
    cp f.mlir none.mlir
    refused none.mlir "expected PDL patterns, got a module without pdl.pattern" "mlir-pdll"
    cp p.mlir cse.mlir
    refused cse.mlir "pass 'cse': a pass or pipeline has the name of the file" "rename the file"
    cp p.mlir 1.mlir
    refused 1.mlir "expected a file name that begins with a letter"
    run -3 --separate-stderr cute-opt --load-plugin=nowhere.mlir f.mlir
    [[ $stderr == *"cannot read 'nowhere.mlir': No such file"* ]]
    # a pattern that matches its own result
    sed -e 's/pdl.replace %add with .*/%again = pdl.operation "arith.addi" (%x, %x : !pdl.value, !pdl.value) -> (%type : !pdl.type)\n    pdl.replace %add with %again/' p.mlir >again.mlir
    sed -i 's/%a, %b : i32/%a, %a : i32/' f.mlir
    run -1 --separate-stderr cute-opt --load-plugin=again.mlir f.mlir --again
    [[ $stderr == "f.mlir:"*"error: the patterns of again still match after "*"rewrites: one undoes another"* ]] || { echo "$stderr"; false; }
}

@test "a check of a plugin finds a planted bug, and not its fixed version" {
    cat >bug.mlir <<'EOF'
gpu.module @m {
  gpu.func @k(%x: !cute.memref<f32, gmem, "?:1">, %y: !cute.memref<f32, gmem, "?:1">) kernel {
    %i = nvvm.read.ptx.sreg.tid.x : i32
    %c = arith.constant 2 : i32
    %h = arith.divui %i, ${DIVISOR} : i32
    %a = cute.memref.load %x[%h]
    cute.memref.store %y[%h], %a
    gpu.return
  }
}
EOF
    sed -i 's/${DIVISOR}/%d/; /%c = /a\    %d = arith.constant ${DIVISOR} : i32' bug.mlir
    sed -i 's/x\[i\] \* 3/x[i]/; s/"shape": \[64\] } },/"shape": [64], "init": 0 } },/' k.json
    cute-ptx -lineinfo -D DIVISOR=2 bug.mlir >bug.ptx
    cute-ptx -lineinfo -D DIVISOR=1 bug.mlir >good.ptx
    for plugin in "$GCC" "$CLANG"; do
        run -0 --separate-stderr cute-run bug.ptx -c k.json -d emulator --no-check --load-plugin="$plugin/libwatch.so" --check=once
        [[ $stderr == *"bug.ptx:"*": warning: once: st stores to 0x"*" again"*"st.global.f32"*"in kernel 'k', block (0, 0, 0), thread (1, 0, 0), at bug.mlir:8:5"*"32 occurrences"*"the later value counts; --strict makes it an error"* ]] ||
            { echo "$stderr"; false; }
        run -0 --separate-stderr cute-run good.ptx -c k.json -d emulator --load-plugin="$plugin/libwatch.so" --check=all
        [ -z "$stderr" ]
        [[ $output == *"once"*"passed"* ]]
    done
    run -4 --separate-stderr cute-run bug.ptx -c k.json -d emulator --no-check --load-plugin="$WATCH" --check=once --strict
    [[ $stderr == *"error: once: "* ]]
    run -0 --separate-stderr cute-run bug.ptx -c k.json -d emulator --no-check --load-plugin="$WATCH" --check=once --strict --allow=once@bug.mlir:8
    [[ $stderr == *"warning: once: "*"allowed by --allow"* ]]
    cute-run bug.ptx -c k.json -d emulator --no-check --load-plugin="$WATCH" --check=once --json 2>/dev/null |
        jq -e '[.. | objects | select(.code? == "X0101")][0] | .check == "once" and .count == 32 and .severity == "warning"'
    run -2 --separate-stderr cute-run bug.ptx -c k.json -d emulator --load-plugin="$WATCH" --check=twice
    [[ $stderr == *"--check expects a list of all, memory"*", once, got 'twice'"* ]]
    run -2 --separate-stderr cute-run bug.ptx -c k.json -d emulator --check=once
    [[ $stderr == *"got 'once'"* ]]
}

@test "a reduction of a plugin is used in launch.json" {
    sed -i 's/mine.scale.*/arith.addf %a, %a : f32/' k.mlir
    sed -i 's/"x\[i\] \* 3"/{ "expr": "2 * x[i] + logsumexp(k, x[k]) - log(sum(k, exp(x[k])))", "rtol": 1e-5, "atol": 1e-5 }/' k.json
    cute-ptx k.mlir >k.ptx
    run -0 cute-run k.ptx -c k.json -d emulator --load-plugin="$WATCH"
    [[ $output == *"check y: passed, 64 elements"* ]]
    sed -i 's/- log(sum/- 2 * log(sum/' k.json
    run -4 cute-run k.ptx -c k.json -d emulator --load-plugin="$WATCH"
    run -1 --separate-stderr cute-run k.ptx -c k.json -d emulator
    [[ $stderr == "k.json:"*"error: unknown function 'logsumexp'"* ]]
}

@test "a finding of a plugin is explained and listed" {
    cat >b.ptx <<'EOF'
.version 8.0
.target sm_90
.address_size 64
.visible .entry b(.param .u64 x, .param .u64 y) {
  .reg .u64 %rd<6>; .reg .u32 %r<4>; .reg .u16 %h<3>; .reg .pred %p;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x; cvt.u64.u32 %rd3, %r1; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
  mov.u32 %r2, 0;
L: ld.global.u8 %h1, [%rd4];
  st.global.u8 [%rd5], %h1;
  add.u64 %rd4, %rd4, 32; add.u64 %rd5, %rd5, 32;
  add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 100; @%p bra L;
  ret;
}
EOF
    run -0 cute-dump explain b.ptx --load-plugin="$WATCH"
    [[ $output == *"b.ptx:9: byte-loads: loads of single bytes (about "*"a lane loads 1 byte at a time"*"fix: load 4 bytes at a time"* ]] || { echo "$output"; false; }
    cute-dump explain b.ptx --load-plugin="$WATCH" --json | jq -e '[.kernels[].findings[] | select(.code == "X0201")] | length == 1'
    sed 's/u8/u32/g; s/\.u16 %h/.u32 %h/' b.ptx >wide.ptx
    run -0 cute-dump explain wide.ptx --load-plugin="$WATCH"
    [[ $output != *byte-loads* ]]
    run -0 cute-dump findings X0201 --load-plugin="$WATCH"
    [[ $output == "X0201 byte-loads: loads of single bytes (PTX)"* ]]
    run -1 cute-dump findings X0201
}

@test "cute-dump passes plugins on to the compiler" {
    cute-dump run k.mlir -o d --load-plugin="$MINE" --pass-pipeline=mine-lower || [ $? -eq 3 ]
    ls d | grep -q mine-lower
}

@test "files that are no plugins are refused" {
    run -3 --separate-stderr cute-opt --load-plugin=nowhere.so f.mlir
    [[ $stderr == *"cannot read"*"nowhere.so': No such file or directory"* ]]
    echo text >text.so
    refused text.so "expected a shared library or MLIR patterns (.mlir), got neither" "link a plugin with -shared"
    : >empty.so
    refused empty.so "got neither"
    cp "$MINE" other.so
    printf '\267\000' | dd of=other.so bs=1 seek=18 conv=notrunc status=none
    [ "$(uname -m)" != x86_64 ] || refused other.so "expected a shared library for x86-64, got one for AArch64" "compile the plugin for the machine"
    cp "$MINE" narrow.so
    printf '\001' | dd of=narrow.so bs=1 seek=4 conv=notrunc status=none
    refused narrow.so "expected a shared library for"
    gcc -std=c17 -fPIC "$CUTE" -I"$LLVM/include" -c "$ROOT/tests/plugin/wrong.c" -o object.so
    refused object.so "got an object file" "link it with -shared"
    head -c 3000 "$MINE" >cut.so
    refused cut.so "got a damaged one"
    cp /bin/ls program.so
    refused program.so "no cute_plugin_info"
    wrong no_entry
    refused no_entry.so "no cute_plugin_info: the shared library is not a plugin of this program" "define 'CUTE_PLUGIN cute_plugin_info"
    run -1 --separate-stderr cute-ptx --load-plugin=text.so f.mlir
    [[ $stderr == "text.so: error: "* ]]
    run -1 --separate-stderr cute-run --load-plugin=text.so f.mlir
    [[ $stderr == "text.so: error: "* ]]
    run -1 --separate-stderr cute-dump explain --load-plugin=text.so f.mlir
    [[ $stderr == "text.so: error: "* ]]
    run -1 --separate-stderr cute-lsp --load-plugin=text.so
    [[ $stderr == "text.so: error: "* ]]
}

@test "plugins for another version are refused, naming both" {
    wrong major
    refused major.so "the plugin is for version 2.0 of the plugin interface, and cute-opt has 1.0" "compile the plugin with this program's cute/plugin.h"
    wrong minor
    refused minor.so "for version 1.1 of the plugin interface, and cute-opt has 1.0" "install a later libcute"
    wrong size
    refused size.so "expected a cute_plugin of at least " "got 64" "CUTE_PLUGIN_VERSION"
    wrong rows
    refused rows.so "in the list of passes, got 8" "CUTE_ROWS"
    wrong mlir_version
    refused mlir_version.so "the plugin is compiled for MLIR 20, and cute-opt has MLIR 19" "headers of MLIR 19"
    wrong anonymous
    refused anonymous.so "expected a name in cute_plugin_info"
    # the code of such a plugin does not run
    gcc -std=c17 -O1 -fPIC -shared "$CUTE" -I"$LLVM/include" -DWRONG_major -DWRONG_constructor -o both.so "$ROOT/tests/plugin/wrong.c"
    refused both.so "for version 2.0"
}

@test "a plugin with an MLIR of its own is refused before it is loaded" {
    wrong own_mlir
    refused own_mlir.so "the plugin contains a second MLIR (mlirOperationVerifyOfAnotherMlir)" "leave MLIR out of the plugin's link"
    if [ -e "$LLVM/lib/libMLIR.so" ]; then
        wrong linked -Wl,--no-as-needed -L"$LLVM/lib" -lMLIR
        refused linked.so "the plugin links libMLIR.so" "leave MLIR out of the plugin's link"
    fi
    wrong cxx
    refused cxx.so "calls MLIR's C++ interface (_ZN4mlir9Operation7destroyEv)" "mlir-c/IR.h"
    wrong unknown_mlir
    refused unknown_mlir.so "needs the function 'mlirNobodyDefinesThis', which cute-opt does not have" "headers of the program's MLIR"
    wrong unknown_function
    refused unknown_function.so "needs the function 'nobody_defines_this'" "link the library that defines it"
    # cute-run has no MLIR: functions that it does not call may be undefined
    wrong nothing -Wl,-z,lazy
    cute-run --load-plugin=nothing.so --list-devices >/dev/null
    wrong now -Wl,-z,now
    run -1 --separate-stderr cute-run --load-plugin=now.so k.mlir
    [[ $stderr == "now.so: error: the plugin calls MLIR (mlir"*"which cute-run does not have"*"-Wl,-z,lazy"* ]] || { echo "$stderr"; false; }
}

@test "wrong rows are refused with the row's name" {
    while IFS='|' read -r name text; do
        wrong "$name"
        refused "$name.so" "$text"
    done <<'EOF'
pass_twice|pass 'wrong-nothing': pass_twice.so has a pass of this name, too
pass_builtin|pass 'canonicalize': a pass or pipeline of MLIR or libcute has this name
pass_without_run|pass 'wrong-empty': expected the function 'run', got NULL
pass_name|pass 'wrong pass': expected a name of letters, digits and '-'
option_kind|pass 'wrong-nothing': option 'kind' expects the kind CUTE_PLUGIN_BOOL, _INT or _TEXT, got 7
option_default|pass 'wrong-nothing': option 'many' expects an integer as default, got 'some'
option_twice|pass 'wrong-nothing': two options are named 'count'
needs|pass 'wrong-needs': 'no-such-pass' does not refer to a registered pass or pass pipeline
pipeline_passes|pipeline 'wrong-none': 'no-such-pass' does not refer to a registered pass or pass pipeline
step_pipeline|step 'wrong-nothing': there is no pipeline 'no-such-pipeline' to add it to
step_place|step 'wrong-nothing': the pipeline 'cute-full-lowering' does not run the pass 'no-such-pass'
step_both|step 'wrong-nothing': expected one of 'before' and 'after', got both
operation_dialect|operation 'arith.scale': MLIR or libcute has the dialect
operation_name|operation 'scale': expected a name such as mine.scale
init_refuses|the plugin refuses to start: no licence on this machine
EOF
    wrong pass_option
    run -2 --separate-stderr cute-opt --load-plugin=pass_option.so f.mlir
    [[ $stderr == *"the pass 'remarks' of a plugin has the name of an option"* ]]
    cp "$MINE" copy.so
    run -1 --separate-stderr cute-opt --load-plugin="$MINE" --load-plugin=copy.so f.mlir
    [[ $stderr == "copy.so: error: pass 'mine-lower': $MINE has a pass of this name, too"* ]] || { echo "$stderr"; false; }
    run -1 --separate-stderr cute-opt --load-plugin=copy.so --load-plugin=copy.so f.mlir
    [[ $stderr == "copy.so: error: the plugin is loaded twice"* ]]
}

@test "wrong rows of the run-time half are refused by cute-run and cute-dump" {
    sed -i 's/mine.scale.*/arith.addf %a, %a : f32/' k.mlir
    cute-ptx k.mlir >k.ptx
    while IFS='|' read -r name text; do
        wrong "$name" -Wl,-z,lazy
        run -1 --separate-stderr cute-run k.ptx -c k.json -d emulator --load-plugin="$name.so"
        [[ $stderr == "$name.so: error: $text"* ]] || { echo "$stderr"; false; }
    done <<'EOF'
code|check 'steps': expected a code of X and four digits, got 'K0101'
reason|check 'steps': X0102: expected an error, or a warning with its reason
check_builtin|check 'race': the emulator has a check of this name
check_twice|check 'steps': another check of a plugin has this name
reduction_builtin|reduction 'mean': a function of launch.json has this name
EOF
    wrong finding_builtin -Wl,-z,lazy
    run -1 --separate-stderr cute-dump explain k.ptx --load-plugin=finding_builtin.so
    [[ $stderr == *"finding_builtin.so: error: finding 'spill': explain has a finding of this name"* ]]
    run -2 --separate-stderr cute-run k.mlir -c k.json -d emulator --load-plugin="$WATCH" --tune
    [[ $stderr == *"--tune and --load-plugin are mutually exclusive"* ]]
}

@test "a crash in a plugin names it and the place in it" {
    wrong nothing -Wl,-z,lazy
    plugin=./nothing.so
    crashed() {
        signal=$1 text=$2
        shift 2
        run --separate-stderr "$@"
        [ "$status" -eq $((128 + signal)) ] || { echo "$status $stderr"; false; }
        [[ $stderr == *"$text"* ]] || { echo "$stderr"; false; }
    }
    crashed 11 "cute-opt: error: the plugin ./nothing.so crashed in the pass 'wrong-crash': segmentation fault" \
        cute-opt --load-plugin=$plugin f.mlir --wrong-crash
    crashed 11 "crashed in the pass 'wrong-overflow': segmentation fault" cute-opt --load-plugin=$plugin --mlir-disable-threading f.mlir --wrong-overflow
    crashed 6 "crashed in the pass 'wrong-abort': abort" cute-opt --load-plugin=$plugin f.mlir --wrong-abort
    crashed 11 "cute-ptx: error: the plugin ./nothing.so crashed in the pass 'wrong-crash'" cute-ptx --load-plugin=$plugin --pass-pipeline=wrong-crash f.mlir
    wrong init_crash
    crashed 11 "cute-opt: error: the plugin ./init_crash.so crashed in the function 'init'" cute-opt --load-plugin=./init_crash.so f.mlir
    wrong constructor
    crashed 6 "the plugin ./constructor.so crashed in the constructor './constructor.so': abort" cute-opt --load-plugin=./constructor.so f.mlir
    # LLVM gives up
    run -1 --separate-stderr cute-opt --load-plugin=$plugin f.mlir --wrong-fatal
    [[ $stderr == *"error: "*"Unsupported setInherentAttr on Dynamic dialects, in the pass 'wrong-fatal' of the plugin ./nothing.so"* ]] || { echo "$stderr"; false; }
    # in the process of the launch
    sed -i 's/mine.scale.*/arith.addf %a, %a : f32/' k.mlir
    cute-ptx k.mlir >k.ptx
    run -3 --separate-stderr cute-run k.ptx -c k.json -d emulator --load-plugin=$plugin --check=steps
    [[ $stderr == *"cute-run: error: the plugin ./nothing.so crashed in the check 'steps': segmentation fault"* ]] || { echo "$stderr"; false; }
}

@test "passes that a pass needs run before it, once" {
    wrong nothing
    ran() {
        run -0 --separate-stderr cute-opt --remarks --load-plugin=nothing.so f.mlir "$@"
        [ "$(grep -oE 'wrong-(first|second|third)' <<<"$stderr" | tr '\n' ' ')" = "$expected" ] || { echo "$stderr"; false; }
    }
    expected='wrong-first wrong-second wrong-third ' ran --wrong-third
    expected='wrong-first wrong-second wrong-third ' ran --pass-pipeline='builtin.module(wrong-first,cse,wrong-second,canonicalize,wrong-third)'
    expected='wrong-first wrong-second ' ran --pass-pipeline='builtin.module(func.func(wrong-second))'
}

@test "a program that links libcute loads plugins" {
    cat >p.c <<'EOF'
#include <cute/plugin.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    cute_plugins *plugins;
    cute_diag *diag = cute_diag_create();
    cute_status status = cute_plugins_open((const char *const *)argv + 1, (size_t)argc - 1, &plugins, diag);
    puts(status ? cute_diag_get(diag, 0)->text : "loaded");
    cute_plugins_close(plugins);
    cute_diag_destroy(diag);
    return (int)status;
}
EOF
    cc -std=c17 -Wall -Wextra -Werror "$CUTE" p.c -L"$DEST/opt/cute/lib" -lcute -o p
    export LD_LIBRARY_PATH=$DEST/opt/cute/lib
    run -0 ./p "$WATCH" "$MINE"
    [ "$output" = loaded ]
    run -1 ./p "$WATCH" "$WATCH"
    [ "$output" = "the plugin is loaded twice" ]
}

@test "conditions of a pass and operations that it forgot are errors" {
    wrong nothing
    run -1 --separate-stderr cute-opt --load-plugin=nothing.so f.mlir --wrong-requires
    [[ $stderr == "f.mlir: error: the requirement of the pass 'wrong-requires' does not hold"* ]] || { echo "$stderr"; false; }
    run -1 --separate-stderr cute-opt --load-plugin=nothing.so f.mlir --wrong-ensures
    [[ $stderr == "f.mlir: error: the guarantee of the pass 'wrong-ensures' does not hold"* ]] || { echo "$stderr"; false; }
    run -1 --separate-stderr cute-opt --load-plugin=nothing.so f.mlir --wrong-stray
    [[ $stderr == "f.mlir:2:8: error: the pass 'wrong-stray' of the plugin nothing.so made 'arith.muli' from a value of the module, but neither inserted it nor destroyed it"* ]] || { echo "$stderr"; false; }
    run -1 --separate-stderr cute-opt --load-plugin=nothing.so f.mlir --wrong-fail
    [[ $stderr == "f.mlir:2:8: error: no addition here"* ]] || { echo "$stderr"; false; }
    sed -i 's/arith.addi/arith.ori/' f.mlir
    cute-opt --load-plugin=nothing.so f.mlir --wrong-requires --wrong-ensures --wrong-stray >/dev/null
}

@test "cute-lit runs the tests of a plugin, with and without LLVM's FileCheck" {
    for own in "" 1; do
        export CUTE_LIT_OWN=$own
        run -0 cute-lit -D plugin="$MINE" "$GCC"
        [[ $output == *"passed "*"mine.mlir"*"1 passed, 0 failed" ]]
        cat >bad.mlir <<'EOF'
// RUN: cute-opt --load-plugin=%{plugin} %s --mine-lower > %t
// RUN: FileCheck %s --input-file=%t
// CHECK: arith.ori
func.func @f() { return }
EOF
        run -1 cute-lit -D plugin="$MINE" bad.mlir "$GCC"
        [[ $output == *"FAILED bad.mlir"*"CHECK: arith.ori"*"1 passed, 1 failed" || $output == *"FAILED bad.mlir"*"expected 'arith.ori'"*"1 passed, 1 failed" ]] || { echo "$output"; false; }
        sed -i '1i // XFAIL: *' bad.mlir
        run -0 cute-lit -D plugin="$MINE" bad.mlir
        cat >not.mlir <<'EOF'
// RUN: cute-opt %s | FileCheck %s
// CHECK-LABEL: func.func @f(
// CHECK-SAME: [[A:%[a-z0-9]+]]: i32
// CHECK-NOT: arith.ori
// CHECK: [[C:%.*]] = arith.addi [[A]], [[A]]
// CHECK-NEXT: return [[C]]
func.func @f(%a: i32) -> i32 { %c = arith.addi %a, %a : i32 return %c : i32 }
EOF
        run -0 cute-lit not.mlir
        sed -i 's/= arith.addi %a, %a/= arith.ori %a, %a/' not.mlir
        run -1 cute-lit not.mlir
    done
    run -1 cute-lit bad.mlir
    [[ $output == *"%{plugin} has no value: -D plugin=VALUE"* ]]
    run -1 cute-lit nowhere.mlir
    [[ $output == *"no such test: nowhere.mlir"* ]]
}

@test "the language server knows the operations of a plugin" {
    PYTHONPATH=$ROOT/tests/cli timeout 60 python3 - "$MINE" <<'EOF'
import sys
from lsp_client import Client, need
text = open("k.mlir").read()
for options, wrong in (((), 1), ((f"--load-plugin={sys.argv[1]}",), 0)):
    c = Client(*options)
    c.start()
    found = c.open("file:///nowhere/k.mlir", text)
    need(sum("mine" in d["message"] for d in found) == wrong, found)
EOF
}
