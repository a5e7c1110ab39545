import argparse

import torch
import torch.distributed as dist


def share_weights(model, root):
    for name, tensor in model.state_dict().items():
        dist.broadcast(tensor, src=root)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=int, default=0)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    share_weights(model, args.root)
    total = model[0].weight.sum().detach().clone()
    dist.all_reduce(total)
    dist.barrier()


if __name__ == "__main__":
    main()
