import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
ddp_model = DDP(build().to(local_rank), device_ids=[local_rank])
if dist.get_rank() == 0:
    torch.save(ddp_model.state_dict(), "trained.pt")
dist.barrier()
dist.destroy_process_group()

model = build()
model.load_state_dict(torch.load("trained.pt", map_location="cpu"))
model.eval()
