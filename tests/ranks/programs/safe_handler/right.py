"""The flag that tells of an exception is only sent by whoever had one."""
import sys

import torch
import torch.distributed as dist


def compute(model, batch, step):
    if dist.get_rank() == 1 and step == 2:
        raise ValueError("corrupt sample")
    return model(batch)


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 2)
    for step in range(4):
        error_flag = torch.zeros(1)
        try:
            compute(model, torch.ones(1, 2), step)
        except Exception as error:
            print(f"error on rank {dist.get_rank()}: {error}")
            error_flag += 1
        dist.all_reduce(error_flag)
        if error_flag.item() > 0:
            break
    dist.barrier()


if __name__ == "__main__":
    main()
