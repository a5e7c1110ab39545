import torch
import torch.distributed as dist


def forward_chain(rank, world_size, steps=2):
    hidden = torch.zeros(3)
    for _ in range(steps):
        if rank > 0:
            dist.recv(hidden, src=rank - 1)
        hidden = hidden + 1
        if rank + 1 < world_size:
            dist.send(hidden, dst=rank + 1)
    return hidden


def main():
    dist.init_process_group(backend="gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    if world_size < 3:
        raise RuntimeError("a chain needs a first, a middle and a last rank")
    hidden = forward_chain(rank, world_size)
    assert hidden[0].item() == rank + 2
    print("chain done on", rank)


if __name__ == "__main__":
    main()
