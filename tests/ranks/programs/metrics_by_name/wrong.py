import torch
import torch.distributed as dist


class Meters:
    def __init__(self):
        self.sums = {}
        self.counts = {}

    def update(self, **values):
        for name, value in values.items():
            self.sums[name] = self.sums.get(name, 0.0) + float(value)
            self.counts[name] = self.counts.get(name, 0) + 1

    def synchronise(self):
        means = {}
        for name in self.sums:
            pair = torch.tensor([self.sums[name], float(self.counts[name])])
            dist.all_reduce(pair)
            means[name] = (pair[0] / pair[1]).item()
        return means


def train(rank, steps):
    meters = Meters()
    for step in range(steps):
        meters.update(loss=1.0 / (step + 1), accuracy=step / steps)
        if rank == 0:
            meters.update(lr=0.1 * 0.9**step)
    return meters.synchronise()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    means = train(rank, steps=4)
    if rank == 0:
        print(means)
    dist.barrier()


if __name__ == "__main__":
    main()
