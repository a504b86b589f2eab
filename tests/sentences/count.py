#!/usr/bin/env python3
"""How long the sentences of our documents are: count.py [--list] FOLDER, the source tree.

Fails if more than 3 % of those in README, ARCHITECTURE, CONTRIBUTING, docs (the commands' help is
docs/reference/commands.md) and the examples have over 30 words. Tables, headings and code blocks
hold no sentences; a code span is one word.
"""

import pathlib
import re
import sys

MOST_WORDS = 30
MOST_SHARE = 0.03

ITEM = re.compile(r"([-*+]|\d+\.) +")
END = re.compile(r"(?<=[.!?:])[\"*_)]*\s+(?=[\"*_(A-Z`0-9])")


def paragraphs(text):
    fence, lines = None, []
    for line in map(str.strip, text.split("\n")):
        if fence or line.startswith("```"):
            fence = None if fence and line.startswith("```") else "```"
            line = ""
        item = ITEM.match(line)
        if not line or line[0] in "|#<" or item:
            yield " ".join(lines)
            lines = []
        if item:
            line = line[item.end() :]
        if line and line[0] not in "|#<":
            lines.append(line)
    yield " ".join(lines)


def sentences(text):
    for paragraph in paragraphs(text):
        paragraph = re.sub(r"`[^`]*`", "CODE", paragraph)
        paragraph = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
        for sentence in END.split(paragraph):
            if len(sentence.split()) > 2:
                yield sentence


def main():
    root = pathlib.Path(sys.argv[-1])
    files = [root / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING")]
    files += sorted(root.glob("docs/**/*.md")) + sorted(root.glob("examples/**/README.md"))
    count, long = 0, []
    for file in files:
        for sentence in sentences(file.read_text(encoding="utf-8")):
            count += 1
            words = len(sentence.split())
            if words > MOST_WORDS:
                long.append((words, file.relative_to(root), sentence))
    share = len(long) / count
    print(f"{len(long)} of {count} sentences have over {MOST_WORDS} words: {share:.1%}")
    if share > MOST_SHARE or "--list" in sys.argv:
        for words, file, sentence in sorted(long, key=lambda entry: -entry[0]):
            print(f"{words} {file}: {sentence}")
    return share > MOST_SHARE


if __name__ == "__main__":
    sys.exit(main())
