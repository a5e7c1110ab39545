"""Divergent loops, exits and handlers that hold no communication."""
import sys
import time

import torch
import torch.distributed as dist


def simulate(rank, seed):
    steps, state = 0, seed
    while state != 1 and steps < 50:
        state = state // 2 if state % 2 == 0 else 3 * state + 1
        steps += 1
        if rank == 2 and steps > 10:
            break
    return steps


def describe(rank, steps):
    if rank % 2:
        return
    if steps > 100:
        raise ValueError("too long")
    print(rank, steps)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    begin = time.time()
    steps = simulate(rank, 7 + rank)
    try:
        describe(rank, steps)
    except ValueError:
        steps = 0
    total = torch.tensor([steps])
    dist.all_reduce(total)
    if time.time() - begin > 0.5 and rank:
        print("slow", rank)
    dist.barrier()
    if total.item() > 10 and rank != 3:
        sys.exit(0)
    print("the last one")


if __name__ == "__main__":
    main()
