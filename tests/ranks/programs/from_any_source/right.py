"""Rank 0 takes the messages in the order they come."""
import torch
import torch.distributed as dist


def serve(world_size, per_worker):
    seen = []
    box = torch.zeros(1)
    for _ in range((world_size - 1) * per_worker):
        sender = dist.recv(box)
        seen.append((sender, box.item()))
    return seen


def main(per_worker=2):
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    if rank == 0:
        seen = serve(world_size, per_worker)
        assert len(seen) == per_worker * (world_size - 1)
    else:
        for number in range(per_worker):
            dist.send(torch.tensor([float(number)]), dst=0)
    dist.barrier()


if __name__ == "__main__":
    main()
