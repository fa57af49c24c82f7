#!/usr/bin/env python3
"""Names lines of prose that are longer than 120 characters: comments, docstrings, and Markdown outside code and tables.

  tools/lib/long_lines.py      exits with 1 when there are any

Code is the business of `swift format`. A line that holds one long word, such as a URL, cannot be shorter.
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
# A test writes it from the migrations.
GENERATED = ("docs/schema.sql",)


def kind(path, text):
    """The ending of the file's name, or the one that its first line speaks for."""
    ending = os.path.splitext(path)[1]
    if ending or not text.startswith("#!"):
        return ending
    return ".py" if "python" in text.split("\n", 1)[0] else ".sh"


def docstrings(text):
    """The numbers of the lines of all docstrings, from 1."""
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
    """Not a single long word, and not a row of a table."""
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
