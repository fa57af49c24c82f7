"""Reads a file to which somebody else is still adding lines."""

import os

TAIL = 1 << 16


def whole_lines(path, start=0):
    """The lines from byte `start` on, without their newlines. The last one counts when its newline is there: until then
    it is being written. A whole line that is wrong is left to whoever reads it."""
    with open(path, "rb") as file:
        file.seek(start)
        return file.read().split(b"\n")[:-1]


def end_of_lines(path):
    """Where the next line begins, or has begun."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        for start in (max(0, size - TAIL), 0):
            file.seek(start)
            found = file.read(size - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
    return 0
