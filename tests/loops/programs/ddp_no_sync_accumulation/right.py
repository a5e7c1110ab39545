import contextlib
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local_rank)
dataset = TensorDataset(torch.randn(48, 6), torch.randint(0, 2, (48,)))
loader = DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset), drop_last=True)
model = DDP(nn.Linear(6, 2).cuda(), device_ids=[local_rank])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
window = 4
for epoch in range(2):
    loader.sampler.set_epoch(epoch)
    for i, (x, y) in enumerate(loader):
        boundary = (i + 1) % window == 0 or i + 1 == len(loader)
        with contextlib.nullcontext() if boundary else model.no_sync():
            loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            (loss / window).backward()
        if boundary:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
if local_rank == 0:
    torch.save(model.module.state_dict(), "model.pt")
dist.destroy_process_group()
