import torch
import torch.distributed as dist


def overlap(rank, world_size):
    sent = [dist.isend(torch.tensor([float(rank)]), dst=peer) for peer in range(world_size) if peer != rank]
    boxes = {peer: torch.zeros(1) for peer in range(world_size) if peer != rank}
    received = [dist.irecv(box, src=peer) for peer, box in boxes.items()]
    work = dist.all_reduce(torch.ones(4), async_op=True)
    for request in sent + received:
        request.wait()
    work.wait()
    return sum(box.item() for box in boxes.values()) + rank


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    assert overlap(rank, world_size) == sum(range(world_size))
    value = torch.tensor([float(rank)])
    parts = [torch.zeros(1) for _ in range(world_size)] if rank == 0 else None
    dist.gather(value, gather_list=parts if rank == 0 else None, dst=0)
    if parts:
        print([part.item() for part in parts])
    dist.barrier()


if __name__ == "__main__":
    main()
