"""A grid of two by n: a rank that does not fit into it has no work, but stays for the collectives of all."""
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    active = 3 if world_size > 3 else world_size
    in_use = rank < active
    group = dist.new_group(list(range(active)))
    if not in_use:
        print("rank", rank, "is spare")
        return
    work = torch.tensor([float(rank)])
    dist.all_reduce(work, group=group)
    assert work.item() == sum(range(active))
    dist.barrier()


if __name__ == "__main__":
    main()
