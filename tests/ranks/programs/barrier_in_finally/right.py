import contextlib

import torch
import torch.distributed as dist


@contextlib.contextmanager
def phase(name):
    """All ranks leave a phase together, whatever happened to them in it."""
    try:
        yield
    except ValueError as error:
        print(name, "failed:", error)
    finally:
        print("end of", name)
        dist.barrier()


def parse(line):
    return [int(word) for word in line.split()]


def main():
    dist.init_process_group("gloo")
    lines = ["1 2 3", "4 five 6"]
    numbers = []
    with phase("parsing"):
        numbers += parse(lines[dist.get_rank()])
    total = torch.tensor([sum(numbers)])
    dist.all_reduce(total)
    assert total.item() == 6


if __name__ == "__main__":
    main()
