"""Jobs as cron runs them: one that finds nothing new in a folder of known files, and the first run over many files."""

import os
import shutil

import commands
import measure


def configured(at, name, folder, url):
    path = f"{at.folder}/{name}.yaml"
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(f'jobs: {{{name}: {{from: ["{folder}"], to: "{url}/in/{name}/", settle: 0, syslog: false}}}}\n')
    return [at.binary, "job", "run", "--quiet", "--config", path, "--", name]


def jobs(at, options):
    """The files are empty, so that the time is that of scanning, comparing and recording. Each folder is sent once, and
    then scanned again several times."""
    sizes = {"known": 10_000 if options.quick else 100_000, "many": 20_000 if options.quick else 500_000}
    nginx, url = at.server("put", "plain")
    found = {}
    for name, count in sizes.items():
        folder = f"{at.folder}/job-{name}"
        measure.progress(f"making {count:,} files")
        commands.tree(folder, count)
        store, command = commands.fresh(at, f"job-{name}"), configured(at, name, folder, url)
        first = measure.run(command, store, nginx.pids())
        commands.show(f"first job run, {count:,} files", "transfers", first)
        arrived = sum(len(files) for _, _, files in os.walk(f"{nginx.folder}/data/in/{name}"))
        if arrived != count:
            raise measure.Failed(f"{arrived} of {count} files arrived")
        idle = [measure.run(command, store) for _ in range(max(3, options.rounds))]
        for run in idle:
            commands.show(f"idle job run, {count:,} files", "transfers", run)
        found[name] = {"files": count, "first": vars(first), "idle": vars(commands.typical(idle))}
        shutil.rmtree(folder)
        shutil.rmtree(f"{nginx.folder}/data/in/{name}")
    return found
