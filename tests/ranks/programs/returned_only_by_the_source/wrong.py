import random

import torch
import torch.distributed as dist


def choose_run_name(rank):
    box = [None]
    if rank == 0:
        name = f"run-{random.randint(0, 999)}"
        box = [name]
    dist.broadcast_object_list(box, src=0)
    return name


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    name = choose_run_name(rank)
    names = [None] * dist.get_world_size()
    dist.all_gather_object(names, name)
    assert len(set(names)) == 1


main()
