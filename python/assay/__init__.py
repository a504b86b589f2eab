"""Which kernel is fastest for my shapes, and does mine really beat the best stock one?

race, sweep and compare run the program that this package brings; get_kernels and Kernel.run use
kernels in this process, on arrays where they lie (DLPack).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._build import VERSION as __version__
from ._program import main
from .errors import (
    Error,
    InputError,
    Interrupted,
    MachineError,
    RecordsError,
    Refuted,
    Unsupported,
)

if TYPE_CHECKING:
    from ._arrays import as_bfloat16, empty
    from ._commands import compare, race, sweep
    from ._kernels import Kernel, Kernels, Plan, Problem, get_kernels, problem_of, providers
    from ._results import Comparison, ProblemResult, Race, Sweep, Verdict, Winner
    from ._table import Choice, Table, load_table

__all__ = [
    "Choice",
    "Comparison",
    "Error",
    "InputError",
    "Interrupted",
    "Kernel",
    "Kernels",
    "MachineError",
    "Plan",
    "Problem",
    "ProblemResult",
    "Race",
    "RecordsError",
    "Refuted",
    "Sweep",
    "Table",
    "Unsupported",
    "Verdict",
    "Winner",
    "__version__",
    "as_bfloat16",
    "compare",
    "empty",
    "get_kernels",
    "load_table",
    "main",
    "problem_of",
    "providers",
    "race",
    "sweep",
]

# The rest is loaded when it is first used, so that the console command starts at once.
_WHERE = {
    **dict.fromkeys(("as_bfloat16", "empty"), "_arrays"),
    **dict.fromkeys(("compare", "race", "sweep"), "_commands"),
    **dict.fromkeys(
        ("Kernel", "Kernels", "Plan", "Problem", "get_kernels", "problem_of", "providers"),
        "_kernels",
    ),
    **dict.fromkeys(
        ("Comparison", "ProblemResult", "Race", "Sweep", "Verdict", "Winner"), "_results"
    ),
    **dict.fromkeys(("Choice", "Table", "load_table"), "_table"),
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'assay' has no attribute '{name}'")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted(set(globals()) | set(_WHERE))
