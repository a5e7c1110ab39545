import torch
import torch.distributed as dist

SIZES = {"encoder": 6, "decoder": 3, "head": 2}


def make_buckets():
    return {name: torch.full((size,), float(size)) for name, size in SIZES.items()}


def reduce_buckets(buckets, rank):
    names = list(buckets)
    if rank % 2 == 1:
        names = names[::-1]
        print("slow network: smallest bucket first")
    for name in sorted(names):
        dist.all_reduce(buckets[name])
    return buckets


if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    for name, bucket in reduce_buckets(make_buckets(), rank).items():
        assert bucket[0].item() == SIZES[name] * world
