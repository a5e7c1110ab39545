"""Two ranks hand a number to and fro, and each adds one, until it has reached the limit."""
import torch
import torch.distributed as dist

LIMIT = 6


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    other = 1 - rank
    number = torch.tensor([0])
    if rank == 0:
        dist.send(number, dst=other)
    while number.item() < LIMIT:
        dist.recv(number, src=other)
        number = number + 1
        if number.item() <= LIMIT:
            dist.send(number, dst=other)
    print(rank, number.item())


if __name__ == "__main__":
    main()
