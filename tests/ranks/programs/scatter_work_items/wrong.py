import torch
import torch.distributed as dist


class WorkQueue:
    def __init__(self, items):
        self.items = items
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()

    def share(self):
        mine = [None]
        if self.rank == 0:
            shares = [self.items[i::self.world_size] for i in range(self.world_size)]
            dist.scatter_object_list(mine, shares, src=0)
        else:
            mine = [self.items[self.rank::self.world_size]]
        return mine[0]


if __name__ == "__main__":
    dist.init_process_group("gloo")
    queue = WorkQueue([f"shard-{i}" for i in range(7)])
    count = torch.tensor([len(queue.share())])
    dist.all_reduce(count)
    assert count.item() == 7
