#!/usr/bin/env python3
"""Finds second words for what has a name already: find.py FOLDER, the source tree.

Fails for each one in a sentence of our documents (the commands' help is docs/reference/commands.md)
and of the texts in sources that people read: messages, help, reports. Code spans and blocks, names
and comments are not read.
"""

import pathlib
import re
import sys

# What must not be said, and what is said instead.
SECOND_WORDS = [
    (r"(graphics )?cards?|accelerators?", "GPU"),
    (r"(on|for) cores", "on the CPU"),
    (r"micro-?kernels?", "kernel"),
    (r"vendor kernels?", "stock kernel"),
    (r"pre-?packed", "prepared"),
    (r"auto-?tun(e|es|ed|er|ers|ing)", "sweep, or tuned table"),
    (r"leader ?boards?", "ranking"),
]
# Parts of a path or of a name are no words.
PATTERNS = [(re.compile(rf"(?<![\w/.-])(?<!::)({words})(?![\w/-]|::|\.\w)", re.IGNORECASE), said)
            for words, said in SECOND_WORDS]

# Without CHANGELOG.md, which says what was said.
DOCUMENTS = ["[!C]*.md", "CONTRIBUTING.md", "docs/**/*.md", "examples/**/README.md", "providers/*/README.md",
             "rankers/*/README.md", "templates/**/*.md"]
SOURCES = ["src/**/*.cc", "src/**/*.h", "cli/**/*.cc", "cli/**/*.h", "providers/*/*.cc",
           "providers/*/*.h", "providers/*/provider.yaml", "rankers/*/*.cc", "python/assay/*.py"]
NOT_READ = re.compile(r"(_test\.cc|/testing/.*)$")
# A sentence that records of earlier versions hold, and that is read for their sake.
EARLIER = re.compile(r"constexpr std::string_view k\w+Earlier = ")

TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
NO_SENTENCE = re.compile(r"^\s*(//|#include|#)")


def sentences_of_document(lines):
    is_code = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            line = re.sub(r"`[^`]*`", "CODE", line)
            yield number, re.sub(r"\]\([^)]*\)", "]", line)


def sentences_of_source(lines):
    for number, line in enumerate(lines, 1):
        if NO_SENTENCE.match(line) or EARLIER.search(line):
            continue
        for text in TEXT.findall(line):
            if " " in text:  # One word is a name or a field's.
                yield number, text


def sentences_of_settings(lines):
    yield from enumerate(lines, 1)


def found(root):
    for patterns, kind in ((DOCUMENTS, sentences_of_document), (SOURCES, sentences_of_source)):
        for pattern in patterns:
            for path in sorted(root.glob(pattern)):
                name = str(path.relative_to(root))
                if NOT_READ.search(name):
                    continue
                reader = sentences_of_settings if path.suffix == ".yaml" else kind
                lines = path.read_text(encoding="utf-8").splitlines()
                for number, sentence in reader(lines):
                    yield name, number, sentence


def main():
    count = wrong = 0
    for name, number, sentence in found(pathlib.Path(sys.argv[1])):
        count += 1
        for pattern, said in PATTERNS:
            word = pattern.search(sentence)
            if word:
                wrong += 1
                print(f"{name}:{number}: '{word[0]}': here it is called '{said}'")
    print(f"{wrong} second words in {count} lines of text")
    return 1 if wrong or count < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
