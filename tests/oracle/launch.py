"""Starts the ranks of a training script on this machine, over gloo, under a time limit."""

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass

RANK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rank.py")


@dataclass
class Ended:
    """How one rank ended: `status` is None where the time limit did it, and the output then ends with its stack."""

    status: int | None
    output: str


def launch(script, arguments=(), ranks=2, seconds=30, folder=None):
    """Runs the script with that many ranks; returns how each ended. No process outlives the call."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = []
    try:
        for rank in range(ranks):
            environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
                               MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1",
                               GLOO_SOCKET_IFNAME="lo", CUDA_VISIBLE_DEVICES="")
            started.append(subprocess.Popen([sys.executable, "-X", "faulthandler", RANK, str(script), *arguments], env=environment,
                                            cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, start_new_session=True))
        deadline = time.monotonic() + seconds
        ended = []
        for process in started:
            try:
                output, _ = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
                ended.append(Ended(process.returncode, output))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGABRT)  # prints the stack
                ended.append(Ended(None, process.communicate()[0]))
        return ended
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
