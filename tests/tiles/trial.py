"""Random programs compiled and run in this process: what the generators share."""
import argparse
import os
import re
import tempfile

from toolkit import Toolkit

# The passes on tile programs; @: the schedule, %s: the architecture.
PASSES = ("cute-tile-expand", "cute-tile-fit{arch=%s schedule=@}", "cute-tile-schedule{arch=%s schedule=@}", "cute-tile-cluster", "cute-tile-layouts{arch=%s}", "cute-tile-lane-sums", "cute-tile-rare",
          "cute-tile-persistent", "cute-tile-split", "cute-async-pipeline{arch=%s}", "cute-tile-exchange", "cute-async-products", "cute-warp-specialization", "cute-tile-overlap", "cute-tile-skew", "cute-tile-alternate", "cute-tile-turns",
          "cute-tile-multicast", "cute-tile-distribute{arch=%s}", "cute-tile-launch", "cute-tile-slices")


def again(toolkit, options, number, text, names, launch, folder, passes, schedule=None, define=(), label=None, whole=None, seeds=1, **run):
    """Prints the program after each of the passes, reads it, lowers and runs it. What went wrong, or nothing. `label`: a path, for files that it includes.
    `whole`: the PTX made in one go, which has run. Neither IR that a pass leaves as it was nor machine code that has run is taken again."""
    before, ran = None, {code(whole)} if whole else set()
    for count in range(1, len(passes) + 1):
        pipeline = ",".join(p.replace("%s", options.arch) for p in passes[:count])
        printed, said = toolkit.compile(label or f"{number}.mlir", text, arch=options.arch, pipeline=pipeline, emit="mlir", define=list(define))
        if printed is None:
            return f"after {pipeline}: {said}"
        if printed == before:
            continue
        before = printed
        # Arguments have lost their names: %arg0 is the first one.
        named = re.sub(r"%arg(\d+)\b", lambda m: f"%{names[int(m[1])]}" if int(m[1]) < len(names) else m[0], printed.decode())
        if options.keep:
            with open(f"{folder}/{number}.{count}.mlir", "w") as f:
                f.write(named)
        ptx, said = toolkit.compile(f"{number}.{count}.mlir", named, arch=options.arch, schedule=schedule)
        if ptx is None:
            return f"after {pipeline}: {said}"
        if code(ptx) in ran:
            continue
        ran.add(code(ptx))
        for seed in range(seeds):
            good, said = toolkit.run(f"{number}.ptx", ptx, launch, folder, seed, **run)
            if not good:
                return f"after {pipeline}, seed {seed}: {said}"
    return ""


def code(ptx):
    """The PTX without comments, which name places of the source."""
    return re.sub(rb"//.*", b"", ptx)


def parser():
    out = argparse.ArgumentParser()
    out.add_argument("build")
    out.add_argument("--first", type=int, default=0)
    out.add_argument("--count", type=int, default=60)
    out.add_argument("--every", type=int, default=1, help="of the COUNT programs only each N-th")
    out.add_argument("--seeds", type=int, default=1)
    out.add_argument("-arch", default="sm_90a")
    out.add_argument("--keep")
    out.add_argument("--passes", action="store_true")
    return out


def run_all(options, what, attempt):
    """Prints TAP of attempt(toolkit, options, folder, number), which returns what went wrong."""
    toolkit = Toolkit(os.path.abspath(options.build))
    numbers = range(options.first, options.first + options.count, options.every)
    print(f"1..{len(numbers)}")
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for test, number in enumerate(numbers, 1):
            wrong = attempt(toolkit, options, folder, number)
            failed += bool(wrong)
            print(f"{'not ' if wrong else ''}ok {test} - {what} {number} is what NumPy computes", flush=True)
            for line in wrong.split("\n")[:20] if wrong else []:
                print(f"# {line}")
            if not options.keep:
                for name in os.listdir(folder):
                    os.remove(f"{folder}/{name}")
    return 1 if failed else 0
