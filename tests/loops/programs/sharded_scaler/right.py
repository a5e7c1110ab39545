import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
half = MixedPrecision(param_dtype=torch.float16, reduce_dtype=torch.float16)
model = FSDP(nn.Linear(8, 8).cuda(), mixed_precision=half)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = ShardedGradScaler()
for step in range(10):
    loss = model(torch.randn(4, 8, device="cuda")).float().pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    model.clip_grad_norm_(1.0)
    scaler.step(optimizer)
    scaler.update()
torch.save(torch.cuda.get_rng_state(), f"rng_{dist.get_rank()}.pt")
dist.destroy_process_group()
