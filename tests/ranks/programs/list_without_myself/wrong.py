import torch
import torch.distributed as dist


def contrastive_negatives(embedding):
    rank, world_size = dist.get_rank(), dist.get_world_size()
    others = [torch.empty_like(embedding) for _ in range(world_size - 1)]
    dist.all_gather(others, embedding)
    return torch.cat(others)


def main():
    dist.init_process_group("gloo")
    embedding = torch.randn(2, 4)
    negatives = contrastive_negatives(embedding)
    assert negatives.shape[0] == 2 * (dist.get_world_size() - 1)


if __name__ == "__main__":
    main()
