"""A rank that sees trouble raises a flag; all look at the sum of the flags."""
import torch
import torch.distributed as dist


class Accelerator:
    def __init__(self):
        self.flag = torch.zeros(1)

    def set_trigger(self):
        self.flag.fill_(1)

    def check_trigger(self):
        flag = self.flag.clone()
        dist.all_reduce(flag)
        if flag.item() >= 1:
            self.flag.zero_()
            return True
        return False


def main():
    dist.init_process_group("gloo")
    accelerator = Accelerator()
    rank = dist.get_rank()
    for step in range(6):
        loss = 1.0 / (step + 1) if rank != 2 else float(step)
        if loss > 2.5:
            accelerator.set_trigger()
        if accelerator.check_trigger():
            print("leaving at", step)
            break
        dist.barrier()


if __name__ == "__main__":
    main()
