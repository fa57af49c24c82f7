"""The comparison: each work, by each protocol with and without TLS, by each client, in turns."""

import fnmatch
import statistics
import sys

import clients
import machine
import measure
import servers


class Cell:
    """One client in one group with one work, and its runs."""

    def __init__(self, at, protocol, line, client, work):
        self.protocol, self.line, self.work = protocol, line, work
        self.server, url = at.server(protocol, line)
        self.client = client(at, protocol, line, url, at.nginx().ca)
        self.runs, self.integrity = [], "?"

    @property
    def group(self):
        return f"{self.protocol}/{self.line}/{self.work.name}"

    @property
    def name(self):
        return f"{self.group}/{self.client.name}"

    def run(self, at):
        self.server.empty()
        self.client.prepare(self.work)
        command = self.client.command(self.work)
        result = measure.run(command, self.client.environment(), self.server.pids())
        self.integrity = self.server.compare(at.source(self.work), self.work, at.expected[self.work], every_byte=not self.runs)
        self.runs.append(result)
        return result

    def median(self, field):
        return statistics.median(getattr(run, field) for run in self.runs)

    def figures(self):
        """The medians, as they are written to the JSON document."""
        typical = min(self.runs, key=lambda run: abs(run.wall - self.median("wall")))
        return {
            "group": self.group, "client": self.client.name, "files": self.work.files, "bytes": self.work.bytes,
            "wall_s": round(self.median("wall"), 3), "cpu_s": round(self.median("cpu"), 3),
            "cpu_s_per_gib": round(self.median("cpu") / (self.work.bytes / 2**30), 3),
            "rss_mib": round(max(run.rss_mib for run in self.runs), 1), "server_cpu_s": round(self.median("server"), 2),
            "limit": typical.limit, "integrity": self.integrity, "disturbed": any(run.is_disturbed for run in self.runs),
            "runs": [vars(run) for run in self.runs],
        }  # fmt: skip


def cells(at, works, only):
    lines = ["plain", "tls"] if at.options.tls else ["plain"]
    found = []
    for (protocol, line), group in clients.GROUPS.items():
        for work in works:
            names = [f"{protocol}/{line}/{work.name}/{client.name}" for client in group]
            wanted = [client for client, name in zip(group, names) if fnmatch.fnmatch(name, only) and client.fits(protocol, work)]
            if line in lines and wanted:
                found += [(protocol, line, client, work) for client in wanted]
    if not found:
        sys.exit(f"bench: --only {only} matches nothing; for example put/plain/small/*, or *transfers")
    for work in {work.name: work for *_, work in found}.values():
        measure.progress(f"making {work.title}")
        at.make(work)
    return [Cell(at, *cell) for cell in found]


def compare(at, works, rounds, only="*"):
    """All rounds; returns the cells with their runs. The clients of a group take turns, in reverse order in every other
    round."""
    all_cells = cells(at, works, only)
    take_turns(at, all_cells, rounds)
    return all_cells


def take_turns(at, all_cells, rounds):
    for number in range(rounds):
        order = sorted(all_cells, key=lambda cell: cell.group)
        for cell in order if number % 2 == 0 else reversed(order):
            if number == 0:
                print("$ " + " ".join(cell.client.command(cell.work)), flush=True)
            try:
                print(f"{cell.name:32} {cell.run(at)}", flush=True)
            except (servers.Wrong, measure.Failed) as wrong:
                sys.exit(f"bench: {cell.name}: {wrong}")


def summary(all_cells):
    rounds = len(all_cells[0].runs)
    print(f"\nMedians of {rounds}, both ends on this machine's {machine.CORES} cores. Integrity is what the server saw with the bodies.")
    for group in dict.fromkeys(cell.group for cell in all_cells):
        members = [cell for cell in all_cells if cell.group == group]
        print(f"\n{group}: {members[0].work.title}")
        print("  client        wall s   CPU s  CPU s/GiB   MiB  rate              limit                  integrity")
        for cell in members:
            f = cell.figures()
            print(
                f"  {f['client']:10} {f['wall_s']:9.2f} {f['cpu_s']:7.2f} {f['cpu_s_per_gib']:10.2f} {f['rss_mib']:5.0f}  "
                f"{cell.work.rate(cell.median('wall')):16}  {f['limit']:21}  {f['integrity']}{' †' if f['disturbed'] else ''}"
            )
        ratios(members)


def ratios(members):
    ours = next((cell for cell in members if cell.client.name == "transfers"), None)
    for cell in members:
        if ours and cell is not ours:
            wall, cpu = (ours.median(field) / max(cell.median(field), 0.01) for field in ("wall", "cpu"))
            print(f"  transfers is {wall:.2f} × the wall and {cpu:.2f} × the CPU of {cell.client.name}")
