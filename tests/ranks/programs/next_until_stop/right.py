import torch
import torch.distributed as dist


def exhausted_anywhere(mine):
    flag = torch.tensor([float(mine)])
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    return flag.item() == 1.0


def train(stream):
    iterator = iter(stream)
    total = torch.zeros(1)
    while True:
        batch = next(iterator, None)
        if exhausted_anywhere(batch is None):
            break
        total += batch
        grad = batch.clone()
        dist.all_reduce(grad)
    return total


def shard(rank):
    return (torch.tensor([float(i)]) for i in range(10) if i % 3 != 1 or rank == 0)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    print(train(shard(dist.get_rank())).item())
    dist.barrier()
