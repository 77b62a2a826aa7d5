#!/usr/bin/env python3
"""Modules printed by CuTe DSL: each parses, verifies, and round-trips through both printed forms.

    tests/import/modules.py CUTE_OPT FOLDER [NAME...]

FOLDER is searched for *_0_.mlir (generic form) and *_0_with_loc.mlir (custom form); NAME selects paths that contain it.
Prints TAP, and a summary as the last comment."""
import os
import subprocess
import sys

FORMS = {"generic": "_0_.mlir", "custom": "_0_with_loc.mlir"}


def modules(folder, names=()):
    """(form, path), by path."""
    found = []
    for where, _, files in os.walk(folder):
        for file in files:
            for form, suffix in FORMS.items():
                path = os.path.join(where, file)
                if file.endswith(suffix) and (not names or any(name in path for name in names)):
                    found.append((form, path))
    return sorted(found, key=lambda one: (one[0], one[1]))


def run(cute_opt, text, *options):
    """What cute-opt prints; an error is raised with its first message."""
    done = subprocess.run([cute_opt, "-", "-source-map=off", *options], input=text, capture_output=True, text=True,
                          timeout=120)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if ": error: " in line), done.stderr[:300])
        raise ValueError(f"{' '.join(options) or 'custom form'}: {first[:400]}")
    return done.stdout


def difference(a, b):
    for number, (left, right) in enumerate(zip(a.splitlines(), b.splitlines()), 1):
        if left != right:
            return f"line {number}:\n  {left[:300]}\n  {right[:300]}"
    return f"{len(a.splitlines())} and {len(b.splitlines())} lines"


def round_trip(cute_opt, text):
    custom = run(cute_opt, text)
    generic = run(cute_opt, text, "-mlir-print-op-generic")
    for name, again, expected in (
            ("custom form, read again", run(cute_opt, custom), custom),
            ("generic form, read again", run(cute_opt, generic), custom),
            ("generic form of the custom form", run(cute_opt, custom, "-mlir-print-op-generic"), generic),
            ("places and names", run(cute_opt, run(cute_opt, text, "-mlir-print-debuginfo"), "-mlir-print-debuginfo"),
             run(cute_opt, text, "-mlir-print-debuginfo"))):
        if again != expected:
            raise ValueError(f"{name} differs at {difference(again, expected)}")
    return custom


def main():
    cute_opt, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    found = modules(folder, names)
    if not found:
        print(f"not ok 1 - there are modules in {folder}\n1..1")
        return 1
    passed = dict.fromkeys(FORMS, 0)
    total = {form: sum(one == form for one, _ in found) for form in FORMS}
    for number, (form, path) in enumerate(found, 1):
        name = os.path.relpath(path, folder)
        with open(path) as file:
            text = file.read()
        try:
            round_trip(cute_opt, text)
            print(f"ok {number} - {name}", flush=True)
            passed[form] += 1
        except (ValueError, subprocess.TimeoutExpired) as error:
            print("".join(f"# {line}\n" for line in str(error).splitlines()), end="")
            print(f"not ok {number} - {name}", flush=True)
    print(f"1..{len(found)}")
    print("# " + ", ".join(f"{passed[form]} of {total[form]} in {form} form" for form in FORMS))
    return passed != total


if __name__ == "__main__":
    sys.exit(main())
