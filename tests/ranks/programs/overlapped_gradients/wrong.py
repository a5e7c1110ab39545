import time

import torch
import torch.distributed as dist
from torch import nn


class OverlappedOptimizer(torch.optim.SGD):
    def reduce(self):
        handles = []
        for group in self.param_groups:
            for p in group["params"]:
                handles.append(dist.all_reduce(p.grad, async_op=True))
        print("logging in the meantime")

    def step(self, closure=None):
        self.reduce()
        return super().step(closure)


def main():
    dist.init_process_group("gloo")
    model = nn.Linear(3, 1, bias=False)
    nn.init.zeros_(model.weight)
    optimizer = OverlappedOptimizer(model.parameters(), lr=1.0)
    model(torch.ones(1, 3)).sum().backward()
    if dist.get_rank() == 1:
        time.sleep(1)
    optimizer.step()
    assert model.weight.detach().eq(-2.0).all(), model.weight
    dist.barrier()


if __name__ == "__main__":
    main()
