"""What a run found, read from the JSON that the program prints (assay.summary/1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from .errors import InputError


@dataclass(frozen=True)
class Verdict:
    """`candidate` is `word` than `other`; ratios are times of the other over the candidate's."""

    word: str  # faster, slightly faster, same, slightly slower, slower, unsure
    ratio: float
    low: Optional[float]  # Both None where there is no interval; one where the ratio is a bound.
    high: Optional[float]
    candidate: str
    other: str
    reason: str  # Why it is unsure; empty for every other word.
    error: str = "elementwise"  # By what bound the candidate is right: or normwise.

    def __str__(self) -> str:
        text = f"{self.word} than {self.other}"
        if self.word == "same":
            text = f"same as {self.other}"
        elif self.word == "unsure":
            text = f"unsure against {self.other}"
        if self.low is not None and self.high is not None:
            text += f": {self.ratio:.2f} x [{self.low:.2f}, {self.high:.2f}]"
        elif self.low is not None or self.high is not None:
            text += f", by at least {max(self.ratio, 1 / self.ratio):.3g} x"
        if self.error != "elementwise":
            text += f" (right, {self.error})"
        return text + (f"; {self.reason}" if self.reason else "")


@dataclass(frozen=True)
class Winner:
    """The fastest kernel that was proven right, ties broken."""

    provider: str
    kernel: str
    id: str
    role: str  # stock, ours, user
    runtime_ms: float
    tflops: float
    gbps: float

    @property
    def label(self) -> str:
        return f"{self.provider}/{self.kernel}"


@dataclass(frozen=True)
class ProblemResult:
    """What was found for one shape."""

    name: str
    verdict: Optional[Verdict]  # Against what `against` named; else against the best stock kernel.
    headline: Optional[Verdict]  # Against the best stock kernel of the pool.
    winner: Optional[Winner]
    tied: Tuple[str, ...]
    reason: str  # Why there is no verdict; empty where there is one.
    dict: Dict[str, Any] = field(repr=False)  # This shape's part of the summary.

    def __str__(self) -> str:
        return str(self.verdict) if self.verdict else f"no verdict: {self.reason}"


def _verdict(pair: Optional[Mapping[str, Any]]) -> Optional[Verdict]:
    if not pair:
        return None
    said = pair["verdict"]
    return Verdict(
        word=said["word"],
        ratio=said["ratio"],
        low=said.get("low") or None,
        high=said.get("high"),
        candidate=pair.get("candidate", ""),
        other=pair["other"],
        reason=said.get("reason", ""),
        error=pair.get("error", "elementwise"),
    )


def _winner(json: Optional[Mapping[str, Any]]) -> Optional[Winner]:
    if not json:
        return None
    names = ("provider", "kernel", "id", "role", "runtime_ms", "tflops", "gbps")
    return Winner(**{name: json[name] for name in names})


def _why_none(problem: Mapping[str, Any]) -> str:
    fell = [
        f"{kernel['kernel']}: {kernel['ending']}: {kernel['sentence']}"
        for kernel in problem["kernels"]
        if kernel["role"] == "user" and kernel["ending"] != "timed"
    ]
    return "; ".join(fell) or problem.get("no_winner") or "no kernel of yours was confirmed"


def _problem(problem: Dict[str, Any], against: Mapping[str, Any]) -> ProblemResult:
    headline = _verdict(problem.get("headline"))
    chosen = headline
    pair = against.get(problem["name"])
    if pair is not None:
        candidate = headline.candidate if headline else ""
        error = headline.error if headline else "elementwise"
        chosen = _verdict({**pair, "candidate": candidate, "error": error, "other": pair["other"] or pair["opponent"]})
    return ProblemResult(
        name=problem["name"],
        verdict=chosen,
        headline=headline,
        winner=_winner(problem.get("winner")),
        tied=tuple(problem.get("tied", ())),
        reason="" if chosen else _why_none(problem),
        dict=problem,
    )


class Run:
    """What a race or a sweep found; a sequence of its problems."""

    def __init__(self, summary: Dict[str, Any], exit_code: int):
        self.dict = summary
        self.exit_code = exit_code  # 0, or 1: some shape has no winner, or a kernel fell.
        self.record: Optional[Path] = Path(summary["record"]) if summary.get("record") else None
        self.results: List[Path] = [Path(path) for path in summary.get("results", ())]
        against = {pair["problem"]: pair for pair in summary.get("against", ())}
        self.problems: List[ProblemResult] = [
            _problem(problem, against) for problem in summary.get("problems", ())
        ]
        # By shape, of each file that cannot take it; others of the files may have raced on it.
        self.refused: Dict[str, List[str]] = dict(summary.get("refused") or {})
        raced = {problem.name for problem in self.problems}
        for name, sentences in self.refused.items():
            if name in raced:
                continue
            self.problems.append(
                ProblemResult(name, None, None, None, (), "refused: " + "; ".join(sentences), {})
            )

    def __len__(self) -> int:
        return len(self.problems)

    def __iter__(self) -> Iterator[ProblemResult]:
        return iter(self.problems)

    def __getitem__(self, key: "int | str") -> ProblemResult:
        if isinstance(key, str):
            for problem in self.problems:
                if problem.name == key:
                    return problem
            raise KeyError(key)
        return self.problems[key]

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        return "\n".join(f"{problem.name}: {problem}" for problem in self.problems)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.record}: {self}>"


class Race(Run):
    """One problem's verdict can be asked of the race itself."""

    @property
    def _only(self) -> ProblemResult:
        if len(self.problems) != 1:
            raise InputError(
                f"the race was on {len(self.problems)} shapes; ask one: race.problems[0], or by name"
            )
        return self.problems[0]

    @property
    def verdict(self) -> Optional[Verdict]:
        """None where there is none: `reason` says why."""
        return self._only.verdict

    @property
    def word(self) -> Optional[str]:
        return self.verdict.word if self.verdict else None

    @property
    def ratio(self) -> Optional[float]:
        return self.verdict.ratio if self.verdict else None

    @property
    def low(self) -> Optional[float]:
        return self.verdict.low if self.verdict else None

    @property
    def high(self) -> Optional[float]:
        return self.verdict.high if self.verdict else None

    @property
    def winner(self) -> Optional[Winner]:
        return self._only.winner

    @property
    def reason(self) -> str:
        return self._only.reason


class Sweep(Run):
    """A suite's results; `results` are the files that `compare` takes."""


class Comparison:
    """Results side by side, and whether the claims that were made hold."""

    def __init__(self, summary: Dict[str, Any], exit_code: int):
        self.dict = summary
        self.exit_code = exit_code
        self.problems: Dict[str, Any] = summary.get("problems", {})
        self.claims: List[Dict[str, Any]] = summary.get("claims", [])

    @property
    def holds(self) -> bool:
        """Every claim holds; with `recompute`, every word is what the samples say."""
        return self.exit_code == 0

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.problems)} problems, {'holds' if self.holds else 'refuted'}>"
