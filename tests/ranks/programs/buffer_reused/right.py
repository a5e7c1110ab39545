"""Sends slices of a large array through one buffer."""
import time

import torch
import torch.distributed as dist

LENGTH = 1 << 21


def produce(slices):
    buffer = torch.empty(LENGTH)
    for number in range(slices):
        buffer.fill_(number + 1.0)
        request = dist.isend(buffer, dst=1)
        request.wait()
    buffer.zero_()
    dist.barrier()


def consume(slices):
    buffer = torch.empty(LENGTH)
    for number in range(slices):
        time.sleep(0.5)
        dist.recv(buffer, src=0)
        assert buffer[-1].item() == number + 1.0, buffer[-1]
    dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    produce(3) if dist.get_rank() == 0 else consume(3)
