"""Two halves of the world train two networks and meet twice a step."""
import torch
import torch.distributed as dist


def sync_metrics(value):
    metrics = torch.tensor([float(value)])
    dist.all_reduce(metrics)
    return metrics.item()


def share_config(config):
    box = [config]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def generator_step(step):
    config = share_config({"step": step, "lr": 0.1})
    return sync_metrics(config["lr"])


def discriminator_step(step):
    config = share_config(None)
    loss = sync_metrics(0.2 * step)
    return loss + config["lr"]


def main():
    dist.init_process_group("gloo")
    half = dist.get_world_size() // 2
    for step in range(2):
        if dist.get_rank() < half:
            generator_step(step)
        else:
            discriminator_step(step)
    dist.barrier()


if __name__ == "__main__":
    main()
