"""Random rank-dependent programs: generate.program(seed) is the text of one. The same seed gives the same text.

Most constructs are right by themselves, in the way that real code is; each has a wrong twin, which is taken seldom. What a
program as a whole does is decided by simulate.py alone.
"""

import random
import re
import sys

NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "in": "not in"}


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.wrong = self.random.choice((0.0, 0.12, 0.3))  # the share of wrong twins
        self.taken = set()    # the constructs that are wrong
        self.helpers = []     # (name, number of parameters behind rank and world_size, text lines)
        self.groups = []      # (variable, expression of the members)
        self.names = 0
        self.has_main_check = False
        self.depth = 0

    # ------------------------------------------------------------ small things

    def chance(self, share):
        return self.random.random() < share

    def bug(self):
        """Whether the construct, which is the caller, takes its wrong twin."""
        taken = self.chance(self.wrong)
        if taken:
            self.taken.add(sys._getframe(1).f_code.co_name)
        return taken

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def condition(self, rank="rank"):
        """(a condition on the rank, its negation) where in worlds of two to four some ranks are on either side."""
        choice = self.random.randrange(8)
        if choice == 0 and rank == "rank":
            self.has_main_check = True
            return "is_main()", "not is_main()"
        if choice == 1:
            return f"{rank} % 2 == 0", f"{rank} % 2 == 1"
        if choice == 2:
            return f"{rank} in (0, 2)", f"{rank} not in (0, 2)"
        if choice == 3:
            return f"{rank} == world_size - 1", f"{rank} != world_size - 1"
        if choice == 4:
            return f"{rank} < 1", f"{rank} >= 1"
        if choice == 5:
            return f"{rank}", f"not {rank}"
        sign = self.random.choice(("==", "!="))
        value = self.random.choice((0, 0, 1))
        return f"{rank} {sign} {value}", f"{rank} {NEGATED[sign]} {value}"

    def uniform(self):
        return self.random.choice(("world_size > 1", "world_size >= 2", "dist.get_world_size() != 1"))

    def quiet(self):
        """Statements that do not communicate."""
        return self.random.choice((
            ['print("at work on", rank)'],
            ["value = value * 2"],
            [f'{self.name("note")} = "at " + str(rank)'],
            ["value = value.clone()"],
            ["total = 0", "for number in range(rank + 2):", "    total += number"],
        ))

    @staticmethod
    def indent(lines):
        return ["    " + line for line in lines]

    def under(self, condition, lines):
        return [f"if {condition}:", *self.indent(lines)]

    # ------------------------------------------------------------ communication

    def collective(self, group=None):
        """One collective of the world, or of a group (its variable, its members)."""
        extra = f", group={group[0]}" if group else ""
        choice = self.random.randrange(4)
        if choice == 0:
            return [f"dist.barrier({extra[2:]})"]
        if choice == 1:
            return [f"dist.all_reduce(value{extra})"]
        if choice == 2:
            root = f"{group[1]}[0]" if group else self.random.choice(("0", "0", "1", "world_size - 1"))
            return [f"dist.broadcast(value, src={root}{extra})"]
        parts = self.name("parts")
        count = f"len({group[1]})" if group else "world_size"
        return [f"{parts} = [torch.zeros(1) for _ in range({count})]", f"dist.all_gather({parts}, value{extra})"]

    def collectives(self):
        return [line for _ in range(self.random.choice((1, 1, 2))) for line in self.collective()]

    def same_on_both_sides(self):
        yes, no = self.condition()
        lines = self.collectives()
        other = list(lines)
        if self.bug():
            swapped = lines[::-1] if len(lines) == 2 and "parts" not in lines[0] else ["pass"]
            other = self.random.choice((["pass"], self.collectives(), swapped))
        return [*self.under(yes, [*self.quiet(), *lines]), "else:", *self.indent([*other, *self.quiet()])]

    def in_turns(self):
        """A pair of guards whose bodies meet each other."""
        yes, no = self.condition()
        lines = self.collective()
        return [*self.under(yes, lines), *self.quiet(), *self.under(yes if self.bug() else no, lines)]

    def guarded(self):
        yes, _ = self.condition()
        lines = self.quiet()
        if self.bug():
            lines += self.collective()
        if self.chance(0.3):
            inner, _ = self.condition()
            lines = [*self.quiet(), *self.under(inner, lines)]
        return self.under(yes, lines)

    def uniformly(self):
        condition = self.condition()[0] if self.bug() else self.uniform()
        return self.under(condition, self.block(2))

    def loop(self):
        step = self.name("step")
        rounds = self.random.choice(("2", "3", "4", "world_size"))
        lines = self.block(2)
        if self.chance(0.3):
            lines += self.under(f"{step} % 2 == 0", self.collectives())
        if self.chance(0.3):
            leave = self.random.choice(("break", "continue"))
            condition = f"{step} == 1"
            if self.bug():
                condition = f"{self.condition()[0]} and {step} == 1"
            lines += [*self.under(condition, [*self.quiet(), leave]), *self.block(1)]
        if self.bug():
            rounds = self.random.choice(("rank + 1", "2 + rank % 2", "max(1, rank)"))
        return [f"for {step} in range({rounds}):", *self.indent(lines)]

    def in_group(self):
        if not self.groups:
            return self.collective()
        group, members = self.random.choice(self.groups)
        lines = self.collective((group, members))
        if self.chance(0.4):
            lines += self.collective((group, members))
        if self.bug():
            lines = self.random.choice((self.collective(), [*lines, *self.collective()]))
        return self.under(f"rank in {members}", lines)

    def agreed(self):
        yes, _ = self.condition()
        flag = self.name("flag")
        lines = [f"{flag} = torch.tensor([1.0 if {yes} else 0.0])"]
        if not self.bug():
            lines += [self.random.choice((f"dist.all_reduce({flag})", f"dist.broadcast({flag}, src=0)"))]
        return lines + self.under(f"{flag}.item() > 0", self.collectives())

    def messages(self):
        choice = self.random.randrange(5)
        if choice == 0:
            source, target = self.random.choice(((0, 1), (1, 0)))
            receive = f"    dist.recv(value, src={source})"
            return [f"if rank == {source}:", f"    dist.send(value, dst={target})", f"elif rank == {target}:",
                    *[receive] * (2 if self.bug() else 1)]
        if choice == 1:
            # A pipeline; wrong: its first stage receives too.
            first = "rank >= 0" if self.bug() else "rank > 0"
            return [*self.under(first, ["dist.recv(value, src=(rank - 1) % world_size)"]), *self.quiet(),
                    *self.under("rank < world_size - 1", ["dist.send(value, dst=rank + 1)"])]
        if choice == 2:
            request, box = self.name("request"), self.name("box")
            lines = [f"{box} = torch.zeros(1)", f"{request} = dist.isend(value, dst=(rank + 1) % world_size)",
                     f"dist.recv({box}, src=(rank - 1) % world_size)", f"{request}.wait()"]
            if self.bug():
                lines[1], lines[2] = lines[2], lines[1]
            return lines
        if choice == 3:
            box, request = self.name("box"), self.name("request")
            count = "world_size" if not self.bug() else "world_size - 1"
            return ["if rank == 0:", f"    for peer in range(1, {count}):", f"        {box} = torch.zeros(1)",
                    f"        {request} = dist.irecv({box}, src=peer)", f"        {request}.wait()",
                    "        dist.send(value, dst=peer)", "else:", "    dist.send(value, dst=0)", "    dist.recv(value, src=0)"]
        # Neighbours swap: the even one sends first; wrong: both receive first.
        sends, receives = "dist.send(value, dst=rank ^ 1)", "dist.recv(value, src=rank ^ 1)"
        first = [receives, sends] if self.bug() else [sends, receives]
        return ["if (rank ^ 1) < world_size:", "    if rank % 2 == 0:", *self.indent(self.indent(first)),
                "    else:", *self.indent(self.indent([receives, sends]))]

    def helper(self):
        """A call of a helper, often a new one. Its rank is a parameter, and need not be the rank."""
        if not self.helpers or (len(self.helpers) < 4 and self.chance(0.6)):
            if self.depth > 1:
                return self.collective()
            self.depth += 1
            name = self.name("helper")
            lines = self.block(self.random.choice((1, 2)))
            if self.chance(0.5):
                yes, _ = self.condition()
                ahead = self.quiet()
                behind = self.quiet()
                if self.chance(0.5):
                    both = self.collectives()
                    ahead, behind = [*ahead, *both], [*behind, *both]
                if self.bug():
                    behind += self.collective()
                lines += [*self.under(yes, [*ahead, "return value"]), *behind]
            self.depth -= 1
            self.helpers.append((name, lines))
        name, _ = self.random.choice(self.helpers)
        given = self.random.choice(("rank", "rank", "rank", "rank", "0", "rank % 2", "world_size - 1 - rank"))
        return [f"value = {name}({given}, world_size, value)"]

    def block(self, length):
        if self.depth > 3:
            return self.collectives()
        self.depth += 1
        lines = []
        for _ in range(length):
            make = self.random.choices(
                (self.quiet, self.collectives, self.same_on_both_sides, self.in_turns, self.guarded, self.uniformly, self.loop,
                 self.in_group, self.agreed, self.messages, self.helper),
                (2, 4, 3, 2, 3, 1, 2, 3, 2, 3, 3))[0]
            lines += make()
        self.depth -= 1
        return lines

    def called(self, body):
        """The helpers that the lines reach: what nobody calls has no verdict."""
        reached, lines = {}, list(body)
        while lines:
            line = lines.pop()
            for name, inner in self.helpers:
                if f" = {name}(" in line and name not in reached:
                    reached[name] = inner
                    lines += inner
        return [each for each in self.helpers if each[0] in reached]

    def ending(self):
        """Some ranks leave main: in front of what the others do alone, or of a collective."""
        if not self.chance(0.3):
            return self.random.choice(([], ["dist.barrier()"]))
        yes, _ = self.condition()
        ahead, behind = self.quiet(), self.quiet()
        if self.chance(0.5):
            both = self.collectives()
            ahead, behind = [*ahead, *both], [*behind, *both]
        if self.bug():
            behind += self.collective()
        return [*self.under(yes, [*ahead, "return"]), *behind]

    # ------------------------------------------------------------ the program

    def as_class(self, text, head, made, body):
        """The same with a class that keeps the rank, the groups and the value."""
        kept = ["rank", "world_size", *(name for pair in self.groups for name in pair)]
        text += ["", "class Trainer:", "    def __init__(self):"]
        lines = [re.sub(rf"(?<![\w.])({'|'.join(kept)})\b(?!\()", r"self.\1", line) for line in [*head, *made]]
        text += self.indent(self.indent([*lines, "self.value = torch.ones(1)"]))
        body = [re.sub(rf"(?<![\w.])({'|'.join([*kept, 'value'])})\b(?!\()", r"self.\1", line) for line in body]
        text += ["", "    def run(self):", *self.indent(self.indent(body))]
        if self.groups:
            lines = [f"{name} = trainer.{name}" for pair in self.groups for name in pair]
            text += ["", "", "def main():", f"    global {', '.join(name for pair in self.groups for name in pair)}"]
        else:
            lines = []
            text += ["", "", "def main():"]
        text += self.indent(['dist.init_process_group("gloo")', "trainer = Trainer()", *lines, "trainer.run()"])
        text += ["", "", 'if __name__ == "__main__":', "    main()", ""]
        return "\n".join(text)

    def program(self):
        made = []
        for _ in range(self.random.choice((0, 1, 2))):
            variable, members = self.name("group"), self.name("members")
            expression = self.random.choice(("[0, 1]", "[0]", "[1]", "list(range(0, world_size, 2))", "list(range(1, world_size))",
                                             "[r for r in range(world_size) if r % 2 == 1]"))
            made += [f"{members} = {expression}", f"{variable} = dist.new_group({members})"]
            self.groups.append((variable, members))
        style = self.random.randrange(3)
        head = {0: ["rank = dist.get_rank()", "world_size = dist.get_world_size()"],
                1: ['rank = int(os.environ["RANK"])', 'world_size = int(os.environ["WORLD_SIZE"])'],
                2: ["rank, world_size = dist.get_rank(), dist.get_world_size()"]}[style]
        body = self.block(self.random.choice((2, 3, 4, 5)))
        groups = self.groups
        body += self.ending()
        text = (["import os", ""] if style == 1 else []) + ["import torch", "import torch.distributed as dist", ""]
        if self.has_main_check:
            text += ["", "def is_main():", "    return dist.get_rank() == 0", ""]
        # A helper only reads the groups: they are global. So is what tells their members.
        for name, lines in self.called(body):
            text += ["", f"def {name}(rank, world_size, value):", *self.indent(lines), "    return value", ""]
        if self.chance(0.25):
            return self.as_class(text, head, made, body)
        text += ["", "def main():"]
        if groups:
            text += self.indent([f"global {', '.join(name for pair in groups for name in pair)}"])
        text += self.indent(['dist.init_process_group("gloo")', *head, *made, "value = torch.ones(1)", *body])
        text += ["", "", 'if __name__ == "__main__":', "    main()", ""]
        return "\n".join(text)


def program(seed):
    return Generator(seed).program()


def wrong_twins(seed):
    """The constructs of the program that are wrong by themselves."""
    generator = Generator(seed)
    generator.program()
    return generator.taken


if __name__ == "__main__":
    for seed in sys.argv[1:]:
        print(program(int(seed)))
