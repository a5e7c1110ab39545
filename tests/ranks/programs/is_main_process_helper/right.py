import torch
import torch.distributed as dist


def is_dist_avail_and_initialized():
    return dist.is_available() and dist.is_initialized()


def get_world_size():
    return dist.get_world_size() if is_dist_avail_and_initialized() else 1


def get_rank():
    return dist.get_rank() if is_dist_avail_and_initialized() else 0


def is_main_process():
    return get_rank() == 0


def reduce_dict(values):
    world_size = get_world_size()
    if world_size < 2:
        return values
    names = sorted(values)
    stacked = torch.stack([values[name] for name in names])
    dist.all_reduce(stacked)
    stacked /= world_size
    return dict(zip(names, stacked))


def train_one_epoch(epoch, steps):
    for step in range(steps):
        losses = {"box": torch.tensor(0.5 + get_rank()), "class": torch.tensor(1.0 / (step + 1))}
        reduced = reduce_dict(losses)
        if is_main_process():
            print(epoch, step, {name: round(value.item(), 3) for name, value in reduced.items()})


if __name__ == "__main__":
    dist.init_process_group("gloo")
    for epoch in range(2):
        train_one_epoch(epoch, steps=3)
    dist.barrier()
