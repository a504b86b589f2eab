#!/usr/bin/env python3
"""Every record under results/ recomputes with this program, and one whose figures were changed does
not. What lies in a folder `superseded` was judged by rules of its time, and is left out."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FEWEST = 150  # Records: a folder that moved is no success.
NO_RECORD = re.compile(r"schema: 'assay\.(bench|lab\w*)/\d+' is not read here")


def recompute(assay, file):
    done = subprocess.run([assay, "compare", "--recompute", file], capture_output=True, text=True)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def is_record(code, said):
    return code != 2 or not NO_RECORD.search(said)


def spoiled(text):
    """Copies in each of which one claim was changed, by what was changed."""
    yield "a ratio", re.sub(r'("ratio": )(\d)\.', r"\g<1>1\2.", text, count=1)
    yield "a word", re.sub(r'("word": )"slower"', r'\1"faster"', text, count=1)
    yield "a sample", re.sub(r'("burst_ns": \[)(\d)', r"\g<1>1\2", text, count=1)
    yield "a winner", re.sub(r'("winner": ")\w', r"\g<1>0", text, count=1)


def check_spoiled(assay, file):
    if not shutil.which("zstd"):
        print("note: there is no zstd, so no record is spoiled")
        return []
    text = subprocess.run(["zstd", "-dcq", file], check=True, capture_output=True).stdout.decode()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "record.json"
        copy.write_text(text)
        if recompute(assay, copy)[0] != 0:
            faults.append(f"a plain copy of {file} does not recompute")
        for what, changed in spoiled(text):
            if changed == text:
                faults.append(f"{file} has not {what} to change")
                continue
            copy.write_text(changed)
            if recompute(assay, copy)[0] == 0:
                faults.append(f"{file} recomputes with {what} changed")
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    parser.add_argument("--results", required=True, type=pathlib.Path)
    options = parser.parse_args()
    files = sorted(file for pattern in ("*.json", "*.json.zst")
                   for file in options.results.rglob(pattern) if "superseded" not in file.parts)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ended = list(pool.map(lambda file: recompute(options.assay, file), files))
    records = [(file, *end) for file, end in zip(files, ended) if is_record(*end)]
    faults = [f"{file}: code {code}: {said[:300]}" for file, code, said in records if code != 0]
    if len(records) < FEWEST:
        faults.append(f"{len(records)} records under {options.results}, {FEWEST} at least")
    faults += check_spoiled(options.assay, options.results / SPOILED)
    print(f"{len(records)} records, {len(files) - len(records)} other files")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


SPOILED = "zen3/bias_gelu/record_f32_m128.json.zst"

if __name__ == "__main__":
    sys.exit(main())
