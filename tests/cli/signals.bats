#!/usr/bin/env bats
# SIGINT, SIGTERM and SIGHUP: a program that one of them ends leaves no temporary file and no process, and has ended by it.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    KERNELS=$BATS_TEST_DIRNAME/../../kernels
    cd "$BATS_TEST_TMPDIR"
    export TMPDIR=$PWD/temporary
    mkdir temporary
    # A ptxas that never ends, and a process that it has begun; the number of each is written down.
    mkdir -p toolkit/bin
    cat >toolkit/bin/ptxas <<SH
#!/bin/sh
sleep 300 &
echo \$\$ \$! >"$PWD/begun"
wait
SH
    chmod +x toolkit/bin/ptxas
    for program in nvlink fatbinary; do printf '#!/bin/sh\nexit 1\n' >toolkit/bin/$program; chmod +x toolkit/bin/$program; done
    unset CUTE_CACHE
    cute-ptx "$KERNELS/vector_add/vector_add.mlir" -o a.ptx
    printf '.version 8.4\n.target sm_90a\n.address_size 64\n' >e.ptx
    # In the background a shell has SIGINT ignored; these programs have not.
    cat >start.py <<'PY'
import os, signal, subprocess, sys, time
number, ready, *command = sys.argv[1:]
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(s, signal.SIG_DFL)
process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
for _ in range(1000):
    if os.path.exists(ready) and os.path.getsize(ready): break
    time.sleep(0.02)
else: sys.exit("it never got there")
process.send_signal(getattr(signal, "SIG" + number))
code = process.wait(60)
sys.exit(0 if code == -getattr(signal, "SIG" + number) else f"ended with {code}")
PY
}

# The command is begun and gets the signal when ptxas runs.
ends() {
    rm -f begun
    CUTE_CUDA_PATH=$PWD/toolkit python3 start.py "$1" begun "${@:2}"
    [ -z "$(find temporary -mindepth 1)" ] || { echo "$*: left"; find temporary; false; }
    [ -z "$(find . -name '.cute-*' -o -name '.ptx-*')" ]
    for process in $(cat begun); do
        ! kill -0 "$process" 2>/dev/null || grep -q '^State:.*Z' "/proc/$process/status" || { echo "$*: $process runs"; false; }
    done
}

@test "cute-link ends with its files, ptxas and what that has begun" {
    for signal in TERM INT HUP; do
        ends $signal cute-link a.ptx e.ptx -o o
        ends $signal cute-link -c a.ptx -o o
        ends $signal cute-link --fatbin -arch sm_90a a.ptx -o o
    done
    [ ! -e o ]
}

@test "cute-run and cute-dump end with cute-link that they have begun, and with its files" {
    cp "$KERNELS/vector_add/vector_add.mlir" k.mlir
    export CUTE_LIBCUDA=$CUTE_BIN/../tests/libfakecuda.so
    ends TERM cute-run k.mlir --device cuda:0 --config "$KERNELS/vector_add/launch.json"
    ends INT cute-dump resources k.mlir
    ends TERM cute-dump run k.mlir --output folder
    ends HUP cute-dump run k.mlir --output folder
}

@test "a kernel that runs on the emulator ends with cute-run" {
    cat >l.mlir <<'MLIR'
gpu.module @m {
  gpu.func @k(%p: memref<?xf32>) kernel {
    %true = arith.constant true
    %zero = arith.constant 0 : index
    %i = gpu.thread_id x
    scf.while : () -> () {
      %x = memref.load %p[%zero] : memref<?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %p[%i] : memref<?xf32>
      scf.condition(%true)
    } do {
      scf.yield
    }
    gpu.return
  }
}
MLIR
    cute-ptx l.mlir -o l.ptx
    echo '{"kernel": "k", "grid": [1], "block": [32], "buffers": {"p": {"dtype": "f32", "shape": [256]}}, "args": ["p"]}' >l.json
    cat >wrapped <<'SH'
#!/bin/sh
echo $$ >begun
exec cute-run l.ptx --config l.json --device emulator --timeout 300
SH
    chmod +x wrapped
    # half a second later it runs
    sed -i 's/^process.send_signal/time.sleep(0.7)\nprocess.send_signal/' start.py
    rm -f begun
    python3 start.py TERM begun ./wrapped
    sleep 0.2
    ! pgrep -f "cute-run l.ptx --config l.json --device emulator --timeout 300" || false
}

@test "a signal that is ignored stays ignored, as nohup has it" {
    printf '#!/bin/sh\necho $$ >begun\nsleep 1\nexit 1\n' >toolkit/bin/ptxas
    cat >ignore.py <<'PY'
import os, signal, subprocess, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
process = subprocess.Popen(["cute-link", "a.ptx", "-o", "o"])
while not os.path.exists("begun"): time.sleep(0.02)
process.send_signal(signal.SIGHUP)
assert process.wait(60) == 1, process.returncode
PY
    CUTE_CUDA_PATH=$PWD/toolkit python3 ignore.py
}
