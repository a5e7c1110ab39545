"""Rank 0 commands the workers: one tells them to work on the data that follows, another to end."""
import torch
import torch.distributed as dist

END, WORK = 0, 1


def order(worker, command):
    dist.send(torch.tensor([command]), dst=worker)


def lead(world_size):
    for step in range(2):
        for worker in range(1, world_size):
            order(worker, WORK)
            dist.send(torch.ones(8) * step, dst=worker)
        for worker in range(1, world_size):
            answer = torch.empty(8)
            dist.recv(answer, src=worker)
    for worker in range(2, world_size):
        order(worker, END)


def follow():
    command = torch.zeros(1, dtype=torch.long)
    while True:
        dist.recv(command, src=0)
        if command.item() == END:
            return
        data = torch.empty(8)
        dist.recv(data, src=0)
        dist.send(data * 2, dst=0)


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        lead(dist.get_world_size())
    else:
        follow()
    dist.barrier()


if __name__ == "__main__":
    main()
