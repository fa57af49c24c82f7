"""only_prefixes.py SOURCE ARRIVED [PID]: while an upload is on its way, each file at the server is the beginning of its
source, or all of it: never a fragment from the middle. Looks once, and with a PID again and again until that process
has ended. What has no source of its name must be a server's own temporary file (its name begins with a dot). Exits 1
with the first that is not so."""

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
                    sys.exit(f"nobody sent {path!r}")


def compare(path, origin):
    with open(path, "rb") as file:
        there = file.read()
    with open(origin, "rb") as file:
        if file.read(len(there)) != there:
            sys.exit(f"{path!r} holds {len(there)} bytes that are not the beginning of its source")


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
