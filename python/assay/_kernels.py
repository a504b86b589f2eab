"""Kernels in this process: found, planned and launched on arrays that stay where they are."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._arrays import new_output
from ._program import shape_text

Plan = _native.Plan
Problem = _native.Problem
providers = _native.providers


class Kernel:
    """One fully specified implementation, as the catalog found it."""

    __slots__ = ("_native",)

    def __init__(self, native: "_native.Kernel"):
        self._native = native

    name = property(lambda self: self._native.name, doc="For people; not a key.")
    provider = property(lambda self: self._native.provider)
    family = property(lambda self: self._native.family)
    role = property(lambda self: self._native.role, doc="stock, ours, user or reference.")
    id = property(lambda self: self._native.id, doc="SHA-256 of what was asked for: the key.")
    design = property(lambda self: self._native.design, doc="Named attributes, e.g. tile_m.")
    prepares = property(lambda self: self._native.prepares, doc="Packs constant operands once.")
    deterministic = property(lambda self: self._native.deterministic)

    @property
    def label(self) -> str:
        return f"{self.provider}/{self.name}"

    @property
    def metadata(self) -> Dict[str, Any]:
        """All that is known of it: rule per operand, design, id."""
        return json.loads(self._native.metadata_json())

    @property
    def filter(self) -> str:
        """An expression for `--filter` that holds for this kernel and those that differ in the
        operands' rules alone."""
        facts = {"provider": self.provider, "family": self.family, **self.design}
        return " and ".join(f"{name} == {_literal(value)}" for name, value in facts.items())

    def refusals(self, problem: Any, **scalars: Any) -> List[Tuple[str, str]]:
        """Why it does not take a shape, or arrays (a, b[, out]): (reason, sentence) pairs."""
        return self._native.refusals(problem_of(problem, **scalars))

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
        threads: int = 0,
    ) -> Plan:
        """Bound to these arrays, which it keeps alive; `plan.launch()` then computes into `out`.

        constant: inputs ("b") whose values stay; kernels that pack do it here, once, and do not
        see later changes. epilogue: steps behind the product ("bias+gelu"), with arrays for those
        that have one ({"bias": bias}). threads: 0 for the program's default, physical cores less one.
        """
        options = options_of(
            c=c,
            alpha=alpha,
            beta=beta,
            accumulate=accumulate,
            constant=constant,
            epilogue=epilogue,
            epilogue_operands=epilogue_operands,
        )
        return self._native.plan(a, b, out, options, threads)

    def run(self, a: Any, b: Any, out: Any = None, **options: Any) -> Any:
        """Compiles, plans, launches once; returns `out`, a new NumPy array where none was given.

        Options are those of plan().
        """
        if out is None:
            out = new_output(a, b, gate_of(options))
        self.plan(a, b, out, **options).launch()
        return out

    def __repr__(self) -> str:
        return f"<Kernel {self.label} {self.id[:12]}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)


class Kernels(List[Kernel]):
    """What get_kernels() found, and why the others are not here."""

    refusals: Dict[str, Tuple[int, str]]  # reason -> how many, and one kernel's sentence.
    problem: Optional[Problem]


def names_of(given: Union[str, Sequence[str]]) -> List[str]:
    """One name or several."""
    return [given] if isinstance(given, str) else list(given)


def options_of(
    *,
    c: Any = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    accumulate: Optional[str] = None,
    constant: Union[str, Sequence[str]] = (),
    epilogue: str = "",
    epilogue_operands: Optional[Mapping[str, Any]] = None,
) -> Dict[str, Any]:
    """What a problem of arrays is besides a, b and out, as _native takes it."""
    return {
        "c": c,
        "alpha": alpha,
        "beta": beta,
        "accumulate": accumulate,
        "constant": names_of(constant),
        "epilogue": epilogue,
        "epilogue_operands": dict(epilogue_operands or {}),
    }


def gate_of(options: Mapping[str, Any]) -> str:
    """The step of an epilogue that halves the columns of out, if there is one."""
    steps = str(options.get("epilogue", "")).split("+")
    return next((step for step in steps if step.startswith(("swiglu", "geglu"))), "")


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    return f'"{text}"' if "'" in text else f"'{text}'"


def problem_of(problem: Any, **scalars: Any) -> Problem:
    """A Problem of a shape's text or mapping, of arrays (a, b[, out]), or itself.

    scalars: alpha, beta, c, accumulate, constant, epilogue, epilogue_operands; with arrays only.
    """
    if isinstance(problem, Problem):
        return problem
    if isinstance(problem, (str, Mapping)):
        if scalars:
            raise TypeError(f"a shape says {', '.join(scalars)} itself: {', '.join(scalars)}=...")
        return _native.problem_of_shape(shape_text(problem))
    if not isinstance(problem, (tuple, list)) or len(problem) not in (2, 3):
        raise TypeError("give a shape's text or mapping, or arrays as (a, b) or (a, b, out)")
    a, b, out = (*problem, None)[:3]
    return _native.problem_of_arrays(a, b, out, options_of(**scalars))


def get_kernels(
    problem: Any = None,
    *,
    filter: Union[None, str, Callable[[Kernel], bool]] = None,
    target: Optional[str] = None,
    providers: Union[str, Sequence[str]] = (),
    **scalars: Any,
) -> Kernels:
    """Every kernel that takes a problem on this machine; of everything, where none is given.

    problem: a shape ("m=4,n=2048,k=1024,dtype=f32", or a mapping), or arrays (a, b) or (a, b, out);
    with arrays also what Kernel.plan() takes besides them. filter: an expression over design
    attributes ("tile_m == 6 and prepares"), or a function of a Kernel. target: another machine,
    such as "x86_64+avx2+fma".
    """
    if problem is None and scalars:
        raise TypeError(f"{', '.join(scalars)}: only with arrays")
    asked = None if problem is None else problem_of(problem, **scalars)
    names = names_of(providers)
    text = filter if isinstance(filter, str) else ""
    found, refusals = _native.get_kernels(asked, text, target, names)
    kernels = Kernels(Kernel(native) for native in found)
    kernels.refusals = refusals
    kernels.problem = asked
    if callable(filter):
        kept = [kernel for kernel in kernels if filter(kernel)]
        count, example = refusals.get("filter", (0, "the filter does not hold"))
        if len(kept) != len(kernels):
            refusals["filter"] = (count + len(kernels) - len(kept), example)
        kernels[:] = kept
    return kernels
