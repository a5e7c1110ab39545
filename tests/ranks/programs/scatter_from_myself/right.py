import torch
import torch.distributed as dist


def hand_out(chunks, rank, world_size):
    mine = torch.zeros(2)
    if rank == 0:
        dist.scatter(mine, scatter_list=[chunk.clone() for chunk in chunks], src=0)
    else:
        dist.scatter(mine, src=0)
    return mine


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    data = torch.arange(2.0 * world_size).chunk(world_size)
    mine = hand_out(data, rank, world_size)
    assert mine[0].item() == 2.0 * rank
    dist.barrier()


if __name__ == "__main__":
    main()
