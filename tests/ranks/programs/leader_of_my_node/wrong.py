"""Two nodes of two: the leader of each tells its node what it has read."""
import torch
import torch.distributed as dist

PER_NODE = 2


class Node:
    def __init__(self, rank, world_size):
        self.index = rank // PER_NODE
        self.group = None
        for start in range(0, world_size, PER_NODE):
            group = dist.new_group(list(range(start, start + PER_NODE)))
            if start == self.index * PER_NODE:
                self.group = group

    @property
    def leader(self):
        return self.index

    def tell(self, value):
        dist.broadcast(value, src=self.leader, group=self.group)
        return value


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    assert world_size // PER_NODE > 1 and world_size % PER_NODE == 0
    node = Node(rank, world_size)
    assert node.tell(torch.tensor([float(rank)])).item() == rank // PER_NODE * PER_NODE
    dist.barrier()


if __name__ == "__main__":
    main()
