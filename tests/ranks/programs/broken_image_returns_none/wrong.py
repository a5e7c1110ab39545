import torch
import torch.distributed as dist
from torch import nn


def decode(index, rank):
    """None where the file is broken."""
    if (index * 7 + rank * 3) % 10 == 3:
        return None
    return torch.full((3,), float(index))


def collate(indices, rank):
    images = [image for image in (decode(i, rank) for i in indices) if image is not None]
    return torch.stack(images) if len(images) == len(indices) else None


def average_gradients(model):
    for p in model.parameters():
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        dist.all_reduce(p.grad)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = nn.Linear(3, 1)
    for start in range(0, 12, 2):
        model.zero_grad(set_to_none=True)
        batch = collate([start, start + 1], rank)
        if batch is None:
            continue
        model(batch).mean().backward()
        average_gradients(model)
    dist.barrier()


if __name__ == "__main__":
    main()
