import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, Subset, SubsetRandomSampler, TensorDataset


class Stream(IterableDataset):
    def __iter__(self):
        for _ in range(6):
            yield torch.randn(3)


dataset = TensorDataset(torch.randn(20, 3))
order = torch.randperm(20).tolist()
train = DataLoader(dataset, batch_size=4, sampler=SubsetRandomSampler(order[:16]))
val = DataLoader(Subset(dataset, order[16:]), batch_size=4, shuffle=False)
batched = DataLoader(dataset, batch_sampler=BatchSampler(RandomSampler(dataset), 5, drop_last=False))
stream = DataLoader(Stream(), batch_size=2)
for loader in (train, val, batched, stream):
    print(len(list(loader)))
