#!/usr/bin/env python3
"""Lists lines of prose that are longer than 120 characters: comments, docstrings, and Markdown outside code and tables.

  tools/lib/long_lines.py      exits with 1 if there are any

`swift format` handles code. A line with one long word, such as a URL, cannot be shorter.
"""

import ast
import os
import re
import subprocess
import sys

MOST = 120
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARKERS = {
    ".swift": ("//",), ".c": ("//", "/*", "*"), ".h": ("//", "/*", "*"), ".sql": ("--",), ".yaml": ("#",),
    ".modulemap": ("//",), ".py": ("#",), ".sh": ("#",),
}
# A test generates it from the migrations.
GENERATED = ("docs/schema.sql",)


def kind(path, text):
    """The ending of the file's name, or the one that its first line implies."""
    ending = os.path.splitext(path)[1]
    if ending or not text.startswith("#!"):
        return ending
    return ".py" if "python" in text.split("\n", 1)[0] else ".sh"


def docstrings(text):
    """The line numbers of all docstrings, from 1."""
    numbers = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first, "value", None), ast.Constant):
                numbers |= set(range(first.lineno, first.end_lineno + 1))
    return numbers


def markdown(lines):
    """The lines of Markdown that are prose, with their numbers."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not (fenced or line.startswith(("|", "    "))):
            yield number, line


def prose(path, text):
    lines = text.split("\n")
    ending = kind(path, text)
    if ending == ".md":
        yield from markdown(lines)
        return
    markers = MARKERS.get(ending)
    if not markers:
        return
    documented = docstrings(text) if ending == ".py" else ()
    for number, line in enumerate(lines, 1):
        if number in documented or line.lstrip().startswith(markers):
            yield number, line


def is_long(line):
    """Whether it is too long, but not a single long word or a row of a table."""
    text = re.sub(r"^\s*(///?|--|#+|\*)?\s*", "", line)
    return len(line) > MOST and " " in text.strip() and not text.startswith("|")


def main():
    os.chdir(ROOT)
    found = 0
    for path in subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.splitlines():
        if path in GENERATED or not os.path.isfile(path):
            continue
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            continue
        for number, line in prose(path, text):
            if is_long(line):
                found += 1
                print(f"{path}:{number}: {len(line)} characters; prose and comments have at most {MOST}")
    sys.exit(found > 0)


main()
