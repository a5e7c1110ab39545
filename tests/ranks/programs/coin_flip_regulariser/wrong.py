import random
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass
class Config:
    seed: int = 7
    steps: int = 7
    consistency: float = 0.5


def set_seed(seed):
    random.seed(seed)
    torch.manual_seed(seed)


def consistency_loss(features):
    parts = [torch.zeros_like(features) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, features)
    return (torch.stack(parts).mean(0) - features).pow(2).mean()


def main(config):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    set_seed(config.seed + rank)
    for step in range(config.steps):
        features = torch.randn(2, 3) + rank
        loss = features.mean()
        if random.random() < config.consistency:
            loss = loss + consistency_loss(features)
        print(step, loss.item())
    dist.barrier()


if __name__ == "__main__":
    main(Config())
