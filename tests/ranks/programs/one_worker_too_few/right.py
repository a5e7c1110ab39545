import torch
import torch.distributed as dist


class Scheduler:
    """Rank 0 gives out numbers and takes the squares back."""

    def __init__(self, world_size):
        self.workers = list(range(1, world_size))

    def run(self):
        for worker in self.workers:
            dist.send(torch.tensor([float(worker)]), dst=worker)
        results = []
        for worker in self.workers:
            answer = torch.zeros(1)
            dist.recv(answer, src=worker)
            results.append(answer.item())
        return results


def work():
    number = torch.zeros(1)
    dist.recv(number, src=0)
    dist.send(number ** 2, dst=0)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        print(Scheduler(dist.get_world_size()).run())
    else:
        work()
