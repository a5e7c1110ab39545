import logging
import sys

import torch
import torch.distributed as dist

logger = logging.getLogger("train")


def run(rank):
    loss = torch.tensor([1.0 + rank])
    for step in range(4):
        dist.all_reduce(loss)
        loss /= dist.get_world_size()
        if step % 2 == 0 and rank == 0:
            logger.warning("step %d loss %.2f", step, loss.item())
    return loss.item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    try:
        final = run(rank)
        if rank == 0:
            print("final", final)
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(1)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
