import torch
import torch.distributed as dist


def global_norm(parameters):
    square = sum(p.grad.pow(2).sum() for p in parameters)
    dist.all_reduce(square)
    return square.sqrt()


def clip(parameters, limit):
    parameters = [p for p in parameters if p.grad is not None]
    local = max(p.grad.abs().max().item() for p in parameters)
    if local > limit:
        norm = global_norm(parameters)
        for p in parameters:
            p.grad.mul_(limit / norm)


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(4, 4)
    for step in range(3):
        model.zero_grad()
        x = torch.ones(2, 4) * (10 if dist.get_rank() < step else 0.001)
        model(x).sum().backward()
        clip(list(model.parameters()), limit=5.0)
    dist.barrier()


if __name__ == "__main__":
    main()
