"""Which calls of an upload differ for a kill: the places where the calls turn to something else."""

import itertools
import os

SYNCS = ("fsync", "fdatasync")
LONG = 8  # of so many like calls one in the middle counts too


def read(path):
    """(number, name, file) of each line that the shim logged."""
    calls = []
    with open(path, errors="surrogateescape") as lines:
        for line in lines:
            number, _, name, *rest = line.split(None, 3)
            file = os.path.basename(rest[0].strip()) if rest else ""
            calls.append((int(number), name.removesuffix("64"), file))
    return sorted(calls)


def chosen(calls, how):
    """Of each run of like calls the first and the last, and one in the middle of a long run. A power cut takes back
    whatever was not synced: to it all calls between two syncs are alike."""
    alike = (lambda call: call[1:] if call[1] in SYNCS else ()) if how in ("power", "names") else (lambda call: call[1:])
    found = set()
    for _, run in itertools.groupby(calls, key=alike):
        numbers = [call[0] for call in run]
        found |= {numbers[0], numbers[-1]}
        if len(numbers) > LONG:
            found.add(numbers[len(numbers) // 2])
    return sorted(found)
