import torch
import torch.distributed as dist


def gather_ragged(rows):
    """Rows of all ranks; each rank may have another number of them."""
    world_size = dist.get_world_size()
    parts = [torch.zeros_like(rows) for _ in range(world_size)]
    dist.all_gather(parts, rows)
    return torch.cat(parts)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    rows = torch.full((2 + rank, 3), float(rank))
    everything = gather_ragged(rows)
    assert everything.shape == (5, 3)
    dist.barrier()


if __name__ == "__main__":
    main()
