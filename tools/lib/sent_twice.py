"""sent_twice.py RECORD: reads the receiver's record and reports files that were sent again. Exits with 1 if a file that
the receiver had acknowledged was sent again."""

import base64
import collections
import json
import sys

from whole_lines import whole_lines

acknowledged, again, started = set(), [], collections.Counter()
accepted = 0
path_of = {}
for line in whole_lines(sys.argv[1]):
    event = json.loads(line)
    request = (event["conn"], event["req"])
    if event["t"] == "start" and event["method"] == "PUT":
        path = path_of[request] = base64.b64decode(event["path_b64"])
        started[path] += 1
        if path in acknowledged:
            again.append(path)
    elif event["t"] == "bytes":
        accepted += event["length"]
    elif event["t"] == "answer" and request in path_of and 200 <= event["status"] < 300:
        acknowledged.add(path_of[request])

repeated = sum(count > 1 for count in started.values())
print(f"{len(acknowledged)} files acknowledged, {accepted / 2**20:.1f} MiB of bodies received")
print(f"sent a second time because they were in flight at the kill: {repeated - len(set(again))}")
print(f"sent again after they had been acknowledged: {len(set(again))}")
for path in again:
    print(f"  {path!r}")
sys.exit(1 if again else 0)
