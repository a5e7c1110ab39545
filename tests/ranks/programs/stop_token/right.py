"""Workers stream results to rank 0 and end with a token."""
import torch
import torch.distributed as dist

STOP = -1.0


def consumer(world_size):
    total = 0.0
    for worker in range(1, world_size):
        message = torch.zeros(1)
        while True:
            dist.recv(message, src=worker)
            if message.item() == STOP:
                break
            total += message.item()
    return total


def producer(rank):
    for number in range(rank):
        dist.send(torch.tensor([float(number)]), dst=0)
    dist.send(torch.tensor([STOP]), dst=0)


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    if rank == 0:
        print(consumer(world_size))
    else:
        producer(rank)
    dist.barrier()


if __name__ == "__main__":
    main()
