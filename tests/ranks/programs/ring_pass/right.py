"""Sums a value around a ring: even ranks send first, odd ranks receive first."""
import torch
import torch.distributed as dist


def pass_on(buffer, rank, world_size):
    right, left = (rank + 1) % world_size, (rank - 1) % world_size
    received = torch.empty_like(buffer)
    if rank % 2 == 0:
        dist.send(buffer, dst=right)
        dist.recv(received, src=left)
    else:
        dist.recv(received, src=left)
        dist.send(buffer, dst=right)
    return received


def ring_sum(value):
    rank, world_size = dist.get_rank(), dist.get_world_size()
    total, travelling = value.clone(), value
    for _ in range(world_size - 1):
        travelling = pass_on(travelling, rank, world_size)
        total += travelling
    return total


if __name__ == "__main__":
    dist.init_process_group("gloo")
    assert ring_sum(torch.tensor([float(dist.get_rank())])).item() == sum(range(dist.get_world_size()))
