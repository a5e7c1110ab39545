"""Every rank scores its own part; the parts have different lengths, and only the sums are exchanged."""
import torch
import torch.distributed as dist


@torch.no_grad()
def evaluate(model, samples, rank, world_size):
    right, seen = 0, 0
    for index in range(rank, len(samples), world_size):
        guess = model(samples[index]).argmax().item()
        right += int(guess == index % 2)
        seen += 1
        if guess > 1:
            continue
    totals = torch.tensor([right, seen], dtype=torch.float64)
    dist.all_reduce(totals)
    return (totals[0] / totals[1]).item()


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 2)
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)
    accuracy = evaluate(model, torch.randn(10, 4), rank, world_size)
    if accuracy > 0.9 and rank == 0:
        print("excellent")
    dist.barrier()


if __name__ == "__main__":
    main()
