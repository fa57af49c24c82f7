"""A tus client from PyPI (tuspy), in a private environment under .build; skipped if pip cannot install it."""

import os
import subprocess
import sys

from receiver import ROOT, Receiver, check, sample

NEEDED = "tuspy==1.1.0"
CONTENT = sample(1_000_000)
CLIENT = """
import sys
from tusclient.client import TusClient
url, path, chunk, checked = sys.argv[1:]
client = TusClient(url)
uploader = client.uploader(path, chunk_size=int(chunk), metadata={"filename": "in/tuspy"}, retries=3, retry_delay=0,
                           upload_checksum=checked == "yes")
uploader.upload()
"""


def environment():
    """The Python with the client; None if it cannot be installed."""
    folder = os.path.join(ROOT, ".build/tools/tuspy")
    python = os.path.join(folder, "bin/python3")
    if os.path.exists(python) and subprocess.run([python, "-c", "import tusclient"], capture_output=True).returncode == 0:
        return python
    for command in [[sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "--quiet", NEEDED]]:
        try:
            ended = subprocess.run(command, capture_output=True, timeout=300)
        except (OSError, subprocess.TimeoutExpired):
            return None
        if ended.returncode != 0:
            return None
    return python


def upload(python, receiver, chunk, checked="no"):
    path = receiver.write("source", CONTENT)
    command = [python, "-c", CLIENT, receiver.url + "/-/tus/", path, str(chunk), checked]
    ended = subprocess.run(command, capture_output=True, timeout=120)
    return ended.stderr.decode(), ended.returncode == 0 and receiver.object("in/tuspy") == CONTENT


def all_uploads():
    """Returns the number of skipped tests."""
    python = environment()
    if python is None:
        print(f"skipped tuspy: pip cannot install {NEEDED}")
        return 1
    with Receiver() as receiver:
        said = upload(python, receiver, 10_000_000)
        check("tuspy, one request", said, ("ranges", len(receiver.ranges("in/tuspy")) == 1))
    with Receiver() as receiver:
        said = upload(python, receiver, 300_000, "yes")
        expected = [(0, 300_000), (300_000, 300_000), (600_000, 300_000), (900_000, 100_000)]
        check("tuspy, chunks with checksums", said, (receiver.ranges("in/tuspy"), receiver.ranges("in/tuspy") == expected))
    with Receiver("match PATCH * nth=2 : lose-answer", "match PATCH * nth=3 : cut-after=100000") as receiver:
        said = upload(python, receiver, 400_000)
        commits = receiver.commits("in/tuspy")
        check("tuspy, a lost answer and an interruption", said, (commits, commits == [1_000_000]))
    return 0
