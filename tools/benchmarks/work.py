"""What is sent: the three works, their files, and the CRC of each file."""

import dataclasses
import functools
import os
import random
import subprocess

import built

MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Work:
    name: str
    files: int
    size: int  # bytes of each

    @property
    def bytes(self):
        return self.files * self.size

    @functools.cached_property
    def names(self):
        return [f"{n // 1000:03}/{n:06}.bin" for n in range(self.files)]

    @property
    def title(self):
        size = f"{self.size >> 20} MiB" if self.size >= MIB else f"{self.size >> 10} KiB"
        return f"{self.files:,} × {size}" if self.files > 1 else size

    def rate(self, wall):
        return f"{self.files / wall:,.0f} files/s" if self.size < MIB else f"{self.bytes / MIB / wall:,.0f} MiB/s"


FULL = [Work("large", 1, 2048 * MIB), Work("medium", 64, 32 * MIB), Work("small", 10_000, 16 << 10)]
QUICK = [Work("large", 1, 256 * MIB), Work("medium", 16, 16 * MIB), Work("small", 2_000, 16 << 10)]
SMOKE = [Work("large", 1, 24 * MIB), Work("medium", 3, 9 * MIB), Work("small", 40, 16 << 10)]


def make(folder, work):
    """Writes the files of a work: bytes that neither compress nor repeat."""
    rng = random.Random(work.files)
    for name in work.names:
        path = f"{folder}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            for at in range(0, work.size, MIB):
                file.write(rng.randbytes(min(MIB, work.size - at)))


def crcs(folder, work):
    """The CRC-64/NVME of every file in hex, by name."""
    paths = "".join(f"{folder}/{name}\n" for name in work.names)
    done = subprocess.run([built.crcs()], input=paths, stdout=subprocess.PIPE, text=True, check=True)
    return dict(zip(work.names, done.stdout.split(), strict=True))
