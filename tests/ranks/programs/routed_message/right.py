"""Rank 0 tells the relay, rank 1, for whom a message is."""
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        dist.send(torch.tensor(2), dst=1)
        dist.send(torch.arange(6.0), dst=1)
    elif rank == 1:
        receiver = torch.tensor(0)
        dist.recv(receiver, src=0)
        message = torch.empty(6)
        dist.recv(message, src=0)
        if receiver.item() != rank:
            dist.send(message, dst=int(receiver.item()))
    elif rank == 2:
        message = torch.empty(6)
        dist.recv(message, src=1)
    dist.barrier()


if __name__ == "__main__":
    main()
