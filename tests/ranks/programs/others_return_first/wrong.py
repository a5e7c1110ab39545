import os
import tempfile

import torch
import torch.distributed as dist


def is_global_zero():
    return int(os.environ.get("RANK", "0")) == 0


def save(state, folder):
    if not is_global_zero():
        return
    torch.save(state, os.path.join(folder, "last.pt"))
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    weights = torch.ones(3)
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(2):
            dist.all_reduce(weights)
            save({"weights": weights, "epoch": epoch}, folder)
    dist.barrier()


if __name__ == "__main__":
    main()
