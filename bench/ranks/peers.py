"""PyTorch's all-gather, product and reduce-scatter in sequence, and its AsyncTP (symmetric memory), on the products of run. Started by it:
python3 -m torch.distributed.run --nproc-per-node=N peers.py MODELS ROWS. Times are medians of the slowest rank, in microseconds."""
import os
import sys

MODELS = {"70B": (8192, 28672), "405B": (16384, 53248)}


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
    say = print if rank == 0 else lambda *a, **k: None
    enabled = None
    try:
        symmetric.enable_symm_mem_for_group(group)
    except Exception as error:  # not all versions need or have it
        enabled = error

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

    def attempt(name, work):
        try:
            return f"{name} {clock(work):.1f}"
        except Exception as error:
            return f"{name} failed: {str(error).splitlines()[0][:160]}"

    for rows in map(int, sys.argv[2].split(",")):
        for model in sys.argv[1].split(","):
            hidden, wide = MODELS[model]
            shard = torch.randn(rows // size, hidden, device=device, dtype=torch.bfloat16)
            up = torch.randn(wide // size, hidden, device=device, dtype=torch.bfloat16).t()
            whole = torch.empty(rows, hidden, device=device, dtype=torch.bfloat16)

            def gather_up():
                dist.all_gather_into_tensor(whole, shard)
                torch.mm(whole, up)

            say(f"torch {model} gather+up rows {rows}:", attempt("sequence", gather_up),
                attempt("AsyncTP", lambda: torch.ops.symm_mem.fused_all_gather_matmul(shard, [up], gather_dim=0, group_name=group)), flush=True)
            act = torch.randn(rows, wide // size, device=device, dtype=torch.bfloat16)
            down = torch.randn(hidden, wide // size, device=device, dtype=torch.bfloat16).t()
            part = torch.empty(rows // size, hidden, device=device, dtype=torch.bfloat16)

            def down_scatter():
                dist.reduce_scatter_tensor(part, torch.mm(act, down))

            say(f"torch {model} down+scatter rows {rows}:", attempt("sequence", down_scatter),
                attempt("AsyncTP", lambda: torch.ops.symm_mem.fused_matmul_reduce_scatter(act, down, "sum", scatter_dim=0, group_name=group)), flush=True)
            del shard, up, whole, act, down, part
    if enabled:
        say(f"note: enable_symm_mem_for_group: {enabled}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
