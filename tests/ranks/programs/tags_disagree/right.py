import enum

import torch
import torch.distributed as dist


class Tag(enum.IntEnum):
    WEIGHTS = 1
    GRADIENTS = 2


def parameter_server(weights, rounds):
    gradient = torch.empty_like(weights)
    for _ in range(rounds):
        dist.send(weights, dst=1, tag=int(Tag.WEIGHTS))
        dist.recv(gradient, src=1, tag=int(Tag.GRADIENTS))
        weights -= 0.1 * gradient


def worker(weights, rounds):
    for _ in range(rounds):
        dist.recv(weights, src=0, tag=int(Tag.WEIGHTS))
        dist.send(weights * 2, dst=0, tag=int(Tag.GRADIENTS))


if __name__ == "__main__":
    dist.init_process_group("gloo")
    run = parameter_server if dist.get_rank() == 0 else worker
    run(torch.ones(4), rounds=2)
    dist.barrier()
