from dataclasses import dataclass, field

import torch
import torch.distributed as dist


@dataclass
class Context:
    rank: int = field(default_factory=dist.get_rank)
    world_size: int = field(default_factory=dist.get_world_size)

    @property
    def is_primary(self):
        return self.rank == 0


class EarlyStopper:
    def __init__(self, context, patience=2):
        self.context = context
        self.patience = patience
        self.best = float("inf")
        self.bad = 0

    def should_stop(self, loss):
        flag = torch.zeros(1, dtype=torch.int64)
        if self.context.is_primary:
            if loss < self.best:
                self.best, self.bad = loss, 0
            else:
                self.bad += 1
            flag[0] = int(self.bad >= self.patience)
        dist.broadcast(flag, src=0)
        return bool(flag.item())


if __name__ == "__main__":
    dist.init_process_group("gloo")
    context = Context()
    stopper = EarlyStopper(context)
    for epoch, loss in enumerate([1.0, 0.8, 0.9, 0.85, 0.9, 0.95]):
        if stopper.should_stop(loss + 0.1 * context.rank):
            print("stop after", epoch)
            break
    dist.barrier()
