"""Where the CPU time of one push goes: `perf record`, by thread, library and function."""

import collections
import os
import re
import shutil
import subprocess
import sys

import clients
import work


def profile(at, options):
    """10,000 × 16 KiB by PUT."""
    if not shutil.which("perf"):
        sys.exit("bench: profile needs perf (Debian: linux-perf)")
    small = (work.QUICK if options.quick else work.FULL)[-1]
    at.make(small)
    server, url = at.server("put", "plain")
    client = clients.Transfers(at, "put", "plain", url, None)
    client.prepare(small)
    data = f"{at.folder}/perf.data"
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o", data, *client.command(small)]
    subprocess.run(command, env=client.environment(), check=True, stdout=subprocess.DEVNULL)
    server.compare(at.source(small), small, at.expected[small], every_byte=True)
    threads = stacks(data)
    total = sum(map(len, threads.values()))
    print(f"{total} samples of {' '.join(client.command(small))}")
    for thread, samples in sorted(threads.items(), key=lambda pair: -len(pair[1])):
        if len(samples) > total / 200:
            show(thread, samples, total)
    os.remove(data)


def stacks(data):
    """The samples of each thread; a sample is a list of frames (function, library), the innermost first."""
    words = ["perf", "script", "-i", data, "-F", "tid,ip,sym,dso"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    threads, sample = collections.defaultdict(list), []
    for line in demangled(text).splitlines():
        if found := re.match(r"\s*(\d+)\s*$", line):
            sample = []
            threads[int(found[1])].append(sample)
        elif found := re.match(r"\s+[0-9a-f]+ (.*) \((.*)\)$", line):
            sample.append((found[1], os.path.basename(found[2])))
    return threads


def demangled(text):
    done = subprocess.run(["swift", "demangle", "--simplified"], input=text, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else text


# Threads have no names, but each has a function that no other thread has.
NAMES = {"Writer.work()": "ledger writer", "PoolLoop.run()": "libcurl", "EngineLoop.work()": "engine loop", "PreparingPool": "preparing"}


def name(samples):
    seen = {function for sample in samples for function, library in sample if library == "transfers"}
    return next((title for part, title in NAMES.items() if any(part in function for function in seen)), "another")


def show(thread, samples, total):
    def share(count):
        return f"{100 * count / total:5.1f} %"

    libraries = collections.Counter(sample[0][1] for sample in samples if sample)
    told = ", ".join(f"{library} {share(count).strip()}" for library, count in libraries.most_common(5))
    print(f"\n{share(len(samples))}  {name(samples)} (thread {thread}): {told}")
    own = collections.Counter(sample[0] for sample in samples if sample)
    for (function, library), count in own.most_common(15):
        print(f"  {share(count)}  {library:22} {function[:100]}")
