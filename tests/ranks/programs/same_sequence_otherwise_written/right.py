"""Four broadcasts on every rank: in a loop, one by one, and in pairs."""
import torch
import torch.distributed as dist


def as_source(tensors):
    for tensor in tensors:
        dist.broadcast(tensor, src=0)


def one_by_one(tensors):
    first, second, third, fourth = tensors
    dist.broadcast(first, 0)
    dist.broadcast(second, 0)
    dist.broadcast(third, 0)
    dist.broadcast(fourth, 0)


def in_pairs(tensors):
    for start in range(0, len(tensors), 2):
        for tensor in tensors[start:start + 2]:
            dist.broadcast(tensor, src=0)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    tensors = [torch.full((2,), float(rank)) for _ in range(4)]
    if rank == 0:
        as_source(tensors)
    elif rank == 1:
        one_by_one(tensors)
    else:
        in_pairs(tensors)
    assert sum(t.sum().item() for t in tensors) == 0
    dist.barrier()


if __name__ == "__main__":
    main()
