#!/usr/bin/env python3
"""Records what training steps take, as PyTorch has it: tests/footprint/record.py [PATTERN…] writes facts.json, what matches of it.

Of every program in programs/, which is run: the bytes of its parameters, buffers and of the optimizer's state after the step, what
autograd keeps until the backward (torch.autograd.graph.saved_tensors_hooks, each storage once, those of parameters and buffers left out),
and the floating-point operations since the backward before, and of the backward (torch.utils.flop_counter): of the last step.

Of every builder of torchvision (its Python source as Debian installs it, run by the first oracle): its parameters and buffers, and for
classification models what a step of two sizes keeps. Tensors there have no numbers: models are built on the meta device, and steps run in
a FakeTensorMode, which chooses the CPU's kernels.
"""

import fnmatch
import functools
import gc
import json
import pathlib
import shutil
import sys
import tempfile
import types
import warnings
import weakref

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import oracles  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FACTS = HERE / "facts.json"
TORCHVISION = pathlib.Path("/usr/lib/python3/dist-packages/torchvision")
BATCHES = ((2, 224), (5, 224)), ((2, 224), (3, 160))


def on_gpu(text):
    """The program as it runs where tensors are made on the GPU."""
    return text.replace('autocast("cpu"', 'autocast("cuda"')


def size(tensors):
    return sum(each.numel() * each.element_size() for each in tensors)


class Kept:
    """A tensor as autograd has it: there as long as the operation's backward is to come."""

    def __init__(self, tensor):
        self.tensor = tensor.detach()  # a result would keep its own operation


class NoModules:
    """In the place of the tracker of modules, which refuses `torch.autograd.grad` by what a module is given."""
    parents = {"Global"}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Saved:
    def __init__(self):
        self.kept = weakref.WeakSet()

    def pack(self, tensor):
        kept = Kept(tensor)
        self.kept.add(kept)
        return kept

    def bytes(self, held):
        """Of the storages that autograd keeps now."""
        own = {each.untyped_storage()._cdata for each in held}
        storages = {each.tensor.untyped_storage()._cdata: each.tensor.untyped_storage().nbytes() for each in self.kept}
        return sum(size for key, size in storages.items() if key not in own)


def unpack(kept):
    return kept.tensor


def modules():
    import torch
    return [each for each in gc.get_objects() if isinstance(each, torch.nn.Module)]


def optimizers():
    import torch
    return [each for each in gc.get_objects() if isinstance(each, torch.optim.Optimizer)]


def run(text):
    """What one step of the program takes."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

    def attention(query, key, value, *more, **options):
        return sdpa_flop_count(query, key, value)

    def attention_backward(gradient, query, key, value, *more, **options):
        return sdpa_backward_flop_count(gradient, query, key, value)

    before = {id(each.state) for each in optimizers()}
    facts, saved, found = {}, Saved(), types.SimpleNamespace(counter=None, before=0)
    backward, step = torch.Tensor.backward, torch.optim.Optimizer.profile_hook_step

    def stop(self, *arguments, **options):
        if found.counter:
            counted = found.counter.get_total_flops()
            facts["flops"] = counted - found.before
            backward(self, *arguments, **options)
            found.before = found.counter.get_total_flops()
            facts["backward_flops"] = found.before - counted
            return
        # Of the whole program: those of the modules that it still has.
        held = {}
        for module in modules():
            for each in [*module.parameters(recurse=False), *module.buffers(recurse=False)]:
                held[id(each)] = each
        facts["saved"] = saved.bytes(held.values())
        return backward(self, *arguments, **options)

    torch.Tensor.backward = stop
    try:
        names = {"__name__": "__main__"}
        with torch.autograd.graph.saved_tensors_hooks(saved.pack, unpack):
            exec(compile(text, "program", "exec"), names)
        models = [each for each in names.values() if isinstance(each, torch.nn.Module)]
        inner = {id(part) for model in models for part in model.modules() if part is not model}
        for model in models:
            if id(model) not in inner:
                facts["numbers"] = facts.get("numbers", 0) + sum(each.numel() for each in model.parameters())
                facts["parameters"] = facts.get("parameters", 0) + size(model.parameters())
                facts["buffers"] = facts.get("buffers", 0) + size(model.buffers())
        # A trainer has its optimizer for itself, and a wrapper of one has the same state.
        for each in {id(each.state): each.state for each in optimizers() if id(each.state) not in before}.values():
            facts["state"] = facts.get("state", 0) + size(value for state in each.values() for value in state.values() if isinstance(value, torch.Tensor))
        names.clear()
        gc.collect()
        counter = FlopCounterMode(display=False, custom_mapping={torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: attention,
                                                                 torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_backward})
        counter.mod_tracker = NoModules()
        torch.backends.mha.set_fastpath_enabled(False)  # the counter does not see what is fused without gradients
        with counter as found.counter:
            exec(compile(text, "program", "exec"), {"__name__": "__main__"})
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
        torch.Tensor.backward = backward
    return facts


def torchvision():
    """The package, without what is compiled: models are Python."""
    import torch

    folder = tempfile.mkdtemp()
    shutil.copytree(TORCHVISION, folder + "/torchvision", ignore=shutil.ignore_patterns("*.so", "__pycache__", "datasets", "io"))
    pathlib.Path(folder, "torchvision/__init__.py").write_text("from . import models\n__version__ = ''\n")
    pathlib.Path(folder, "torchvision/ops/_register_onnx_ops.py").write_text("def _register_custom_op():\n    pass\n")
    library = torch.library.Library("torchvision", "DEF")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    sys.path.insert(0, folder)
    import torchvision.models as models

    shutil.rmtree(folder)
    models.library = library  # as long as they are used
    return models


def builders(models):
    """(builder's name below torchvision.models, its arguments)"""
    for name in models.list_models(models):
        yield name, ""
    for family, options in ((models.segmentation, "weights_backbone=None"), (models.detection, "weights_backbone=None"), (models.video, ""), (models.optical_flow, "")):
        short = family.__name__.rsplit(".", 1)[1]
        for name in models.list_models(family):
            yield f"{short}.{name}", options


def step(build, batch, side):
    """The bytes that autograd keeps of a training step."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.nn import functional as F

    saved = Saved()
    with FakeTensorMode(), torch.autograd.graph.saved_tensors_hooks(saved.pack, unpack):
        model = build().train()
        x, y = torch.zeros(batch, 3, side, side), torch.zeros(batch, dtype=torch.int64)
        outputs = model(x)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        loss = sum(F.cross_entropy(each, y) for each in outputs)
    assert loss.requires_grad  # and so it has what was kept
    return saved.bytes([*model.parameters(), *model.buffers()])


def main():
    oracles.enter(oracles.FIRST)
    # Folders of tests that are called like packages are none.
    sys.path[:] = [each for each in sys.path if each != str(HERE.parent)]
    import torch

    warnings.simplefilter("ignore")
    patterns = sys.argv[1:]
    facts = json.loads(FACTS.read_text()) if FACTS.exists() else {}
    wanted = lambda name: not patterns or any(fnmatch.fnmatch(name, each) for each in patterns)
    programs, built = facts.get("programs", {}), facts.get("torchvision", {})
    for path in sorted((HERE / "programs").glob("*.py")):
        if wanted(path.stem):
            programs[path.stem] = run(path.read_text())
            print(path.stem, programs[path.stem], flush=True)
    save(facts, programs, built)
    if any(wanted(name) for name in built) or not patterns:
        models = torchvision()
        for name in dir(torch.nn.init):
            if name.endswith("_") and not name.startswith("_"):
                setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)
        for name, options in builders(models):
            if not wanted(name):
                continue
            family = models
            for part in name.split(".")[:-1]:
                family = getattr(family, part)
            try:
                build = functools.partial(getattr(family, name.rsplit(".", 1)[-1]), **({"weights_backbone": None} if options else {}))
                with torch.device("meta"):
                    model = build()
            except Exception as error:  # what fails here is not asked for there
                print(f"{name}: {type(error).__name__}: {str(error)[:150]}", file=sys.stderr)
                continue
            built[name] = {"options": options, "numbers": sum(each.numel() for each in model.parameters()),
                           "trained": sum(each.numel() for each in model.parameters() if each.requires_grad),
                           "parameters": size(model.parameters()), "buffers": size(model.buffers())}
            if "." not in name:
                fixed = name.startswith(("vit", "swin", "maxvit"))
                sizes = ((2, 299), (3, 320)) if name == "inception_v3" else BATCHES[0 if fixed else 1]
                built[name]["saved"] = [[batch, side, step(build, batch, side)] for batch, side in sizes]
            print(name, built[name], flush=True)
    save(facts, programs, built)


def save(facts, programs, built):
    import torch
    write = lambda group: "{\n" + ",\n".join(f"  {json.dumps(name)}: {json.dumps(group[name])}" for name in sorted(group)) + "\n}"
    FACTS.write_text(f'{{"torch": {json.dumps(torch.__version__)},\n"programs": {write(programs)},\n"torchvision": {write(built)}}}\n')


if __name__ == "__main__":
    main()
