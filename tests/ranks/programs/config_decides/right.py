import argparse
import os

import torch
import torch.distributed as dist


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--eval-every", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--no-sync", action="store_true")
    args = parser.parse_args()
    args.rank = int(os.environ.get("RANK", 0))
    args.distributed = int(os.environ.get("WORLD_SIZE", 1)) > 1
    return args


def main(args):
    if args.distributed:
        dist.init_process_group("gloo")
    best = float("inf")
    for epoch in range(args.epochs):
        loss = torch.tensor(1.0 / (epoch + 1) + args.rank)
        if args.distributed and not args.no_sync:
            dist.all_reduce(loss)
        if (epoch + 1) % args.eval_every == 0 and loss.item() < best:
            best = loss.item()
            if args.rank == 0:
                torch.save({"best": best}, "best.pt")
            if args.distributed:
                dist.barrier()
    if args.rank == 0:
        print(best)


if __name__ == "__main__":
    main(parse())
