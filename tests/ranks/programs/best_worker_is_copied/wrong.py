"""Population based training: the best worker's weights replace those of the others."""
import torch
import torch.distributed as dist
import torch.nn as nn


class Worker:
    def __init__(self, rank, world_size):
        torch.manual_seed(rank)
        self.rank, self.world_size = rank, world_size
        self.model = nn.Linear(4, 1)
        self.held_out = torch.randn(8, 4)

    def score(self):
        with torch.no_grad():
            return -self.model(self.held_out).pow(2).mean()

    def best(self):
        scores = [torch.full((), -1e9) for _ in range(self.world_size)]
        scores[self.rank] = self.score()
        return int(torch.stack(scores).argmax())

    def exploit(self):
        winner = self.best()
        for p in self.model.parameters():
            dist.broadcast(p.data, src=winner)
        return winner


def main():
    dist.init_process_group("gloo")
    worker = Worker(dist.get_rank(), dist.get_world_size())
    for generation in range(2):
        winner = worker.exploit()
        if worker.rank == 0:
            print(generation, winner)


if __name__ == "__main__":
    main()
