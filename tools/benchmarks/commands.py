"""Commands that send nothing: add from a list, the walk of a tree, manifests, and the start of the program."""

import gzip
import os
import shutil
import statistics

import measure

DESTINATION = "http://127.0.0.1:9/in/"  # nothing is sent there


def environment(store):
    kept = ("PATH", "LANG", "HOME", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"TRANSFERS_STORE": store}


def tree(folder, count):
    """Makes so many empty files, a thousand a folder; returns their paths."""
    paths = []
    for start in range(0, count, 1000):
        part = f"{folder}/{start // 1000:04}"
        os.makedirs(part)
        for n in range(start, min(start + 1000, count)):
            paths.append(f"{part}/file-{n}.bin")
            os.close(os.open(paths[-1], os.O_CREAT | os.O_WRONLY, 0o644))
    return paths


def show(name, client, result):
    mark = " †" if result.is_disturbed else ""
    print(f"{name:32} {client:10} {result.wall:7.2f} s {result.cpu:7.2f} CPU s {result.rss_mib:4.0f} MiB  other {result.other:.2f}{mark}", flush=True)


def fresh(at, name):
    folder = f"{at.disk}/{name}"
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    return environment(f"{folder}/transfers.db")


def typical(runs):
    return min(runs, key=lambda run: abs(run.wall - statistics.median(r.wall for r in runs)))


def walk(at, options):
    """A tree is read and compared with an empty ledger, beside `find -printf`. Nothing is written or printed:
    `--dry-run --quiet`."""
    folder, count = f"{at.folder}/walk", 20_000 if options.quick else 200_000
    measure.progress(f"making {count:,} files")
    tree(folder, count)
    ours = [at.binary, "add", "--dry-run", "--quiet", folder + "/", DESTINATION]
    find = ["find", folder, "-type", "f", "-printf", "%s %T@ %p\\n"]
    runs = {"transfers": [], "find": []}
    for _ in range(max(3, options.rounds)):
        for name, command in (("transfers", ours), ("find", find)):
            runs[name].append(measure.run(command, fresh(at, "walk")))
            show(f"walk of {count:,}", name, runs[name][-1])
    shutil.rmtree(folder)
    return {name: vars(typical(all_runs)) | {"files": count} for name, all_runs in runs.items()}


def add(at, options):
    """A list of files is recorded: each file is checked, and has its row. The ledger is kept for `start`."""
    folder, count = f"{at.folder}/add", 20_000 if options.quick else 1_000_000
    measure.progress(f"making {count:,} files")
    paths = tree(folder, count)
    with open(f"{at.folder}/list", "w") as file:
        file.write("\n".join(paths) + "\n")
    command = [at.binary, "add", "--quiet", "--files-from", f"{at.folder}/list", DESTINATION]
    result = measure.run(command, fresh(at, "million"))
    show(f"add --files-from, {count:,}", "transfers", result)
    shutil.rmtree(folder)
    return vars(result) | {"files": count}


def manifests(at, options):
    """Manifests of many lines, plain and compressed: memory must not grow with their number."""
    count = 20_000 if options.quick else 1_000_000
    found = {"files": count, "commands": manifest_commands(at, count, ("convert", "packed", "analyze", "shard"))}
    if options.long:
        found["long"] = {"files": 10_000_000, "commands": manifest_commands(at, 10_000_000, ("shard",))}
    return found


def manifest_commands(at, count, names):
    """The commands of these names with a manifest of so many files."""
    folder = f"{at.disk}/manifests"
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    measure.progress(f"writing a manifest of {count:,} files")
    plain, packed = f"{folder}/m.jsonl", f"{folder}/m.jsonl.gz"
    with open(plain, "w") as file:
        for n in range(count):
            path = f"{n // 1000:05}/file-{n}.bin"
            file.write(f'{{"path":"{path}","size":{n % 9973},"sha256":"{n:064x}"}}\n')
    if "packed" in names:
        with open(plain, "rb") as source, gzip.open(packed, "wb", 1) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    out = ["--quiet", "-o", f"{folder}/out"]
    commands = {
        "convert": ["convert", plain, "--to", "csv", *out],
        "packed": ["convert", packed, "--to", "sums", *out],
        "analyze": ["analyze", plain, "--quiet"],
        "shard": ["shard", plain, "--shards", "16", "--into", f"{folder}/parts", "--quiet"],
    }
    found = {}
    for name in names:
        result = measure.run([at.binary, "manifest", *commands[name]], environment(f"{folder}/l.db"))
        show(f"manifest {name}, {count:,}", "transfers", result)
        found[name] = vars(result)
    shutil.rmtree(folder)
    return found


def start(at, options):
    """Starts each of them thirty times, in turns."""
    empty, million = fresh(at, "empty"), environment(f"{at.disk}/million/transfers.db")
    measure.repeat(1, [at.binary, "add", "--quiet", at.binary, DESTINATION], empty)
    commands = {
        "curl --version": ([at.peers["curl"], "--version"], empty),
        "transfers --version": ([at.binary, "--version"], empty),
        "status, one file": ([at.binary, "status"], empty),
    }
    if os.path.exists(million["TRANSFERS_STORE"]):
        commands["status, after add"] = ([at.binary, "status"], million)
    runs = {name: [] for name in commands}
    for _ in range(5 if options.quick else 30):
        for name, (command, variables) in commands.items():
            runs[name] += measure.repeat(1, command, variables)
    found = {}
    for name, all_runs in runs.items():
        least, middle = min(run.wall for run in all_runs), statistics.median(run.wall for run in all_runs)
        cpu, rss = statistics.median(run.cpu for run in all_runs), max(run.rss_mib for run in all_runs)
        print(f"{'start':32} {name:20} least {least * 1e3:6.1f} ms  median {middle * 1e3:6.1f} ms  {cpu * 1e3:5.1f} CPU ms  {rss:3.0f} MiB")
        found[name] = {"least_ms": least * 1e3, "median_ms": middle * 1e3, "cpu_ms": cpu * 1e3, "rss_mib": rss}
    return found
