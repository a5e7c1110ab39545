import torch
import torch.distributed as dist

_DATA_GROUP = None
_LEADERS = None


def initialize_parallel(size):
    global _DATA_GROUP, _LEADERS
    rank, world_size = dist.get_rank(), dist.get_world_size()
    for start in range(0, world_size, size):
        ranks = range(start, start + size)
        group = dist.new_group(list(ranks))
        if rank in ranks:
            _DATA_GROUP = group
    leaders = dist.new_group(list(range(0, world_size, size)))
    if rank % size == 0:
        _LEADERS = leaders


def leaders_sum(value):
    if _LEADERS is not None:
        dist.all_reduce(value, group=_LEADERS)
    return value


def main(size=2):
    dist.init_process_group("gloo")
    initialize_parallel(size)
    rank = dist.get_rank()
    value = torch.ones(1)
    dist.all_reduce(value, group=_DATA_GROUP)
    if leaders_sum(value).item() == 4.0:
        print("leader", rank)
    dist.broadcast(value, src=rank // size * size, group=_DATA_GROUP)
    assert value.item() == 4.0
    dist.barrier()


if __name__ == "__main__":
    main()
