"""tus_objects.py SERVER PREFIX INTO: writes the uploads of a running tus server (tools/servers start tus) whose names
begin with PREFIX/ into a folder. Its uploads are files named by their ID; the names are in its database. If a name
occurs twice, the last upload counts. With `--id NAME`
instead of INTO, prints the ID of PREFIX/NAME."""

import glob
import json
import os
import shutil
import sqlite3
import sys

server, prefix = sys.argv[1:3]
into, wanted = (sys.argv[3], None) if sys.argv[3] != "--id" else (None, f"{prefix}/{sys.argv[4]}")
database = sqlite3.connect(f"file:{server}/uploads.db?mode=ro", uri=True)
rows = database.execute("SELECT upload_id, metadata FROM uploads WHERE completed AND NOT is_partial ORDER BY created_at").fetchall()
if into:
    os.makedirs(into)
for upload, metadata in rows:
    name = json.loads(metadata).get("filename", "")
    if name == wanted:
        print(upload)
    if into and name.startswith(prefix + "/"):
        (path,) = glob.glob(f"{server}/data/{glob.escape(upload)}*")
        target = os.path.join(os.fsencode(into), os.fsencode(name.removeprefix(prefix + "/")))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
