import torch
import torch.distributed as dist


class Writer:
    def __init__(self):
        self.rows = []

    def add_scalar(self, name, value, step):
        self.rows.append((name, value, step))


def train(steps):
    rank = dist.get_rank()
    if rank == 0:
        writer = Writer()
        print("writing")
    for step in range(steps):
        loss = torch.tensor([1.0 / (step + 1)])
        dist.all_reduce(loss)
        if rank == 0 and step % 2 == 0:
            writer.add_scalar("loss", loss.item(), step)
    dist.barrier()
    print(len(writer.rows), "rows")


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train(4)
