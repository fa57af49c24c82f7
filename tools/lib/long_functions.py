#!/usr/bin/env python3
"""Lists functions of Sources with more than 40 lines, not counting blank lines, comments and text literals.

  tools/lib/long_functions.py      exits with 1 if there are any besides the exceptions, or an exception is not needed

`swift format` sees to it that the indentation shows where a function ends. The exceptions are lists of things that are
read one after the other, and would not become clearer in parts; new ones need a reason.
"""

import os
import re
import subprocess
import sys

MOST = 40
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEGINNING = re.compile(
    r"^( *)(?:@\w+(?:\(.*?\))? )*(?:(?:public|package|private|fileprivate|internal|static|final|mutating|nonmutating|"
    r"override|convenience|required|nonisolated|lazy|class)(?:\(set\))? )*(?:(func) |(init|deinit|subscript)\b|(var) )(.*)"
)
# By file: the functions, by name and labels.
EXCEPTIONS = {
    # One case for each change of a row, step of a protocol or status.
    "Sources/Receiver/Answer.swift": ["reason"],
    "Sources/TransferEngine/File/FileUnit+Apply.swift": ["apply"],
    # One line for each part of a run, in the order in which they refer to each other.
    "Sources/TransferEngine/Run/EngineLoop.swift": ["init"],
    # One case for each key, entry or report.
    "Sources/TransfersCLI/Commands/ReportCommand.swift": ["execute"],
    "Sources/TransfersCLI/Commands/TopCommand.swift": ["watch"],
}


def code(lines):
    """The numbers of the lines that count."""
    inside = False
    for number, line in enumerate(lines):
        quotes = line.count('"""')
        if inside or quotes:
            inside ^= quotes % 2 == 1
            continue
        text = line.strip()
        if text and not text.startswith("//"):
            yield number


def name(match):
    """Without its parameters."""
    return match.group(3) or re.match(r"\w+|\S+", match.group(5)).group(0)


def functions(lines):
    """Name, first line and number of counted lines of each function with a body."""
    counted = set(code(lines))
    for start, line in enumerate(lines):
        match = BEGINNING.match(line) if start in counted else None
        if not match:
            continue
        indentation = len(match.group(1))
        end = start
        closing = re.compile(r"^ {%d}[^ ]" % indentation)
        while end + 1 < len(lines):
            end += 1
            if end in counted and closing.match(lines[end]):
                if lines[end].strip().startswith(")") or lines[end].strip() == "{":
                    continue
                break
        if end in counted and lines[end].strip() == "}":
            yield name(match), start, sum(1 for number in range(start, end + 1) if number in counted)


def main():
    os.chdir(ROOT)
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "Sources/*.swift"], check=True, capture_output=True, text=True)
    faults = 0
    unused = {(path, one) for path, names in EXCEPTIONS.items() for one in names}
    for path in sorted(files.stdout.splitlines()):
        if not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for own, start, count in functions(lines):
            if count <= MOST:
                continue
            if (path, own) in unused or own in EXCEPTIONS.get(path, ()):
                unused.discard((path, own))
                continue
            faults += 1
            print(f"{path}:{start + 1}: {own} has {count} lines of code; functions have at most {MOST}")
    for path, own in sorted(unused):
        faults += 1
        print(f"{path}: {own} is short enough, and no exception in tools/lib/long_functions.py")
    sys.exit(faults > 0)


main()
