#!/usr/bin/env python3
"""Where knowledge is lost in the right programs: assignments of a tensor that is not fully known though all it is made of is.

    tests/traces/causes.py [TOPIC…]    by the functions called there, most frequent first, with up to five places each
"""

import ast
import collections
import sys

import judge


def text_of(node):
    return ast.unparse(node)


def called(value):
    """The names of what the expression calls, or its kind."""
    names = {text_of(call.func).split(".")[-1] for call in ast.walk(value) if isinstance(call, ast.Call)}
    return ", ".join(sorted(names)) or type(value).__name__


def losses(topic, file, places):
    """(what is called, where it is written) of every assignment that loses what is known."""
    inferred = {f"{place['line']}:{place['name']}": place for place in topic.shapes.get(file, [])}
    known, history = {}, collections.defaultdict(list)
    for place, seen in places.items():
        shapes = judge.shapes_of(seen)
        if shapes is not None:
            known[place] = judge.fully_known(inferred.get(place), shapes)
            line, name = place.split(":", 1)
            history[name].append((int(line), known[place]))

    text = (judge.PROGRAMS / topic.name / file).read_text()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [each for target in targets for each in ast.walk(target) if isinstance(each, (ast.Name, ast.Attribute))]
        lost = [f"{each.lineno}:{text_of(each)}" for each in names if known.get(f"{each.lineno}:{text_of(each)}") is False]
        read = {text_of(each) for each in ast.walk(node.value) if isinstance(each, (ast.Name, ast.Attribute))}
        if isinstance(node, ast.AugAssign):
            read.add(text_of(node.target))
        before = [[state for at, state in sorted(history[name]) if at < node.lineno][-1:] for name in read if name in history]
        if lost and all(state != [False] for state in before):
            value = inferred.get(lost[0])
            yield called(node.value), (f"{topic.name}/{file}:{lost[0]} = {text_of(node.value)[:100]}: "
                                       f"{judge.shown(value) if value else 'nothing'}, observed {places[lost[0]][0]}")


def main():
    causes = collections.defaultdict(list)
    for topic in judge.judge(sys.argv[1:]).values():
        for file, places in topic.facts["places"].items():
            if file != "wrong.py":
                for what, where in losses(topic, file, places):
                    causes[what].append(where)
    for what, places in sorted(causes.items(), key=lambda item: -len(item[1])):
        print(f"{len(places)} {what}", *places[:5], sep="\n    ")


if __name__ == "__main__":
    main()
