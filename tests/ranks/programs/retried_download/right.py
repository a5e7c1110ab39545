"""Only the first rank tries, and tries again; whether it came through is told to all."""
import random

import torch
import torch.distributed as dist


def download(attempt):
    if attempt < 2:
        raise ConnectionError("try again")
    return [random.random() for _ in range(3)]


def fetch(rank, attempts=5):
    box = [None]
    if rank == 0:
        for attempt in range(attempts):
            try:
                box[0] = download(attempt)
                break
            except ConnectionError as error:
                print(error)
                continue
    dist.broadcast_object_list(box, src=0)
    if box[0] is None:
        raise SystemExit("nothing came through")
    return box[0]


def main():
    dist.init_process_group("gloo")
    numbers = torch.tensor(fetch(dist.get_rank()))
    dist.all_reduce(numbers)
    print(numbers.shape)


if __name__ == "__main__":
    main()
