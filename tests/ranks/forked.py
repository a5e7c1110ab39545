"""One rank of a program: forked from a process that has PyTorch already, or `forked.py SCRIPT ARGUMENT…`. Its last line says when and how the script ended.

Unlike the oracle's own rank.py, it leaves alike after sys.exit and after an exception: the gloo of torch 1.13 may hang or
abort in the interpreter's own shutdown, and that is not what is asked. The clock is the machine's, so ranks can be compared.
"""

import faulthandler
import json
import os
import runpy
import sys
import time
import traceback


def run(script, arguments=()):
    """Runs the script in this process, and ends it."""
    import torch.distributed

    faulthandler.enable()  # whoever is waited for in vain shows where it waits
    torch.distributed.destroy_process_group = lambda group=None: None
    sys.argv = [str(script), *map(str, arguments)]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    print("@begins", flush=True)
    status, error = 0, None
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException as raised:
        traceback.print_exc()
        status, error = 1, f"{type(raised).__name__}: {raised}"
    sys.stderr.flush()
    print("\n@ended " + json.dumps({"at": time.monotonic(), "error": error}), flush=True)
    os._exit(status)


class Forked:
    """A rank, as subprocess.Popen shows a process: PyTorch takes seconds to import, and this one has it."""

    def __init__(self, script, arguments, environment, folder, output):
        self.pid, self.status = os.fork(), None
        if self.pid == 0:
            try:
                os.setsid()
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                for number in (1, 2):
                    os.dup2(output.fileno(), number)
                sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))
                os.environ.update(environment)
                os.chdir(folder or ".")
                run(script, arguments)
            finally:
                os._exit(70)

    def poll(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(status) if pid else None
        return self.status

    def wait(self):
        if self.status is None:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.send_signal(9)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2:])
