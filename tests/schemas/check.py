#!/usr/bin/env python3
"""The JSON Schemas of docs/reference/schemas against the readers of the program.

1. What is committed is what the program prints, and is a schema.
2. Files of this repository fit: reader and schema accept each of them.
3. Each of them is spoiled in many ways. Where a reader accepts, the schema does. Where a schema
   accepts, the reader does, but for what STRICTER names: rules between fields.
"""

import argparse
import copy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator, validators
except ImportError:
    print("skipped: there is no jsonschema (package python3-jsonschema)", file=sys.stderr)
    sys.exit(77)

# Kind: files whose every field is spoiled, and files that are only checked.
SPOILED = {
    "manifest": ["tests/schemas/samples/kernels/manifest.yaml"],
    "suite": ["tests/schemas/samples/suite.yaml"],
    "operation": ["tests/schemas/samples/softmax.op.yaml"],
    "model": ["tests/fuzz/corpus/model_config/llama.json", "tests/schemas/samples/model.json"],
    "config": ["tests/schemas/samples/config.yaml"],
    "provider_results": ["tests/fuzz/corpus/provider_results/all.json"],
    "record": ["tests/fuzz/corpus/record/qkv.json", "tests/fuzz/corpus/record/run.json",
               "results/h200/bench/record_same_m4096_chain.json.zst"],
    "lab": ["tests/schemas/samples/lab.yaml"],
    "case": ["tests/schemas/samples/cases/model/gpu/case.yaml"],
    "benchmark": ["tests/schemas/samples/cases/model/gpu/benchmarks/gemm.yaml",
                  "tests/schemas/samples/cases/model/gpu/benchmarks/chat.yaml",
                  "tests/schemas/samples/cases/model/gpu/benchmarks/program.yaml"],
    "packs": ["tests/schemas/samples/refs/packs.yaml"],
    "attempt_note": ["tests/schemas/samples/cases/model/gpu/note.yaml"],
    "attempt": ["cases/demo/cpu_decode_gemm/runs/from_naive/0003-*/record.json"],
    "history": ["tests/schemas/samples/history.jsonl"],
    "provider": ["providers/cutlass/provider.yaml", "providers/openblas/provider.yaml"],
}
CHECKED = {
    "manifest": ["examples/byok/*.yaml", "examples/hopper_*/manifest.yaml",
                 "cases/*/*/workspace/kernel_manifest.yaml"],
    "operation": ["examples/softmax/*.op.yaml"],
    "suite": ["shapes/*.yaml", "tests/fuzz/corpus/suite/decode.yaml", "cases/*/*/benchmarks/shapes.yaml",
              "templates/*/benchmarks/shapes.yaml"],
    "config": ["tests/fuzz/corpus/config/all.yaml"],
    "provider_results": ["tests/fuzz/corpus/provider_results/*.json",
                         "tests/fuzz/corpus/previous/results.json"],
    "record": ["results/**/record*.json.zst"],
    "lab": ["lab.yaml", "templates/lab/lab.yaml"],
    "case": ["cases/*/*/case.yaml"],
    "benchmark": ["cases/*/*/benchmarks/gemm.yaml", "templates/*/benchmarks/gemm.yaml"],
    "packs": ["templates/lab/refs/packs.yaml"],
    "attempt": ["cases/demo/*/runs/*/*/record.json"],
    "history": ["cases/demo/*/runs/history.jsonl"],
    "provider": ["providers/*/provider.yaml", "tests/toy_folder/providers/*/provider.yaml"],
}

# A text or a number in another's place may be what a schema cannot judge: an unknown name, a file
# that is not there.
MEANINGS = ("text", "number")
# Fields of records that hold whatever their maker says.
ANYTHING = ("metadata", "artifact_facts")
# What a schema cannot say: (kind, place, how it was spoiled) where a reader may refuse alone.
STRICTER = [
    ("manifest", r"kernels/0/(prepare|workspace|tunables)", "left out", "args name what it says"),
    ("manifest", r"kernels/0/tunables/tile", "left out|renamed", "args name it"),
    ("manifest", r"kernels/1/launch(/maps|/maps/[ab]|/block)?", "left out", "GPU code has it"),
    ("manifest", r"kernels/3/name", "left out", "a source alone is read for its comment"),
    ("manifest", r"kernels/4/source", "left out|renamed", "its file describes it"),
    ("operation", r"operands/\w+", "left out", "one is read, one is the output"),
    ("operation", r"operands/out/output", "left out", "one is the output"),
    ("operation", r"operands/out/output", "renamed", "one is the output"),
    ("operation", r"tolerance/\w+", "left out|renamed", "each type of the output has one"),
    ("model", r"(text_config/)?\w+", "renamed", "a field that is not known may change matrix products"),
    ("model", r"text_config/num_experts(_per_tok)?", ".*", "read of types that have experts"),
    ("model", r"text_config/model_type", "left out|null", "its type says where experts are"),
    ("suite", r"shapes/\d/(m|n|k|name)", "left out", "a size may be in defaults or in the name"),
    ("record", r"problems/0/(condition(/spacing)?|.*/bare_links)", "renamed|left out|null",
     "bare links are there in a chain alone"),
    ("case", r"guardrails", "left out", "a lane names one"),
    ("case", r"server/command", "left out", "the backend is a process"),
    ("benchmark", r"metrics/weighted_us/direction", "left out", "a floor needs it"),
    ("benchmark", r"load/rate", "left out", "the load is open"),
    ("attempt_note", r"env", "unknown", "the case allows MY_*"),
    ("attempt_note", r"env/MY_TILE", "renamed", "the case allows MY_*"),
]


def is_stricter(kind, place, how):
    return any(kind == k and re.fullmatch(p, place) and re.fullmatch(h, how)
               for k, p, h, _ in STRICTER)


class Readers:
    """The program's readers, in a process of their own."""

    def __init__(self, program, cmake, source):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.cmake, self.script = cmake, source / "tests/schemas/read_provider.cmake"

    def ask(self, kind, path, show=True):
        """The document, if it is to be shown, and what is wrong with it or None."""
        print(json.dumps({"kind": kind, "path": str(path), "show": show}),
              file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        error = answer["error"]
        if kind == "provider":
            run = subprocess.run([self.cmake, "-D", f"FILE={path}", "-P", self.script],
                                 capture_output=True, text=True, check=False)
            error = run.stderr.strip() if run.returncode else None
        if not answer["is_readable"]:
            error = error or "it is no document"
        return answer["document"], error


def shape_of(value):
    """What a schema may judge of it but for texts and numbers: fields, types, and single words."""
    if isinstance(value, dict):
        return tuple((key, shape_of(item)) for key, item in value.items())
    if isinstance(value, list):
        return frozenset(map(shape_of, value))
    if isinstance(value, str):
        is_word = len(value) < 9 or value.replace("_", "").isalpha()
        return value if is_word else str
    return type(value)


def shortened(value, most):
    """Of lists longer than `most` some items: of samples six, of kernels one of each shape."""
    if isinstance(value, dict):
        return {key: shortened(item, most) for key, item in value.items()}
    if isinstance(value, list):
        if len(value) > 16 and all(type(item) is type(value[0]) and isinstance(item, (int, float))
                                   for item in value):
            return value[:4] + [min(value), max(value)]
        items = [shortened(item, most) for item in value]
        if len(items) > most:
            return list({shape_of(item): item for item in items}.values())
        return items
    return value


def objects_in(value, place=()):
    """Where maps are. Of lists of a file that a person wrote all items, of others the last."""
    if isinstance(value, dict):
        yield place
        for key, item in value.items():
            if key not in ANYTHING:
                yield from objects_in(item, (*place, key))
    elif isinstance(value, list):
        most = 6
        for index in range(0 if len(place) < 2 and len(value) <= most else max(len(value) - 1, 0),
                           len(value)):
            yield from objects_in(value[index], (*place, index))


def with_change(document, place, change):
    """The document, changed at a place. All else of it is the same objects (see Judge)."""
    fresh = copy.copy(document)
    if place:
        fresh[place[0]] = with_change(document[place[0]], place[1:], change)
    else:
        change(fresh)
    return fresh


class Judge:
    """A schema. What many documents share is judged once."""

    def __init__(self, schema):
        self.parts = {}  # Of the shared document, by id.
        self.fits = set()  # (keyword, schema, part) that were found to fit.
        kept = {name: self.remembered(name, judge)
                for name, judge in Draft202012Validator.VALIDATORS.items()}
        self.validator = validators.extend(Draft202012Validator, kept)(schema)

    def remembered(self, keyword, judge):
        def judged(validator, value, instance, schema):
            key = (keyword, id(schema), id(instance))
            if id(instance) not in self.parts:
                yield from judge(validator, value, instance, schema) or ()
            elif key not in self.fits:
                faults = list(judge(validator, value, instance, schema) or ())
                if not faults:
                    self.fits.add(key)
                yield from faults
        return judged

    def share(self, document):
        """The document whose parts the next ones have."""
        self.parts, self.fits = {}, set()
        left = [document]
        while left:
            part = left.pop()
            if isinstance(part, (dict, list)):
                self.parts[id(part)] = part  # As long as it lives, nothing else has its id.
                left += part.values() if isinstance(part, dict) else part


def spoiled(document):
    """(place, how, a document that differs in one field)."""
    for place in objects_in(document):
        def changed(change):
            return with_change(document, place, change)

        def within(document):
            for step in place:
                document = document[step]
            return document
        where = "/".join(str(step) for step in place)
        yield where, "unknown", changed(lambda target: target.update({"odd_field": 1}))
        for key in within(document):
            field = f"{where}/{key}".lstrip("/")

            def rename(target, key=key):
                target[key + "_odd"] = target.pop(key)
            yield field, "renamed", changed(rename)
            yield field, "left out", changed(lambda target, key=key: target.pop(key))
            for name, odd in (("map", {"odd": {"odd": 1}}), ("list", [[{"odd": 1}]]),
                              ("text", "odd text"), ("truth", True), ("number", -7.5),
                              ("null", None)):
                if type(odd) is type(within(document)[key]):
                    continue
                yield field, name, changed(lambda target, key=key, odd=odd:
                                           target.update({key: odd}))


def write(path, document):
    if path.name != "provider.yaml":
        path.write_text(json.dumps(document), encoding="utf-8")
        return
    lines = []  # The build reads flat files alone.
    for key, value in document.items():
        if isinstance(value, list):
            value = "[" + ", ".join(json.dumps(item) for item in value) + "]"
        elif not isinstance(value, str):
            value = json.dumps(value)
        lines.append(f"{key}: {value}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def scratch_copy(source, path, folder):
    """The file in a copy of what its reader needs beside it."""
    samples = source / "tests/schemas/samples"
    if path.is_relative_to(samples):
        shutil.copytree(samples, folder, dirs_exist_ok=True)
        return folder / path.relative_to(samples)
    return folder / path.name.removesuffix(".zst")


def lines_apart(paths, folder):
    """Files of lines, each as files of one."""
    for path in paths:
        if path.suffix != ".jsonl":
            yield path
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            one = folder / f"{len(list(folder.iterdir())) + 1}.json"
            one.write_text(line, encoding="utf-8")
            yield one


def files_of(source, table, kind):
    paths = []
    for pattern in table.get(kind, []):
        found = sorted(source.glob(pattern))
        if not found:
            raise SystemExit(f"no file is {pattern}")
        paths += [path for path in found if path not in paths]
    return paths


def main():
    parser = argparse.ArgumentParser()
    for name in ("assay", "readers", "source", "cmake"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    parser.add_argument("--kind", help="this one alone")
    options = parser.parse_args()
    failures = []

    def ensure(holds, sentence):
        if not holds:
            failures.append(sentence)
            print("FAILED", sentence, flush=True)

    def run(*words):
        return subprocess.run([options.assay, *words], capture_output=True, text=True,
                              check=True).stdout

    folder = options.source / "docs/reference/schemas"
    kinds = [entry["name"] for entry in json.loads(run("schema", "--json"))["files"]]
    ensure(sorted(path.stem for path in folder.iterdir()) == sorted(kinds),
           "docs/reference/schemas has a file for each kind; run scripts/make-reference")
    ensure(sorted(kinds) == sorted(SPOILED), "every kind has a sample here")
    readers = Readers(options.readers, options.cmake, options.source)
    with tempfile.TemporaryDirectory() as lines:
        check_kinds(options, kinds, readers, run, ensure, pathlib.Path(lines))
    print(f"{len(failures)} failed" if failures else "all hold")
    return 1 if failures else 0


def check_kinds(options, kinds, readers, run, ensure, lines):
    folder = options.source / "docs/reference/schemas"
    for kind in kinds:
        if options.kind not in (None, kind):
            continue
        text = run("schema", kind)
        committed = folder / (kind + ".json")
        ensure(committed.exists() and committed.read_text(encoding="utf-8") == text,
               f"{kind}: what is committed is not what the program prints; run "
               "scripts/make-reference")
        schema = json.loads(text)
        Draft202012Validator.check_schema(schema)
        judge = Judge(schema)
        validator = judge.validator
        checked = 0
        samples = list(lines_apart(files_of(options.source, SPOILED, kind), lines))
        for path in [*samples, *lines_apart(files_of(options.source, CHECKED, kind), lines)]:
            document, error = readers.ask(kind, path)
            checked += 1
            ensure(error is None, f"{kind}: {path}: its reader refuses it: {error}")
            # A program writes records: their lists are as long as its work.
            short = shortened(document, 2 if kind == "record" else 16)
            for fault in list(validator.iter_errors(short))[:1]:
                ensure(False, f"{kind}: {path}: {fault.json_path}: {fault.message[:300]}")
        tried = refused = 0
        for path in samples:
            original, _ = readers.ask(kind, path)
            judge.share(original)
            with tempfile.TemporaryDirectory() as place:
                copied = scratch_copy(options.source, path, pathlib.Path(place))
                for where, how, document in spoiled(original):
                    write(copied, document)
                    _, error = readers.ask(kind, copied, show=False)
                    fits = validator.is_valid(document)
                    tried += 1
                    refused += error is not None
                    what = f"{kind}: {path.name}: {where} {how}"
                    ensure(fits or error is not None, f"{what}: the schema alone refuses it")
                    if how not in MEANINGS and not is_stricter(kind, where, how):
                        ensure(not fits or error is None,
                               f"{what}: the reader alone refuses it: {error}")
        ensure(refused > 0, f"{kind}: nothing that was spoiled is refused")
        print(f"{kind}: {checked} files fit; of {tried} spoiled ones {refused} fit neither",
              flush=True)


if __name__ == "__main__":
    sys.exit(main())
