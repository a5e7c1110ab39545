"""Reinforcement learning: the learner sends weights, the actors send the number of steps."""
import torch
import torch.distributed as dist


class Learner:
    def __init__(self):
        self.weights = torch.zeros(4)

    def synchronise(self):
        self.weights += 1
        dist.broadcast(self.weights, src=0)
        steps = torch.zeros(1)
        dist.all_reduce(steps)
        return steps.item()


class Actor:
    def __init__(self):
        self.weights = torch.zeros(4)

    def synchronise(self):
        steps = torch.ones(1) * 16
        dist.all_reduce(steps)
        dist.broadcast(self.weights, src=0)
        return steps.item()


def main():
    dist.init_process_group("gloo")
    role = Learner() if dist.get_rank() == 0 else Actor()
    for _ in range(3):
        collected = role.synchronise()
    assert collected == 16 * (dist.get_world_size() - 1)


if __name__ == "__main__":
    main()
