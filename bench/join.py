#!/usr/bin/env python3
"""Puts together what several benches measured, each its share: python3 bench/join.py *.json

Of A/A, coverage and sensitivity: counts races and words over all files, and prints the targets'
rows. Coverage holds each interval against the mean of the other repeats of its problem in the same
bench, so that files of one bench belong together, and others go into another call.

Where several benches ran coverage side by side, each on processors of its own, their repeats of one
moment are compared, too: of a machine that itself moves by more than an interval is wide, these
agree and repeats of different minutes do not.
"""

import itertools
import json
import math
import statistics
import sys


def rows_of(files):
    for name in files:
        with open(name, encoding="utf-8") as file:
            for row in json.load(file)["rows"]:
                yield row


def excludes_one(verdict):
    return "low" in verdict and (verdict["low"] > 1 or verdict["high"] < 1)


def percentile(values, share):
    values = sorted(values)
    return values[math.ceil(share * (len(values) - 1))] if values else math.nan


def same(rows):
    races, details = [], [d for row in rows for d in row["details"] or []]
    for detail in details:
        idle_plain = not detail["loaded"] and detail["kernel"] in ("sgemm", "sgemv", "matmul")
        races += [(detail["kernel"], detail["loaded"], idle_plain, race) for race in detail["races"]]
    words = [race["verdict"]["word"] for _, _, _, race in races]
    idle = [race["verdict"]["word"] for _, _, plain, race in races if plain]
    widths = [100 * race["half_width"] for _, _, _, race in races if race["half_width"] is not None]
    print(f"  {len(races)} races: {sum(excludes_one(r['verdict']) for *_, r in races)} exclude 1, "
          f"{sum(w in ('faster', 'slower') for w in words)} called faster or slower, "
          f"same among {len(idle)} idle ones without preparation: {idle.count('same')}; "
          f"half-width median {percentile(widths, 0.5):.2f} %, 90th {percentile(widths, 0.9):.2f} %")
    for key in sorted({(kernel, loaded) for kernel, loaded, _, _ in races}):
        ratios = [math.log(race["verdict"]["ratio"]) for kernel, loaded, _, race in races
                  if (kernel, loaded) == key
                  and race["verdict"].get("ratio")]
        spread = 100 * statistics.stdev(ratios) if len(ratios) > 1 else math.nan
        print(f"    {key[0]}{', other core loaded' if key[1] else ''}: {len(ratios)} races, "
              f"mean {100 * statistics.mean(ratios):+.2f} %, spread {spread:.2f} %")


def coverage(rows):
    problems = {}
    for row in rows:
        for pairs in row["details"]:
            for pair in pairs:
                problems.setdefault(pair["problem"].split("_", 1)[1], []).append(pair["verdict"])
    held = total = 0
    for problem, verdicts in sorted(problems.items()):
        logs = [math.log(verdict["ratio"]) for verdict in verdicts]
        here = 0
        for log, verdict in zip(logs, verdicts):
            if len(logs) < 2 or "low" not in verdict:
                continue
            others = math.exp((sum(logs) - log) / (len(logs) - 1))
            here += verdict["low"] <= others <= verdict["high"]
        held, total = held + here, total + len(verdicts)
        spread = 100 * statistics.stdev(logs) if len(logs) > 1 else math.nan
        print(f"    {problem}: {here} of {len(verdicts)}, repeats spread by {spread:.2f} %")
    print(f"  {held} of {total} held ({100 * held / max(1, total):.1f} %)")
    agree = pairs_of_one_moment = 0
    for one, other in itertools.combinations(rows, 2):
        for a, b in zip(intervals(one), intervals(other)):
            pairs_of_one_moment += 1
            agree += abs(a[0] - b[0]) <= math.hypot(a[1], b[1])
    if pairs_of_one_moment:
        print(f"  side by side: {agree} of {pairs_of_one_moment} pairs agree "
              f"({100 * agree / pairs_of_one_moment:.1f} %)")


def intervals(row):
    """Centre and half-width, in log ratio, of each repeat, in the order of problems and repeats."""
    for pairs in row["details"]:
        for pair in pairs:
            low, high = (math.log(pair["verdict"][end]) for end in ("low", "high"))
            yield (low + high) / 2, (high - low) / 2


def sensitivity(rows):
    cases = {}
    for row in rows:
        cases.setdefault(row["target"].rsplit(",", 1)[0], []).extend(row["details"])
    for case, pairs in cases.items():
        words = [pair["verdict"]["word"] for pair in pairs]
        widths = [100 * pair["half_width"] for pair in pairs if pair["half_width"] is not None]
        fast = sum(word in ("faster", "slightly faster") for word in words)
        print(f"  {case}: {words.count('slower')} of {len(words)} slower, {fast} faster; "
              f"half-width median {percentile(widths, 0.5):.2f} %")


def main(files):
    kinds = {"same": same, "coverage": coverage, "sensitivity": sensitivity}
    by_name = {}
    for row in rows_of(files):
        if isinstance(row.get("details"), list):
            by_name.setdefault(row["name"], []).append(row)
    for name, rows in by_name.items():
        print(name)
        kinds.get(name.split("_")[0], lambda rows: print("  is not joined"))(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
