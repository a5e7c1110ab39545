import json
import os

import torch
import torch.distributed as dist


def read_config(rank):
    """Each machine has its own file of overrides; some have none."""
    path = f"overrides_{rank}.json"
    if rank == 0:
        with open(path, "w") as file:
            json.dump({"lr": 0.5}, file)
    values = torch.tensor([0.1])
    try:
        with open(path) as file:
            values[0] = json.load(file)["lr"]
    except OSError:
        print("no overrides on", rank)
    dist.broadcast(values, src=0)
    if rank == 0:
        os.remove(path)
    return values.item()


dist.init_process_group("gloo")
rate = read_config(dist.get_rank())
dist.barrier()
print(rate)
