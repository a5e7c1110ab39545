"""A rank outside the group gets only a warning from its collectives, and keeps what it had."""
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    assert dist.get_world_size() > 2
    members = [0, 1]
    group = dist.new_group(members)
    value = torch.tensor([float(rank)])
    if rank in members:
        dist.all_reduce(value, group=group)
    dist.broadcast(value, src=0)
    assert value.item() == sum(members), value
    dist.barrier()


if __name__ == "__main__":
    main()
