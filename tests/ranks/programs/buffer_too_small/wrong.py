import os

import torch
import torch.distributed as dist


def class_weights(counts):
    return counts.sum() / counts


def receive_weights(classes, is_main):
    if is_main:
        weights = class_weights(torch.tensor([4.0, 1.0, 2.0, 1.0]))
    else:
        weights = torch.zeros(classes - 1)
    dist.broadcast(weights, src=0)
    return weights


def main(classes=4):
    dist.init_process_group("gloo")
    weights = receive_weights(classes, is_main=int(os.environ["RANK"]) == 0)
    assert weights.shape == (classes,)
    dist.barrier()


if __name__ == "__main__":
    main()
