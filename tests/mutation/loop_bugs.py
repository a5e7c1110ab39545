"""Bugs of the training loop, of mixed precision, memory and evaluation."""

import ast
import re

from source import Mutant

SCALER = re.compile(r"scaler$", re.I)
OPTIMIZER = re.compile(r"opt(im(izer)?)?(_\w+)?(\[\w+\])?$", re.I)
HELD_OUT = re.compile(r"val|test|eval", re.I)


def gone(source, calls):
    """Edits that leave `pass` for each of the calls that is a statement of its own."""
    statements = [source.alone(call) for call in calls]
    return [source.replaced(each, "pass") for each in statements if each]


def trains(source, node):
    """Is something differentiated in the function (or the module) around?"""
    return any(source.methods("backward", source.function(node)))


def zero_grad(source):
    """Every zero_grad of a function that also steps."""
    if re.search(r"\.grad\s*=\s*None|\.grad\.(zero_|detach_)", source.text):
        return
    seen = set()
    for call in source.methods("zero_grad"):
        function = source.function(call)
        if function in seen or not trains(source, call) or not source.methods("step", function):
            continue
        seen.add(function)
        calls = source.methods("zero_grad", function)
        edits = gone(source, calls)
        if len(edits) == len(calls):
            lines = [each.lineno for name in ("step", "backward") for each in source.methods(name, function)]
            yield Mutant("zero_grad deleted", call.lineno, f"every zero_grad of {getattr(function, 'name', 'the module')}", edits, lines)


def zero_grad_late(source):
    """zero_grad between the backward and the step."""
    for call in source.methods("backward"):
        statement = source.alone(call)
        loop = source.loop(call)
        if not statement or not loop:
            continue
        body, _ = source.block(statement)
        cleared = [c for c in source.methods("zero_grad", loop) if source.alone(c) and source.block(source.alone(c))[0] is body]
        stepped = [c for c in source.methods("step", loop) if source.alone(c) and source.block(source.alone(c))[0] is body
                   and (OPTIMIZER.search(source.receiver(c)) or SCALER.search(source.receiver(c)))]
        if len(cleared) != 1 or len(stepped) != 1 or not cleared[0].lineno < call.lineno < stepped[0].lineno:
            continue
        clear = source.alone(cleared[0])
        yield Mutant("zero_grad late", cleared[0].lineno, "zero_grad after the backward",
                     [source.replaced(clear, "pass"), source.replaced(statement, source.said(statement) + "; " + source.said(clear))],
                     [call.lineno, stepped[0].lineno])


def update(source):
    """scaler.update() of a function whose scaler steps."""
    seen = set()
    for call in source.methods("update"):
        receiver, function = source.receiver(call), source.function(call)
        if not SCALER.search(receiver) or (receiver, function) in seen:
            continue
        seen.add((receiver, function))
        steps = [c for c in source.methods("step", function) if source.receiver(c) == receiver]
        updates = [c for c in source.methods("update", function) if source.receiver(c) == receiver]
        edits = gone(source, updates)
        if steps and len(edits) == len(updates):
            yield Mutant("update deleted", call.lineno, f"{receiver}.update", edits, [c.lineno for c in steps])


def set_epoch(source):
    seen = set()
    for call in source.methods("set_epoch"):
        receiver, function = source.receiver(call), source.function(call)
        if HELD_OUT.search(receiver) or (receiver, function) in seen:
            continue
        seen.add((receiver, function))
        calls = [c for c in source.methods("set_epoch", function) if source.receiver(c) == receiver]
        loop = source.loop(call)
        edits = gone(source, calls)
        if edits:
            made = [c.lineno for c in source.calls if source.called(c) == "DistributedSampler"]
            yield Mutant("set_epoch deleted", call.lineno, f"{receiver}.set_epoch", edits, made + ([loop.lineno] if loop else []))


CLIPS = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_")


def unscale(source):
    for call in source.methods("unscale_"):
        function = source.function(call)
        clips = [c for c in source.calls if source.called(c) in CLIPS and source.function(c) is function and c.lineno > call.lineno]
        edits = gone(source, [call])
        if clips and edits:
            yield Mutant("unscale_ deleted", call.lineno, source.said(call), edits, [c.lineno for c in clips])


def plain_backward(source):
    for call in source.methods("backward"):
        scaled = call.func.value
        if isinstance(scaled, ast.Call) and source.called(scaled) == "scale" and len(scaled.args) == 1 and SCALER.search(source.receiver(scaled)):
            steps = [c.lineno for c in source.methods("step", source.function(call)) if SCALER.search(source.receiver(c))]
            yield Mutant("unscaled backward", call.lineno, source.said(call), [source.replaced(scaled, source.said(scaled.args[0]))], steps)


def plain_step(source):
    for call in source.methods("step"):
        if SCALER.search(source.receiver(call)) and len(call.args) == 1 and not call.keywords and source.alone(call):
            updates = [c.lineno for c in source.methods("update", source.function(call)) if SCALER.search(source.receiver(c))]
            yield Mutant("plain step", call.lineno, source.said(call), [source.replaced(call, source.said(call.args[0]) + ".step()")], updates)


def graph_kept(source):
    """A loss that is summed up or listed in the loop that trains, without item() or detach()."""
    for call in source.calls:
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in ("item", "detach") and not call.args):
            continue
        loop = source.loop(call)
        value = call.func.value
        if not loop or "loss" not in source.said(value).lower() or not trains(source, call) or not source.methods("backward", loop):
            continue
        if not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
            continue
        holder = next((n for n in source.up(call) if isinstance(n, (ast.stmt, ast.Call))), None)
        sums = isinstance(holder, ast.AugAssign) and isinstance(holder.op, ast.Add)
        lists = isinstance(holder, ast.Call) and source.called(holder) == "append" and holder.args and holder.args[0] is call
        around = value
        while around is not holder and isinstance(source.parents.get(around), ast.Call):  # loss.detach().cpu().item()
            around = source.parents[around]
        if sums or lists:
            yield Mutant("graph kept", call.lineno, source.said(call), [source.replaced(call, source.said(value))])


def no_grad(source):
    for node in ast.walk(source.tree):
        if isinstance(node, ast.With) and len(node.items) == 1 and not node.items[0].optional_vars:
            item = node.items[0].context_expr
            if isinstance(item, ast.Call) and source.called(item) in ("no_grad", "inference_mode") and any(isinstance(n, (ast.For, ast.While)) for n in [*ast.walk(node), *source.up(node)] if source.function(n) is source.function(node)):
                begin, end = source.starts[node.lineno - 1] + node.col_offset, source.span(item)[1]
                yield Mutant("no_grad dropped", node.lineno, source.said(item), [(begin, end, "if True")],
                             [n.lineno for n in ast.walk(node) if isinstance(n, (ast.For, ast.Call))])
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for item in node.decorator_list:
                if isinstance(item, ast.Call) and source.called(item) in ("no_grad", "inference_mode") and any(isinstance(n, ast.For) for n in ast.walk(node)):
                    begin, end = source.span(item)
                    yield Mutant("no_grad dropped", item.lineno, "@" + source.said(item), [(begin - 1, end, "")],
                                 [node.lineno] + [n.lineno for n in ast.walk(node) if isinstance(n, (ast.For, ast.Call))])


def eval_mode(source):
    """model.eval() before an evaluation that is made of a loop in the same function, which also trains or is trained from."""
    for call in source.methods("eval"):
        function = source.function(call)
        if call.args or not source.alone(call) or function is source.tree or not any(isinstance(n, ast.For) for n in ast.walk(function)):
            continue
        if any(isinstance(n, ast.Call) and source.called(n) in ("no_grad", "inference_mode") for n in ast.walk(function)):
            yield Mutant("eval() deleted", call.lineno, source.said(call), gone(source, [call]),
                         [n.lineno for n in ast.walk(function) if isinstance(n, (ast.For, ast.Call, ast.With))])


def step_deleted(source):
    for call in source.methods("step"):
        receiver = source.receiver(call)
        loop = source.loop(call)
        if OPTIMIZER.search(receiver) and not SCALER.search(receiver) and loop and source.alone(call) and source.methods("backward", loop) and not call.args:
            if len([c for c in source.methods("step", source.function(call)) if source.receiver(c) == receiver]) == 1:
                yield Mutant("step deleted", call.lineno, source.said(call), gone(source, [call]), [c.lineno for c in source.methods("backward", loop)])


def backward_deleted(source):
    for call in source.methods("backward"):
        loop = source.loop(call)
        if loop and source.alone(call) and source.methods("step", loop) and len(source.methods("backward", source.function(call))) == 1:
            yield Mutant("backward deleted", call.lineno, source.said(call), gone(source, [call]), [c.lineno for c in source.methods("step", loop)])


def clip_late(source):
    """The clip after the step."""
    for call in source.calls:
        if source.called(call) not in CLIPS or not source.alone(call):
            continue
        body, index = source.block(source.alone(call))
        for later in (body or [])[index + 1:index + 4]:
            if isinstance(later, ast.Expr) and isinstance(later.value, ast.Call) and source.called(later.value) == "step" and OPTIMIZER.search(source.receiver(later.value) if isinstance(later.value.func, ast.Attribute) else ""):
                yield Mutant("clip late", call.lineno, source.said(call),
                             [source.replaced(source.alone(call), "pass"), source.replaced(later, source.said(later) + "; " + " ".join(source.said(call).split("\n")))],
                             [later.lineno])
                break


LOSSES = ("CrossEntropyLoss", "NLLLoss", "KLDivLoss")


def loss_swapped(source):
    """The prediction and the target of a loss that is not the same both ways."""
    names = {source.said(node.targets[0]) for node in ast.walk(source.tree)
             if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and source.called(node.value) in LOSSES}
    for call in source.calls:
        known = source.said(call.func) in names or source.called(call) in ("cross_entropy", "nll_loss")
        if known and len(call.args) >= 2 and not any(isinstance(a, ast.Starred) for a in call.args):
            first, second = call.args[:2]
            yield Mutant("loss arguments swapped", call.lineno, source.said(call),
                         [source.replaced(first, source.said(second)), source.replaced(second, source.said(first))])


def module_dropped(source):
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr == "module" and isinstance(node.ctx, ast.Load) and isinstance(source.parents.get(node), ast.Attribute):
            # `self.module` is a wrapper's own.
            if source.said(node.value) != "self" and ("DistributedDataParallel" in source.text or "DDP(" in source.text):
                yield Mutant(".module dropped", node.lineno, source.said(source.parents[node]), [source.replaced(node, source.said(node.value))])


FAMILIES = {
    # family: (operator, the rules that speak of such a bug, what a file says that can have it)
    "zero_grad deleted": (zero_grad, ["loop/missing-zero-grad", "loop/accumulation-step", "loop/zero-grad-order"], "zero_grad"),
    "zero_grad late": (zero_grad_late, ["loop/zero-grad-order", "loop/missing-zero-grad"], "zero_grad"),
    "update deleted": (update, ["amp/missing-update", "amp/update-order", "amp/double-unscale"], "update"),
    "set_epoch deleted": (set_epoch, ["loop/set-epoch"], "set_epoch"),
    "unscale_ deleted": (unscale, ["amp/clip-before-unscale"], "unscale_"),
    "unscaled backward": (plain_backward, ["amp/unscaled-backward", "amp/update-order"], "scale"),
    "plain step": (plain_step, ["amp/unscaled-step", "amp/missing-update", "amp/update-order", "amp/double-unscale"], "caler"),
    "graph kept": (graph_kept, ["memory/retained-graph"], "backward"),
    "no_grad dropped": (no_grad, ["loop/grad-in-eval", "memory/retained-graph"], "no_grad|inference_mode"),
    "eval() deleted": (eval_mode, ["loop/eval-mode"], "eval"),
    "step deleted": (step_deleted, ["loop/missing-step", "amp/*", "loop/*"], "backward"),
    "backward deleted": (backward_deleted, ["loop/missing-backward", "loop/*", "amp/*"], "backward"),
    "clip late": (clip_late, ["loop/clip-after-step"], "clip_grad"),
    "loss arguments swapped": (loss_swapped, ["shape/*", "loop/*"], "Loss|cross_entropy|nll_loss"),
    ".module dropped": (module_dropped, ["checkpoint/keys", "shape/*", "deadlock/*"], "DDP|DistributedDataParallel"),
}
