"""Starts the ranks of a training script on this machine, over gloo, under a time limit."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

RANK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rank.py")


@dataclass
class Ended:
    """How one rank ended: `status` is None where the time limit did it, and the output then ends with its stack."""

    status: int | None
    output: str
    until: float = 0.0  # the machine's clock when the time was up, or when the last rank had ended


ports = itertools.count(20000 + os.getpid() * 7 % 10000)


def free_port():
    """A port that nobody uses, below those that the system gives to connections."""
    while True:
        port = 20000 + next(ports) % 12000
        with socket.socket() as free:
            try:
                free.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def launch(script, arguments=(), ranks=2, seconds=30, folder=None, after=None, of=any, python=sys.executable, start=None):
    """Runs the script with that many ranks; returns how each ended. No process outlives the call.

    With `after`, a text that one of the ranks (`of` them) is to print, the seconds count from there: a loaded machine may take
    long to start, and ten times the seconds are given to that. `start` starts a rank in another way than by a new Python.
    """
    def new_python(script, arguments, environment, folder, output):
        return subprocess.Popen([python, "-u", "-X", "faulthandler", RANK, str(script), *arguments], env=environment, cwd=folder,
                                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)

    port = free_port()
    started, outputs = [], []
    try:
        for rank in range(ranks):
            environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
                               MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1",
                               GLOO_SOCKET_IFNAME="lo", CUDA_VISIBLE_DEVICES="")
            outputs.append(tempfile.TemporaryFile("w+"))
            started.append((start or new_python)(script, arguments, environment, folder, outputs[-1]))
        running = time.monotonic()
        latest = running + 10 * seconds
        while any(process.poll() is None for process in started):
            now = time.monotonic()
            if after and of(after in told(output) for output in outputs):
                running, after = now, None
            if now > (latest if after else running + seconds):
                break
            time.sleep(0.1)
        until = time.monotonic()
        statuses = [process.poll() for process in started]
        for process, status in zip(started, statuses):
            if status is None:
                process.send_signal(signal.SIGABRT)  # prints the stack
        for process in started:
            process.wait()
        return [Ended(status, told(output), until) for status, output in zip(statuses, outputs)]
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
        for output in outputs:
            output.close()


def told(output):
    """What the process has written so far. Its own place in the file is another: the file is read by position."""
    size = os.fstat(output.fileno()).st_size
    return os.pread(output.fileno(), size, 0).decode(errors="replace")
