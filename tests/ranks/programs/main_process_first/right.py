import contextlib
import time

import torch
import torch.distributed as dist


class State:
    def __init__(self):
        self.process_index = dist.get_rank()
        self.num_processes = dist.get_world_size()

    @property
    def is_main_process(self):
        return self.process_index == 0

    def wait_for_everyone(self):
        if self.num_processes > 1:
            dist.barrier()

    @contextlib.contextmanager
    def main_process_first(self):
        if not self.is_main_process:
            self.wait_for_everyone()
        try:
            yield
        finally:
            if self.is_main_process:
                self.wait_for_everyone()


def main():
    dist.init_process_group("gloo")
    state = State()
    with state.main_process_first():
        time.sleep(0.1)
        data = torch.arange(3.0)
    dist.all_reduce(data)
    print(data.tolist())


if __name__ == "__main__":
    main()
