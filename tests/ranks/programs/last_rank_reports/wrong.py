import torch
import torch.distributed as dist


class PipelineLogger:
    """Only the last stage knows the loss."""

    def __init__(self):
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()

    @property
    def last(self):
        return self.rank == self.world_size - 1

    def losses(self, loss):
        everyone = [None] * self.world_size
        dist.all_gather_object(everyone, loss)
        return everyone

    def log(self, step, loss):
        if self.last:
            known = self.losses(loss)
            print(f"step {step}:", [each for each in known if each is not None])


dist.init_process_group("gloo")
logger = PipelineLogger()
for step in range(2):
    logger.log(step, 0.1 * step if logger.last else None)
dist.barrier()
