"""Two by two: tensor parallel within a row, data parallel along a column."""
import torch
import torch.distributed as dist


class Grid:
    def __init__(self, columns=2):
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()
        self.columns = columns
        if self.world_size != 2 * columns:
            raise ValueError(f"a grid of two by {columns} has no place for {self.world_size} ranks")
        self._init_process_groups()

    def _init_process_groups(self):
        row = self.rank // self.columns
        self.tensor_ranks = [row * self.columns + i for i in range(self.columns)]
        self.tensor_group = dist.new_group(self.tensor_ranks)
        self.data_ranks = list(range(self.rank % self.columns, self.world_size, self.columns))
        self.data_group = dist.new_group(self.data_ranks)

    def check(self):
        for ranks, group in ((self.tensor_ranks, self.tensor_group), (self.data_ranks, self.data_group)):
            value = torch.tensor([float(self.rank)])
            dist.all_reduce(value, group=group)
            assert value.item() == sum(ranks), (value, ranks)


dist.init_process_group("gloo")
Grid().check()
dist.barrier()
