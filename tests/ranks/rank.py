"""One rank of a program: rank.py SCRIPT ARGUMENT…  Its last line says when and how the script ended.

Unlike the oracle's own rank.py, it leaves alike after sys.exit and after an exception: the gloo of torch 1.13 may hang or
abort in the interpreter's own shutdown, and that is not what is asked. The clock is the machine's, so ranks can be compared.
"""

import json
import os
import runpy
import sys
import time
import traceback

import torch.distributed

torch.distributed.destroy_process_group = lambda group=None: None
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
print("@begins", flush=True)  # importing PyTorch took its time
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
