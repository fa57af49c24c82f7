"""compare_trees.py SOURCE ARRIVED: compares every regular file of both trees byte for byte. Links, pipes and devices of
the source are not sent and not compared. Exits with 1 if anything differs."""

import filecmp
import hashlib
import os
import stat
import sys


def regular(folder):
    found = {}
    for place, _, names in os.walk(os.fsencode(folder)):
        for name in names:
            path = os.path.join(place, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                found[os.path.relpath(path, os.fsencode(folder))] = path
    return found


source, arrived = regular(sys.argv[1]), regular(sys.argv[2])
differences = [f"missing: {name!r}" for name in sorted(source.keys() - arrived.keys())]
differences += [f"never sent: {name!r}" for name in sorted(arrived.keys() - source.keys())]
tree = hashlib.sha256()
for name in sorted(source.keys() & arrived.keys()):
    if not filecmp.cmp(source[name], arrived[name], shallow=False):
        differences.append(f"content differs: {name!r}")
    with open(arrived[name], "rb") as file:
        tree.update(name + b"\0" + hashlib.file_digest(file, "sha256").digest())
for line in differences[:20]:
    print(line)
print(f"{len(source)} files sent, {len(arrived)} arrived, {len(differences)} differences; sha256 of all: {tree.hexdigest()}")
sys.exit(1 if differences else 0)
