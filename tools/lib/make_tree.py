"""make_tree.py DIR SEED SMALL BIG MIB: a source tree, the same for the same seed: SMALL files of up to 64 KiB in a few
folders, BIG files of MIB MiB, an empty file, a name with a newline and a name that is not UTF-8."""

import os
import random
import sys

folder, seed, small, big, mib = sys.argv[1], *map(int, sys.argv[2:])
rng = random.Random(seed)


def put(name, size):
    path = os.path.join(os.fsencode(folder), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(rng.randbytes(1 << 20))
        file.write(rng.randbytes(size & (1 << 20) - 1))


for n in range(small):
    put(b"day-%02d/sample-%04d.dat" % (n % 7, n), rng.randrange(1, 65536))
for n in range(big):
    put(b"runs/big-%d.bin" % n, mib << 20)
put(b"empty", 0)
put(b"odd/two\nlines", 1234)
put(b"odd/latin-1-\xe9.txt", 4321)
