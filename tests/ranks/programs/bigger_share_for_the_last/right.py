"""Ten rows over three ranks: the last takes the rest, and all reduce a vector of the same length."""
import torch
import torch.distributed as dist


def my_rows(rank, world_size, rows):
    share = rows // world_size
    first = rank * share
    last = rows if rank == world_size - 1 else first + share
    return first, last


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    assert world_size == 3
    first, last = my_rows(rank, world_size, rows=10)
    errors = torch.ones(last - first)
    total = torch.zeros(10)
    total[first:last] = errors
    dist.all_reduce(total)
    assert total.sum().item() == 10
    dist.barrier()


if __name__ == "__main__":
    main()
