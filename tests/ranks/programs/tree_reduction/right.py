"""Sums up a binary tree: in each round half of the ranks that are left send and leave."""
import torch
import torch.distributed as dist


def tree_sum(value, rank, world_size):
    distance = 1
    while distance < world_size:
        if rank % (2 * distance) == 0:
            if rank + distance < world_size:
                received = torch.empty_like(value)
                dist.recv(received, src=rank + distance)
                value = value + received
        elif rank % distance == 0:
            dist.send(value, dst=rank - distance)
            break
        distance *= 2
    dist.broadcast(value, src=0)
    return value


if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    total = tree_sum(torch.tensor([float(rank)]), rank, world_size)
    if rank == 0:
        print(total.item())
