"""The calls of an upload at which a kill makes a difference: those where the kind of call changes."""

import itertools
import os

SYNCS = ("fsync", "fdatasync")
LONG = 8  # runs of this many similar calls also count one in the middle


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
    """The first and the last call of each run of similar calls, and one in the middle of a long run. A power cut undoes
    everything that was not synced: for it all calls between two syncs are equivalent."""
    alike = (lambda call: call[1:] if call[1] in SYNCS else ()) if how in ("power", "names") else (lambda call: call[1:])
    found = set()
    for _, run in itertools.groupby(calls, key=alike):
        numbers = [call[0] for call in run]
        found |= {numbers[0], numbers[-1]}
        if len(numbers) > LONG:
            found.add(numbers[len(numbers) // 2])
    return sorted(found)
