import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


@torch.no_grad()
def evaluate(model, batches):
    was_training = model.training
    model.eval()
    right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in batches)
    model.train(was_training)
    return right / sum(len(labels) for _, labels in batches)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    model = DDP(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    batches = [(torch.randn(4, 1, 6, 6), torch.randint(0, 2, (4,))) for _ in range(2)]
    for epoch in range(2):
        for images, labels in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
        if rank == 0:
            print(epoch, evaluate(model.module, batches))
        dist.barrier()


if __name__ == "__main__":
    main()
