"""`python -m stepzero …` is `stepzero …`."""

import os
import sys

from stepzero import find_program


def main():
    try:
        program = find_program()
    except FileNotFoundError as problem:
        sys.exit(f"stepzero: {problem}")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
