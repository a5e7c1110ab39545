"""Reduces the statistics by name. The order of a set of strings is another one in each process."""
import torch
import torch.distributed as dist


class Statistics:
    def __init__(self):
        self.values = {}

    def add(self, name, size):
        self.values[name] = torch.ones(size)

    def reduce(self, names):
        for name in names:
            dist.all_reduce(self.values[name])


def main():
    dist.init_process_group("gloo")
    statistics = Statistics()
    names = ["loss", "accuracy", "grad_norm", "learning_rate", "tokens", "time", "memory", "entropy"]
    for size, name in enumerate(names, 1):
        statistics.add(name, 100 * size)
    wanted = set(names) - {"time"}
    statistics.reduce(wanted)
    assert statistics.values["loss"][0].item() == dist.get_world_size()
    dist.barrier()


if __name__ == "__main__":
    main()
