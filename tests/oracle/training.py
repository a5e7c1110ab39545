"""What a run of examples/train_ddp.py said."""

import re

from launch import launch

# Small enough for two processes to finish in about two seconds.
SMALL = ("--width=16 --heads=2 --depth=1 --context=16 --vocab-size=16 --train-size=256 --batch-size=32 "
         "--epochs=2").split()


def train(python, script, folder, *arguments, seconds=300, after=None):
    return launch(script, [*SMALL, f"--checkpoint={folder}/last.pt", *arguments], seconds=seconds, folder=folder, after=after, python=python)


def validation_losses(ended, rank):
    """{epoch: loss} as the rank printed them."""
    lines = re.findall(rf"^rank {rank} epoch (\d+): validation loss (\S+)$", ended[rank].output, re.M)
    return {int(epoch): float(loss) for epoch, loss in lines}


def assert_trains(ended, epochs):
    """Every rank ran to the end, and all of them know the same loss of each epoch."""
    for rank, end in enumerate(ended):
        assert end.status == 0, f"rank {rank}: {end}"
    losses = validation_losses(ended, 0)
    assert sorted(losses) == list(epochs)
    assert all(0 < loss < 100 for loss in losses.values()), losses
    for rank in range(1, len(ended)):
        assert validation_losses(ended, rank) == losses
