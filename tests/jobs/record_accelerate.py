#!/usr/bin/env python3
"""Writes analysis/rules/config/accelerate_keys.inc: what a configuration of Accelerate may hold, asked of the package itself.

Run with the oracle's Python (tests/oracles.py); with --check it only compares.
"""

import argparse
import importlib.metadata
import pathlib
import sys

TARGET = pathlib.Path(__file__).parents[2] / "analysis/rules/config/accelerate_keys.inc"


def record():
    from accelerate.commands.config.config_args import ClusterConfig
    from accelerate.commands.launch import launch_command_parser
    from accelerate.utils import DistributedType, PrecisionType

    text = f"// Made by tests/jobs/record_accelerate.py of accelerate {importlib.metadata.version('accelerate')}: do not edit.\n"
    rows = [("", name) for name in ClusterConfig.__dataclass_fields__] + [("", "fp16"), ("", "dynamo_backend")]
    rows += [("distributed_type", each.value) for each in DistributedType]
    rows += [("mixed_precision", each.value) for each in PrecisionType]
    for action in launch_command_parser()._actions:
        name = action.dest
        if name.startswith("fsdp_"):
            rows += [("fsdp_config", name), ("fsdp_config", name[len("fsdp_"):])]
    return text + "".join(f'{{"{section}", "{name}"}},\n' for section, name in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    made = record()
    if parser.parse_args().check:
        if made != TARGET.read_text():
            sys.exit("accelerate_keys.inc is not what accelerate says: run tests/jobs/record_accelerate.py")
    else:
        TARGET.write_text(made)


if __name__ == "__main__":
    main()
