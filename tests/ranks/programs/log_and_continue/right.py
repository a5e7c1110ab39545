import torch
import torch.distributed as dist


class Loop:
    def __init__(self, steps):
        self.steps = steps
        self.rank = dist.get_rank()
        self.history = []

    def synchronise(self, loss):
        dist.all_reduce(loss)
        return loss.item() / dist.get_world_size()

    def run(self):
        for step in range(self.steps):
            loss = torch.tensor([1.0 / (step + 1)])
            if self.rank == 0 and step % 3 == 0:
                print("step", step)
                self.history.append((step, self.synchronise(loss)))
                continue
            self.history.append((step, self.synchronise(loss)))


def main():
    dist.init_process_group("gloo")
    Loop(6).run()
    dist.barrier()


if __name__ == "__main__":
    main()
