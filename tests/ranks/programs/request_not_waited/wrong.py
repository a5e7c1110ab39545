import time

import torch
import torch.distributed as dist


class Mailbox:
    def __init__(self, rank):
        self.rank = rank
        self.request = None

    def post(self, tensor):
        self.request = dist.isend(tensor, dst=1)

    def fetch(self, like):
        buffer = torch.zeros_like(like)
        request = dist.irecv(buffer, src=0)
        return buffer.sum().item()


def main():
    dist.init_process_group("gloo")
    mailbox = Mailbox(dist.get_rank())
    weights = torch.ones(3)
    if mailbox.rank == 0:
        time.sleep(1)
        mailbox.post(weights)
        mailbox.request.wait()
    else:
        assert mailbox.fetch(weights) == 3.0, "the message has not arrived"
    dist.barrier()


if __name__ == "__main__":
    main()
