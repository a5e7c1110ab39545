import os

import torch
import torch.distributed as dist


def validate(model, samples):
    with torch.no_grad():
        return model(samples).pow(2).mean().reshape(1)


def main(epochs=11, every=10):
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    for epoch in range(epochs):
        gradient = torch.ones(2)
        dist.all_reduce(gradient)
        if epoch % every == 0:
            val_loss = validate(model, torch.ones(3, 2)) if rank == 0 else torch.zeros(1)
            dist.broadcast(val_loss, src=0)
            if rank == 0 and val_loss.item() < 0.1:
                print("good enough at", epoch)


if __name__ == "__main__":
    main()
