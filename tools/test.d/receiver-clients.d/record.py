"""The readers of the receiver's record, while the receiver writes it."""

import json
import os
import subprocess
import sys
import tempfile

from receiver import ROOT, check
from whole_lines import end_of_lines, whole_lines


def half_written_line():
    whole = b'{"t":"start","conn":1,"req":1,"method":"PUT","path_b64":"YQ=="}\n'
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "record.ndjson")
        for text, lines, end in [(b"", 0, 0), (b'{"t":"sta', 0, 0), (whole, 1, len(whole)), (whole + b'{"t', 1, len(whole))]:
            with open(path, "wb") as file:
                file.write(text)
            found = whole_lines(path)
            check(
                f"a record of {lines} lines and {len(text) - end} bytes of the next",
                ("lines are complete", [json.loads(line)["t"] for line in found] == ["start"] * lines),
                ("the next line begins there", end_of_lines(path) == end),
                ("a later read begins there", whole_lines(path, end) == []),
            )
        script = os.path.join(ROOT, "tools", "lib", "sent_twice.py")
        said = subprocess.run([sys.executable, script, path], capture_output=True)
        check("sent_twice reads it", (said.stderr.decode(), said.returncode == 0))
        with open(path, "wb") as file:
            file.write(b'{"t\n' + whole)
        said = subprocess.run([sys.executable, script, path], capture_output=True)
        check("a complete but invalid line is not ignored", ("it passed", said.returncode != 0))
