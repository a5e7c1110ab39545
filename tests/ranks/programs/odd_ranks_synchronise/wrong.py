import torch
import torch.distributed as dist


class Gossip:
    """Exchanges weights with a neighbour on even steps, with everybody on each fourth."""

    def __init__(self, model):
        self.model = model
        self.rank, self.world = dist.get_rank(), dist.get_world_size()

    def average(self):
        for weight in self.model.values():
            dist.all_reduce(weight)
            weight /= self.world

    def step(self, number):
        for weight in self.model.values():
            weight += 0.1 * self.rank
        if self.rank % 4 == 3:
            self.average()


def main():
    dist.init_process_group("gloo")
    if dist.get_world_size() != 4:
        raise SystemExit("start me with --nproc_per_node=4")
    gossip = Gossip({"w": torch.ones(2), "b": torch.zeros(2)})
    for number in range(8):
        gossip.step(number)
    dist.barrier()


if __name__ == "__main__":
    main()
