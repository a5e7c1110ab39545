import torch
import torch.distributed as dist


class Monitor:
    def __init__(self, limit):
        self.limit = limit
        self.world_size = dist.get_world_size()

    def healthy(self, loss):
        return loss < self.limit

    def all_healthy(self, loss):
        answers = [None] * self.world_size
        dist.all_gather_object(answers, self.healthy(loss))
        return all(answers)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    monitor = Monitor(limit=8.0)
    torch.manual_seed(rank)
    loss = torch.rand(1).item()
    for step in range(6):
        loss = loss * 2 + rank
        if not monitor.all_healthy(loss):
            print("diverged at", step)
            break
        weights = torch.ones(2)
        dist.all_reduce(weights)
    print("left", rank)


if __name__ == "__main__":
    main()
