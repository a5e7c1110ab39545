#!/usr/bin/env python3
"""Writes analysis/libraries/frameworks/training_arguments.inc: the options that HfArgumentParser makes of transformers' TrainingArguments.

Run with the oracle's Python (tests/oracles.py); with --check it only compares.
"""

import argparse
import enum
import pathlib
import sys
import typing

TARGET = pathlib.Path(__file__).parents[2] / "analysis/libraries/frameworks/training_arguments.inc"


def record():
    import transformers
    from transformers import HfArgumentParser, Seq2SeqTrainingArguments, TrainingArguments
    from transformers.hf_argparser import string_to_bool

    lines = [f"// Made by tests/jobs/record_training_arguments.py of transformers {transformers.__version__}: do not edit."]
    # What a text is turned into where the arguments are checked.
    choices = {}
    for name, hint in typing.get_type_hints(Seq2SeqTrainingArguments).items():
        for each in typing.get_args(hint):
            if isinstance(each, type) and issubclass(each, enum.Enum):
                choices[name] = "|".join(str(one.value) for one in each)
    plain = {name for action in HfArgumentParser(TrainingArguments)._actions for name in action.option_strings}
    for action in HfArgumentParser(Seq2SeqTrainingArguments)._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        takes = "none" if action.nargs == 0 else "optional" if action.nargs == "?" else "several" if action.nargs in ("*", "+") else "one"
        kind = {int: "integer", float: "number", string_to_bool: "truth"}.get(action.type, "text")
        for name in action.option_strings:
            if "-" in name[2:] and name != action.option_strings[0]:
                continue
            lines.append(f'{{"{name}", Takes::{takes}, ValueType::{kind}, {str(name in plain).lower()}, "{choices.get(action.dest, "")}"}},')
    return "\n".join(lines) + "\n"


def main():
    made = record()
    if "--check" in sys.argv:
        sys.exit(TARGET.read_text() != made)
    TARGET.write_text(made)


if __name__ == "__main__":
    main()
