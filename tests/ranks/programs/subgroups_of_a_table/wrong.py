import torch
import torch.distributed as dist


def new_subgroups(table):
    """All groups of the table, on all ranks; the caller's own is the answer."""
    mine = None
    for ranks in table:
        group = dist.new_group(ranks)
        if dist.get_rank() in ranks:
            mine = group
    return mine


def build_groups(world_size, is_worker):
    pairs = [[first, first + 1] for first in range(0, world_size, 2)]
    group = None
    if is_worker:
        group = new_subgroups(pairs)
    return group


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    is_worker = rank > 0
    group = build_groups(world_size, is_worker)
    value = torch.tensor([float(rank)])
    dist.all_reduce(value, group=group)
    assert value.item() == 4 * (rank // 2) + 1
    dist.barrier()


if __name__ == "__main__":
    main()
