"""Values of PyTorch as Python text, and outcomes as the facts say them."""

import json
import math

LONG = 30  # elements of an integer tensor that are written out


class Unprintable(Exception):
    """A value that has no text of its own."""


class Writer:
    """Values as Python text; tensors as calls that make them."""

    def __init__(self, torch, floats):
        self.torch = torch
        self.floats = floats  # how tensors of floats are made: "ones", "rand", "eye", "half", "exact"

    def size(self, shape):
        if not shape:
            return "()"
        return "(" + ", ".join(str(size) for size in shape) + ("," if len(shape) == 1 else "") + ")"

    def tensor(self, value):
        torch = self.torch
        if value.is_sparse or value.is_nested or value.layout != torch.strided or value.device.type != "cpu":
            raise Unprintable
        if value.is_quantized or value.dtype in (torch.complex32,):
            raise Unprintable
        shape = list(value.shape)
        name = str(value.dtype)
        suffix = "" if value.dtype == torch.float32 else f", dtype={name}"
        size = self.size(shape)
        if not value.is_floating_point() and not value.is_complex():
            if 0 < value.numel() <= LONG and (value.dtype in (torch.int64, torch.bool) or value.numel() < 6):
                plain = "" if value.dtype in (torch.int64, torch.bool) else suffix
                return f"torch.tensor({value.tolist()}{plain})"
            maker = "zeros" if value.numel() and int(value.min()) <= 0 else "ones"
            return f"torch.{maker}({size}{suffix})"
        square = len(shape) >= 2 and shape[-1] == shape[-2] and value.numel()
        if self.floats == "eye" and square:
            eye = f"torch.eye({shape[-1]}{suffix})"
            return eye if len(shape) == 2 else f"{eye}.expand({', '.join(map(str, shape))})"
        if self.floats == "rand" and not value.is_complex():
            return f"torch.rand({size}{suffix})"
        if self.floats == "half":
            return f"torch.full({size}, 0.5{suffix})"
        if self.floats == "exact" and 0 < value.numel() <= 9 and not value.is_complex():
            return f"torch.tensor({json.loads(json.dumps(value.tolist()), parse_float=lambda x: round(float(x), 2))}{suffix})"
        return f"torch.ones({size}{suffix})"

    def value(self, value):
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if value is None or isinstance(value, (bool, int)):
            return repr(value)
        if callable(value) and not isinstance(value, (type, torch.nn.Module)):
            return self.function(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f"float('{value}')"
        if isinstance(value, complex):
            return repr(value)
        if value is Ellipsis:
            return "..."
        if isinstance(value, str):
            return repr(value)
        if isinstance(value, slice):
            return f"slice({self.value(value.start)}, {self.value(value.stop)}, {self.value(value.step)})"
        if isinstance(value, torch.device):
            return repr(str(value))
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return str(value)
        if isinstance(value, tuple):
            return "(" + ", ".join(self.value(item) for item in value) + ("," if len(value) == 1 else "") + ")"
        if isinstance(value, list) or type(value).__name__ == "TensorList":
            return "[" + ", ".join(self.value(item) for item in value) + "]"
        raise Unprintable

    def function(self, value):
        for home, names in (("F", self.torch.nn.functional), ("torch", self.torch)):
            name = getattr(value, "__name__", "")
            if name and getattr(names, name, None) is value:
                return f"{home}.{name}"
        raise Unprintable

    def arguments(self, positional, keywords):
        return ", ".join([self.value(value) for value in positional] + [f"{key}={self.value(value)}" for key, value in keywords.items()])

    def index(self, index):
        """Between the brackets of a subscript."""
        def part(item):
            if isinstance(item, slice):
                text = ":".join("" if bound is None else self.value(bound) for bound in (item.start, item.stop))
                return text if item.step is None else f"{text}:{self.value(item.step)}"
            return self.value(item)
        if isinstance(index, tuple):
            return ", ".join(part(item) for item in index) + ("," if len(index) == 1 else "") if index else "()"
        return part(index)


def plain(torch, value, depth=0):
    """The outcome, as a fact says it."""
    if isinstance(value, torch.Tensor):
        if value.is_sparse or value.is_nested or value.layout != torch.strided:
            return {"value": "sparse"}
        return f"{str(value.dtype)[6:]}{list(value.shape)}"
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return "float"
    if isinstance(value, (tuple, list)) and depth < 3:
        return [plain(torch, item, depth + 1) for item in value]
    return {"value": type(value).__name__}
