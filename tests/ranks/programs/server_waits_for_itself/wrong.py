import torch
import torch.distributed as dist


def server(world_size, rounds):
    total = torch.zeros(2)
    for _ in range(rounds):
        for worker in range(world_size):
            gradient = torch.empty(2)
            dist.recv(gradient, src=worker)
            total += gradient
    return total


def worker(rank, rounds):
    for step in range(rounds):
        dist.send(torch.ones(2) * rank, dst=0)


def main(rounds=2):
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    if rank == 0:
        total = server(world_size, rounds)
        assert total[0].item() == rounds * sum(range(world_size))
    else:
        worker(rank, rounds)
    dist.barrier()


if __name__ == "__main__":
    main()
