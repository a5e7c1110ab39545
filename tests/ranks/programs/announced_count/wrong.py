"""Each worker says how many batches it has, then sends them; rank 0 receives so many."""
import torch
import torch.distributed as dist


def collect(world_size):
    batches = []
    for worker in range(1, world_size):
        count = torch.zeros(1, dtype=torch.long)
        dist.recv(count, src=worker)
        for _ in range(int(count.item())):
            batch = torch.empty(4)
            dist.recv(batch, src=worker)
            batches.append(batch)
    return torch.stack(batches).mean()


def offer(rank):
    batches = [torch.full((4,), float(rank)) for _ in range(rank + 1)]
    dist.send(torch.tensor([len(batches)]), dst=0)
    for batch in batches[1:]:
        dist.send(batch, dst=0)


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    if rank == 0:
        print(collect(world_size))
    else:
        offer(rank)
    dist.barrier()


if __name__ == "__main__":
    main()
