"""Bugs of the training loop, of mixed precision, memory and evaluation."""

import ast
import re

from source import Mutant, number

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


def one_round(source, loop):
    """Does the loop have one round as it is written: `epochs = 1`, `range(epochs)`?"""
    if not (isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and source.called(loop.iter) == "range" and len(loop.iter.args) == 1):
        return False
    rounds = loop.iter.args[0]
    if isinstance(rounds, ast.Name):
        made = [n.value for n in ast.walk(source.function(loop)) if isinstance(n, ast.Assign) and source.said(n.targets[0]) == rounds.id]
        rounds = made[0] if len(made) == 1 else rounds
    return number(rounds) == 1


def goes_on(source, loop):
    """Does the loop take its batches from an iterator that was made before it? Its order was drawn then."""
    taken = {source.said(c.args[0]) for c in ast.walk(loop) if isinstance(c, ast.Call) and source.called(c) == "next" and c.args}
    again = {source.said(n.targets[0]) for n in ast.walk(loop) if isinstance(n, ast.Assign)}
    return bool(taken - again)


def set_epoch(source):
    seen = set()
    for call in source.methods("set_epoch"):
        receiver, function = source.receiver(call), source.function(call)
        if HELD_OUT.search(receiver) or (receiver, function) in seen:
            continue
        seen.add((receiver, function))
        # An object that begins with an epoch, or hands on the one that it is told, is no loop over epochs.
        if getattr(function, "name", "") == "set_epoch" or receiver == "self" and not source.loop(call):
            continue
        calls = [c for c in source.methods("set_epoch", function) if source.receiver(c) == receiver]
        loop = source.loop(call)
        if loop and (one_round(source, loop) or goes_on(source, loop)):
            continue
        # Whoever asks whether there is such a method, in a program that makes no sampler for several processes, has none.
        asks = any(isinstance(n, ast.If) and "hasattr" in source.said(n.test) and "set_epoch" in source.said(n.test) for n in source.up(call))
        if asks and not any("DistributedSampler" in text for text in (source.text, *source.others)):
            continue
        edits = gone(source, calls)
        samplers = [c for c in source.calls if source.called(c) == "DistributedSampler"]
        # The order of a sampler that does not shuffle is the same in each epoch.
        if samplers and all(any(k.arg == "shuffle" and source.said(k.value) == "False" for k in c.keywords) for c in samplers):
            continue
        if edits:
            made = [c.lineno for c in samplers]
            yield Mutant("set_epoch deleted", call.lineno, f"{receiver}.set_epoch", edits, made + ([loop.lineno] if loop else []))


CLIPS = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_")


def clips_nothing(source, call):
    """Is its limit None? Then it measures the gradients, and leaves them as they are."""
    return len(call.args) > 1 and source.said(call.args[1]) == "None"


def unscale(source):
    for call in source.methods("unscale_"):
        function = source.function(call)
        clips = [c for c in source.calls if source.called(c) in CLIPS and source.function(c) is function and c.lineno > call.lineno
                 and not clips_nothing(source, c)]
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


def begins_anew(source, call, holder):
    """Is it a sum of what was differentiated that begins anew for each step of the optimizer? Then nothing is kept beyond one."""
    held = source.said(holder.target)
    inner = source.loop(call)
    for outer in source.up(inner):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return False
        if isinstance(outer, (ast.For, ast.While)) and any(source.loop(c) is outer for c in source.methods("step", outer)):
            return any(isinstance(n, ast.Assign) and source.said(n.targets[0]) == held for n in outer.body)
    return False


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
        # `loss.data` has no history.
        if isinstance(value, ast.Attribute) and value.attr == "data":
            continue
        holder = next((n for n in source.up(call) if isinstance(n, (ast.stmt, ast.Call))), None)
        sums = isinstance(holder, ast.AugAssign) and isinstance(holder.op, ast.Add)
        lists = isinstance(holder, ast.Call) and source.called(holder) == "append" and holder.args and holder.args[0] is call
        around = value
        while around is not holder and isinstance(source.parents.get(around), ast.Call):  # loss.detach().cpu().item()
            around = source.parents[around]
        if sums and begins_anew(source, call, holder):
            continue
        if sums or lists:
            yield Mutant("graph kept", call.lineno, source.said(call), [source.replaced(call, source.said(value))])


def models(source):
    """What the file treats as a model: the texts of what it switches, wraps or asks for its parameters."""
    asked = {source.receiver(call) for name in ("eval", "train", "parameters", "named_parameters", "load_state_dict")
             for call in source.methods(name)}
    wrapped = {source.said(call.args[0]) for call in source.calls
               if call.args and source.called(call) in ("DistributedDataParallel", "DDP", "FullyShardedDataParallel", "FSDP", "DataParallel")}
    return {text for text in asked | wrapped if not OPTIMIZER.search(text)}


def without_gradients(source):
    """(node of the `with` or of the function, call of no_grad, edits and lines of its removal) of each block that records no gradients."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.With) and len(node.items) == 1 and not node.items[0].optional_vars:
            item = node.items[0].context_expr
            if isinstance(item, ast.Call) and source.called(item) in ("no_grad", "inference_mode"):
                begin, end = source.starts[node.lineno - 1] + node.col_offset, source.span(item)[1]
                yield node, item, [(begin, end, "if True")], []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for item in node.decorator_list:
                if isinstance(item, ast.Call) and source.called(item) in ("no_grad", "inference_mode"):
                    begin, end = source.span(item)
                    begin = source.data.rindex(b"@", 0, begin)
                    yield node, item, [(begin, end, "")], [node.lineno]


def no_grad(source):
    """A model is evaluated, round after round, with its gradients recorded. A frozen model inside the training step is another thing."""
    known = models(source)
    for node, item, edits, lines in without_gradients(source):
        around = [n for n in source.up(node) if source.function(n) is source.function(node)] if isinstance(node, ast.With) else []
        looped = any(isinstance(n, (ast.For, ast.While)) for n in [*ast.walk(node), *around])
        trained = any(source.methods("backward", n) for n in [node, *(n for n in around if isinstance(n, (ast.For, ast.While)))])
        # What another block inside or around sees to is no worse off.
        seen_to = [n for n, *_ in without_gradients(source) if n is not node]
        if any(n in seen_to for n in source.up(node)):
            continue
        # Nor is what is called from such a block alone.
        name = getattr(source.function(node) if isinstance(node, ast.With) else node, "name", None)
        callers = [c for c in source.calls if source.called(c) == name and source.function(c) is not source.function(node)]
        if callers and all(any(n is not node and (n in source.up(c)) for n, *_ in without_gradients(source)) for c in callers):
            continue
        asked = [n for n in ast.walk(node) if isinstance(n, ast.Call) and source.said(n.func) in known and not any(n in set(ast.walk(other)) for other in seen_to if other in set(ast.walk(node)))]
        if looped and asked and not trained:
            yield Mutant("no_grad dropped", item.lineno, ("" if isinstance(node, ast.With) else "@") + source.said(item), edits,
                         lines + [n.lineno for n in ast.walk(node) if isinstance(n, (ast.For, ast.Call))])


WRITES = re.compile(r"(add|mul|copy|lerp|sub|div|zero|addcdiv|addcmul|clamp|normal|uniform|fill)_$")


def no_grad_write(source):
    """Parameters are written in place while gradients are recorded, which PyTorch refuses."""
    for node, item, edits, lines in without_gradients(source):
        of_parameters = {source.said(n.target) for n in ast.walk(node) if isinstance(n, ast.For) and re.search(r"(\bparameters\(\)|\[.params.\])$", source.said(n.iter))}
        written = [n for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and WRITES.search(n.func.attr)
                   and (source.receiver(n) in of_parameters or re.search(r"\.(weight|bias)$", source.receiver(n)))]
        inner = [n for n, *_ in without_gradients(source) if n is not node and n in set(ast.walk(node))]
        if written and not inner:
            yield Mutant("no_grad off a write", item.lineno, source.said(item), edits, lines + [n.lineno for n in written])


def pretrained(source, call):
    """Is the model one that `from_pretrained` made, which is in evaluation mode, in a file that never trains?"""
    made = [n for n in ast.walk(source.tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)
            and source.said(n.targets[0]) == source.receiver(call) and source.called(n.value) == "from_pretrained"]
    return bool(made) and not source.methods("backward") and not source.methods("train")


DROPPED = re.compile(r"""drop\w*["']?\s*[:=]\s*([\d.]+)""", re.I)


def without_dropout(source):
    """Does the file set each rate of dropout to 0, and name no norm of a batch?"""
    rates = [float(rate) for rate in DROPPED.findall(source.text) if re.fullmatch(r"\d+(\.\d*)?|\.\d+", rate)]
    return bool(rates) and not any(rates) and "BatchNorm" not in source.text


def sets(source, mode, receiver, function):
    return any(source.receiver(call) == receiver and not call.args for call in source.methods(mode, function))


def evaluated_by_callers(source, call):
    """Does whoever calls the function, here or in another file, set what it gives to evaluation before, and not to training since?"""
    function, receiver = source.function(call), source.receiver(call)
    names = [arg.arg for arg in function.args.args]
    if receiver not in names:
        return False
    place = names.index(receiver) - (1 if names[0] in ("self", "cls") else 0)
    # `model.eval()` calls no function `eval(model, loader)` beside it: it gives it nothing.
    found = [(other, each, given) for other, each in source.callers(function.name)
             if (given := [k.value for k in each.keywords if k.arg == receiver] or each.args[place:place + 1])]
    for other, each, given in found:
        around = other.function(each)
        modes = [c for c in other.methods("eval") + other.methods("train")
                 if other.receiver(c) == other.said(given[0]) and other.function(c) is around and c.lineno < each.lineno]
        if not modes:
            return False
        last = max(modes, key=lambda c: c.lineno)
        if last.func.attr != "eval" and [other.said(a) for a in last.args] != ["False"]:  # model.train(False)
            return False
    return bool(found)


def trained_frozen(source, call):
    """Is it what a training sets to evaluation as well, a backbone whose features are used?"""
    return any(sets(source, "eval", source.receiver(call), function) and source.methods("backward", function)
               and not sets(source, "train", source.receiver(call), function)
               for function in ast.walk(source.tree) if isinstance(function, ast.FunctionDef) and function is not source.function(call))


def left_evaluating(source, call):
    """Does every caller call another function just before which sets the mode and leaves it so?"""
    function = source.function(call)
    leave = {f.name for f in ast.walk(source.tree) if isinstance(f, ast.FunctionDef) and f is not function
             and sets(source, "eval", source.receiver(call), f) and not sets(source, "train", source.receiver(call), f)}
    calls = [c for c in source.calls if isinstance(c.func, ast.Name) and c.func.id == function.name]
    for each in calls:
        statement = next((n for n in [each, *source.up(each)] if isinstance(n, ast.stmt)), None)
        body, index = source.block(statement)
        before = body[index - 1] if body and index else None
        if not before or not any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in leave for n in ast.walk(before)):
            return False
    return bool(calls)


def trains_by_it(source, node):
    """Does the innermost loop around train as well? Whether a training step asks its model for targets in this or that mode is a choice."""
    loop = source.loop(node)
    return loop is not None and any(source.methods("backward", loop))


def eval_mode(source):
    """model.eval() before an evaluation that is made of a loop in the same function, which also trains or is trained from."""
    if without_dropout(source):
        return
    for call in source.methods("eval"):
        function = source.function(call)
        if call.args or not source.alone(call) or function is source.tree or not any(isinstance(n, ast.For) for n in ast.walk(function)):
            continue
        if pretrained(source, call) or trained_frozen(source, call) or evaluated_by_callers(source, call) or left_evaluating(source, call):
            continue
        # Only a model that is asked there afterwards, without gradients, or handed to who asks it, is worse off.
        asks = [n for n in ast.walk(function) if isinstance(n, ast.Call) and n.lineno > call.lineno and source.called(n) != "append" and
                (source.said(n.func) == source.receiver(call) or any(source.said(a) == source.receiver(call) for a in [*n.args, *(k.value for k in n.keywords)]))]
        # Whoever measures the time that the model takes does not read what it gives.
        asks = [n for n in asks if not trains_by_it(source, n) and not (source.said(n.func) == source.receiver(call) and source.alone(n))]
        # Nor is one that is set to evaluation once more on the way.
        again = [c for c in source.methods("eval", function) if c.lineno > call.lineno and source.receiver(c) == source.receiver(call) and source.alone(c)]
        asks = [n for n in asks if not any(c.lineno < n.lineno and source.parents[source.alone(c)] in source.up(n) for c in again)]
        silent = [node for node, *_ in without_gradients(source)]
        if any(node in silent for n in asks for node in source.up(n)):
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
        # A criterion of the library takes two; one that takes more is the program's own.
        own = source.said(call.func) in names and len(call.args) > 2
        if known and not own and len(call.args) >= 2 and not any(isinstance(a, ast.Starred) for a in call.args):
            first, second = call.args[:2]
            yield Mutant("loss arguments swapped", call.lineno, source.said(call),
                         [source.replaced(first, source.said(second)), source.replaced(second, source.said(first))])


# What a wrapper answers as the model inside does.
OF_EVERY_MODULE = {"apply", "buffers", "children", "cpu", "cuda", "eval", "float", "forward", "half", "load_state_dict", "modules", "named_buffers",
                   "named_children", "named_modules", "named_parameters", "parameters", "requires_grad_", "to", "train", "training", "zero_grad"}


def module_dropped(source):
    """A member of the model asked of its wrapper, which has none; a state saved with the wrapper's prefix where the file loads one."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr == "module" and isinstance(node.ctx, ast.Load) and isinstance(source.parents.get(node), ast.Attribute):
            member = source.parents[node].attr
            if member in OF_EVERY_MODULE or member == "state_dict" and not source.methods("load_state_dict"):
                continue
            # Whoever tries the one and takes the other where it fails is no worse off.
            if any(isinstance(n, ast.Try) and n.handlers and any(node in set(ast.walk(part)) for part in n.body) for n in source.up(node)):
                continue
            # `self.module` is a wrapper's own.
            if source.said(node.value) != "self" and ("DistributedDataParallel" in source.text or "DDP(" in source.text):
                yield Mutant(".module dropped", node.lineno, source.said(source.parents[node]), [source.replaced(node, source.said(node.value))])


DEVICE = re.compile(r"device|cuda|gpu|rank", re.I)
# Modules that hold no tensors.
EMPTY = re.compile(r"Loss$|^(ReLU|GELU|SiLU|Sigmoid|Tanh|Softmax|LogSoftmax|Identity|Dropout)$")


def device_of_another(source, call):
    """`.to(x.device)`, or to a name that is assigned that."""
    target = call.args[0] if call.args else None
    if isinstance(target, ast.Name):
        assigned = [n.value for n in ast.walk(source.function(call)) if isinstance(n, ast.Assign) and len(n.targets) == 1 and source.said(n.targets[0]) == target.id]
        target = assigned[0] if len(assigned) == 1 else None
    return isinstance(target, ast.Attribute) and target.attr == "device" and source.said(target.value) not in ("self", "args", "cfg", "config", "accelerator")


def holds_nothing(source, made):
    """Is it a layer or a loss without weights?"""
    return isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and source.receiver(made) in ("nn", "torch.nn") \
        and bool(EMPTY.search(source.called(made))) and not any("weight" in (k.arg or "") for k in made.keywords)


def as_it_was_saved(source, made, function=None, to=None):
    """Is it a part of a file that is read as it was saved, or to the very device that it is moved to?"""
    while isinstance(made, (ast.Subscript, ast.Attribute)):
        made = made.value
    if isinstance(made, ast.Name) and function is not None:
        read = [n.value for n in ast.walk(function) if isinstance(n, ast.Assign) and any(source.said(t) == made.id for t in n.targets)]
        return len(read) == 1 and not isinstance(read[0], ast.Name) and as_it_was_saved(source, read[0], None, to)
    if not isinstance(made, ast.Call) or source.said(made.func) != "torch.load" or len(made.args) != 1:
        return False
    brought = [source.said(k.value) for k in made.keywords if k.arg == "map_location"]
    return not any(k.arg is None for k in made.keywords) and (not brought or to is not None and brought[0] in (to, f"str({to})"))


def made_as(source, call):
    """What the name, or the attribute, that the call moves is assigned elsewhere."""
    moved, own = call.func.value, source.parents.get(call)
    if not isinstance(moved, (ast.Name, ast.Attribute)):
        return []
    around = source.function(call) if isinstance(moved, ast.Name) else source.tree
    return [n.value for n in ast.walk(around) if isinstance(n, ast.Assign) and n is not own
            and any(source.said(t) == source.said(moved) for t in n.targets)]


def lies_anywhere(source, call):
    """Is what is moved there on that device already, or nothing that lies on one?"""
    moved = call.func.value
    # What a caller gives is brought where another of its tensors lies: they lie together but for models on several devices.
    function = source.function(call)
    if isinstance(moved, ast.Name) and function is not source.tree and device_of_another(source, call):
        made = [n.value for n in ast.walk(function) if isinstance(n, ast.Assign) and any(source.said(t) == moved.id for t in n.targets)]
        if not any(isinstance(c, ast.Call) and source.said(c.func).startswith("torch.") for value in made for c in ast.walk(value)):
            return True
    if holds_nothing(source, moved) or as_it_was_saved(source, moved):
        return True
    made, around = made_as(source, call), source.function(call)
    to = source.said(call.args[0]) if call.args else None
    if made and (all(holds_nothing(source, value) for value in made) or all(as_it_was_saved(source, value, around, to) for value in made)):
        return True
    # Made of what lies there: `torch.randn_like(x).to(x.device)`, `p.grad.abs().max().to(device)`, `table.type_as(x).to(x.device)`.
    if re.search(r"_like\(|\.grad\b|\.type_as\(", source.said(moved)):
        return True
    return bool(call.args) and "meta" in source.said(call.args[0])


def goes_before(source, statement, node):
    """Does the statement run before the node on each way to it?"""
    body, index = source.block(statement)
    around = next((n for n in [node, *source.up(node)] if body and n in body), None)
    return around is not None and index < body.index(around)


def part_of(moved):
    """What a part, a view or a type of something is of: `batch` of `batch[:, 1:].float()`."""
    while True:
        if isinstance(moved, ast.Subscript):
            moved = moved.value
        elif isinstance(moved, ast.Call) and isinstance(moved.func, ast.Attribute) and moved.func.attr in ("float", "long", "half", "view", "reshape", "contiguous"):
            moved = moved.func.value
        else:
            return moved


def moved_anyway(source, call):
    """Is what is moved there already by how it was made, or seen to by who loads it, or never used afterwards?"""
    moved, function, parent = call.func.value, source.function(call), source.parents.get(call)
    # What an object does that is moved as a whole is its callers' business.
    if getattr(function, "name", "") in ("to", "cuda", "cpu", "_apply"):
        return True
    made = [n for n in ast.walk(function) if isinstance(n, ast.Assign) and any(source.said(t) == source.said(part_of(moved)) for t in n.targets)
            and source.function(n) is function and goes_before(source, n, call)]
    last = max(made, key=lambda n: n.lineno).value if made else None
    if isinstance(last, ast.Call) and source.called(last) in ("to", "cuda", "deepcopy"):
        return True
    # It is moved once more further on.
    again = [c for c in source.methods("to", function) + source.methods("cuda", function)
             if c is not call and source.said(part_of(c.func.value)) == source.said(part_of(moved)) and goes_before(source, source.statement(call), c)]
    if again and isinstance(moved, (ast.Name, ast.Subscript, ast.Call)) and isinstance(part_of(moved), ast.Name):
        return True
    # `window.type_as(image)` brings it there as well, whatever stands between.
    if any(source.said(c.func.value) == source.said(moved) and c.lineno > call.lineno for c in source.methods("type_as", function)):
        return True
    # A loss that is no layer of the library's seldom holds tensors.
    built = [*made_as(source, call), moved]
    if any(isinstance(value, ast.Call) and re.search("loss|criterion", source.called(value), re.I) for value in built):
        return True
    # What is given to a function of the file that moves it itself.
    if given_to_mover(source, call):
        return True
    # An optimizer brings the state that it loads to its parameters.
    if any(isinstance(n, ast.For) and re.search(r"\.state\b", source.said(n.iter)) for n in source.up(call)):
        return True
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name) or function is source.tree:
        return False
    return not any(isinstance(n, ast.Name) and n.id == parent.targets[0].id and isinstance(n.ctx, ast.Load) and n not in set(ast.walk(parent))
                   for n in ast.walk(function))


def given_to_mover(source, call):
    """Is all that is done with it that functions of the file are given it, which move it themselves?"""
    target, function = assigned(source, call), source.function(call)
    if not isinstance(target, ast.Name):
        return False
    functions = {n.name: n for n in ast.walk(source.tree) if isinstance(n, ast.FunctionDef)}
    uses = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load)
            and (n.lineno, n.col_offset) > (call.end_lineno, call.end_col_offset)]

    def moves(use):
        taker = source.parents.get(use)
        called = functions.get(source.called(taker)) if isinstance(taker, ast.Call) and use in taker.args else None
        if called is None:
            return False
        parameters = [a.arg for a in called.args.args if a.arg not in ("self", "cls")]
        place = taker.args.index(use)
        return place < len(parameters) and any(source.said(part_of(c.func.value)) == parameters[place]
                                               for c in source.methods("to", called) + source.methods("cuda", called))
    # It is given back as it was moved, under its own name.
    first = next((k for k, use in enumerate(uses) if moves(use)), None)
    again = first is not None and any(isinstance(n, ast.Name) and n.id == target.id for t in getattr(source.statement(uses[first]), "targets", [])
                                      for n in ast.walk(t))
    return first == 0 and (again or all(moves(use) for use in uses))


PREPARES = re.compile(r"\b(accelerator|fabric)\.(prepare|setup_dataloaders)\(")


def prepared(source, call):
    """Is it a batch of a program whose loaders a framework has prepared, which brings batches to the device itself?"""
    moved = part_of(call.func.value)
    if not isinstance(moved, ast.Name) or not any(PREPARES.search(text) for text in (source.text, *source.others)):
        return False
    targets = [n.target for n in source.up(call) if isinstance(n, (ast.For, ast.comprehension))]
    taken = [t for n in ast.walk(source.function(call)) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and source.called(n.value) == "next"
             for t in n.targets]
    return any(isinstance(n, ast.Name) and n.id == moved.id for target in targets + taken for n in ast.walk(target))


def only_stored_into(source, call):
    """Is it an empty tensor that parts are written into, wherever they lie, and that is given back?"""
    moved, parent = call.func.value, source.parents.get(call)
    if not (isinstance(moved, ast.Call) and source.called(moved) in ("zeros", "ones", "empty", "full")
            and isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name)):
        return False
    uses = [n for n in ast.walk(source.function(call)) if isinstance(n, ast.Name) and n.id == parent.targets[0].id and n not in set(ast.walk(parent))]

    def stores(use):
        around = source.parents.get(use)
        if isinstance(around, ast.Tuple):
            around = source.parents.get(around)
        return isinstance(around, ast.Subscript) and isinstance(around.ctx, ast.Store) or isinstance(around, ast.Return) or \
            isinstance(around, ast.Attribute) and around.attr in ("shape", "size")
    return bool(uses) and all(stores(use) for use in uses)


def only_looked_at(source, call):
    """Is it something with weights that the file neither runs nor gives to anybody, but asks for its state or its parts?"""
    moved, parent = source.said(call.func.value), source.parents.get(call)
    if not source.alone(call) and not (isinstance(parent, ast.Assign) and source.said(parent.targets[0]) == moved) and not isinstance(parent, ast.Attribute):
        return False
    asked = [c for c in source.calls if isinstance(c.func, ast.Attribute) and source.receiver(c) == moved
             and c.func.attr in ("state_dict", "parameters", "named_parameters", "modules", "eval", "train", "load_state_dict")]
    runs = any(source.said(c.func) == moved or isinstance(c.func, ast.Attribute) and source.receiver(c) == moved and c.func.attr in ("forward", "generate")
               for c in source.calls)
    given = any(source.said(a) == moved for c in source.calls if source.called(c) not in ("print", "len", "isinstance", "type", "id")
                for a in [*c.args, *(k.value for k in c.keywords)])
    held = any(isinstance(n, (ast.Return, ast.Assign)) and n.value is not None and n is not parent and source.said(n.value) == moved for n in ast.walk(source.tree))
    return bool(asked) and not runs and not given and not held


def moves_inputs(source, call):
    """DataParallel, and DistributedDataParallel that is given its device."""
    called = source.called(call)
    return called == "DataParallel" or called in ("DistributedDataParallel", "DDP") and any(k.arg == "device_ids" and source.said(k.value) != "None" for k in call.keywords)


def assigned(source, call):
    """The one target that the moved thing is assigned to, of `x, y = x.cuda(), y.cuda()` its own."""
    parent, place = source.parents.get(call), None
    if isinstance(parent, ast.Tuple):
        parent, place = source.parents.get(parent), parent.elts.index(call)
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return None
    target = parent.targets[0]
    if place is None:
        return target
    return target.elts[place] if isinstance(target, ast.Tuple) and len(target.elts) == len(parent.value.elts) else None


def uses_after(source, call):
    """Where the name that the moved thing is assigned to is read in its function, after the call; None if it is no name."""
    target = assigned(source, call)
    if not isinstance(target, ast.Name):
        return None
    return [n for n in ast.walk(source.function(call)) if isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load)
            and (n.lineno, n.col_offset) > (call.end_lineno, call.end_col_offset)]


def only_a_bound(source, call):
    """Does it tell lengths alone, as the bound of a slice, which may lie anywhere?"""
    uses = uses_after(source, call)
    return uses is not None and all(any(isinstance(around, ast.Slice) for around in source.up(n) if not isinstance(around, ast.stmt)) for n in uses)


def only_an_index(source, call):
    """Does it pick from other tensors alone? Indices may lie on the CPU, whatever they pick from."""
    uses = uses_after(source, call)

    def picks(use):
        around = source.parents.get(use)
        if isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Invert):  # `~mask`
            return picks(around)
        inner = around if isinstance(around, ast.Tuple) else use
        taken = source.parents.get(inner)
        # `pairs[:, 0]`: a part of the indices.
        return isinstance(taken, ast.Subscript) and (taken.slice is inner or taken.value is use and picks(taken))
    return bool(uses) and all(picks(use) for use in uses)


def moved_by_wrapper(source, call):
    """Is it used as an input of a wrapper alone that moves what it is given?"""
    target = assigned(source, call)
    if not isinstance(target, (ast.Name, ast.Subscript)):
        return False
    wrapped = {source.said(n.targets[0]) for n in ast.walk(source.tree)
               if isinstance(n, ast.Assign) and any(isinstance(c, ast.Call) and moves_inputs(source, c) for c in ast.walk(n.value))}
    name, given = source.said(target), False
    for use in ast.walk(source.function(call)):
        if not (isinstance(use, type(target)) and source.said(use) == name and isinstance(use.ctx, ast.Load) and use.lineno > call.lineno):
            continue
        around = source.parents.get(use)
        if isinstance(around, ast.keyword):
            use, around = around, source.parents.get(around)
        if isinstance(around, ast.Call) and (use in around.args or use in around.keywords) and source.said(around.func) in wrapped:
            given = True
        elif not (isinstance(around, ast.Attribute) and around.attr in ("size", "shape")):
            return False
    return given


def follows_parameters(source, call):
    """Is it a model whose inputs the file brings to where its parameters lie?"""
    return is_built(call.func.value) and re.search(r"next\([\w.]+\.parameters\(\)\)\.(device|is_cuda)", source.text) is not None


def is_built(moved):
    """Does it look like a model: `Net(…)`, `model`?"""
    said = moved.func if isinstance(moved, ast.Call) else moved
    name = said.attr if isinstance(said, ast.Attribute) else said.id if isinstance(said, ast.Name) else ""
    return isinstance(moved, ast.Call) and name[:1].isupper() or re.search(r"model|net\b", name, re.I) is not None


def not_moved(source):
    """A model, a batch or a tensor that stays where it was made. Where it is used then names the mistake."""
    for call in source.methods("to") + source.methods("cuda"):
        if call.func.attr == "to" and not (len(call.args) == 1 and not call.keywords and DEVICE.search(source.said(call.args[0]))):
            continue
        if lies_anywhere(source, call) or moved_by_wrapper(source, call) or moved_anyway(source, call) or only_stored_into(source, call) \
                or only_looked_at(source, call) or prepared(source, call) or follows_parameters(source, call) or only_a_bound(source, call) or only_an_index(source, call):
            continue
        parent = source.parents.get(call)
        named = {node.id for target in getattr(parent, "targets", []) for node in ast.walk(target) if isinstance(node, ast.Name)}
        attributes = {node.attr for target in getattr(parent, "targets", []) for node in ast.walk(target) if isinstance(node, ast.Attribute)}
        if source.alone(call):
            named |= {node.id for node in ast.walk(call.func.value) if isinstance(node, ast.Name)} - {"self"}
            attributes |= {node.attr for node in ast.walk(call.func.value) if isinstance(node, ast.Attribute)}
        around = source.tree if attributes else source.function(call)
        lines = [node.lineno for node in ast.walk(around) if isinstance(node, ast.Name) and node.id in named or isinstance(node, ast.Attribute) and node.attr in attributes]
        yield Mutant("not moved", call.lineno, source.said(call), [source.replaced(call, source.receiver(call))], lines)


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
    "no_grad off a write": (no_grad_write, ["autograd/*"], "no_grad|inference_mode"),
    "eval() deleted": (eval_mode, ["loop/eval-mode", "call/no-attribute"], "eval"),
    "step deleted": (step_deleted, ["loop/missing-step", "amp/*", "loop/*"], "backward"),
    "backward deleted": (backward_deleted, ["loop/missing-backward", "loop/*", "amp/*"], "backward"),
    "clip late": (clip_late, ["loop/clip-after-step"], "clip_grad"),
    "loss arguments swapped": (loss_swapped, ["shape/*", "loop/*"], "Loss|cross_entropy|nll_loss"),
    "not moved": (not_moved, ["shape/device"], r"\.to\(|\.cuda\("),
    ".module dropped": (module_dropped, ["checkpoint/keys", "call/*", "parallel/wrapped-attribute"], "DDP|DistributedDataParallel"),
}
