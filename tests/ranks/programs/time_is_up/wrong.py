import time

import torch
import torch.distributed as dist

LIMIT = 1.0


def step(rank):
    time.sleep(0.05 if rank == 0 else 0.02)
    gradient = torch.ones(4)
    dist.all_reduce(gradient)
    return gradient


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    start = time.time()
    if rank == 1:
        start -= 0.5  # the scheduler started it earlier
    done = 0
    while True:
        if time.time() - start > LIMIT:
            break
        step(rank)
        done += 1
    print(rank, "steps:", done)


if __name__ == "__main__":
    main()
