import torch
import torch.distributed as dist


def shards(total, group):
    """What this member of the group reads; the ranks outside it read nothing."""
    position = dist.get_rank(group)
    count = dist.get_world_size(group)
    length = total // count
    assert position >= 0, "not a member"
    return list(range(position * length, (position + 1) * length))


def main():
    dist.init_process_group("gloo")
    readers = dist.new_group([1, 2])
    mine = shards(8, readers)
    count = torch.tensor([len(mine)])
    dist.all_reduce(count)
    assert count.item() == 8


if __name__ == "__main__":
    main()
