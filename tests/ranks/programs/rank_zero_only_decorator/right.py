import functools
import os

import torch
import torch.distributed as dist


def rank_zero_only(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if int(os.environ.get("RANK", 0)) == 0:
            return function(*args, **kwargs)
        return None
    return wrapper


def mean_over_ranks(value):
    value = value.clone()
    dist.all_reduce(value)
    return value / dist.get_world_size()


@rank_zero_only
def log(step, name, value):
    print(f"[{step}] {name}: {value.item():.3f}")


def report(step, loss):
    log(step, "train/loss", mean_over_ranks(loss))


def main():
    dist.init_process_group("gloo")
    for step in range(3):
        loss = torch.tensor(1.0 / (1 + step + dist.get_rank()))
        report(step, loss)
    dist.barrier()
    dist.destroy_process_group()


main()
