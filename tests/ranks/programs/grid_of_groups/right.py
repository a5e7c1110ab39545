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
        for index in range(self.world_size // self.columns):
            ranks = [index * self.columns + i for i in range(self.columns)]
            group = dist.new_group(ranks)
            if index == row:
                self.tensor_ranks, self.tensor_group = ranks, group
        for column in range(self.columns):
            ranks = list(range(column, self.world_size, self.columns))
            group = dist.new_group(ranks)
            if self.rank in ranks:
                self.data_ranks, self.data_group = ranks, group

    def check(self):
        for ranks, group in ((self.tensor_ranks, self.tensor_group), (self.data_ranks, self.data_group)):
            value = torch.tensor([float(self.rank)])
            dist.all_reduce(value, group=group)
            assert value.item() == sum(ranks), (value, ranks)


dist.init_process_group("gloo")
Grid().check()
dist.barrier()
