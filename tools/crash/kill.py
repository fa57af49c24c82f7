"""How a command is ended: a plan is a list of kills, one for each command before the one that must finish."""

import dataclasses
import os
import signal
import subprocess


LEDGER_ONLY = {"SHIM_CLASSES": "file", "SHIM_PATH": "ledger.db"}
# The folder that downloads go to.
TARGET_ONLY = {"SHIM_CLASSES": "file", "SHIM_PATH": "/target"}
SETTINGS = {
    "before": {"SHIM_KILL_BEFORE": "{}"},
    "after": {"SHIM_KILL_AFTER": "{}"},
    "net": {"SHIM_KILL_BEFORE": "{}", "SHIM_CLASSES": "net"},
    "power": {"SHIM_KILL_BEFORE": "{}", "SHIM_POWER": "1"},
    "names": {"SHIM_KILL_BEFORE": "{}", "SHIM_POWER": "1", "SHIM_POWER_NAMES": "/target/"},
    "room": {"SHIM_FAIL_FROM": "{}", "SHIM_ERRNO": "28"} | TARGET_ONLY,
    "disk": {"SHIM_FAIL_AT": "{}", "SHIM_ERRNO": "5"} | TARGET_ONLY,
    "full": {"SHIM_FAIL_FROM": "{}", "SHIM_ERRNO": "28", "TRANSFERS_DISK_WAIT": "0s"} | LEDGER_ONLY,
    "space": {"SHIM_FAIL_FROM": "{}", "SHIM_FAIL_COUNT": "3", "SHIM_ERRNO": "28"} | LEDGER_ONLY,
    "eio": {"SHIM_FAIL_AT": "{}", "SHIM_ERRNO": "5"} | LEDGER_ONLY,
}


@dataclasses.dataclass(frozen=True)
class Kill:
    """`before:17`, `after:17` (the 17th counted call, by the shim), `net:17` (the 17th socket write), `power:17` (the
    same, and unsynced data is undone), `names:17` (also renames and removals in the folder of downloads), `ms:34.5`
    (SIGKILL from outside after that time); and faults without a kill: `full:17` (from the 17th call on the ledger's
    files, each fails with ENOSPC), `space:17` (three of them do, then there is space again), `eio:17` (that one fails
    with EIO), `room:17` and `disk:17` (the same as full and eio in the folder of downloads)."""

    how: str
    at: float

    @staticmethod
    def parse(text):
        how, _, at = text.partition(":")
        if how not in SETTINGS and how != "ms":
            raise ValueError(f'unknown kill "{text}": {", ".join(SETTINGS)} with :N, or ms:T')
        return Kill(how, float(at) if how == "ms" else int(at))

    def __str__(self):
        return f"{self.how}:{self.at:.6g}"

    @property
    def is_fault(self):
        """The program survives the fault and has to exit by itself."""
        return self.how in ("full", "space", "eio", "room", "disk")

    @property
    def passes(self):
        """The disk works again before the program ends."""
        return self.how in ("space", "eio")

    def settings(self):
        return {name: value.format(int(self.at)) for name, value in SETTINGS[self.how].items()}


@dataclasses.dataclass
class Ended:
    """How a command ended. `killed` is true if our kill or fault hit it; a negative code is a signal."""

    command: list
    code: int
    out: str
    err: str
    killed: bool
    hung: bool = False

    def __str__(self):
        said = (self.err or self.out).strip().splitlines()
        return f"{' '.join(self.command[1:3])} … -> {self.code}" + (f" ({said[-1]})" if said else "")


class Runner:
    """Runs the program with a clean environment, with or without a kill."""

    def __init__(self, program, shim, environment, classes, limit=120):
        self.program, self.shim, self.classes, self.limit = program, shim, classes, limit
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        self.environment = kept | environment

    def run(self, arguments, home, store, kill=None, log=None, count=None, counted_as=None):
        """`counted_as` is a kind of kill: calls are numbered as for that kind, and none is hit."""
        environment = dict(self.environment, HOME=home, TRANSFERS_STORE=store)
        wait = self.limit
        outside = kill is not None and kill.how == "ms"
        if outside:
            wait = kill.at / 1000
        elif kill or count or counted_as:
            environment |= {"LD_PRELOAD": self.shim, "SHIM_CLASSES": self.classes}
            environment |= {"SHIM_LOG": log} if log else {}
            environment |= {"SHIM_COUNT": count} if count else {}
            environment |= kill.settings() if kill else {}
            environment |= {name: value for name, value in SETTINGS.get(counted_as, {}).items() if "{}" not in value}
        ended = self.ended([self.program, *arguments], environment, wait, kill, outside)
        if kill and kill.is_fault and log and os.path.exists(log):
            with open(log, "rb") as calls:
                ended.killed = any(line.endswith(b" FAILED\n") for line in calls)
        return ended

    def ended(self, command, environment, wait, kill, outside):
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        out_of_time = False
        try:
            out, err = process.communicate(timeout=wait)
        except subprocess.TimeoutExpired:
            out_of_time = True
            process.kill()
            out, err = process.communicate()
        killed = kill is not None and process.returncode == -signal.SIGKILL
        return Ended(
            command,
            process.returncode,
            out.decode(errors="replace"),
            err.decode(errors="replace"),
            killed,
            hung=out_of_time and not outside,
        )
