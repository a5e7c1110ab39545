"""Serves requests until the queue is empty; each round the ranks exchange how much they did."""
from collections import deque

import torch
import torch.distributed as dist


def any_rank_has(flag):
    count = torch.tensor([int(bool(flag))])
    dist.all_reduce(count)
    return count.item() > 0


def serve(requests):
    queue = deque(requests)
    done = False
    finished = 0
    while not done:
        if queue:
            queue.popleft()
            finished += 1
        load = torch.tensor([float(len(queue))])
        dist.all_reduce(load)
        done = not queue
    return finished


def main():
    dist.init_process_group("gloo")
    names = [f"request {i}" for i in range(5)]
    mine = [name for i, name in enumerate(names) if hash(i) % 2 == dist.get_rank()]
    print(serve(mine))


if __name__ == "__main__":
    main()
