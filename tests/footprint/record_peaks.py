#!/usr/bin/env python3
"""Records the peaks of training steps, as PyTorch has them on the CPU: tests/footprint/record_peaks.py [PATTERN…] writes facts_peaks.json.

Of every program in peaks/: by the line of each backward the most bytes of storages that were there at once in its last round, from the end
of the step before until the next forward begins: what operators return is followed until nobody has it. What kernels take inside is not seen.
"""

import fnmatch
import importlib
import json
import pathlib
import sys
import weakref

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import oracles  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FACTS = HERE / "facts_peaks.json"


def run(path):
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    class Living(TorchDispatchMode):
        """The bytes of all storages that operators made."""

        def __init__(self):
            super().__init__()
            self.known, self.now, self.most = {}, 0, 0

        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            results = function(*arguments, **(options or {}))
            for tensor in tree_leaves(results):
                if isinstance(tensor, torch.Tensor):
                    self.see(tensor.untyped_storage())
            return results

        def see(self, storage):
            key = storage._cdata
            if key in self.known:
                return
            self.known[key] = storage.nbytes()
            self.now += storage.nbytes()
            self.most = max(self.most, self.now)
            weakref.finalize(storage, self.drop, key)

        def drop(self, key):
            self.now -= self.known.pop(key)

        def cut(self):
            most, self.most = self.most, self.now
            return most

    peaks, living = {}, Living()
    backward, last = torch.Tensor.backward, []

    def stop(self, *arguments, **options):
        line = str(sys._getframe(1).f_lineno)
        before = living.cut()
        backward(self, *arguments, **options)
        peaks[line] = max(before, living.cut())
        last[:] = [line]

    def hook(optimizer, arguments, options):
        if last:
            peaks[last[0]] = max(peaks[last[0]], living.cut())

    torch.Tensor.backward = stop
    handle = importlib.import_module("torch.optim.optimizer").register_optimizer_step_post_hook(hook)
    try:
        with living:
            exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
    finally:
        torch.Tensor.backward = backward
        handle.remove()
    return peaks


def main():
    oracles.enter(oracles.FIRST)
    sys.path[:] = [each for each in sys.path if each != str(HERE.parent)]
    import torch

    torch.set_num_threads(1)
    facts = json.loads(FACTS.read_text()) if FACTS.exists() else {}
    for path in sorted((HERE / "peaks").glob("*.py")):
        if len(sys.argv) == 1 or any(fnmatch.fnmatch(path.stem, each) for each in sys.argv[1:]):
            facts[path.stem] = run(path)
            print(path.stem, facts[path.stem], flush=True)
    FACTS.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
