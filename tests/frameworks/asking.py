"""Asks a framework that is installed here: runs a program as two ranks over gloo and notes what the ranks make of torch.distributed.

The ranks are forked from a process that has imported the framework, so that a question costs no import. A rank that has come to its
end waits until it is ended, so that the connections of the others stay open: whoever waits for it then waits as in a real job.
"""

import ctypes
import faulthandler
import functools
import json
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from pathlib import Path

COLLECTIVES = """all_reduce all_reduce_coalesced all_gather all_gather_coalesced all_gather_into_tensor _all_gather_base all_gather_object broadcast
    broadcast_object_list barrier monitored_barrier reduce gather gather_object scatter scatter_object_list reduce_scatter reduce_scatter_tensor
    _reduce_scatter_base all_gather_single reduce_scatter_single all_to_all all_to_all_single new_group send recv isend irecv batch_isend_irecv init_process_group _broadcast_coalesced
    _verify_params_across_processes""".split()


class Log:
    """Of the rank that this process is."""

    def __init__(self):
        self.file = None
        self.depth = 0
        self.asked = False

    def write(self, **said):
        if self.file:
            self.file.write(json.dumps(said) + "\n")
            self.file.flush()


log = Log()


def shapes(arguments):
    found = []
    for each in arguments:
        if hasattr(each, "shape") and hasattr(each, "dtype"):
            found.append([*map(int, each.shape)])
        elif isinstance(each, (list, tuple)) and each and all(hasattr(item, "shape") for item in each):
            found.append([[*map(int, item.shape)] for item in each])
    return found


def caller():
    """The function outside torch.distributed that asked for it."""
    frame = sys._getframe(2)
    while frame and frame.f_globals.get("__name__", "").startswith(("torch.distributed", "deepspeed.comm", "torch.utils", "contextlib", "functools", __name__)):
        frame = frame.f_back
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_name}" if frame else "?"


def logged(function, name):
    @functools.wraps(function)
    def wrapper(*arguments, **options):
        if log.depth:
            return function(*arguments, **options)
        import torch.distributed as dist

        group = options.get("group")
        size = None
        if dist.is_initialized() and name != "init_process_group":
            try:
                size = dist.get_world_size(group) if group is not None else dist.get_world_size()
            except Exception:
                size = None
        log.depth += 1
        log.write(enters=name, asked=log.asked, size=size, shapes=shapes([*arguments, *options.values()])[:2], caller=caller())
        try:
            return function(*arguments, **options)
        finally:
            log.depth -= 1
            log.write(leaves=name)

    return wrapper


def install():
    """To be called before the framework is imported: it may import the functions by name."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d

    for name in COLLECTIVES:
        original = getattr(distributed_c10d, name, None) or getattr(dist, name, None)
        if original is None:
            continue
        wrapped = logged(original, name)
        for module in (dist, distributed_c10d):
            if hasattr(module, name):
                setattr(module, name, wrapped)


def sequence():
    """How many collectives the default group has been through, those of C++ included."""
    import torch.distributed as dist

    try:
        return dist.distributed_c10d._get_default_group()._get_sequence_number_for_group() if dist.is_initialized() else 0
    except Exception:
        return 0


class asked:
    def __enter__(self):
        log.asked = True
        log.write(begins=sequence())

    def __exit__(self, *_):
        log.write(ends=sequence())
        log.asked = False


def tell(name, value):
    log.write(tells=name, value=value)


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def be_rank(text, rank, world, port, folder, environment):
    os.setsid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # Linux: a rank ends with the recorder
    os.chdir(folder)
    log.file = open(f"{folder}/log{rank}", "w")
    output = os.open(f"{folder}/output{rank}", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    faulthandler.register(signal.SIGUSR1, file=open(f"{folder}/stack{rank}", "w"), all_threads=False)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), LOCAL_WORLD_SIZE=str(world), GROUP_RANK="0", ROLE_RANK=str(rank),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), TORCHELASTIC_RUN_ID="asked", TORCHELASTIC_RESTART_COUNT="0", TORCHELASTIC_MAX_RESTARTS="0",
                      OMP_NUM_THREADS="1", GROUP_WORLD_SIZE="1", ROLE_WORLD_SIZE=str(world), **environment)
    try:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(0)
        exec(compile(text, "asked.py", "exec"), {"__name__": "__main__", "__asked__": asked, "tell": tell})
        log.write(done="ok", at=time.monotonic())
    except SystemExit as leaving:
        log.write(done="ok" if not leaving.code else "exit", at=time.monotonic())
    except BaseException as raised:
        traceback.print_exc()
        log.write(done="raises", error=f"{type(raised).__name__}: {raised}"[:300], at=time.monotonic())
    while True:
        time.sleep(60)


def read(path):
    try:
        return [json.loads(line) for line in path.read_text().splitlines(True) if line.endswith("\n")]
    except FileNotFoundError:
        return []


def cpu_time(process):
    """In seconds, and whether it would use more if the machine let it. A rank that waits for another uses none."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0.0, False
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0] in "RD"


def run(text, world=2, seconds=90.0, stalled=4.0, environment=None):
    """The logs of the ranks, and what became of them: "ends", "hangs" (a rank waits), "raises: …". `stalled`: who does nothing for so long waits."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        children = []
        sys.stdout.flush()
        sys.stderr.flush()
        for rank in range(world):
            child = os.fork()
            if child == 0:
                try:
                    be_rank(text, rank, world, port, folder, environment or {})
                finally:
                    os._exit(1)
            children.append(child)
        since = [None] * world
        died = False
        while True:
            time.sleep(0.1)
            now = time.monotonic()
            logs = [read(Path(folder, f"log{rank}")) for rank in range(world)]
            ended = [bool(each and "done" in each[-1]) for each in logs]
            if any(each and each[-1].get("done") == "raises" for each in logs) or all(ended) or now - begun > seconds:
                break
            for rank, child in enumerate(children):
                spent, is_kept_waiting = cpu_time(child)
                if since[rank] is None or spent - since[rank][0] > 0.03 or is_kept_waiting:
                    since[rank] = (spent, now)
            if all(done or now - at[1] > stalled for done, at in zip(ended, since)):
                break
            if any(os.waitpid(child, os.WNOHANG)[0] for child in children):
                died = True
                break
        took = time.monotonic() - begun
        stacks = [""] * world
        for rank, child in enumerate(children):
            if not ended[rank] and not died:
                os.kill(child, signal.SIGUSR1)
                time.sleep(0.1)
                stacks[rank] = Path(folder, f"stack{rank}").read_text(errors="replace")
        for child in children:
            try:
                os.killpg(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
            try:
                os.waitpid(child, 0)
            except ChildProcessError:
                pass
        outputs = [Path(folder, f"output{rank}").read_text(errors="replace") if Path(folder, f"output{rank}").exists() else "" for rank in range(world)]
    raised = [each[-1]["error"] for each in logs if each and each[-1].get("done") == "raises"]
    if raised:
        fate = "raises: " + raised[0].replace(folder, "…").splitlines()[0][:160]
    elif died:
        fate = "died"
    elif all(ended):
        fate = "ends"
    else:
        fate = "hangs"
    return {"fate": fate, "logs": logs, "outputs": outputs, "stacks": stacks, "seconds": took}
