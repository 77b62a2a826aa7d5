"""Compares the static costs of cute-dump accesses with the counters of the emulator, instruction by instruction."""
import json
import subprocess

UNITS = {"shared": "wavefronts", "global": "sectors"}


def tool(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()[:400]}")
    return json.loads(done.stdout)


def told(bin, module, options=()):
    """{kernel: accesses}."""
    report = tool(f"{bin}/cute-dump", "accesses", module, "--json", *options)
    return {k["kernel"]: k["accesses"] for k in report["kernels"]}


def counted(bin, module, config, options=()):
    """{kernel: {line of the PTX: counters}}."""
    report = tool(f"{bin}/cute-run", module, "--config", config, "--device", "emulator", "--counters", "--no-bench", "--check=bank,coalescing",
                  "--json", *options)
    return {k["kernel"]: {line["ptx_line"]: line for line in k["lines"]} for k in report["counters"]}


def bounds(access, requests):
    """What so many requests may cost in all."""
    costs = [w[UNITS[access["space"]]] for w in access["warps"]]
    if access.get("one_side"):  # of a copy: at least
        return requests * min(costs), requests * 32 * 32
    if access.get("alignment_assumed"):
        return requests * access["least"], requests * access["most"]
    if min(costs) == max(costs):
        return requests * costs[0], requests * costs[0]
    if requests % len(costs) == 0 and not access.get("lanes_assumed"):
        return requests // len(costs) * sum(costs), requests // len(costs) * sum(costs)
    return requests * min(costs), requests * max(costs)


def compare(accesses, lines):
    """(what differs, how many were equal, known within bounds, not known, partly active, never run)."""
    wrong, equal, within, unknown, partial, idle = [], 0, 0, 0, 0, 0
    for a in accesses:
        line = lines.get(a["ptx_line"])
        if not line or not line["instructions"]:
            idle += 1
            continue
        if "unknown" in a or "estimated" in a:  # what holds in one case is no promise for this one
            unknown += 1
            continue
        requests, lanes = line["instructions"], [w["lanes"] for w in a["warps"]]
        # Instructions whose predicate is false in all lanes make no request.
        if not a.get("lanes_assumed") and set(lanes) == {32} and line["lanes"] % 32 == 0:
            requests = line["lanes"] // 32
        if not requests:
            idle += 1
            continue
        if a.get("lanes_assumed") and line["lanes"] != requests * lanes[0]:
            partial += 1
            continue
        # A cp.async that fills with zeros reads less than it writes.
        read = line["bytes"].get("global", {}).get("read", 0)
        if a["operation"].startswith("cp.async") and read != line["lanes"] * a["width"]:
            if a.get("lanes_assumed"):
                partial += 1
                continue
        got = line.get(UNITS[a["space"]], {"count": 0})["count"]
        low, high = bounds(a, requests)
        if not low <= got <= high:
            wrong.append(f"line {a['ptx_line']}, {a['operation']} of {a['space']} memory: expected {low}"
                         f"{'' if low == high else f' to {high}'}, counted {got} in {requests} requests")
        elif low == high:
            equal += 1
        else:
            within += 1
    # What was counted and not told.
    seen = {(a["ptx_line"], UNITS[a["space"]]) for a in accesses}
    for number, line in lines.items():
        for unit in UNITS.values():
            if unit in line and line["instruction"] not in ("wmma", "cp") and (number, unit) not in seen:
                wrong.append(f"line {number}, {line['instruction']}: {line[unit]['count']} {unit} counted, none told")
    return wrong, equal, within, unknown, partial, idle
