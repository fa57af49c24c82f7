"""curl, exactly as in `transfers-receiver --help`: every line of every protocol."""

import base64
import os
import re
import subprocess
import zlib

from receiver import Receiver, check, programs, sample

CONTENT = sample(1000)
CUT = 300
# The meaning of each placeholder in the help, and where an answer contains its value.
ANSWERS = {
    "L": r'(?:Location: |"uploadUrl":")([^"\s]+)', "T": r'"upToken":"([^"]+)', "URL": r'"fileUrl":"([^"]+)',
    "CTX": r'"ctx":"([^"]+)', "ID": r'"(?:uploadId|session_id)":"([^"]+)', "E": r'"etag":"([^"]+)',
}


def flows():
    """(heading, command lines) of the protocols in the help."""
    shown = subprocess.run([os.path.join(programs(), "transfers-receiver"), "--help"], capture_output=True, check=True)
    text = shown.stdout.decode().split("Upload protocols, all below /-/", 1)[1].split("Script (--script)", 1)[0]
    found = []
    for block in re.split(r"\n\n(?=  \S)", text)[1:]:
        heading, *lines = block.split("\n")
        joined = re.sub(r"\\\n\s*(?=blockSize)", "", "\n".join(lines))
        joined = re.sub(r",\n\s*\\\"", ',\\"', re.sub(r"\\\n\s*", " ", joined))
        found.append((heading.strip(), [line.strip() for line in joined.split("\n") if line.strip().startswith("curl")]))
    return found


def filled(line, known):
    """The line with the values from the answers so far."""
    line = line.replace("upToken=T&", f"upToken={known.get('T', 'T')}&").replace('"URL"', f'"{known.get("URL", "")}"')
    line = line.replace("-d CTX ", f"-d {known.get('CTX', '')} ").replace("/KEY/", f"/{known['KEY']}/")
    line = re.sub(r'/ID(?=[/"])', "/" + known.get("ID", ""), line).replace('\\"ID\\"', f'\\"{known.get("ID", "")}\\"')
    line = line.replace('"etag":"E"', f'"etag":"{known.get("E", "")}"').replace("crc=CRC32", f"crc={known['CRC32']}")
    return line.replace("Upload-Offset: N", f"Upload-Offset: {CUT}")


def run(receiver, lines):
    """Runs the lines one after the other and returns their output."""
    known = {"KEY": base64.b64encode(b"in/a").decode(), "CRC32": f"{zlib.crc32(CONTENT):08x}"}
    said = ""
    for line in lines:
        environment = dict(
            os.environ, U=receiver.url, S=str(len(CONTENT)), L=known.get("L", ""),
            D=receiver.url + "/-/nextcloud/remote.php/dav", P=receiver.url + "/-/davpatch",
        )
        command = filled(line, known).replace("curl ", "curl -sS ", 1)
        ended = subprocess.run(
            ["bash", "-c", command], cwd=receiver.folder, env=environment, capture_output=True, timeout=60
        )
        answer = (ended.stdout + ended.stderr).decode(errors="replace")
        said += f"$ {command}\n{answer}\n"
        for name, pattern in ANSWERS.items():
            if match := re.search(pattern, answer):
                known[name] = match[1]
    return said


def all_lines():
    found = flows()
    check("the help has all protocols", (found, len(found) == 13 and all(lines for _, lines in found)))
    for heading, lines in found:
        # An interrupted upload, so that there is something to resume.
        rules = [f"match PUT /-/resumable/* nth=1 : cut-after={CUT}"] if "IETF" in heading else []
        qiniu = [lines[:2], lines[2:]] if "Qiniu" in heading else [lines]
        for part, flow in enumerate(qiniu):
            with Receiver(*rules) as receiver:
                receiver.write("a", CONTENT)
                receiver.write("rest", CONTENT[CUT:])
                said = run(receiver, flow)
                facts = [(said, receiver.object("in/a") == CONTENT), (said, receiver.commits("in/a") == [len(CONTENT)])]
                if "IETF" in heading:
                    facts.append((said, "< HTTP/1.1 104 Upload Resumption Supported" in said))
                check(f"curl: {heading}" + (f", {part + 1}" if len(qiniu) > 1 else ""), *facts)
