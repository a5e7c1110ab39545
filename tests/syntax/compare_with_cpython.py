#!/usr/bin/python3
"""Compares the syntax that stepzero reads with CPython's own `ast`, over files of real Python.

    compare_with_cpython.py DUMP_TOOL [--limit N] [--jobs N] [--show N] [PATH ...]

Paths are files or folders. Kinds, names, constants, operators, the structure of arguments, and the spans of statements
and expressions must agree. Files that this CPython cannot parse are read for their not crashing the tool, and counted.
Exit status: 0 agreement, 1 differences, 77 no files to compare.
"""
import argparse
import ast
import multiprocessing
import os
import random
import re
import subprocess
import sys
import warnings

BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.MatMult: "@", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
          ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
UNARY = {ast.UAdd: "+", ast.USub: "-", ast.Invert: "~", ast.Not: "not"}
COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
           ast.IsNot: "is-not", ast.In: "in", ast.NotIn: "not-in"}
PLAIN = re.compile(rb'[!$-\'*-~]*\Z')


class Any:
    """What CPython does not tell."""


class Begin:
    """A span of which CPython tells only the begin."""
    def __init__(self, at):
        self.at = at


class Float:
    def __init__(self, value):
        self.value = value


ANY = Any()


def or_dash(text):
    return text if text else "-"


class Expected:
    """CPython's tree in the shape of the dump."""

    def __init__(self, source):
        self.source = source
        self.starts = [0]
        for match in re.finditer(rb"\r\n|\r|\n", source):
            self.starts.append(match.end())
        self.bom = 3 if source.startswith(b"\xef\xbb\xbf") else 0
        self.in_format = 0

    def offset(self, line, column):
        return self.starts[line - 1] + column + (self.bom if line == 1 else 0)

    def span(self, node):
        if self.in_format:  # CPython 3.11 does not know places inside f-strings
            return ANY
        end = self.offset(node.end_lineno, node.end_col_offset)
        while self.source[end - 1:end] in (b";", b" "):  # CPython counts the last semicolon of a body
            end -= 1
        return f"{self.offset(node.lineno, node.col_offset)}:{end}"

    def text(self, value):
        data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
        return '"%s"' % data.decode() if PLAIN.match(data) and b"#" not in data else "#" + data.hex()

    def opt(self, node):
        return "-" if node is None else self.expr(node)

    def exprs(self, label, nodes):
        return [label] + [self.expr(node) for node in nodes]

    def keywords(self, nodes):
        return ["keywords"] + [["keyword", self.span(node), node.arg or "**", self.expr(node.value)] for node in nodes]

    def block(self, label, body):
        return [label] + [self.stmt(node) for node in body]

    def parameters(self, a):
        out = ["parameters"]
        positional = a.posonlyargs + a.args
        defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults

        def one(kind, node, default):
            begin = ANY if self.in_format else Begin(self.offset(node.lineno, node.col_offset))
            out.append([kind, begin, node.arg, self.opt(node.annotation), self.opt(default)])
        for index, node in enumerate(positional):
            one("positional" if index < len(a.posonlyargs) else "normal", node, defaults[index])
        if a.vararg:
            one("*", a.vararg, None)
        for node, default in zip(a.kwonlyargs, a.kw_defaults):
            one("keyword", node, default)
        if a.kwarg:
            one("**", a.kwarg, None)
        return out

    def constant(self, node):
        value = node.value
        at = self.span(node)
        if value is None:
            return ["none", at]
        if value is True or value is False:
            return ["true" if value else "false", at]
        if value is Ellipsis:
            return ["ellipsis", at]
        if isinstance(value, int):
            return ["integer", at, str(value) if value < 2**63 else "big"]
        if isinstance(value, float):
            return ["real", at, Float(value)]
        if isinstance(value, complex):
            return ["imaginary", at, Float(value.imag)]
        kind = "bytes" if isinstance(value, bytes) else "string"
        named = kind == "string" and at is not ANY and b"\\N{" in self.source[slice(*map(int, at.split(":")))]
        return [kind, at, ANY if named else self.text(value)]

    def expr(self, n):
        if isinstance(n, ast.Constant):
            return self.constant(n)
        return getattr(self, "expr_" + type(n).__name__)(n)

    def expr_Name(self, n):
        return ["name", self.span(n), n.id]

    def expr_Attribute(self, n):
        return ["attribute", self.span(n), self.expr(n.value), n.attr, ANY]

    def expr_Subscript(self, n):
        return ["subscript", self.span(n), self.expr(n.value), self.expr(n.slice)]

    def expr_Slice(self, n):
        return ["slice", self.span(n), self.opt(n.lower), self.opt(n.upper), self.opt(n.step)]

    def expr_Call(self, n):
        return ["call", self.span(n), self.expr(n.func), self.exprs("arguments", n.args), self.keywords(n.keywords), ANY]

    def expr_BinOp(self, n):
        return ["binary", self.span(n), BINARY[type(n.op)], ANY, self.expr(n.left), self.expr(n.right)]

    def expr_UnaryOp(self, n):
        return ["unary", self.span(n), UNARY[type(n.op)], self.expr(n.operand)]

    def expr_BoolOp(self, n):
        return ["and" if isinstance(n.op, ast.And) else "or", self.span(n), self.exprs("operands", n.values)]

    def expr_Compare(self, n):
        return ["compare", self.span(n), self.expr(n.left), ["ops"] + [COMPARE[type(op)] for op in n.ops],
                self.exprs("rights", n.comparators)]

    def expr_IfExp(self, n):
        return ["conditional", self.span(n), self.expr(n.test), self.expr(n.body), self.expr(n.orelse)]

    def expr_Lambda(self, n):
        return ["lambda", self.span(n), self.parameters(n.args), self.expr(n.body)]

    def expr_Tuple(self, n):
        return ["tuple", self.span(n), self.exprs("elements", n.elts)]

    def expr_List(self, n):
        return ["list", self.span(n), self.exprs("elements", n.elts)]

    def expr_Set(self, n):
        return ["set", self.span(n), self.exprs("elements", n.elts)]

    def expr_Dict(self, n):
        return ["dict", self.span(n)] + [["item", self.opt(k), self.expr(v)] for k, v in zip(n.keys, n.values)]

    def comprehension(self, n, kind, element, value=None):
        return ["comprehension", self.span(n), kind, self.expr(element), self.opt(value)] + [
            ["async-for" if g.is_async else "for", self.expr(g.target), self.expr(g.iter), self.exprs("if", g.ifs)]
            for g in n.generators]

    def expr_ListComp(self, n):
        return self.comprehension(n, "list", n.elt)

    def expr_SetComp(self, n):
        return self.comprehension(n, "set", n.elt)

    def expr_GeneratorExp(self, n):
        return self.comprehension(n, "generator", n.elt)

    def expr_DictComp(self, n):
        return self.comprehension(n, "dict", n.key, n.value)

    def expr_Await(self, n):
        return ["await", self.span(n), self.expr(n.value)]

    def expr_Yield(self, n):
        return ["yield", self.span(n), self.opt(n.value)]

    def expr_YieldFrom(self, n):
        return ["yield-from", self.span(n), self.expr(n.value)]

    def expr_Starred(self, n):
        return ["starred", self.span(n), self.expr(n.value)]

    def expr_NamedExpr(self, n):
        return ["named", self.span(n), n.target.id, self.span(n.target), self.expr(n.value)]

    def spec_values(self, spec, out):
        for value in spec.values:
            if isinstance(value, ast.FormattedValue):
                out.append(self.expr(value.value))
                if value.format_spec is not None:
                    self.spec_values(value.format_spec, out)

    def expr_JoinedStr(self, n):
        at = self.span(n)
        named = at is not ANY and b"\\N{" in self.source[slice(*map(int, at.split(":")))]
        self.in_format += 1
        plain = True
        parts = ["parts"]
        for value in n.values:
            if isinstance(value, ast.FormattedValue):
                parts.append(self.expr(value.value))
                plain = plain and value.conversion == -1 and value.format_spec is None
                if value.format_spec is not None:
                    self.spec_values(value.format_spec, parts)
            else:
                parts.append(["string", ANY, ANY if named else self.text(value.value)])
        self.in_format -= 1
        return ["format" if plain else "format-spec", at, parts]

    # ---- statements

    def stmt(self, n):
        return getattr(self, "stmt_" + type(n).__name__)(n)

    def stmt_Expr(self, n):
        return ["expression", self.span(n), self.expr(n.value)]

    def stmt_Assign(self, n):
        return ["assign", self.span(n), self.exprs("targets", n.targets), self.expr(n.value)]

    def stmt_AugAssign(self, n):
        return ["aug-assign", self.span(n), BINARY[type(n.op)], self.expr(n.target), self.expr(n.value)]

    def stmt_AnnAssign(self, n):
        return ["ann-assign", self.span(n), self.expr(n.target), self.expr(n.annotation), self.opt(n.value)]

    def stmt_Return(self, n):
        return ["return", self.span(n), self.opt(n.value)]

    def stmt_Delete(self, n):
        return ["delete", self.span(n), self.exprs("targets", n.targets)]

    def stmt_Pass(self, n):
        return ["pass", self.span(n)]

    def stmt_Break(self, n):
        return ["break", self.span(n)]

    def stmt_Continue(self, n):
        return ["continue", self.span(n)]

    def header(self, n):
        return ["header", Begin(self.offset(n.lineno, n.col_offset))]

    def stmt_If(self, n):
        is_elif = self.source[self.offset(n.lineno, n.col_offset):].startswith(b"elif")
        out = ["elif" if is_elif else "if", self.span(n), self.header(n), self.expr(n.test), self.block("body", n.body)]
        return out + [["else-span", ANY], self.block("else", n.orelse)] if n.orelse else out

    def stmt_While(self, n):
        return ["while", self.span(n), self.header(n), self.expr(n.test), self.block("body", n.body),
                self.block("else", n.orelse)]

    def stmt_For(self, n, kind="for"):
        return [kind, self.span(n), self.header(n), self.expr(n.target), self.expr(n.iter), self.block("body", n.body),
                self.block("else", n.orelse)]

    def stmt_AsyncFor(self, n):
        return self.stmt_For(n, "async-for")

    def stmt_With(self, n, kind="with"):
        items = [["item", self.expr(i.context_expr), self.opt(i.optional_vars)] for i in n.items]
        return [kind, self.span(n), self.header(n)] + items + [self.block("body", n.body)]

    def stmt_AsyncWith(self, n):
        return self.stmt_With(n, "async-with")

    def stmt_Try(self, n, kind="except"):
        handlers = [[kind, self.span(h), self.opt(h.type), or_dash(h.name), self.block("body", h.body)]
                    for h in n.handlers]
        return ["try", self.span(n), self.block("body", n.body)] + handlers + [
            self.block("else", n.orelse), self.block("finally", n.finalbody)]

    def stmt_TryStar(self, n):
        return self.stmt_Try(n, "except*")

    def stmt_Raise(self, n):
        return ["raise", self.span(n), self.opt(n.exc), self.opt(n.cause)]

    def stmt_Assert(self, n):
        return ["assert", self.span(n), self.expr(n.test), self.opt(n.msg)]

    def aliases(self, names):
        return [["alias", self.span(a), ["path"] + a.name.split("."), or_dash(a.asname)]
                for a in names if a.name != "*"]

    def stmt_Import(self, n):
        return ["import", self.span(n)] + self.aliases(n.names)

    def stmt_ImportFrom(self, n):
        module = ["module"] + (n.module.split(".") if n.module else [])
        star = ["*"] if n.names[0].name == "*" else []
        return ["import-from", self.span(n), str(n.level or 0), module] + star + self.aliases(n.names)

    def stmt_Global(self, n):
        return ["global", self.span(n), ["names"] + n.names]

    def stmt_Nonlocal(self, n):
        return ["nonlocal", self.span(n), ["names"] + n.names]

    def definition_span(self, n):
        return ANY if n.decorator_list else self.span(n)

    def stmt_FunctionDef(self, n, kind="function"):
        doc = ast.get_docstring(n, clean=False)
        return [kind, self.definition_span(n), n.name, ANY, self.header(n), self.exprs("decorators", n.decorator_list),
                self.parameters(n.args), self.opt(n.returns)] + self.doc(n, doc) + [
            ANY, ANY, ANY, self.block("body", n.body)]

    def doc(self, n, doc):
        if not doc:
            return []
        return [["doc", self.expr(n.body[0].value)[-1]]]

    def stmt_AsyncFunctionDef(self, n):
        return self.stmt_FunctionDef(n, "async-function")

    def stmt_ClassDef(self, n):
        doc = ast.get_docstring(n, clean=False)
        return ["class", self.definition_span(n), n.name, ANY, self.header(n),
                self.exprs("decorators", n.decorator_list), self.exprs("bases", n.bases), self.keywords(n.keywords)
                ] + self.doc(n, doc) + [ANY, ANY, ANY, self.block("body", n.body)]

    def stmt_Match(self, n):
        return ["match", self.span(n), self.expr(n.subject)] + [
            ["case", ANY, self.pattern(c.pattern), self.opt(c.guard), self.block("body", c.body)] for c in n.cases]

    # ---- patterns

    def pattern(self, n):
        return getattr(self, "pattern_" + type(n).__name__)(n)

    def pattern_MatchValue(self, n):
        return ["value", self.span(n), self.expr(n.value)]

    def pattern_MatchSingleton(self, n):
        return ["value", self.span(n), [{None: "none", True: "true", False: "false"}[n.value], ANY]]

    def pattern_MatchSequence(self, n):
        return ["sequence", self.span(n)] + [self.pattern(p) for p in n.patterns]

    def pattern_MatchMapping(self, n):
        return ["mapping", self.span(n), or_dash(n.rest), self.exprs("keys", n.keys)] + [
            self.pattern(p) for p in n.patterns]

    def pattern_MatchClass(self, n):
        return ["class", self.span(n), self.expr(n.cls), ["arguments"] + [self.pattern(p) for p in n.patterns],
                ["names"] + n.kwd_attrs] + [self.pattern(p) for p in n.kwd_patterns]

    def pattern_MatchStar(self, n):
        return ["star", self.span(n), or_dash(n.name)]

    def pattern_MatchAs(self, n):
        if n.pattern is not None:
            return ["as", self.span(n), self.pattern(n.pattern), n.name]
        return ["capture", self.span(n), n.name] if n.name else ["wildcard", self.span(n)]

    def pattern_MatchOr(self, n):
        return ["or", self.span(n)] + [self.pattern(p) for p in n.patterns]


TOKEN = re.compile(r"[()]|[^\s()]+")


def read_dump(text):
    """The items of a dump as nested lists, and whether it says that there is an error."""
    stack = [[]]
    for token in TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0]


def difference(expected, actual):
    """Where two trees differ first, as text; None if they agree."""
    if expected is ANY:
        return None
    if isinstance(expected, Begin):
        ok = isinstance(actual, str) and actual.split(":")[0] == str(expected.at)
        return None if ok else f"begin {expected.at}, not {actual}"
    if isinstance(expected, Float):
        ok = isinstance(actual, str) and float(actual) == expected.value
        return None if ok else f"{expected.value}, not {actual}"
    if isinstance(expected, str) or isinstance(actual, str):
        return None if expected == actual else f"{brief(expected)}, not {brief(actual)}"
    if actual and actual[0] in ("function", "async-function"):
        actual = actual[:3] + [part for part in actual[3:] if part != "generator"]
    if len(expected) != len(actual):
        return f"{brief(expected)}, not {brief(actual)}"
    for left, right in zip(expected, actual):
        found = difference(left, right)
        if found:
            return found if len(found) > 300 else f"{found}\n      in {brief(actual)}"
    return None


def brief(tree):
    def show(part):
        if isinstance(part, list):
            return "(" + " ".join(map(show, part)) + ")"
        return part if isinstance(part, str) else "?"
    text = show(tree)
    return text if len(text) < 160 else text[:160] + "…"


def compare(job):
    tool, paths = job
    run = subprocess.run([tool, "-"], input="\n".join(paths) + "\n", capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        return [(paths[0], f"the tool ended with {run.returncode}: {run.stderr}")], 0, 0
    dumps = re.split(r"(?m)^\.\n", run.stdout)[:-1]
    if len(dumps) != len(paths):
        return [(paths[0], f"{len(dumps)} dumps of {len(paths)} files")], 0, 0
    found, compared, unparsed = [], 0, 0
    for path, text in zip(paths, dumps):
        with open(path, "rb") as file:
            source = file.read()
        try:
            source.decode("utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except (SyntaxError, ValueError, UnicodeDecodeError, RecursionError):
            unparsed += 1
            continue
        compared += 1
        expected = Expected(source)
        lines = text.splitlines()
        items = [line for line in lines if line.startswith("(")]
        if "has-error" in lines:
            at = next((line for line in items if line.endswith("error")), "")
            found.append((path, "said to have an error: " + (at[at.find("(error"):][:200] if "(error" in at else at[:200])))
        if len(items) != len(tree.body):
            found.append((path, f"{len(tree.body)} top-level statements, not {len(items)}"))
            continue
        for node, line in zip(tree.body, items):
            actual = read_dump(line)[0]
            problem = difference(expected.stmt(node), actual)
            if problem:
                found.append((f"{path}:{node.lineno}", problem))
    return found, compared, unparsed


def python_files(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, folders, names in os.walk(path):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".py"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--limit", type=int, default=0, help="compare that many files, chosen the same every time")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    paths = options.paths or ["/usr/lib/python3", "/usr/lib/python%d.%d" % sys.version_info[:2]]
    files = sorted(set(map(os.path.realpath, python_files(paths))))
    if not files:
        print("skipped: there are no Python files under " + ", ".join(paths))
        return 77
    if options.limit and len(files) > options.limit:
        files = random.Random(1).sample(files, options.limit)
    jobs = [(options.tool, files[at:at + 20]) for at in range(0, len(files), 20)]
    found, compared, unparsed = [], 0, 0
    with multiprocessing.Pool(options.jobs) as pool:
        for some, one, two in pool.imap_unordered(compare, jobs):
            found += some
            compared += one
            unparsed += two
    for where, problem in found[:options.show]:
        print(f"{where}: {problem}")
    print(f"{compared} files compared, {unparsed} that CPython cannot parse, {len(found)} differences")
    return 1 if found or not compared else 0


if __name__ == "__main__":
    sys.setrecursionlimit(20000)
    sys.exit(main())
