"""Runs a rank-dependent program on all ranks at once, with torch and torch.distributed played by this file.

Each rank is a thread that stops in every call that communicates until the call may end; when no thread can go on, the
program hangs. A tensor is one number. Two worlds of rules:

    strict     a collective ends when all members are in the same one; a send ends when its receive has begun
    lenient    as gloo does it with small tensors: a send, and the root of a broadcast, end at once

A program is right where all ranks end under both rules, wrong where it hangs under both; else there is no verdict. What raises
or has left messages over has none either.
"""

import builtins
import os
import sys
import threading
import types
from dataclasses import dataclass, field

WORLDS = (2, 3, 4)


class Hang(BaseException):
    """Ends the threads of a program in which nobody can go on."""


class NoVerdict(Exception):
    """The program does what this file does not decide."""


class Tensor:
    def __init__(self, value):
        self.value = float(value)

    def item(self):
        return self.value

    def clone(self):
        return Tensor(self.value)

    def __mul__(self, other):
        return Tensor(self.value * other)

    def __add__(self, other):
        return Tensor(self.value + (other.value if isinstance(other, Tensor) else other))

    def __truediv__(self, other):
        return Tensor(self.value / other)


@dataclass
class Group:
    members: list
    entered: dict = field(default_factory=dict)  # rank -> how many collectives it has entered
    meetings: list = field(default_factory=list)  # by number: {rank: (kind, root, tensor)}


class World:
    """The ranks of one run. Everything below the lock."""

    def __init__(self, size, lenient):
        self.size, self.lenient = size, lenient
        self.lock = threading.Condition()
        self.running = size
        self.hangs = False
        self.error = None
        self.groups = [Group(list(range(size)))]
        self.made = [0] * size  # groups that a rank has made
        self.sent = {}          # (from, to) -> [value, taken] in order
        self.asked = {}         # (from, to) -> the number of receives begun
        self.waiting = {}       # rank -> when it may go on
        self.rank = threading.local()

    def me(self):
        return self.rank.number

    def wait(self, may_end):
        """Blocks the thread until may_end(). The last one to block finds the hang."""
        with self.lock:
            self.lock.notify_all()
            self.waiting[self.me()] = may_end
            self.running -= 1
            while not may_end():
                if self.running == 0 and not self.any_may_go_on():
                    self.hangs = True
                    self.lock.notify_all()
                if self.hangs:
                    raise Hang
                self.lock.wait()
            self.waiting.pop(self.me())
            self.running += 1

    def any_may_go_on(self):
        return any(may_end() for may_end in self.waiting.values())

    def left(self):
        with self.lock:
            self.running -= 1
            if self.running == 0 and self.waiting and not self.any_may_go_on():
                self.hangs = True
            self.lock.notify_all()

    # ------------------------------------------------------------ collectives

    def meet(self, group, kind, root, value):
        """What the members gave, by rank, once the collective may end."""
        me = self.me()
        group = group or self.groups[0]
        if me not in group.members or (root is not None and root not in group.members):
            raise NoVerdict("outside the group")
        with self.lock:
            number = group.entered.get(me, 0)
            group.entered[me] = number + 1
            while len(group.meetings) <= number:
                group.meetings.append({})
            meeting = group.meetings[number]
            meeting[me] = (kind, root, value)

        def may_end():
            if self.lenient and kind == "broadcast":
                return me == root or meeting.get(root, (None, None))[:2] == (kind, root)
            return len(meeting) == len(group.members) and all(each[:2] == (kind, root) for each in meeting.values())

        self.wait(may_end)
        return {rank: each[2] for rank, each in meeting.items()}

    def new_group(self, ranks=None):
        """All ranks make it, with the same members and as the same one."""
        members = list(range(self.size)) if ranks is None else sorted(ranks)
        if any(not 0 <= rank < self.size for rank in members):
            raise NoVerdict("no such rank")
        me = self.me()
        with self.lock:
            self.made[me] += 1
            number = self.made[me]
        self.meet(None, f"new_group {members}", None, None)
        with self.lock:
            while len(self.groups) <= number:
                self.groups.append(Group(members))
            return self.groups[number]

    # ------------------------------------------------------------ messages

    def pair(self, source, target):
        if not (0 <= source < self.size and 0 <= target < self.size) or source == target:
            raise NoVerdict("no such peer")
        return source, target

    def isend(self, value, target):
        pair = self.pair(self.me(), target)
        with self.lock:
            messages = self.sent.setdefault(pair, [])
            messages.append(value)
            number = len(messages)
        return lambda: self.lenient or self.asked.get(pair, 0) >= number

    def irecv(self, tensor, source):
        pair = self.pair(source, self.me())
        with self.lock:
            number = self.asked.get(pair, 0)
            self.asked[pair] = number + 1
        arrived = lambda: len(self.sent.get(pair, ())) > number

        def take():
            tensor.value = self.sent[pair][number]

        return arrived, take

    def left_over(self):
        return any(len(messages) != self.asked.get(pair, 0) for pair, messages in self.sent.items()) or any(
            count != len(self.sent.get(pair, ())) for pair, count in self.asked.items())


class Request:
    def __init__(self, world, may_end, then=lambda: None):
        self.world, self.may_end, self.then = world, may_end, then

    def wait(self):
        self.world.wait(self.may_end)
        self.then()


def played(world):
    """The modules that a program imports."""
    torch, dist = types.ModuleType("torch"), types.ModuleType("torch.distributed")

    def first(data):
        return data[0] if isinstance(data, (list, tuple)) else data

    torch.distributed = dist
    torch.ones = lambda *shape: Tensor(1)
    torch.zeros = lambda *shape: Tensor(0)
    torch.tensor = lambda data: Tensor(first(data))
    torch.ones_like = lambda tensor: Tensor(1)
    torch.zeros_like = lambda tensor: Tensor(0)
    torch.empty_like = lambda tensor: Tensor(0)

    def all_reduce(tensor, group=None):
        tensor.value, given = 0.0, tensor.value
        tensor.value = sum(world.meet(group, "all_reduce", None, given).values())

    def broadcast(tensor, src, group=None):
        tensor.value = world.meet(group, "broadcast", src, tensor.value)[src]

    def all_gather(parts, tensor, group=None):
        members = (group or world.groups[0]).members
        if len(parts) != len(members):
            raise NoVerdict("a list of another length")
        for part, (_, value) in zip(parts, sorted(world.meet(group, "all_gather", None, tensor.value).items())):
            part.value = value

    def recv(tensor, src):
        Request(world, *world.irecv(tensor, src)).wait()

    dist.init_process_group = lambda *arguments, **options: None
    dist.destroy_process_group = lambda: None
    dist.get_rank = lambda: world.me()
    dist.get_world_size = lambda: world.size
    dist.barrier = lambda group=None: world.meet(group, "barrier", None, None) and None
    dist.all_reduce, dist.broadcast, dist.all_gather, dist.recv = all_reduce, broadcast, all_gather, recv
    dist.new_group = world.new_group
    dist.send = lambda tensor, dst: Request(world, world.isend(tensor.value, dst)).wait()
    dist.isend = lambda tensor, dst: Request(world, world.isend(tensor.value, dst))
    dist.irecv = lambda tensor, src: Request(world, *world.irecv(tensor, src))
    return {"torch": torch, "torch.distributed": dist}


def ends(code, size, lenient):
    """"success" or "hang" of one world under one of the rules; raises NoVerdict."""
    world = World(size, lenient)
    modules = played(world)

    def imported(name, globals=None, locals=None, fromlist=(), level=0):
        if name == "os":
            return types.SimpleNamespace(environ={"RANK": str(world.me()), "LOCAL_RANK": str(world.me()), "WORLD_SIZE": str(size)})
        if name not in modules:
            raise NoVerdict(f"import {name}")
        return modules[name] if fromlist else modules[name.split(".")[0]]

    def rank(number):
        world.rank.number = number
        names = dict(vars(builtins), __import__=imported, print=lambda *arguments, **options: None)
        try:
            exec(code, {"__name__": "__main__", "__builtins__": names})
        except Hang:
            return
        except BaseException as error:
            with world.lock:
                world.error = world.error or error
        finally:
            world.left()

    threads = [threading.Thread(target=rank, args=(number,), daemon=True) for number in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    if any(thread.is_alive() for thread in threads):
        raise NoVerdict("does not end")
    if world.error is not None:
        raise world.error if isinstance(world.error, NoVerdict) else NoVerdict(repr(world.error))
    if world.hangs:
        return "hang"
    if world.left_over():
        raise NoVerdict("messages are left over")
    return "success"


def verdict(text, worlds=WORLDS):
    """"right", "wrong" or None, and why not."""
    code = compile(text, "program", "exec")
    try:
        seen = {ends(code, size, lenient) for size in worlds for lenient in (True, False)}
    except NoVerdict as reason:
        return None, str(reason)
    if len(seen) > 1:
        return None, "not the same in all worlds, or only where messages are not buffered"
    return ("right" if seen == {"success"} else "wrong"), ""


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path) as file:
            print(os.path.basename(path), *verdict(file.read()))
