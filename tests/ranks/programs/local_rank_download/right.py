"""One process of each machine prepares the data, the others wait for it."""
import os
import time

import torch
import torch.distributed as dist

LOCAL_RANK = int(os.environ["LOCAL_RANK"])


def prepare(folder):
    if LOCAL_RANK == 0:
        time.sleep(0.3)
        torch.save(torch.arange(12.0).view(6, 2), os.path.join(folder, "data.pt"))
    dist.barrier()
    return torch.load(os.path.join(folder, "data.pt"))


def run():
    dist.init_process_group("gloo")
    folder = os.getcwd()
    data = prepare(folder)
    mean = data.mean(0)
    dist.all_reduce(mean)
    print(LOCAL_RANK, mean.tolist())


run()
