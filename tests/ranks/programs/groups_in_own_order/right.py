import torch
import torch.distributed as dist


def groups_of(rank, world_size):
    """{name: group} of the pairs and of the halves."""
    layout = {"pairs": [[0, 1], [2, 3]], "crossed": [[0, 2], [1, 3]]}
    names = ["pairs", "crossed"]
    if rank == 3:
        names.sort()
    mine = {}
    for name in layout:
        for ranks in layout[name]:
            group = dist.new_group(ranks)
            if rank in ranks:
                mine[name] = group
    return mine


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    groups = groups_of(rank, dist.get_world_size())
    for name, other in (("pairs", rank ^ 1), ("crossed", rank ^ 2)):
        value = torch.tensor([10.0 ** rank])
        dist.all_reduce(value, group=groups[name])
        assert value.item() == 10.0 ** rank + 10.0 ** other
    dist.barrier()


if __name__ == "__main__":
    main()
