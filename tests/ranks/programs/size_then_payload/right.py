import torch
import torch.distributed as dist


def share_tokens(rank, tokens=None):
    size = torch.zeros(1, dtype=torch.int64)
    if rank == 0:
        size[0] = len(tokens)
    dist.broadcast(size, src=0)
    if rank == 0:
        payload = torch.tensor(tokens)
    else:
        payload = torch.empty(int(size.item()), dtype=torch.int64)
    dist.broadcast(payload, src=0)
    return payload.tolist()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    tokens = share_tokens(rank, [3, 1, 4, 1, 5] if rank == 0 else None)
    for index in range(len(tokens)):
        dist.barrier()
    if rank != 0:
        return
    print(tokens)
    raise SystemExit(0)


if __name__ == "__main__":
    main()
