import torch
import torch.distributed as dist


def gather_ragged(rows):
    """Rows of all ranks; each rank may have another number of them."""
    world_size = dist.get_world_size()
    sizes = [torch.zeros(1, dtype=torch.int64) for _ in range(world_size)]
    dist.all_gather(sizes, torch.tensor([len(rows)]))
    longest = max(int(size) for size in sizes)
    padded = torch.zeros(longest, rows.shape[1])
    padded[:len(rows)] = rows
    parts = [torch.zeros_like(padded) for _ in range(world_size)]
    dist.all_gather(parts, padded)
    return torch.cat([part[:int(size)] for part, size in zip(parts, sizes)])


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    rows = torch.full((2 + rank, 3), float(rank))
    everything = gather_ragged(rows)
    assert everything.shape == (5, 3)
    dist.barrier()


if __name__ == "__main__":
    main()
