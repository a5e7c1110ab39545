"""Bugs of ranks that wait for each other."""

import ast
import re

from source import Mutant

COLLECTIVES = {"barrier", "all_reduce", "all_gather", "all_gather_object", "all_gather_into_tensor", "broadcast", "broadcast_object_list",
               "reduce_scatter", "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "reduce", "gather", "scatter", "gather_object",
               "monitored_barrier", "wait_for_everyone"}
OF = re.compile(r"(^|\.)(dist|distributed|td|accelerator|fabric)$")
LEADS = re.compile(r"rank|is_main|is_master|is_leader|is_local_main|is_global_zero")
ZERO = re.compile(r"(rank\w*(\(\))?\s*(==\s*0|<\s*1|in\s*[\[(]))|is_(main|master|leader|rank_?0|rank_?zero|global_zero|local_main)\w*", re.I)


def is_collective(source, call):
    if source.called(call) not in COLLECTIVES:
        return False
    return isinstance(call.func, ast.Attribute) and bool(OF.search(source.receiver(call)))


def group_of(call):
    return next((k for k in call.keywords if k.arg == "group" and not (isinstance(k.value, ast.Constant) and k.value.value is None)), None)


def collectives(source):
    """Statements that are a collective, outside a guard by rank, of the default group; not the body of a wrapper of it."""
    for call in source.calls:
        if not is_collective(source, call) or group_of(call):
            continue
        statement = source.parents.get(call)
        if not isinstance(statement, (ast.Expr, ast.Assign)):
            continue
        if any(isinstance(n, ast.If) and LEADS.search(source.said(n.test)) for n in source.up(call)):
            continue
        yield call, statement


def decides(source, test):
    """Is the test more than the bare name of a function, which is always true?"""
    if not isinstance(test, ast.Name):
        return True
    functions = {n.name for n in ast.walk(source.tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
    imported = {a.asname or a.name for n in ast.walk(source.tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    return test.id not in functions | imported


def lead(source, call):
    """How this file says "the first rank": the test of an `if` in the same function, else the rank asked of torch.distributed."""
    function = source.function(call)
    for node in ast.walk(function):
        if isinstance(node, ast.If) and ZERO.search(source.said(node.test)) and not isinstance(node.test, ast.BoolOp) and decides(source, node.test):
            said = source.said(node.test)
            if not said.startswith("not ") and "!=" not in said and "-1" not in said:
                return said
    receiver = source.receiver(call)
    if OF.search(receiver).group(2) == "accelerator":
        return f"{receiver}.is_main_process"
    if OF.search(receiver).group(2) == "fabric":
        return f"{receiver}.global_rank == 0"
    return f"{receiver}.get_rank() == 0"


def guarded(source):
    for call, statement in collectives(source):
        if source.said(statement).count("\n") or not isinstance(statement, ast.Expr):
            continue
        body, _ = source.block(statement)
        test = lead(source, call)
        yield Mutant("collective guarded", call.lineno, f"if {test}", [source.replaced(statement, f"if {test}: {source.said(statement)}")])


def into_guard(source):
    """A collective that follows a guarded block comes into it."""
    for call, statement in collectives(source):
        body, index = source.block(statement)
        before = body[index - 1] if body and index else None
        if not isinstance(before, ast.If) or before.orelse or not ZERO.search(source.said(before.test)) or not isinstance(statement, ast.Expr) or not decides(source, before.test):
            continue
        last = before.body[-1]
        if last.lineno == before.lineno or isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            continue
        indent = " " * last.col_offset
        end = source.span(last)[1]
        yield Mutant("moved into the guard", call.lineno, source.said(before.test),
                     [(end, end, f"\n{indent}{source.said(statement)}"), source.replaced(statement, "pass")])


def early_return(source):
    for call, statement in collectives(source):
        function = source.function(call)
        loop = source.loop(call)
        if function is source.tree and not loop:
            continue
        test = lead(source, call)
        begin = source.span(statement)[0]
        out = "continue" if loop else "return"
        line = source.said(statement)
        indent = " " * statement.col_offset
        if source.data[source.starts[statement.lineno - 1]:begin].strip():
            continue
        yield Mutant("return before it", call.lineno, f"{out} unless {test}", [(begin, begin, f"if not ({test}): {out}\n{indent}")])


def swapped(source):
    for call, statement in collectives(source):
        body, index = source.block(statement)
        after = body[index + 1] if body and index + 1 < len(body) else None
        if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Call) and is_collective(source, after.value)) or not isinstance(statement, ast.Expr):
            continue
        first, second = source.said(statement), source.said(after)
        if "\n" in first + second or first == second:
            continue
        test = lead(source, call)
        indent = " " * statement.col_offset
        yield Mutant("order swapped", call.lineno, f"on one side of {test}",
                     [source.replaced(statement, f"if {test}: {second}; {first}"), source.replaced(after, f"else: {first}; {second}")],
                     [after.lineno])


def wait(source):
    for call in source.methods("wait"):
        if source.alone(call) and re.search(r"work|req|handle|future|fut$", source.receiver(call)) and not call.args and "async_op" in source.text + ("async_op" if "irecv" in source.text else ""):
            yield Mutant("wait dropped", call.lineno, source.said(call), [source.replaced(source.alone(call), "pass")],
                         [c.lineno for c in source.calls if source.called(c) in ("isend", "irecv") or any(k.arg == "async_op" for k in c.keywords)])


FAMILIES = {
    "collective guarded": (guarded, ["deadlock/*"], "dist|accelerator|fabric"),
    "moved into the guard": (into_guard, ["deadlock/*"], "dist|accelerator|fabric"),
    "return before it": (early_return, ["deadlock/*"], "dist|accelerator|fabric"),
    "order swapped": (swapped, ["deadlock/*"], "dist|accelerator|fabric"),
    "wait dropped": (wait, ["deadlock/unwaited"], "wait"),
}
