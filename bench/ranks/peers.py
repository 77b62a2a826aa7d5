"""PyTorch's all-gather, product and reduce-scatter in sequence, and its AsyncTP (symmetric memory), on the products of run. Started by it:
python3 -m torch.distributed.run --nproc-per-node=N peers.py MODEL:OPERATION:ROWS:TYPE... Rank 0 prints a line of JSON for each: times are medians
of the slowest rank, in microseconds."""
import json
import os
import sys

MODELS = {"70B": (8192, 28672), "405B": (16384, 53248), "tiny": (64, 192)}


def main():
    try:
        import torch
        import torch.distributed as dist
        import torch.distributed._symmetric_memory as symmetric
    except ImportError as error:
        print(f"no AsyncTP: {error}")
        return
    rank, size = int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device(f"cuda:{rank}")
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    group = dist.group.WORLD.group_name
    try:
        symmetric.enable_symm_mem_for_group(group)
    except Exception as error:  # not all versions need or have it
        if rank == 0:
            print(f"note: enable_symm_mem_for_group: {error}", flush=True)
    ops, one = torch.ops.symm_mem, torch.tensor(1.0, device=device)

    def clock(work, samples=20):
        for _ in range(3):
            work()
        torch.cuda.synchronize()
        dist.barrier()
        events = [torch.cuda.Event(enable_timing=True) for _ in range(samples + 1)]
        for event in events[:-1]:
            event.record()
            work()
        events[-1].record()
        torch.cuda.synchronize()
        own = sorted(a.elapsed_time(b) for a, b in zip(events, events[1:]))[samples // 2]
        slowest = torch.tensor(own * 1e3, device=device)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        return slowest.item()

    def values(rows, columns, dtype):
        return torch.randn(rows, columns, device=device, dtype=torch.bfloat16).to(dtype)

    def multiply(a, b):
        if a.dtype == torch.bfloat16:
            return torch.mm(a, b)
        return torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

    def gather_up(rows, hidden, wide, dtype):
        shard, up = values(rows // size, hidden, dtype), values(wide // size, hidden, dtype).t()
        whole = torch.empty(rows, hidden, device=device, dtype=dtype)
        bits = torch.uint8 if dtype.itemsize == 1 else dtype

        def sequence():
            dist.all_gather_into_tensor(whole.view(bits), shard.view(bits))
            multiply(whole, up)

        def gather():
            dist.all_gather_into_tensor(whole.view(bits), shard.view(bits))

        def fused():
            if dtype == torch.bfloat16:
                return ops.fused_all_gather_matmul(shard, [up], gather_dim=0, group_name=group)
            return ops.fused_all_gather_scaled_matmul(shard, [up], one, [one], 0, group, [None], [None], [torch.bfloat16], [False])

        return lambda: multiply(whole, up), gather, sequence, fused

    def down_scatter(rows, hidden, wide, dtype):
        act, down = values(rows, wide // size, dtype), values(hidden, wide // size, dtype).t()
        part = torch.empty(rows // size, hidden, device=device, dtype=torch.bfloat16)
        sums = multiply(act, down)

        def fused():
            if dtype == torch.bfloat16:
                return ops.fused_matmul_reduce_scatter(act, down, "sum", scatter_dim=0, group_name=group)
            return ops.fused_scaled_matmul_reduce_scatter(act, down, one, one, "sum", 0, 0, group, [rows, hidden], out_dtype=torch.bfloat16)

        return (lambda: multiply(act, down), lambda: dist.reduce_scatter_tensor(part, sums),
                lambda: dist.reduce_scatter_tensor(part, multiply(act, down)), fused)

    works = {"gather+up": gather_up, "down+scatter": down_scatter}
    types = {"bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn}
    for word in sys.argv[1:]:
        model, operation, rows, dtype = word.split(":")
        row = dict(model=model, operation=operation, rows=int(rows), dtype=dtype, failures=[])
        try:
            work = works[operation](int(rows), *MODELS[model], types[dtype])
        except Exception as error:
            work = []
            row["failures"].append(str(error).splitlines()[0][:200])
        for name, one_work in zip(("t_gemm", "t_comm", "t_sequence", "t_fused"), work):
            try:
                row[name] = round(clock(one_work), 1)
            except Exception as error:
                row["failures"].append(f"{name}: {str(error).splitlines()[0][:200]}")
        if "t_fused" in row and "t_gemm" in row and "t_comm" in row:
            row["efficiency"] = round(max(row["t_gemm"], row["t_comm"]) / row["t_fused"], 3)
        if rank == 0:
            print(json.dumps(row), flush=True)
        del work
        torch.cuda.empty_cache()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
