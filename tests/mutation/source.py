"""A Python file as text and as a tree: who calls what, in which function, loop and block; and edits of the text."""

import ast
import re
from dataclasses import dataclass, field


@dataclass
class Mutant:
    """One bug put into one file: the edits make it, the lines (of the text that the edits leave) are its place."""

    family: str
    line: int                 # in the text as it was
    what: str
    edits: list               # (begin, end, new text), of bytes; they do not overlap
    lines: list = field(default_factory=list)  # further lines that name the mistake as well as the edited ones do
    path: str = ""

    def text(self, source):
        data = source.data
        for begin, end, new in sorted(self.edits, reverse=True):
            data = data[:begin] + new.encode() + data[end:]
        return data.decode()


class Source:
    def __init__(self, text, others=()):
        """`others`: the texts of files that may call what is defined here."""
        self.others = others
        self.data = text.encode()
        self.text = text
        self.tree = ast.parse(text)
        self.starts = [0]
        for line in self.data.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.parents = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        self.calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]

    def span(self, node):
        return (self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset)

    def said(self, node):
        begin, end = self.span(node)
        return self.data[begin:end].decode()

    def replaced(self, node, text):
        return (*self.span(node), text)

    def up(self, node):
        """The nodes around, the nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function(self, node):
        """The innermost function, else the module."""
        for each in self.up(node):
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return each
        return self.tree

    def loop(self, node):
        """The innermost loop of the same function."""
        for each in self.up(node):
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                return None
            if isinstance(each, (ast.For, ast.While)):
                return each
        return None

    def alone(self, call):
        """The statement that is this call and nothing else."""
        parent = self.parents.get(call)
        return parent if isinstance(parent, ast.Expr) else None

    def statement(self, node):
        """The innermost statement that holds it."""
        return next(n for n in [node, *self.up(node)] if isinstance(n, ast.stmt))

    def block(self, statement):
        """(the list of statements that holds it, its index)."""
        parent = self.parents[statement]
        for name in ("body", "orelse", "finalbody"):
            body = getattr(parent, name, None)
            if isinstance(body, list) and statement in body:
                return body, body.index(statement)
        return None, 0

    def methods(self, name, within=None):
        """Calls `x.name(…)`."""
        return [call for call in (self.calls if within is None else (n for n in ast.walk(within) if isinstance(n, ast.Call)))
                if isinstance(call.func, ast.Attribute) and call.func.attr == name]

    def callers(self, name):
        """(source, call) of each call of what has that name, here and in the files around."""
        for text in (None, *self.others):
            if text is not None and not re.search(rf"\b{re.escape(name)}\(", text):
                continue
            try:
                source = self if text is None else Source(text)
            except (SyntaxError, ValueError, RecursionError):
                continue
            yield from ((source, call) for call in source.calls if source.called(call) == name)

    def receiver(self, call):
        return self.said(call.func.value)

    def called(self, call):
        """The last name of what is called."""
        return call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""


def number(node):
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None
