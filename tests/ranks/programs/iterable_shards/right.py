import itertools

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __init__(self, count, rank, world_size):
        self.count, self.rank, self.world_size = count, rank, world_size

    def __iter__(self):
        for number in itertools.islice(range(self.count), self.rank, None, self.world_size):
            yield torch.tensor([float(number)])


def steps_for_all(count, world_size, batch_size):
    return count // world_size // batch_size


def train(loader, steps):
    weight = torch.zeros(1)
    for batch in itertools.islice(loader, steps):
        gradient = batch.mean(0)
        dist.all_reduce(gradient)
        weight -= 0.01 * gradient
    return weight


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    loader = DataLoader(Lines(9, rank, world_size), batch_size=1)
    train(loader, steps_for_all(9, world_size, batch_size=1))
    dist.barrier()


if __name__ == "__main__":
    main()
