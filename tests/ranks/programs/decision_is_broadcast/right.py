import torch
import torch.distributed as dist


def decide(rank, epoch):
    decision = [None]
    if rank == 0:
        decision = [{"evaluate": epoch % 2 == 0, "stop": epoch >= 3}]
    dist.broadcast_object_list(decision, src=0)
    return decision[0]


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for epoch in range(10):
        decision = decide(rank, epoch)
        if decision["stop"]:
            break
        if decision["evaluate"]:
            score = torch.tensor([float(rank)])
            dist.all_reduce(score, op=dist.ReduceOp.MAX)
            if rank == 0:
                print(epoch, score.item())
    dist.barrier()


if __name__ == "__main__":
    main()
