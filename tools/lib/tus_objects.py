"""tus_objects.py SERVER PREFIX INTO: what a started tus server (tools/servers start tus) holds under names that begin
with PREFIX/, as a folder. Its uploads are files of their id; the names are in its database. Of a name that is there
twice the last one counts."""

import glob
import json
import os
import shutil
import sqlite3
import sys

server, prefix, into = sys.argv[1:]
database = sqlite3.connect(f"file:{server}/uploads.db?mode=ro", uri=True)
rows = database.execute("SELECT upload_id, metadata FROM uploads WHERE completed AND NOT is_partial ORDER BY created_at").fetchall()
os.makedirs(into)
for upload, metadata in rows:
    name = json.loads(metadata).get("filename", "")
    if name.startswith(prefix + "/"):
        (path,) = glob.glob(f"{server}/data/{glob.escape(upload)}*")
        target = os.path.join(os.fsencode(into), os.fsencode(name.removeprefix(prefix + "/")))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
