"""Tuned tables: what a sweep found fastest, used without measuring again."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Union

from . import _native
from ._arrays import new_output
from ._kernels import Kernel, Plan, gate_of, options_of, problem_of


@dataclass(frozen=True)
class Choice:
    kernel: Kernel
    rule: str  # exact, less_aligned or nearest.
    tuned: str  # The tuned problem that decided; the nearest of several that has the kernel.
    rank: int  # The kernel's there: 0 won.
    distance: float  # In powers of two: twice the m is 1.
    tuned_us: float  # What the kernel took there.


class Table:
    """Made by `assay sweep --save-table FILE`; any thread may ask it anything."""

    __slots__ = ("_native",)

    def __init__(self, native: "_native.Table"):
        self._native = native

    @property
    def staleness(self) -> List[str]:
        """A sentence for each way in which this is not the machine, the library or the kernel
        that was tuned; empty: all is as it was."""
        return self._native.staleness

    @property
    def problems(self) -> List[str]:
        return self._native.problems

    @property
    def threads(self) -> int:
        return self._native.threads

    def choose(self, problem: Any, **scalars: Any) -> Choice:
        """Which kernel, and by which rule, for a shape or arrays; see problem_of()."""
        chosen = self._native.choose(problem_of(problem, **scalars))
        return Choice(**{**chosen, "kernel": Kernel(chosen["kernel"])})

    def plan(
        self,
        a: Any,
        b: Any,
        out: Any,
        *,
        c: Any = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        accumulate: Optional[str] = None,
        constant: Union[str, Sequence[str]] = (),
        epilogue: str = "",
        epilogue_operands: Optional[Mapping[str, Any]] = None,
    ) -> Plan:
        """The first choice that can run here, bound to these arrays; `plan.choice` says which rule
        chose it. constant: as for Kernel.plan()."""
        options = options_of(
            c=c,
            alpha=alpha,
            beta=beta,
            accumulate=accumulate,
            constant=constant,
            epilogue=epilogue,
            epilogue_operands=epilogue_operands,
        )
        return self._native.plan(a, b, out, options)

    def run(self, a: Any, b: Any, out: Any = None, **options: Any) -> Any:
        """Plans and launches once; as Kernel.run()."""
        if out is None:
            out = new_output(a, b, gate_of(options))
        self.plan(a, b, out, **options).launch()
        return out

    def __repr__(self) -> str:
        return f"<Table of {len(self.problems)} problems>"


def load_table(
    path: "str | os.PathLike[str]",
    *,
    threads: int = 0,
    folder: Optional[str] = None,
    kernels: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]" = (),
) -> Table:
    """threads: 0 for as many as it was tuned with. folder: where code that the table brings is put
    while it is used. kernels: the files (FILE or FILE::ENTRY) of kernels of yours that stand in
    it, in the order in which the sweep was given them; `assay table show` says which it needs. A
    plug-in among them is loaded into this process. Trust all of them as you trust a program."""
    given = [kernels] if isinstance(kernels, (str, os.PathLike)) else kernels
    files = [os.fspath(file) for file in given]
    return Table(
        _native.load_table(os.fspath(path), folder or tempfile.gettempdir(), threads, files)
    )
