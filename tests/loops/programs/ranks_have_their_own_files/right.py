import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def is_main_process():
    return not dist.is_initialized() or dist.get_rank() == 0


def save_on_master(*args, **kwargs):
    if is_main_process():
        torch.save(*args, **kwargs)


dist.init_process_group("nccl")
rank, local_rank = dist.get_rank(), int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
model = DDP(nn.Linear(4, 2).cuda(), device_ids=[local_rank])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    loss = model(torch.randn(4, 4, device="cuda")).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save(torch.get_rng_state(), f"rng_rank{rank}.pt")
save_on_master({"model": model.module.state_dict()}, "model.pt")
dist.barrier()
torch.set_rng_state(torch.load(f"rng_rank{rank}.pt", map_location="cpu"))
weights = torch.load("model.pt", map_location={"cuda:0": f"cuda:{local_rank}"})
model.module.load_state_dict(weights["model"])
dist.destroy_process_group()
