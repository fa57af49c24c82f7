"""unquoted.py FROM INTO: the tree of a server that stores names percent-encoded as in URLs, with decoded names."""

import os
import sys
import urllib.parse

origin, into = sys.argv[1:3]
for place, _, names in os.walk(origin):
    for name in names:
        path = os.path.join(place, name)
        target = os.path.join(os.fsencode(into), urllib.parse.unquote_to_bytes(os.path.relpath(path, origin)))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.link(path, target)
