"""Collects the predictions of all ranks for a metric."""
import os

import torch
import torch.distributed as dist


def predict(rank, samples):
    return [{"id": rank * samples + i, "score": float(i % 3)} for i in range(samples)]


def evaluate(rank, world_size):
    predictions = predict(rank, samples=4)
    if rank == 0:
        gathered = [None for _ in range(world_size)]
        dist.gather_object(predictions, gathered, dst=0)
        everything = [row for rows in gathered for row in rows]
        mean = sum(row["score"] for row in everything) / len(everything)
        print(f"{len(everything)} rows, mean score {mean:.3f}")


def main():
    rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    evaluate(rank, world_size)
    model_is_good = torch.ones(1)
    dist.all_reduce(model_is_good)


if __name__ == "__main__":
    main()
