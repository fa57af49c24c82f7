"""Reads a file to which another process is still appending lines."""

import os

TAIL = 1 << 16


def whole_lines(path, start=0):
    """The lines from byte `start` on, without their newlines. The last one counts only with its newline: until then it
    is being written. A complete but invalid line is left to the caller."""
    with open(path, "rb") as file:
        file.seek(start)
        return file.read().split(b"\n")[:-1]


def end_of_lines(path):
    """The position at which the next line begins."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        for start in (max(0, size - TAIL), 0):
            file.seek(start)
            found = file.read(size - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
    return 0
