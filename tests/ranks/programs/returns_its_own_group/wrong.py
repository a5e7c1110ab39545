import os

import torch
import torch.distributed as dist


def node_group(rank, world_size, per_node=2):
    mine = None
    for first in range(0, world_size, per_node):
        ranks = list(range(first, first + per_node))
        group = dist.new_group(ranks=ranks, backend="gloo")
        if rank in ranks:
            return group
    return mine


if __name__ == "__main__":
    rank, world_size = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE"))
    dist.init_process_group("gloo")
    assert world_size > 2 and world_size % 2 == 0, "several nodes of two"
    group = node_group(rank, world_size)
    total = torch.tensor([1.0 + rank])
    dist.all_reduce(total, group=group)
    dist.all_reduce(total)
    print(rank, total.item())
