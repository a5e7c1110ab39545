import torch
import torch.distributed as dist


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    @property
    def global_avg(self):
        pair = torch.tensor([self.total, float(self.count)], dtype=torch.float64)
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(pair)
        return (pair[0] / pair[1].clamp(min=1)).item()

    def __str__(self):
        return f"{self.name} {self.total / max(self.count, 1):.3f}"


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    meter = AverageMeter("loss")
    for step in range(6):
        meter.update(1.0 / (step + 1 + rank))
        if rank == 0 and step % 2 == 0:
            print(f"step {step} {meter}")
    average = meter.global_avg
    if rank == 0:
        print("epoch", average)


if __name__ == "__main__":
    main()
