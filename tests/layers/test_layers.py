"""Arrows point down only: which floor may include what. The order of the floors is read from the build."""

import builtins
import collections
import importlib
import keyword
import operator
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)

# The analysis turns text into values: no clock, no threads, no input or output formats, no transport. Nor <regex>, whose searches need
# not end: a pattern of a program is matched by libraries/python/expressions.hpp.
NOT_IN_ANALYSIS = re.compile(
    r"^(regex|thread|chrono|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token|ctime|time\.h|"
    r"pthread\.h|(nlohmann|boost|spdlog|fmt|CLI|asio)/.*)$")


def floors():
    """What each floor stands on, from the lines `stepzero_floor(name USES …)`; the folder that holds each."""
    uses, folders = {}, {}
    for folder, script in (("analysis", "analysis/CMakeLists.txt"), (".", "cmake/Program.cmake")):
        text = re.sub(r"#.*", "", (ROOT / script).read_text())
        for name, rest in re.findall(r"stepzero_floor\((\w+)([^)]*)\)", text):
            words = rest.split()
            used = []
            if "USES" in words:
                for word in words[words.index("USES") + 1:]:
                    if word in ("LINKS", "PRECOMPILE", "PARSED_WITH", "JOINED"):
                        break
                    used.append(word)
            uses[name], folders[name] = used, ROOT / folder / name
    return uses, folders


USES, FOLDERS = floors()


def includes(floor):
    """(place, bracket, header) of every include of a floor."""
    for path in sorted(FOLDERS[floor].rglob("*")):
        if path.suffix in (".cpp", ".hpp", ".h", ".inc"):
            text = path.read_text(encoding="utf-8")
            for match in INCLUDE.finditer(text):
                line = text.count("\n", 0, match.start(1)) + 1
                yield f"{path.relative_to(ROOT)}:{line}", match[1], match[2]


def test_the_house_has_the_floors_of_the_design():
    assert list(USES) == ["syntax", "program", "documents", "symbolic", "values", "interpreter", "libraries", "footprint", "rules",
                          "snapshot", "protocol", "server"]


def test_floors_stand_on_lower_floors_only():
    order = list(USES)
    for floor, used in USES.items():
        assert [name for name in used if order.index(name) >= order.index(floor)] == [], floor
    assert USES["protocol"] == []


@pytest.mark.parametrize("floor", USES)
def test_includes_point_down(floor):
    wrong = []
    for place, _, header in includes(floor):
        top = header.split("/")[0]
        if ".." in header.split("/"):
            wrong.append(f"{place}: {header} goes around the floor's door")
        elif top in USES and top != floor and top not in USES[floor] and "/" in header:
            wrong.append(f"{place}: {header} is not below {floor}")
    assert wrong == []


# What starts runs: of the file, or of the ranks of a job. The snapshot does; rules read what came of it.
STARTS_RUNS = {"interpreter/interpreter.hpp", "rules/ranks/job_explorer.hpp", "rules/ranks/runs.hpp", "rules/ranks/compared_job.hpp",
               "rules/ranks/comparer.hpp"}


def test_no_rule_starts_a_run():
    floor, ranks = FOLDERS["rules"], FOLDERS["rules"] / "ranks"
    analysis = floor.parent

    def way_to_a_start(path, seen):
        """The headers through which a file comes to one of those; none: it does not."""
        for _, header in INCLUDE.findall(path.read_text(encoding="utf-8")):
            if header in STARTS_RUNS:
                return [header]
            if header not in seen and (analysis / header).is_file():
                seen.add(header)
                if way := way_to_a_start(analysis / header, seen):
                    return [header, *way]
        return []

    assert all((analysis / header).is_file() for header in STARTS_RUNS)
    assert way_to_a_start(ranks / "comparer.cpp", set())
    wrong = [f"{path.relative_to(ROOT)}: " + " → ".join(way) for path in sorted(floor.rglob("*.[hc]pp"))
             if ranks not in path.parents and (way := way_to_a_start(path, set()))]
    assert wrong == []


@pytest.mark.parametrize("floor", [floor for floor in USES if floor not in ("protocol", "server")])
def test_the_analysis_knows_no_threads_clock_json_or_transport(floor):
    assert [f"{place}: {header}" for place, _, header in includes(floor) if NOT_IN_ANALYSIS.match(header)] == []


def test_the_protocol_knows_no_python_and_no_rules():
    words = [f"{place}: {header}" for place, _, header in includes("protocol") if header.startswith("tree_sitter")]
    assert words == []


# The compiler sees one file at a time: of two types of one name in one namespace, templates such as std::vector<T> are made once, and then
# one of the two is written past its end.
NOT_CODE = re.compile(r'//[^\n]*|R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'')
OPENED = re.compile(r"namespace\s*([\w:]*)\s*\{|\b(?:struct|class|enum\s+class|enum|union)\s+(\w+)\s*(?:final\s*)?(?::(?!:)[^;{}()]*)?\{|[{}]")


def types_of(text):
    """Full names of the types that a file defines in namespaces that other files can open, too."""
    around = []  # names of namespaces; None: any other brace
    for found in OPENED.finditer(NOT_CODE.sub(" ", text)):
        if found[0].startswith("namespace"):
            around.append(found[1] or "(unnamed)")
        elif found[0] == "}":
            if around:
                around.pop()
        else:
            if found[2] and None not in around and "(unnamed)" not in around:
                yield "::".join([*around, found[2]])
            around.append(None)


def test_no_two_types_have_one_name():
    places = {}
    for folder in ("analysis", "server", "protocol"):
        for path in sorted((ROOT / folder).rglob("*.[hc]pp")):
            for name in types_of(path.read_text(encoding="utf-8")):
                places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert len(places) > 500
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_types_are_told_apart():
    text = "namespace a::b { struct S { int x; }; struct S; enum class E { one }; namespace { struct S {}; } struct C<int> {}; struct A::Part {}; template <class P> struct Q : R<P> {};\n" \
           'void f() { struct Inner {}; } const char* t = "struct T {";  // struct U {\n class D : public S {}; }'
    assert list(types_of(text)) == ["a::b::S", "a::b::E", "a::b::Q", "a::b::D"]


# Keys of state that the engine keeps, and rows that no name of a library stands for, are declared in these headers and named by their
# constants: a text that begins with '$' stands nowhere else.
DECLARED = re.compile(r'static constexpr (?:std::string_view|KeptKey|KeyPrefix) (\w+)\s*(?:=|\{)\s*"(\$[^"]*)"')
HEADERS = ("analysis/values/kept.hpp", "analysis/values/kept_by_packages.hpp", "analysis/values/internal_rows.hpp")
KEY = re.compile(r'"(\$[A-Za-z_][^"]*)"')
NOT_KEYS = ("analysis/documents", "server/command_line/sarif_report.cpp")  # the variables of shells, a key of SARIF


def declared_keys():
    """(struct, constant) → key."""
    keys = {}
    for header in HEADERS:
        for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", (ROOT / header).read_text(encoding="utf-8"), re.M | re.S):
            for constant, key in DECLARED.findall(body):
                assert key not in {other for (of, _), other in keys.items() if of == name}, f"{name} declares {key} twice"
                keys[name, constant] = key
    return keys


def test_keys_are_declared_once_and_used():
    keys = declared_keys()
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
               for folder in ("analysis", "server") for path in sorted((ROOT / folder).rglob("*.[hc]pp"))}
    assert len(keys) > 150
    assert [f"{place}: {match[0]} is declared in none of {HEADERS}" for place, text in sources.items()
            if place not in HEADERS and not place.startswith(NOT_KEYS) for match in KEY.finditer(text)] == []
    everything = "\n".join(text for place, text in sources.items() if place not in HEADERS)
    assert [f"{name}::{constant}" for name, constant in keys if f"{name}::{constant}" not in everything] == []


# The interpreter knows Python and no library: the names in its texts are Python's own, or words of the analysis. What it has to know of a
# library it asks the rows (values/internal_rows.hpp, Row) or the `TypeNames` for.
TEXT = re.compile(r'"((?:\\.|[^"\\\n])*)"')
NAME = re.compile(r"[A-Za-z_][\w.]*(?:\(\))?")
STANDARD = ("abc", "argparse", "builtins", "collections", "contextlib", "dataclasses", "enum", "functools", "inspect", "numbers", "sys", "types",
            "typing")
ATTRIBUTES = ("co_name", "co_varnames", "fget", "fset", "getter", "setter", "deleter", "func", "args", "keywords", "maxlen", "_fields", "_asdict",
              "_replace", "_make", "_field_defaults", "_missing_", "_name_", "_value_", "name", "value", "kw_only", "init", "default",
              "default_factory", "annotation", "metaclass", "self", "self.", "cls", "lambda", "and", "or", "in", "is", "key", "start", "stop",
              "step", "base", "ndigits", "maxsplit", "sep", "last", "read", "object.__getattribute__", "object.__setattr__", "setUp",
              "setUpClass", "setup_method", "setup_class", "expectedFailure", "xfail", "test", "Test", "_test", "inf", "nan")
# What the kinds of values themselves have (analysis/values): tensors, dtypes, devices.
OF_VALUES = ("grad.__set__", "data.__set__", "is_floating_point", "cuda")
# Words of messages, of symbols' names and of formats.
WORDS = ("module", "parameters", "constructor", "s", "rank", "local_rank", "node_rank", "world_size", "local_world_size", "bdoxXn", "dixXo",
         "dixXoeEfFgG", "__i", "__r", "_", "__", "_update")


def pythons_names():
    names = {*dir(builtins), *keyword.kwlist, *ATTRIBUTES}
    for kind in (str, bytes, list, dict, set, tuple, int, float, complex, range, slice, type, property, BaseException, collections.deque,
                 collections.Counter, collections.OrderedDict):
        names.update(dir(kind))
    names.update(name.strip("_") for name in dir(operator))
    for module in STANDARD:
        names.update((module, module + ".", *dir(importlib.import_module(module))))
    return names


def unknown_names(text, known):
    text = re.sub(r"//[^\n]*|^\s*#[^\n]*", "", text, flags=re.M)
    for match in TEXT.finditer(text):
        name = match[1].removesuffix("()")
        if NAME.fullmatch(match[1]) and name not in known and name.split(".")[0] not in STANDARD and not re.fullmatch(r"__\w+__", name):
            yield match[0]


def test_the_interpreter_names_no_library():
    known = pythons_names() | set(OF_VALUES) | set(WORDS)
    wrong = [f"{path.relative_to(ROOT)}: {name}" for path in sorted(FOLDERS["interpreter"].rglob("*.[hc]pp"))
             for name in unknown_names(path.read_text(encoding="utf-8"), known)]
    assert wrong == []
    assert list(unknown_names('f("register_buffer", "torch.nn", "append", "sys.argv", "__len__", "two words");  // "forward"', known)) == [
        '"register_buffer"', '"torch.nn"']


# What a library's own table calls by a path with a '$' has a row there.
CALLED = re.compile(r'(?:library_symbol|make_native|call_row|find)\([^";]*"((?:\w+\.)+\$[\w.]+)"')


def test_internal_paths_have_rows():
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "analysis/libraries").rglob("*.[hc]pp")))
    called = set(CALLED.findall(text))
    rows = set(re.findall(r'(?:row\(|\{)\s*"((?:\w+\.)+\$[\w.]+)"', text))
    assert len(called) >= 10
    assert called - rows == set()


# Limits of walks and searches: a number beside one of these words is a limit that nobody named.
BARE = re.compile(
    r"(?:depth|nesting|level|deep)\w* *(?:<|>|<=|>=) *(?!0\b|1\b)\d+\b(?! *\*)"
    r"|\b(?:found|seen|all|list|drawn|windows|places|sets|others|visited|text)\w*(?:\.|->)size\(\) *(?:<|>|<=|>=) *[\d']{2,}")
NAMED = re.compile(r"^\s*(?:inline |static )*constexpr [\w:]+ \w*(?:most|deepest|longest|largest|widest|fewest)\w* = [\d'<U ]+[,;](?!.*//)", re.M)
LIMITS_OF_FORMATS = {
    "analysis/syntax/tree.cpp",  # a text below one page has no deep indentation
    "analysis/rules/launch/numbers.cpp",  # a number of so many digits fits into 64 bits
    "analysis/snapshot/docstring_shapes.cpp",  # the end of a line
}


def test_limits_have_names_and_reasons():
    unnamed, without_reason = [], []
    for path in sorted((ROOT / "analysis").rglob("*.[ch]pp")):
        place, text = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")

        def line_of(at, text=text):
            return text[text.rfind("\n", 0, at) + 1:text.find("\n", at)]

        if place not in LIMITS_OF_FORMATS:
            for match in BARE.finditer(text):
                line = line_of(match.start())
                if "constexpr" not in line and match[0] in re.sub(r'"(\\.|[^"\\])*"', '""', line.split("//")[0]):
                    unnamed.append(f"{place}: {line.strip()}")
        for match in NAMED.finditer(text):
            begin = match.start() + len(match[0]) - len(match[0].lstrip())
            before = line_of(text.rfind("\n", 0, begin) - 1) if "\n" in text[:begin] else ""
            if not before.strip().startswith("//"):
                without_reason.append(f"{place}: {match[0].strip()}")
    assert unnamed == []
    assert without_reason == []
