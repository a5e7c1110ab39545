import torch
import torch.distributed as dist


def make_halves(world_size):
    halves = [list(range(world_size // 2)), list(range(world_size // 2, world_size))]
    return [(members, dist.new_group(members)) for members in halves]


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    for members, group in make_halves(world_size):
        if rank not in members:
            continue
        weights = torch.tensor([float(rank)])
        dist.broadcast(weights, src=0, group=group)
        assert weights.item() == members[0]
    dist.barrier()


if __name__ == "__main__":
    main()
