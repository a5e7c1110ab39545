"""Finds the bugs of PyTorch training code before step 0. The program is native; this package only says where it lies."""

import os
import sysconfig

__all__ = ["find_program"]


def find_program():
    """The absolute path of the `stepzero` that was installed with this package.

    Raises FileNotFoundError where it was moved away, naming the folders that were searched.
    """
    schemes = ["", sysconfig.get_preferred_scheme("user")]
    folders = [sysconfig.get_path("scripts", *filter(None, [scheme])) for scheme in schemes]
    # `pip install --target FOLDER` puts scripts into FOLDER/bin, which no scheme names.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    for folder in folders:
        program = os.path.join(folder, "stepzero")
        if os.path.isfile(program):
            return program
    raise FileNotFoundError("no program `stepzero` in " + " or ".join(folders) + "; install the package again")
