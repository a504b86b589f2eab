"""race, sweep, compare: the program's commands with its own flags as keywords."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _program
from ._kernels import Kernel
from ._results import Comparison, Race, Sweep
from .errors import InputError

File = Union[str, "os.PathLike[str]"]
Shape = Union[str, Mapping[str, object]]
Shapes = Union[Shape, Sequence[Shape]]


# 4: every kernel was refused, which is what was asked and has its reasons.
_RACED = (0, 1, 4)


def _listed(value: Any, single: tuple) -> List[Any]:
    return [value] if isinstance(value, single) else list(value)


def race(
    kernels: Union[File, Kernel, Sequence[File], Sequence[Kernel]],
    shape: Optional[Shapes] = None,
    *,
    against: Union[None, File, Kernel] = None,
    threads: Optional[int] = None,
    budget: Union[None, str, float] = None,
    condition: Union[None, str, Mapping[str, str]] = None,
    progress: bool = False,
    **flags: object,
) -> Race:
    """Your kernels against the stock pool: `assay race FILE... --shape ...`.

    kernels: files (FILE or FILE::ENTRY), or kernels that get_kernels() found. budget: "60s", or
    seconds. Further keywords are flags of the program: margin="1%", output_dir="runs/mine".
    A kernel that is wrong, crashes or is refused is a result without a verdict, not an exception.
    """
    named: Dict[str, object] = {
        **_program.shape_flags(shape),
        "threads": threads,
        "budget": budget,
        "condition": condition,
        **flags,
    }
    given = _listed(kernels, (str, os.PathLike, Kernel))
    if not given:
        raise InputError("race: no kernels; give a file, or kernels that get_kernels() found")
    if any(isinstance(one, Kernel) for one in given):
        return _race_kernels(given, against, named, progress)
    if isinstance(against, Kernel):
        raise InputError("race: files race against a provider or a file; against takes its name")
    words = ["race", *(_program.file_word(file) for file in given)]
    if against is not None:
        named["against"] = os.fspath(against)
    words += _program.flag_words(named)
    output = _program.run(words, progress=progress, accepted=_RACED)
    return Race(output.json, output.exit_code)


def _race_kernels(
    kernels: List[Any], against: Any, flags: Dict[str, object], progress: bool
) -> Race:
    """Rows of the catalog race as a sweep does it, with nobody else in the pool."""
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise InputError("race: files and kernels do not mix; give one or the other")
        if kernel.role == "stock":
            raise InputError(f"race: {kernel.label} is stock: what others race against, not whom")
    if flags.get("filter") is not None:
        raise InputError("race: kernels are what filter would choose; give one of them")
    if isinstance(against, Kernel):
        opponents = [against.filter]
    elif against is not None:
        opponents = [f"provider == '{against}'"]
    else:
        from ._kernels import providers

        stock = [one["name"] for one in providers() if one["role"] == "stock"]
        opponents = [f"provider == '{name}'" for name in stock]
    flags["filter"] = " or ".join(f"({one})" for one in [k.filter for k in kernels] + opponents)
    if flags.get("output_dir") is None:
        flags["output_dir"] = _next_run_folder(kernels[0].name)
    output = _program.run(["sweep", *_program.flag_words(flags)], progress=progress)
    return Race(output.json, output.exit_code)


def _next_run_folder(name: str) -> Path:
    """As the program numbers its own races."""
    name = name if re.fullmatch(r"[A-Za-z0-9_.-]+", name) else "run"
    number = 1
    while (folder := Path("runs") / f"{number:04}-{name}").exists():
        number += 1
    return folder


def sweep(
    suite: Optional[File] = None,
    *,
    shapes: Optional[Sequence[str]] = None,
    shape: Optional[Shapes] = None,
    kernels: Optional[Sequence[File]] = None,
    provider: Union[None, str, Sequence[str]] = None,
    output_dir: Optional[File] = None,
    threads: Optional[int] = None,
    budget: Union[None, str, float] = None,
    condition: Union[None, str, Mapping[str, str]] = None,
    progress: bool = False,
    **flags: object,
) -> Sweep:
    """Every kernel on every shape of a suite: `assay sweep`.

    shapes: names of the suite's shapes. shape: texts or mappings, instead of a suite. Further
    keywords are flags of the program: resume=True, fresh=True, margin="2%".
    """
    named: Dict[str, object] = {
        "suite": suite,
        "shapes": shapes,
        **_program.shape_flags(shape),
        "kernels": kernels,
        "provider": provider,
        "output_dir": output_dir,
        "threads": threads,
        "budget": budget,
        "condition": condition,
        **flags,
    }
    output = _program.run(["sweep", *_program.flag_words(named)], progress=progress)
    return Sweep(output.json, output.exit_code)


def compare(
    baseline: Optional[File] = None,
    providers: Union[None, File, Sequence[File]] = None,
    *,
    require: Union[None, str, Sequence[str]] = None,
    recompute: Union[None, File, Sequence[File]] = None,
    **flags: object,
) -> Comparison:
    """Results side by side: `assay compare`. A refuted claim is a Comparison that does not hold.

    require: providers that must beat the baseline. recompute: records whose words are made again
    from their samples.
    """
    named: Dict[str, object] = {
        "baseline": baseline,
        "providers": None if providers is None else _listed(providers, (str, os.PathLike)),
        "require": require,
        "recompute": None if recompute is None else _listed(recompute, (str, os.PathLike)),
        **flags,
    }
    output = _program.run(["compare", *_program.flag_words(named)])
    return Comparison(output.json, output.exit_code)
