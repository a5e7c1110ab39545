#!/usr/bin/env python3
"""Writes analysis/rules/launch/launchers.inc: the options of the programs that launch a script, taken from their real parsers.

Run with the oracle's Python (tests/oracles.py); with --check it only compares.
"""

import argparse
import importlib.metadata
import os
import pathlib
import sys

os.environ.setdefault("DS_ACCELERATOR", "cpu")
TARGET = pathlib.Path(__file__).parents[2] / "analysis/rules/launch/launchers.inc"


class Found(Exception):
    pass


def parser_of(function):
    """The parser that a function makes and parses with."""
    original = argparse.ArgumentParser.parse_args

    def parse_args(self, *args, **kwargs):
        raise Found(self)

    argparse.ArgumentParser.parse_args = parse_args
    try:
        function()
    except Found as found:
        return found.args[0]
    finally:
        argparse.ArgumentParser.parse_args = original


def options(parser):
    for action in parser._actions:
        if not action.option_strings:
            continue
        takes = "none" if action.nargs == 0 else "optional" if action.nargs == "?" else "several" if action.nargs in ("*", "+") else "one"
        kind = {int: "integer", float: "number"}.get(action.type, "text")
        choices = "|".join(str(each) for each in action.choices or ())
        for name in action.option_strings:
            yield name, takes, kind, choices


def click_options(command):
    for parameter in command.params:
        if not getattr(parameter, "opts", None) or not parameter.opts[0].startswith("-"):
            continue
        kind = {"integer": "integer", "float": "number"}.get(parameter.type.name, "text")
        choices = "|".join(str(each) for each in getattr(parameter.type, "choices", ()))
        for name in parameter.opts + parameter.secondary_opts:
            yield name, "none" if parameter.is_flag else "one", kind, choices


def record():
    import deepspeed.launcher.runner
    import torch.distributed.launch
    import torch.distributed.run
    from accelerate.commands.launch import launch_command_parser
    from lightning_fabric import cli

    parsers = {
        "torchrun": options(torch.distributed.run.get_args_parser()),
        "torch_launch": options(parser_of(lambda: torch.distributed.launch.parse_args([]))),
        "accelerate": options(launch_command_parser()),
        "deepspeed": options(parser_of(lambda: deepspeed.launcher.runner.parse_args([]))),
        "fabric": click_options(cli._main.commands["run"] if hasattr(cli._main, "commands") else cli._run),
    }
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("torch", "accelerate", "deepspeed", "lightning"))
    text = f"// Made by tests/jobs/record_launchers.py of {versions.replace('+cpu', '')}: do not edit.\n"
    for launcher, rows in parsers.items():
        for name, takes, kind, choices in rows:
            text += f'{{Launcher::{launcher}, "{name}", Takes::{takes}, ValueType::{kind}, "{choices}"}},\n'
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    made = record()
    if parser.parse_args().check:
        if made != TARGET.read_text():
            sys.exit("launchers.inc is not what the launchers say: run tests/jobs/record_launchers.py")
    else:
        TARGET.write_text(made)


if __name__ == "__main__":
    main()
