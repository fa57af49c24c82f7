"""status_number.py NAME: a number of the document that `transfers status --json` printed, from standard input."""

import json
import sys

print(json.load(sys.stdin)["data"][sys.argv[1]])
