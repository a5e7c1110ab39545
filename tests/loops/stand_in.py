"""What lets a program written for CUDA run on a machine without it, for record.py only: no program and no rule sees this.

The order of scale, unscale_, step and update is judged by PyTorch's own GradScaler; only its arithmetic, for which
PyTorch 1.13 has no CPU kernels, is done in Python there. float16 autocast becomes the bfloat16 one of the CPU. What autocast refuses
on CUDA is asked of PyTorch's dispatcher with tensors that claim to be there. NCCL becomes gloo with one process.
"""

import ast
import re
import sys


class OnCpu(ast.NodeTransformer):
    """The names of devices and backends that a program writes."""

    def visit_Constant(self, node):
        if isinstance(node.value, str) and re.fullmatch(r"cuda(:\d+)?", node.value):
            return ast.copy_location(ast.Constant("cpu"), node)
        if node.value == "nccl":
            return ast.copy_location(ast.Constant("gloo"), node)
        return node

    def visit_JoinedStr(self, node):
        first = node.values[0] if node.values else None
        if isinstance(first, ast.Constant) and str(first.value) == "cuda:":
            return ast.copy_location(ast.Constant("cpu"), node)
        return self.generic_visit(node)


def scale_on_cpu(torch):
    """Since 2.3 PyTorch has a GradScaler for the CPU: that of CUDA is made that one."""
    class Scaler(torch.amp.GradScaler):
        def __init__(self, device="cuda", **options):
            if not isinstance(device, str):
                raise TypeError("the first argument is a device")
            super().__init__("cpu", **options)

    torch.cuda.amp.GradScaler = torch.amp.GradScaler = Scaler


def scale_in_python(torch):
    """The arithmetic of 1.13, which has no kernels for it on the CPU."""
    from torch.cuda.amp import grad_scaler

    class Scaler(grad_scaler.GradScaler):
        def __init__(self, device="cuda", **options):
            if not isinstance(device, str):
                raise TypeError("the first argument is a device")
            super().__init__(**options)

        def scale(self, outputs):
            if not self._enabled:
                return outputs
            if isinstance(outputs, (list, tuple)):
                return type(outputs)(self.scale(each) for each in outputs)
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale.squeeze(0)

        def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
            grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
            if any(grad.dtype == torch.float16 for grad in grads) and not allow_fp16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            for grad in grads:
                if not torch.isfinite(grad).all():
                    found_inf.fill_(1.0)
                grad.mul_(inv_scale.to(grad.dtype))
            return {found_inf.device: found_inf} if grads else {}

    def update_scale(scale, tracker, found_inf, growth, backoff, interval):
        if found_inf.item():
            scale.mul_(backoff)
            tracker.zero_()
        else:
            tracker.add_(1)
            if tracker.item() == interval:
                scale.mul_(growth)
                tracker.zero_()
        return scale

    grad_scaler.amp_definitely_not_available = lambda: False
    torch._amp_update_scale_ = update_scale
    torch.cuda.amp.GradScaler = grad_scaler.GradScaler = Scaler
    torch.amp.GradScaler = Scaler


def install():
    """Changes PyTorch in this process; to be called before the program is run."""
    import torch
    from torch import nn

    # Which kernels oneDNN has depends on the processor: without AVX-512 it has no bfloat16 LSTM. PyTorch's own run everywhere.
    torch.backends.mkldnn.enabled = False

    if hasattr(torch.amp, "GradScaler"):
        scale_on_cpu(torch)
    else:
        scale_in_python(torch)

    real_autocast = torch.autocast

    class Autocast(real_autocast):
        def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
            super().__init__("cpu", dtype=torch.bfloat16, enabled=enabled)

    class OldAutocast(Autocast):
        def __init__(self, enabled=True, dtype=None, cache_enabled=None):
            super().__init__("cuda", dtype, enabled)

    torch.autocast = torch.amp.autocast = Autocast
    torch.cuda.amp.autocast = OldAutocast

    class Elsewhere(torch.Tensor):
        """Says that it lies on a GPU, which is enough for the dispatcher to ask autocast."""

        @staticmethod
        def __new__(cls, tensor):
            return torch.Tensor._make_wrapper_subclass(cls, tensor.size(), dtype=tensor.dtype, device="cuda")

        @classmethod
        def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
            return args[0]

    by_device = hasattr(torch, "get_autocast_dtype")  # since 2.4 autocast is asked by device
    real_bce = nn.functional.binary_cross_entropy

    def binary_cross_entropy(input, target, *args, **kwargs):
        if by_device and torch.is_autocast_enabled("cpu") or not by_device and torch.is_autocast_cpu_enabled():
            switch = lambda on: torch.set_autocast_enabled("cuda", on) if by_device else torch.set_autocast_enabled(on)
            switch(True)
            try:
                real_bce(Elsewhere(input), Elsewhere(target))
            finally:
                switch(False)
        return real_bce(input, target, *args, **kwargs)

    nn.functional.binary_cross_entropy = binary_cross_entropy

    torch.Tensor.cuda = lambda self, *args, **kwargs: self
    nn.Module.cuda = lambda self, *args, **kwargs: self
    torch.cuda.set_device = lambda device: None

    def no_number(function):
        """A device given as the number of a GPU is the CPU."""
        def call(*args, **kwargs):
            args = [args[0], *("cpu" if type(each) is int else each for each in args[1:])] if args[1:] else args
            if type(kwargs.get("device")) is int:
                kwargs["device"] = "cpu"
            return function(*args, **kwargs)
        return call

    nn.Module.to = no_number(nn.Module.to)
    torch.Tensor.to = no_number(torch.Tensor.to)
    real_randn = torch.randn
    torch.randn = lambda *args, **kwargs: real_randn(
        *args, **{**kwargs, **({"device": "cpu"} if type(kwargs.get("device")) is int else {})})

    parallel = sys.modules["torch.nn.parallel.distributed"].DistributedDataParallel
    real_init = parallel.__init__

    def init(self, module, device_ids=None, output_device=None, **kwargs):
        real_init(self, module, **kwargs)

    parallel.__init__ = init
