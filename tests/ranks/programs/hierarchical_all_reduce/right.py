"""Sums within a node, then between the leaders, then tells the node."""
import torch
import torch.distributed as dist


class HierarchicalTrainer:
    def __init__(self, nodes):
        self.rank = dist.get_rank()
        self.model = torch.nn.Linear(2, 1)
        for ranks in nodes:
            group = dist.new_group(ranks)
            if self.rank in ranks:
                self.local_group, self.ranks = group, ranks
        self.leaders = dist.new_group([ranks[0] for ranks in nodes])

    def gradients(self):
        return [p.grad for p in self.model.parameters() if p.grad is not None]

    def _hierarchical_allreduce(self):
        for grad in self.gradients():
            dist.all_reduce(grad, group=self.local_group)
        if self.rank == self.ranks[0]:
            for grad in self.gradients():
                dist.all_reduce(grad, group=self.leaders)
        for grad in self.gradients():
            dist.broadcast(grad, src=self.ranks[0], group=self.local_group)

    def train_step(self, batch):
        self.model(batch).sum().backward()
        self._hierarchical_allreduce()
        return self.model.weight.grad.sum().item()


dist.init_process_group("gloo")
trainer = HierarchicalTrainer([[0, 1], [2, 3]])
assert trainer.train_step(torch.ones(1, 2)) == 8.0
dist.barrier()
