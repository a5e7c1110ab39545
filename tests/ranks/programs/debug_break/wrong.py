import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--max-steps", type=int, default=3)
parser.add_argument("--local_rank", type=int, default=int(os.environ.get("LOCAL_RANK", 0)))
args = parser.parse_args()


def train(batches):
    model = torch.nn.Linear(2, 1)
    for step, batch in enumerate(batches):
        if step >= args.max_steps and args.local_rank == 0:
            print("enough for a test")
            break
        loss = model(batch).sum()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)


dist.init_process_group("gloo")
train([torch.ones(2, 2) for _ in range(5)])
dist.barrier()
