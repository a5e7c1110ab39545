import time

import torch
import torch.distributed as dist


def mean_loss(loss):
    total = loss.detach().clone()
    work = dist.all_reduce(total, op=dist.ReduceOp.SUM, async_op=True)
    if work is not None:
        print("reduction under way")
    return total.item() / dist.get_world_size()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for step in range(2):
        if rank == 1:
            time.sleep(0.7)
        assert mean_loss(torch.tensor(2.0 * rank)) == 1.0
    dist.barrier()
