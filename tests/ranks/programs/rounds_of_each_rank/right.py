import torch
import torch.distributed as dist


class Averager:
    def __init__(self, rank):
        self.rank = rank
        self.rounds = 2 + rank

    def agree(self):
        most = torch.tensor([self.rounds])
        dist.all_reduce(most, op=dist.ReduceOp.MAX)
        return int(most.item())

    def run(self):
        value = torch.tensor([float(self.rank)])
        for number in range(self.agree()):
            contribution = value if number < self.rounds else torch.zeros(1)
            total = contribution.clone()
            dist.all_reduce(total)
            value = value + 0.1 * total
        return value


if __name__ == "__main__":
    dist.init_process_group("gloo")
    print(Averager(dist.get_rank()).run().item())
    dist.barrier()
