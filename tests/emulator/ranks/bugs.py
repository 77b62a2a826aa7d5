#!/usr/bin/env python3
"""Planted bugs of kernels that run on several devices, each with a clean version: bugs.py BIN [NAME ...]

A line that starts with `-` is only in the clean version, one with `+` only in the buggy one. A following `!` marks the
line that the check has to report, in the buggy version. Every kernel takes tables of each rank's window W (64 u32) and
flags F (8 u32), an output C (64 u32), the rank, the number of ranks and the number of the launch, from 1, and runs as one
block of 64 threads, or as many as the fourth entry states. The clean version has to pass with all checks and every seed, with the right result; in the buggy one
the code has to be found, at the line, on each number of ranks and with every seed."""
import os
import re
import subprocess
import sys
import tempfile

HEAD = """.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pW, .param .u64 pF, .param .u64 pC, .param .u32 pRank, .param .u32 pRanks, .param .u32 pEpoch)
{
    .reg .b32 %r<32>;
    .reg .b64 %rd<32>;
    .reg .pred %p<8>;
    .shared .align 128 .b8 tile[256];
    ld.param.u64 %rd1, [pW];
    ld.param.u64 %rd2, [pF];
    ld.param.u64 %rd3, [pC];
    ld.param.u32 %r2, [pRank];
    ld.param.u32 %r3, [pRanks];
    ld.param.u32 %r11, [pEpoch];
    mov.u32 %r6, %tid.x;
    mov.u32 %r7, %ctaid.x;
    mov.u32 %r8, %ntid.x;
    mad.lo.u32 %r1, %r7, %r8, %r6;
    setp.ne.u32 %p6, %r6, 0;
    add.u32 %r4, %r2, 1;
    rem.u32 %r4, %r4, %r3;
    add.u32 %r5, %r2, %r3;
    sub.u32 %r5, %r5, 1;
    rem.u32 %r5, %r5, %r3;
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd5, %rd3, %rd4;
    mul.wide.u32 %rd20, %r2, 8;
    mul.wide.u32 %rd21, %r4, 8;
    mul.wide.u32 %rd22, %r5, 8;
    add.u64 %rd23, %rd1, %rd20;
    ld.global.u64 %rd10, [%rd23];
    add.u64 %rd6, %rd10, %rd4;
    add.u64 %rd23, %rd1, %rd21;
    ld.global.u64 %rd11, [%rd23];
    add.u64 %rd7, %rd11, %rd4;
    add.u64 %rd23, %rd1, %rd22;
    ld.global.u64 %rd12, [%rd23];
    add.u64 %rd13, %rd12, %rd4;
    add.u64 %rd23, %rd2, %rd20;
    ld.global.u64 %rd8, [%rd23];
    add.u64 %rd23, %rd2, %rd21;
    ld.global.u64 %rd9, [%rd23];
    add.u64 %rd23, %rd2, %rd22;
    ld.global.u64 %rd14, [%rd23];
    ld.global.u64 %rd15, [%rd2];
    mov.u32 %r20, tile;
    shl.b32 %r21, %r1, 2;
    add.u32 %r21, %r20, %r21;
    mad.lo.u32 %r10, %r2, 1000, %r1;
    mad.lo.u32 %r10, %r11, 100000, %r10;
    setp.ne.u32 %p1, %r1, 0;
"""
FOOT = "    ret;\n}\n"

# Puts a row into the next rank's window and raises its flag; waits for the own flag; reads the own window.
PUT = "    st.global.u32 [%rd7], %r10;\n"
SYNC = "    bar.sync 0;\n"
FENCE = "    @!%p1 fence.acq_rel.sys;\n"
RAISE = "    @!%p1 st.relaxed.sys.global.u32 [%rd9], %r11;\n"
READ = "    ld.global.u32 %r12, [%rd6];\n"
KEEP = "    st.global.u32 [%rd5], %r12;\n"


def wait(load="ld.acquire.sys.global.u32", flag="%rd8", value="%r11", label="w", mark=""):
    return (f"    @%p1 bra $go_{label};\n$w_{label}:\n{mark}    {load} %r13, [{flag}];\n"
            f"    setp.ne.u32 %p2, %r13, {value};\n    @%p2 bra $w_{label};\n$go_{label}:\n")


WAIT = wait()
# Tells the previous rank that the window has been read, and waits until the next rank has read its own.
ACK = (SYNC + FENCE + "    @!%p1 st.relaxed.sys.global.u32 [%rd14+4], %r11;\n" + wait(flag="%rd8+4", label="ack") + SYNC)


def line(text, mark):
    """Marks the first line of `text`."""
    return mark + text


# name: (code or "deadlock: NOTE", launches, body). NOTE: a regular expression.
BUGS = {
    "fence_missing": ("K0323", 1, PUT + SYNC + line(FENCE, "-") + RAISE + WAIT + SYNC + line(READ, "!") + KEEP),
    "fence_gpu": ("K0325", 1, PUT + SYNC + line(FENCE, "-") + "+    @!%p1 fence.acq_rel.gpu;\n" + RAISE + WAIT + SYNC +
                  line(READ, "!") + KEEP),
    "fence_cta": ("K0325", 1, PUT + SYNC + line(FENCE, "-") + "+    @!%p1 fence.sc.cta;\n" + RAISE + WAIT + SYNC +
                  line(READ, "!") + KEEP),
    "membar_gl": ("K0325", 1, PUT + SYNC + "-    @!%p1 membar.sys;\n+    @!%p1 membar.gl;\n" + RAISE + WAIT + SYNC +
                  line(READ, "!") + KEEP),
    "release_gpu": ("K0324", 1, PUT + SYNC + "-    @!%p1 st.release.sys.global.u32 [%rd9], %r11;\n"
                    "+    @!%p1 st.release.gpu.global.u32 [%rd9], %r11;\n" + wait(mark="!") + SYNC + READ + KEEP),
    "acquire_gpu": ("K0324", 1, PUT + SYNC + FENCE + RAISE + "    @%p1 bra $go;\n$w:\n"
                    "-    ld.acquire.sys.global.u32 %r13, [%rd8];\n+!    ld.acquire.gpu.global.u32 %r13, [%rd8];\n"
                    "    setp.ne.u32 %p2, %r13, %r11;\n    @%p2 bra $w;\n$go:\n" + SYNC + READ + KEEP),
    "flag_weak": ("K0323", 1, PUT + SYNC + FENCE + line(RAISE, "-") + "+    @!%p1 st.global.u32 [%rd9], %r11;\n" +
                  wait(mark="!") + SYNC + READ + KEEP),
    "poll_weak": ("K0323", 1, PUT + SYNC + FENCE + RAISE + "    @%p1 bra $go;\n$w:\n"
                  "-    ld.acquire.sys.global.u32 %r13, [%rd8];\n+!    ld.global.u32 %r13, [%rd8];\n"
                  "    setp.ne.u32 %p2, %r13, %r11;\n    @%p2 bra $w;\n$go:\n" + SYNC + READ + KEEP),
    "acquire_missing": ("K0323", 1, PUT + SYNC + FENCE + RAISE + wait("ld.relaxed.sys.global.u32") +
                        "-    fence.acq_rel.sys;\n" + SYNC + line(READ, "!") + KEEP),
    "acquire_fence_gpu": ("K0325", 1, PUT + SYNC + FENCE + RAISE + wait("ld.relaxed.sys.global.u32") +
                          "-    fence.acq_rel.sys;\n+    fence.acq_rel.gpu;\n" + SYNC + line(READ, "!") + KEEP),
    "flag_of_other_peer": ("K0323", 1, PUT + SYNC + FENCE + line(RAISE, "-") +
                           "+    @!%p1 st.relaxed.sys.global.u32 [%rd14], %r11;\n" + WAIT + SYNC + line(READ, "!") + KEEP),
    "data_to_other_peer": ("K0323", 1, line(PUT, "-") + "+    st.global.u32 [%rd13], %r10;\n" + SYNC + FENCE + RAISE +
                           WAIT + SYNC + line(READ, "!") + KEEP),
    "early_read": ("K0323", 1, PUT + SYNC + FENCE + RAISE + line(READ, "+!?") + WAIT + SYNC + line(READ, "-") + KEEP),
    "early_flag": ("K0323", 1, line(PUT + SYNC, "-").replace("\n    bar", "\n-    bar") + FENCE + RAISE +
                   line(PUT, "+?") + WAIT + SYNC + line(READ, "!") + KEEP),
    "put_barrier_missing": ("K0323", 1, PUT + line(SYNC, "-") + FENCE + RAISE + WAIT + SYNC + line(READ, "!") + KEEP),
    "wait_barrier_missing": ("K0323", 1, PUT + SYNC + FENCE + RAISE + WAIT + line(SYNC, "-") + line(READ, "!?") + KEEP),
    "flag_reused": ("K0326", 1, PUT + SYNC + FENCE + RAISE + WAIT + SYNC + READ + ACK +
                    "    add.u32 %r10, %r10, 7;\n-    add.u32 %r11, %r11, 1;\n" + line(PUT, "?") + SYNC + FENCE + RAISE +
                    wait(label="second") + SYNC + "!?    ld.global.u32 %r12, [%rd6];\n    sub.u32 %r12, %r12, 7;\n" + KEEP),
    "flag_reused_by_launch": ("K0326", 2, "+    mov.u32 %r11, 1;\n" + line(PUT, "?") + SYNC + FENCE + RAISE + WAIT +
                              SYNC + line(READ, "!?") + KEEP + ACK),
    "end_missing": ("K0327", 2, line(PUT, "!") + SYNC + FENCE + RAISE + WAIT + SYNC + READ + KEEP +
                    ACK.replace("    ", "-    ").replace("$", "-$").replace("bra -$", "bra $")),
    "end_too_early": ("K0327", 2, line(PUT, "!") + SYNC + FENCE + RAISE + WAIT + SYNC + line(READ + KEEP, "-").replace(
        "\n    st", "\n-    st") + ACK + line(READ, "+?") + line(KEEP, "+")),
    "atomic_gpu": ("K0324", 1, "-    atom.add.relaxed.sys.global.u32 %r14, [%rd15+8], 1;\n"
                   "+!    atom.add.relaxed.gpu.global.u32 %r14, [%rd15+8], 1;\n" + PUT + SYNC + FENCE + RAISE + WAIT +
                   SYNC + READ + KEEP),
    "reduction_gpu": ("K0324", 1, "-    red.relaxed.sys.global.add.u32 [%rd15+8], 1;\n"
                      "+!    red.global.add.u32 [%rd15+8], 1;\n" + PUT + SYNC + FENCE + RAISE + WAIT + SYNC + READ + KEEP),
    "bulk_put_unwaited": ("K0323", 1, "    st.shared.u32 [%r21], %r10;\n    fence.proxy.async;\n    bar.sync 0;\n"
                          "    @!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd11], [%r20], 256;\n"
                          "    @!%p1 cp.async.bulk.commit_group;\n-    @!%p1 cp.async.bulk.wait_group 0;\n"
                          "+    @!%p1 cp.async.bulk.wait_group.read 0;\n" + FENCE + RAISE + WAIT + SYNC +
                          line(READ, "!") + KEEP),
    # The blocks of a device count themselves; the first of them exchanges flags with the peers, and releases the others.
    "blocks_count_relaxed": ("K0323", 1, PUT + SYNC + "-    @!%p6 red.release.gpu.global.add.u32 [%rd8+16], 1;\n"
                             "+    @!%p6 red.relaxed.gpu.global.add.u32 [%rd8+16], 1;\n    @%p1 bra $others;\n$count:\n"
                             "    ld.acquire.gpu.global.u32 %r14, [%rd8+16];\n    setp.ne.u32 %p2, %r14, 2;\n"
                             "    @%p2 bra $count;\n    st.release.sys.global.u32 [%rd9], %r11;\n$peer:\n"
                             "    ld.acquire.sys.global.u32 %r14, [%rd8];\n    setp.ne.u32 %p2, %r14, %r11;\n"
                             "    @%p2 bra $peer;\n    st.release.gpu.global.u32 [%rd8+20], %r11;\n$others:\n    @%p6 bra $go;\n"
                             "$first:\n    ld.acquire.gpu.global.u32 %r14, [%rd8+20];\n    setp.ne.u32 %p2, %r14, %r11;\n"
                             "    @%p2 bra $first;\n$go:\n" + SYNC + line(READ, "!") + KEEP, 2),
    # All ranks count in the memory of the first.
    "counter_relaxed": ("K0323", 1, PUT + SYNC + "-    @!%p1 red.release.sys.global.add.u32 [%rd15+12], 1;\n"
                        "+    @!%p1 red.relaxed.sys.global.add.u32 [%rd15+12], 1;\n" +
                        wait(flag="%rd15+12", value="%r3") + SYNC + line(READ, "!") + KEEP),
    "volatile_flags": ("K0325", 1, PUT + SYNC + "    @!%p1 membar.sys;\n    @!%p1 st.volatile.global.u32 [%rd9], %r11;\n" +
                       wait("ld.volatile.global.u32") + "-    membar.sys;\n+    membar.gl;\n" + SYNC + line(READ, "!") + KEEP),
    # Four messages around the ring through two slots of 32 elements: a slot is written again when it has been read.
    "ring_slot_overwritten": ("K0323", 1, "    mov.u32 %r16, 0;\n    mov.u32 %r17, 0;\n$step:\n    and.b32 %r18, %r16, 1;\n"
                              "    mul.wide.u32 %rd16, %r18, 128;\n    add.u64 %rd17, %rd7, %rd16;\n    add.u64 %rd18, %rd6, %rd16;\n"
                              "-    @%p1 bra $free;\n-$acked:\n-    ld.acquire.sys.global.u32 %r13, [%rd8+4];\n"
                              "-    add.u32 %r13, %r13, 2;\n-    setp.le.u32 %p2, %r13, %r16;\n-    @%p2 bra $acked;\n-$free:\n-    bar.sync 0;\n"
                              "    setp.gt.u32 %p3, %r1, 31;\n!    @!%p3 st.global.u32 [%rd17], %r10;\n" + SYNC +
                              "    add.u32 %r19, %r16, 1;\n    @!%p1 st.release.sys.global.u32 [%rd9], %r19;\n    @%p1 bra $in;\n"
                              "$arrived:\n    ld.acquire.sys.global.u32 %r13, [%rd8];\n    setp.lt.u32 %p2, %r13, %r19;\n"
                              "    @%p2 bra $arrived;\n$in:\n" + SYNC +
                              "?    @!%p3 ld.global.u32 %r12, [%rd18];\n" + SYNC +
                              "    @!%p1 st.release.sys.global.u32 [%rd14+4], %r19;\n    mov.u32 %r16, %r19;\n"
                              "    setp.lt.u32 %p2, %r16, 4;\n    @%p2 bra $step;\n    @%p3 sub.u32 %r12, %r1, %r1;\n"
                              "    mad.lo.u32 %r12, %r5, 1000, %r1;\n    mad.lo.u32 %r12, %r11, 100000, %r12;\n" + KEEP),
    "raise_missing": ("deadlock: rank 0 waits for a value that no rank writes", 1, PUT + SYNC + FENCE + line(RAISE, "-") +
                      wait(mark="!") + SYNC + READ + KEEP),
    "wait_before_raise": ("deadlock: rank 1 waits for rank 0", 1, PUT + SYNC +
                          (FENCE + RAISE).replace("    @", "-    @") + wait(mark="!") + SYNC +
                          (FENCE + RAISE).replace("    @", "+    @") + READ + KEEP),
    # Messages to the next and to the previous rank: rank 0 waits for the second before it sends the first.
    "opposite_orders": ("deadlock: rank 0 waits for rank 1", 1, PUT + SYNC + "    setp.ne.u32 %p3, %r2, 0;\n+    @%p3 bra $first;\n" +
                        "".join("+" + text + "\n" for text in wait(flag="%rd8+4", label="early").splitlines()).replace(
                            "+    ld", "+!    ld") + "+$first:\n" + FENCE + RAISE + wait(mark="?") +
                        "    @!%p1 st.relaxed.sys.global.u32 [%rd14+4], %r11;\n" + wait(flag="%rd8+4", label="back", mark="?") +
                        SYNC + READ + KEEP),
    "flag_of_other_slot": ("deadlock: rank 1 waits for a value that no running rank writes; ranks? 0(, \\d)* ha(s|ve) ended", 1,
                           PUT + SYNC + FENCE + "    setp.eq.u32 %p3, %r2, 0;\n+    @%p3 add.u64 %rd9, %rd9, 8;\n" +
                           RAISE + wait(mark="!") + SYNC + READ + KEEP),
    "value_never_written": ("deadlock: rank 0 waits for", 1, PUT + SYNC + FENCE + RAISE +
                            "+    add.u32 %r11, %r11, 1;\n" + wait(mark="!") + SYNC + READ + KEEP),
    "exit_without_raise": ("deadlock: rank 1 waits for a value that no running rank writes; ranks? 0(, \\d)* ha(s|ve) ended", 1,
                           "+    setp.eq.u32 %p4, %r2, 0;\n+    @%p4 bra $out;\n" + PUT + SYNC + FENCE + RAISE +
                           wait(mark="!") + SYNC + READ + KEEP + "$out:\n"),
}

CONFIG = """{
  "params": { "launches": %d, "blocks": %d },
  "buffers": {
    "W": { "dtype": "u32", "shape": ["ranks", 64], "init": "zeros", "shard": true },
    "F": { "dtype": "u32", "shape": ["ranks", 8], "init": "zeros", "shard": true },
    "C": { "dtype": "u32", "shape": ["ranks", 64], "shard": true }
  },
  "launches": [ %s ],
  "check": { "C": "launches * 100000 + ((i + ranks - 1) %% ranks) * 1000 + j" }
}
"""
LAUNCH = """{ "kernel": "k", "grid": "blocks", "block": "64 / blocks", "args": [ { "peers": "W" }, { "peers": "F" }, "C",
    { "type": "u32", "value": "rank" }, { "type": "u32", "value": "ranks" }, { "type": "u32", "value": %d } ] }"""
SEEDS = (0, 1, 7, 42, 1234)


def versions(body):
    """The buggy text with the lines marked in it, and the clean one. `?`: one of several lines that may be reported."""
    buggy, clean, marks = HEAD.splitlines(), HEAD.splitlines(), []
    for text in body.splitlines():
        found = re.match(r"([-+!?]*)(.*)", text)
        flags, rest = found.groups()
        if "+" not in flags:
            clean.append(rest)
        if "-" not in flags:
            buggy.append(rest)
            if "!" in flags or "?" in flags:
                marks.append(len(buggy))
    return "\n".join(buggy) + "\n" + FOOT, "\n".join(clean) + "\n" + FOOT, marks


def run(tool, folder, name, ranks, seed):
    command = [tool, f"{folder}/{name}.ptx", "--config", f"{folder}/launch.json", f"--devices={ranks}", "--check=all",
               f"--seed={seed}", "--timeout=20"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def judge(code, marks, text):
    """Why the bug counts as missed; None: it is found."""
    if code.startswith("deadlock: "):
        if not re.search(r"error: deadlock", text):
            return "no deadlock"
        if not re.search(rf":({'|'.join(map(str, marks))}):\d+: note: rank ", text):
            return "the wait is not at its line"
        return None if re.search(code[len("deadlock: "):], text) else "who waits for whom is wrong"
    places = re.findall(r":(\d+):\d+: error: race: ", text)
    if not any(int(place) in marks for place in places):
        return f"expected an error at line {marks}, got {places}"
    return None


def main():
    tool, wanted = sys.argv[1] + "/cute-run", sys.argv[2:]
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (code, launches, body, *blocks) in BUGS.items():
            if wanted and name not in wanted:
                continue
            buggy, clean, marks = versions(body)
            for part, text in ((name, buggy), (name + ".clean", clean)):
                with open(f"{folder}/{part}.ptx", "w", encoding="ascii") as out:
                    out.write(text)
            with open(f"{folder}/launch.json", "w", encoding="ascii") as out:
                count_of = 1 if launches == 1 else 2
                out.write(CONFIG % (count_of, *(blocks or [1]), ", ".join(LAUNCH % (n + 1) for n in range(launches))))
            count += 1
            for ranks, seed in [(3, seed) for seed in SEEDS] + [(8, 5)]:
                status, text = run(tool, folder, name, ranks, seed)
                why = judge(code, marks, text)
                if status == 0 and not why:
                    why = "exit code 0"
                if not why and not code.startswith("deadlock") and ranks == 3 and seed == 0:
                    codes = subprocess.run([tool, f"{folder}/{name}.ptx", "--config", f"{folder}/launch.json",
                                            "--devices=3", "--check=all", "--json"], capture_output=True, text=True,
                                           check=False).stdout
                    why = None if f'"{code}"' in codes else f"expected code {code}"
                if why:
                    failed += 1
                    print(f"{name}: missed with {ranks} ranks, seed {seed}: {why}")
                    if os.environ.get("VERBOSE"):
                        print(text)
                status, text = run(tool, folder, name + ".clean", ranks, seed)
                if status:
                    failed += 1
                    print(f"{name}: the clean version fails with {ranks} ranks, seed {seed}")
                    if os.environ.get("VERBOSE"):
                        print(text)
    print(f"{count} planted bugs, {failed} failures")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
