"""awkward_tree.py DIR SEED [LEFT-OUT …]: a source tree, the same for the same seed, of names and sizes that servers and
clients often handle wrongly. LEFT-OUT names what the server cannot store, which is then omitted: `control` (names with
control characters), `not-utf8`, `folders` (everything is in one folder), `quotes` (a name with a double quote),
`backslash`."""

import os
import random
import sys

MIB = 1 << 20
folder, rng, left_out = os.fsencode(sys.argv[1]), random.Random(int(sys.argv[2])), set(sys.argv[3:])
if unknown := left_out - {"control", "not-utf8", "folders", "quotes", "backslash"}:
    sys.exit(f"awkward_tree: unknown {unknown}")

# Sizes around the read buffer, the upload buffer and the part size that the tests use.
SIZES = [0, 1, 65535, 65536, 65537, MIB // 4, MIB - 1, MIB, MIB + 1, 3 * MIB]
NAMES = [b"space here", b"percent%41", b"plus+and&amp;", b"single'quote", b"hash#question?", b"semi;colon:comma,", "euro-€-smile-😀-e\u0301".encode(), b"-dash-first", b".dot-first", b"brackets[1]{2}<3>", b"x" * 120]  # fmt: skip


def put(name, size):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(rng.randbytes(size))


def place(name):
    return name.replace(b"/", b"--") if "folders" in left_out else name


for size in SIZES:
    put(b"size-%d.bin" % size, size)
put(place(b"one/two/three/deep.bin"), 1000)
for name in NAMES:
    put(name, 100)
put(place(b"a folder % with \xc3\xa9/x y.bin"), 1001)
if "quotes" not in left_out:
    put(b'a "quoted" name', 1002)
if "backslash" not in left_out:
    put(b"back\\slash", 1003)
if "control" not in left_out:
    put(b"two\nlines\tand\x7f", 1234)
if "not-utf8" not in left_out:
    put(b"latin-1-\xe9.txt", 4321)
