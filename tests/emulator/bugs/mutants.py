#!/usr/bin/env python3
"""Removes each barrier, fence, wait, acquire and release from correct kernels, one at a time, and runs the checks: mutants.py
CUTE-RUN PTX CONFIG. Prints the mutants that neither a check nor a deadlock reveals in eight schedules, and the number found."""
import copy
import json
import os
import re
import subprocess
import sys

ORDER = re.compile(r"\s*(@!?%p\d+\s+)?(bar\.sync|barrier\.|bar\.warp\.sync|membar\.|fence\.|cp\.async\.wait|"
                   r"cp\.async\.bulk\.wait|wgmma\.(fence|wait))")
FLAG = re.compile(r"\s*(@!?%p\d+\s+)?(ld|st|atom|red)\b.*\.(acquire|release|acq_rel)\b")


def mutants(lines):
    """(kernel, line, what stands there instead)"""
    kernel = None
    for n, line in enumerate(lines):
        entry = re.search(r"\.entry (\w+)\(", line)
        kernel = entry.group(1) if entry else kernel
        if ORDER.match(line):
            yield kernel, n, "//" + line
        elif FLAG.match(line):
            yield kernel, n, re.sub(r"\.(acquire|release|acq_rel)\b", ".relaxed", line)


def main():
    run, ptx, config = sys.argv[1:]
    with open(ptx) as f:
        lines = f.read().split("\n")
    with open(config) as f:
        whole = json.load(f)
    found = missed = 0
    for kernel, n, instead in mutants(lines):
        one = copy.deepcopy(whole)
        launches = whole.get("launches", [whole])
        chosen = [launch for launch in launches if launch["kernel"] == kernel]
        if not chosen:
            continue
        if "launches" in one:
            one["launches"] = chosen
        used = json.dumps([launch["args"] for launch in chosen])
        one["buffers"] = {name: {**b, "unwritten": "allow"} for name, b in whole["buffers"].items() if f'"{name}"' in used}
        one["outputs"] = {}
        one["check"] = {}
        with open("mutant.json", "w") as f:
            json.dump(one, f)
        with open("mutant.ptx", "w") as f:
            f.write("\n".join(lines[:n] + [instead] + lines[n + 1:]))
        for seed in range(8):
            result = subprocess.run([run, "mutant.ptx", "--config", "mutant.json", "--device", "emulator", "--check=all", "--strict",
                                     "--seed", str(seed), "--timeout", "30"], capture_output=True, text=True, check=False)
            if result.returncode in (1, 4) and re.search("error: (race|uninitialised|barrier|deadlock)", result.stderr):
                found += 1
                break
        else:
            missed += 1
            print(f"{kernel}, line {n + 1}: without '{lines[n].strip()}' nothing is found")
    for name in ("mutant.ptx", "mutant.json"):
        os.path.exists(name) and os.remove(name)
    print(f"{found} found, {missed} not")
    sys.exit(missed > 0 or found == 0)


main()
