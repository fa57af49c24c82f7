"""Source trees, the same for the same seed."""

import os
import random

MIB = 1 << 20

SMALL = [
    ("empty", 0),
    ("one", 1),
    ("four-kib.bin", 4096),
    ("sub dir/with space+%41&é.bin", 100_003),
    ("sub dir/deeper/x", 300_000),
]
# S3: three parts with --part-size 5M, the smallest part that servers accept. Protocols with smaller chunks: six with 1M
# (three of Qiniu's 4 MiB would take longer without showing more). Elsewhere a file is one request.
BIG = {"parts": 10 * MIB + 12_345, "chunks": 5 * MIB + 12_345, "whole": 1 * MIB + 12_345}


def make(folder, seed, tree):
    """Writes the tree; returns {relative name: bytes}."""
    rng = random.Random(seed)
    content = {name: rng.randbytes(size) for name, size in [*SMALL, ("big.bin", BIG[tree])]}
    for name, data in content.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    return content
