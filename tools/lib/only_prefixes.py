"""only_prefixes.py SOURCE ARRIVED [PID]: while an upload runs, each file on the server must be a prefix of its source,
or all of it: never a fragment from the middle. Checks once, or with a PID repeatedly until that process has ended. A
file without a source of its name must be a server's own temporary file (its name begins with a dot). Exits with 1 at
the first violation."""

import os
import sys
import time

source, arrived = map(os.fsencode, sys.argv[1:3])


def look():
    for place, _, names in os.walk(arrived):
        for name in names:
            path = os.path.join(place, name)
            origin = os.path.join(source, os.path.relpath(path, arrived))
            try:
                compare(path, origin)
            except FileNotFoundError:
                if not name.startswith(b".") and os.path.exists(path):
                    sys.exit(f"{path!r} was never sent")


def compare(path, origin):
    with open(path, "rb") as file:
        there = file.read()
    with open(origin, "rb") as file:
        if file.read(len(there)) != there:
            sys.exit(f"{path!r} has {len(there)} bytes that are not the beginning of its source")


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


look()
while len(sys.argv) > 3 and runs(sys.argv[3]):
    look()
    time.sleep(0.02)
look()
