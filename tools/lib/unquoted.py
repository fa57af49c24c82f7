"""unquoted.py FROM INTO: the tree of a server that keeps names as they stand in URLs, with the names that are meant."""

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
