import torch
import torch.distributed as dist


def exchange(value, rank, partner):
    received = torch.empty_like(value)
    if rank < partner + 4:
        dist.recv(received, src=partner)
        dist.send(value, dst=partner)
    else:
        dist.send(value, dst=partner)
        dist.recv(received, src=partner)
    return received


def butterfly_sum(value):
    rank, world_size = dist.get_rank(), dist.get_world_size()
    mask = 1
    while mask < world_size:
        value = value + exchange(value, rank, rank ^ mask)
        mask <<= 1
    return value


def main():
    dist.init_process_group("gloo")
    assert dist.get_world_size() in (2, 4), "a power of two"
    total = butterfly_sum(torch.tensor([float(dist.get_rank())]))
    assert total.item() == sum(range(dist.get_world_size()))
    dist.barrier()


if __name__ == "__main__":
    main()
