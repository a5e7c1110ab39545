import datetime

import torch
import torch.distributed as dist


class Watchdog:
    def __init__(self, seconds):
        self.timeout = datetime.timedelta(seconds=seconds)

    def check(self, step):
        dist.monitored_barrier(timeout=self.timeout)
        return step


def main():
    dist.init_process_group("gloo")
    watchdog = Watchdog(4)
    rank = dist.get_rank()
    for step in range(4):
        gradient = torch.ones(2) * step
        dist.all_reduce(gradient)
        if step % 2 == 1:
            watchdog.check(step)
    if not rank:
        print("all passed")


if __name__ == "__main__":
    main()
