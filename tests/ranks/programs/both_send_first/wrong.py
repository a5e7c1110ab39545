import torch
import torch.distributed as dist

SIZE = 1 << 20


class Exchange:
    def __init__(self):
        self.rank = dist.get_rank()
        self.peer = 1 - self.rank

    def swap(self, activations):
        received = torch.empty_like(activations)
        dist.send(activations, dst=self.peer)
        dist.recv(received, src=self.peer)
        return received


def main():
    dist.init_process_group("gloo")
    exchange = Exchange()
    other = exchange.swap(torch.full((SIZE,), float(exchange.rank)))
    assert other[0].item() == exchange.peer
    dist.barrier()


if __name__ == "__main__":
    main()
