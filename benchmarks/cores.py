"""Leaves a program one core."""

import os
import sys

ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def one_core() -> None:
    """Leave NumPy and PyTorch one core, in this process and those that it starts.

    RAISES (SystemExit): If NumPy is imported already, which then has its threads.
    """
    if "numpy" in sys.modules:
        raise SystemExit("NumPy is imported, and has its threads: call one_core before.")
    os.environ.update(ONE_CORE)
