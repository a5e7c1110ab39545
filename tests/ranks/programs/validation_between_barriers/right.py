import time
from datetime import timedelta

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
waiting = dist.new_group(timeout=timedelta(minutes=30))


@torch.no_grad()
def validate(model, batches):
    total = 0.0
    for batch in batches:
        total += model(batch).pow(2).mean().item()
        time.sleep(1)
    return total / len(batches)


model = torch.nn.Linear(2, 1)
for epoch in range(1):
    dist.barrier(group=waiting)
    if rank == 0:
        print(validate(model, [torch.ones(2, 2)] * 4))
    dist.barrier(group=waiting)
