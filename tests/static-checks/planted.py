"""The planted bugs of bugs.txt: table rows, kernel texts, and launches of the kernels on generated data."""
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def rows():
    """[name, kernel, severity, check, line, changes]"""
    found = []
    with open(os.path.join(HERE, "bugs.txt")) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                parts = [part.strip() for part in line.rstrip("\n").split(" | ")]
                found.append(parts[:5] + [parts[5:]])
    return found


def source(kernel):
    with open(os.path.join(HERE, kernel + ".mlir")) as file:
        return file.read().split("\n")


def edit(lines, changes):
    for change in changes:
        marker, what = change.split(" ", 1)
        at = [i for i, line in enumerate(lines) if line.rstrip().endswith("// " + marker)]
        if len(at) != 1:
            raise ValueError("no line %s" % marker)
        if what == "-":
            lines[at[0]] = ""
        elif what.startswith("+ "):
            lines[at[0]] += "\n" + what[2:]
        else:
            old, new = what.split(" => ")
            if old not in lines[at[0]]:
                raise ValueError("%s has no %r" % (marker, old))
            lines[at[0]] = lines[at[0]].replace(old, new)
    return "\n".join(lines).split("\n")


def launches():
    """launch.json of each kernel: nothing is compared, buffers hold small integers, or zeros where the kernel writes f32."""
    with open(os.path.join(HERE, "launches.json")) as file:
        found = json.load(file)
    for launch in found.values():
        launch["dynamic_smem"] = 102400
        for buffer in launch["buffers"].values():
            buffer.update(init={"integers": [-2, 2]}, unwritten="allow")
    return found
