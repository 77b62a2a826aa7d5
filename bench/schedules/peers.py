#!/usr/bin/env python3
"""Rows of the sets attention, gradients, grouped, scaled and epilogues of bench/schedules/build beside what PyTorch calls for the same work, in turns, on one GPU:

    bench/schedules/peers.py OUT [--rounds=N] [--csv=FILE] [SUBSTRING of a row]

attention, gradients: scaled_dot_product_attention by cuDNN, by FlashAttention, and by the one that PyTorch chooses. grouped: a loop of torch.mm over the groups (cuBLAS), the same captured in a CUDA graph, and torch._grouped_mm. scaled: scaled_mm with blocks of
1x128 and 128x128. epilogues: torch.compile (Inductor) of the expression, with its defaults and with max-autotune, whose templates of products
take epilogues, and without it (eager); for bias and GELU also torch._addmm_activation, cuBLASLt's epilogue without aux. Peers that launch.json
has, such as the product with a second kernel and cuBLASLt, are timed in the same turns. Medians of medians in us, L2 warm, normally
distributed data; a peer that this PyTorch lacks has its message. Exits 3 without a GPU or torch."""
import json
import os
import statistics
import subprocess
import sys


def seconds(torch, function, samples=30):
    """Median of one call, by events; L2 as the loop leaves it."""
    for _ in range(5):
        function()
    times = []
    for _ in range(samples):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        function()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    return statistics.median(times)


def captured(torch, function):
    function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph.replay


def grouped(torch, row):
    _, dtype, m, n, k, _, _, own, _ = row
    groups = own["defines"]["groups"]
    if dtype not in ("bf16", "f16") or own["defines"]["skew"] != 1 or row[0] == "gated":
        return {}
    element = {"bf16": torch.bfloat16, "f16": torch.float16}[dtype]
    a, b = torch.randn(m, k, device="cuda", dtype=element), torch.randn(groups, n, k, device="cuda", dtype=element) * 0.1
    out, rows = torch.empty(m, n, device="cuda", dtype=element), m // groups
    offsets = torch.arange(1, groups + 1, device="cuda", dtype=torch.int32) * rows

    def loop():
        for g in range(groups):
            torch.mm(a[g * rows:(g + 1) * rows], b[g].T, out=out[g * rows:(g + 1) * rows])

    return {"cuBLAS in a loop": loop, "the loop in a graph": captured(torch, loop),
            "_grouped_mm": lambda: torch._grouped_mm(a, b.transpose(1, 2), offs=offsets)}


def scaled(torch, row):
    from torch.nn.functional import ScalingType, scaled_mm

    _, _, m, n, k, *_ = row
    a, b = (torch.randn(x, k, device="cuda").to(torch.float8_e4m3fn) for x in (m, n))
    blocks = lambda x: -(-x // 128)
    sa, sb = torch.rand(blocks(k), m, device="cuda").T, torch.rand(blocks(n), blocks(k), device="cuda").T
    bf16 = lambda: scaled_mm(a, b.T, sa, ScalingType.BlockWise1x128, sb, ScalingType.BlockWise128x128, output_dtype=torch.bfloat16)
    return {"scaled_mm": bf16}


def epilogues(torch, row):
    from torch.nn import functional as F

    name, _, m, n, k = row[8], *row[1:5]
    a, w = torch.randn(m, k, device="cuda", dtype=torch.bfloat16), torch.randn(k, n, device="cuda", dtype=torch.bfloat16) * 0.1
    bias, z = torch.randn(n, device="cuda", dtype=torch.bfloat16), torch.randn(m, n, device="cuda", dtype=torch.bfloat16)

    def aux():
        y = a @ w + bias
        return F.gelu(y, approximate="tanh"), y

    def dgelu():
        g = torch.ops.aten.gelu_backward(a @ w, z, approximate="tanh")
        return g, g.sum(0)

    def swiglu():
        y = a @ w
        return F.silu(y[:, :n // 2]) * y[:, n // 2:]

    def amax():
        y = a @ w
        return y, y.abs().max()

    def norm():
        return F.rms_norm(a @ w, (n,), bias, 1e-5)

    function = {"bias+gelu+aux": aux, "dgelu+bgrad": dgelu, "swiglu": swiglu, "amax": amax, "rmsnorm": norm}.get(name)
    if not function:
        return {}
    torch.compiler.reset()  # each row compiles for its own shapes
    found = {"torch.compile": torch.compile(function, dynamic=False),
             "torch.compile max-autotune": torch.compile(function, dynamic=False, mode="max-autotune-no-cudagraphs"), "eager": function}
    if name == "bias+gelu+aux":
        found["_addmm_activation"] = lambda: torch.ops.aten._addmm_activation(bias, a, w, use_gelu=True)
    return found


def attention(torch, row):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    own, dtype = row[7]["defines"], {"bf16": torch.bfloat16, "f16": torch.float16}[row[1]]
    s, heads, keys = own.get("s", own.get("sq")), own["h"], own.get("hk", own["h"])
    make = lambda h: torch.randn(own["b"], s, h, own["d"], device="cuda", dtype=dtype).transpose(1, 2).requires_grad_(row[0] == "gradients")
    q, k, v = make(heads), make(keys), make(keys)
    call = lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(own["causal"]), enable_gqa=heads != keys)

    def by(backends):
        def forward():
            with sdpa_kernel(backends):
                return call()
        if row[0] == "attention":
            return forward
        state = []

        def backward():
            if not state:
                out = forward()
                state.extend((out, torch.randn_like(out)))
            torch.autograd.grad(state[0], (q, k, v), state[1], retain_graph=True)
        return backward

    every = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION]
    return {"cuDNN": by([SDPBackend.CUDNN_ATTENTION]), "FlashAttention": by([SDPBackend.FLASH_ATTENTION]), "torch's choice": by(every)}


def text_of(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


def work(row):
    """Multiplications and additions of a row."""
    if row[0] not in ("attention", "gradients"):
        return 2 * row[2] * row[3] * row[4]
    return (4 if row[0] == "attention" else 10) * row[2] * row[3] ** 2 * row[4] / (2 if row[7]["defines"]["causal"] else 1)


PEERS = {"attention": attention, "gradients": attention, "grouped": grouped, "gated": grouped, "scaled": scaled, "epilogues": epilogues}


def ours(folder, row):
    """Seconds of our kernels, and by name those of the peers in launch.json."""
    command = [f"{folder}/cute-run", f"{folder}/{row[5]}", "--config", f"{folder}/{row[7]['config']}", "--bench", "--no-check", "--json",
               *(w for name, value in row[7]["defines"].items() for w in ("-D", f"{name}={value}"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    bench = json.loads(done.stdout)["bench"]
    return bench["kernel"]["median_s"], {peer["name"]: peer["median_s"] for peer in bench["baselines"] if not peer["name"].startswith("way")}


def main():
    try:
        import torch
    except ImportError:
        sys.exit(3)
    if not torch.cuda.is_available():
        sys.exit(3)
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    option = lambda name, default: next((a.split("=", 1)[1] for a in sys.argv if a.startswith(f"--{name}=")), default)
    folder, wanted, rounds, lines = arguments[0], arguments[1:2], int(option("rounds", "3")), ["set,dtype,m,n,k,row,ours_us,peer,peer_us"]
    for row in json.load(open(os.path.join(folder, "rows.json"), encoding="utf-8")):
        name = f"{row[0]} {row[1]} {row[2]}x{row[3]}x{row[4]} {row[8]}".strip()
        if row[0] not in PEERS or not all(w in name for w in wanted):
            continue
        mine, others, failed = [], {}, {}
        try:
            peers = PEERS[row[0]](torch, row)
        except (ImportError, AttributeError, RuntimeError) as error:
            peers, failed = {}, {"peer": text_of(error)}
        for _ in range(rounds):
            own, listed = ours(folder, row)
            mine.append(own)
            for peer, its in listed.items():
                others.setdefault(peer, []).append(its)
            for peer, function in peers.items():
                if peer in failed:
                    continue
                try:
                    others.setdefault(peer, []).append(seconds(torch, function))
                except Exception as error:  # Inductor and Triton have errors of their own
                    failed[peer] = text_of(error)
        mean = statistics.median(mine)
        print(f"{name}: ours {mean * 1e6:.1f} us, {work(row) / mean * 1e-12:.0f} TFLOP/s", flush=True)
        for peer, times in others.items():
            if peer in failed:
                continue
            its = statistics.median(times)
            print(f"    {peer} {its * 1e6:.1f} us, ratio {its / mean:.3f}", flush=True)
            lines.append(f"{row[0]},{row[1]},{row[2]},{row[3]},{row[4]},{row[8]},{mean * 1e6:.2f},{peer.replace(',', '')},{its * 1e6:.2f}")
        for peer, text in failed.items():
            print(f"    {peer}: not here: {text}", flush=True)
        del peers
        torch.cuda.empty_cache()
    if path := option("csv", ""):
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
