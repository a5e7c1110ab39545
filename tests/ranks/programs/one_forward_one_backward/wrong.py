"""A pipeline in the order "one forward, one backward", as Megatron runs it."""
import torch
import torch.distributed as dist
import torch.nn as nn

MICROBATCHES, ROWS, WIDTH = 6, 512, 512


class Stage:
    def __init__(self, rank, world_size):
        self.first, self.last = rank == 0, rank == world_size - 1
        self.before, self.behind = rank - 1, rank + 1
        self.layer = nn.Linear(WIDTH, WIDTH)
        self.kept = []

    def receive_forward(self):
        if self.first:
            return torch.ones(ROWS, WIDTH)
        given = torch.empty(ROWS, WIDTH)
        dist.recv(given, src=self.before)
        return given.requires_grad_()

    def send_forward(self, made):
        if not self.last:
            dist.send(made.detach(), dst=self.behind)

    def receive_backward(self):
        if self.last:
            return None
        grad = torch.empty(ROWS, WIDTH)
        dist.recv(grad, src=self.behind)
        return grad

    def send_backward(self, grad):
        if not self.first:
            dist.send(grad, dst=self.before)

    def exchange_forward(self, made):
        if self.last:
            return None
        grad = torch.empty(ROWS, WIDTH)
        for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, made.detach(), self.behind), dist.P2POp(dist.irecv, grad, self.behind)]):
            request.wait()
        return grad

    def forward(self, given):
        made = self.layer(given)
        self.kept.append((given, made))
        return made

    def backward(self, grad):
        given, made = self.kept.pop(0)
        made.sum().backward() if grad is None else made.backward(grad)
        return given.grad


def run(stage, warmup):
    for _ in range(warmup):
        stage.send_forward(stage.forward(stage.receive_forward()))
    for _ in range(MICROBATCHES - warmup):
        grad = stage.exchange_forward(stage.forward(stage.receive_forward()))
        stage.send_backward(stage.backward(grad))
    for _ in range(warmup):
        stage.send_backward(stage.backward(stage.receive_backward()))


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    run(Stage(rank, world_size), warmup=min(rank, MICROBATCHES))
    dist.barrier()


if __name__ == "__main__":
    main()
