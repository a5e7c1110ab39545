import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def build(rank):
    torch.manual_seed(0)
    student = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    teacher = copy.deepcopy(student)
    for parameter in teacher.parameters():
        parameter.requires_grad_(False)
    if rank == 0:
        print("parameters:", sum(p.numel() for p in student.parameters()))
    student = DistributedDataParallel(student)
    return student, teacher


def main():
    dist.init_process_group("gloo")
    student, teacher = build(dist.get_rank())
    optimizer = torch.optim.AdamW(student.parameters(), lr=1e-3)
    for _ in range(3):
        x = torch.randn(5, 4)
        loss = nn.functional.mse_loss(student(x), teacher(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.barrier()


if __name__ == "__main__":
    main()
