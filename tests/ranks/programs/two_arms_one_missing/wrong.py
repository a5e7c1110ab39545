"""Rank 0 reads the vocabulary, the others receive it: both sides enter the same two broadcasts."""
import torch
import torch.distributed as dist


def load_vocabulary(rank):
    if rank == 0:
        vocabulary = torch.tensor([5, 3, 8, 1])
        size = torch.tensor([vocabulary.numel()])
        dist.broadcast(size, 0)
        dist.broadcast(vocabulary, 0)
    else:
        size = torch.zeros(1, dtype=torch.int64)
        dist.broadcast(size, 0)
        vocabulary = torch.empty(int(size.item()), dtype=torch.int64)
    return vocabulary


dist.init_process_group(backend="gloo")
vocabulary = load_vocabulary(dist.get_rank())
checksum = vocabulary.sum()
dist.barrier()
if dist.get_rank() == 3:
    print("checksum", checksum.item())
