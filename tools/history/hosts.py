"""The servers and the jobs of the generated history, and the weather at these servers.

Hosts are names of RFC 6761 and addresses of RFC 5737 and RFC 3849: none of them can be reached.
"""

import dataclasses

MIB = 1 << 20
HOUR = 3_600_000  # ms
DAY = 24 * HOUR


@dataclasses.dataclass
class Host:
    name: str
    protocol: str
    destination: str  # as typed
    place: str  # the canonical form of `destination` (for downloads without the folder)
    addresses: tuple
    http: str
    connect: tuple  # median ms of name lookup, TCP and TLS, each counted from the start
    first_byte: float  # median ms until the answer begins
    rate: float  # median bytes per second of one connection
    chunk: int  # bytes of a part; 0 for whole files
    confirmation: str
    options: dict = dataclasses.field(default_factory=dict)
    weather: list = dataclasses.field(default_factory=list)

    @property
    def is_download(self):
        return self.protocol == "get"


@dataclasses.dataclass
class Job:
    name: str
    host: str
    hours: tuple  # UTC, each a batch
    share: float  # of all files
    workers: int
    folder: str
    labels: dict
    largest: int = 20 << 30


def hosts():
    made = [
        Host("s3.archive.example", "s3", "s3://archive/nightly/", "s3://archive/", ("192.0.2.10", "192.0.2.11"), "1.1",
             (4, 19, 55), 34, 21 * MIB, 8 * MIB, "digest", {"endpoint-url": "https://s3.archive.example"}),
        Host("up3.example", "put", "https://up3.example/in/", "https://up3.example/", ("198.51.100.7",), "1.1",
             (2, 9, 30), 18, 26 * MIB, 0, "digest"),
        Host("media.example", "tus", "tus+https://media.example/files/", "https://media.example/files/", ("203.0.113.20",),
             "2", (6, 41, 120), 90, 9 * MIB, 16 * MIB, "size"),
        Host("cloud.example", "dav", "dav+https://cloud.example/dav/", "https://cloud.example/", ("2001:db8::31",), "1.1",
             (8, 60, 180), 140, 5 * MIB, 0, "size"),
        Host("data.example", "get", "https://data.example/pub/", "https://data.example/", ("203.0.113.80", "203.0.113.81"), "2",
             (3, 25, 70), 45, 17 * MIB, 8 * MIB, "digest"),
        Host("forms.example:8443", "post", "post+https://forms.example:8443/reports/", "https://forms.example:8443/",
             ("198.51.100.99",), "1.1", (2, 12, 40), 160, 4 * MIB, 0, "none"),
    ]  # fmt: skip
    return {host.name: host for host in made}


JOBS = (
    Job("nightly-archive", "s3.archive.example", (2,), 0.44, 12, "/srv/archive", {"team": "storage", "kind": "backup"}),
    Job("lab-uploads", "up3.example", (9, 13, 17), 0.24, 6, "/srv/lab", {"team": "lab"}),
    Job("fetch-public", "data.example", (5,), 0.14, 8, "/srv/public", {"team": "lab", "kind": "mirror"}),
    Job("media", "media.example", (22,), 0.09, 4, "/srv/media", {"team": "press"}),
    Job("shared-folder", "cloud.example", (12,), 0.06, 3, "/home/office/Ablage", {"team": "office"}, 2 << 30),
    Job("daily-reports", "forms.example:8443", (18,), 0.03, 2, "/srv/reports", {"team": "office", "kind": "report"}, 8 << 20),
)


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault that an attempt meets instead of success."""

    code: str
    message: str
    status: int = None
    curl: int = None
    sent: float = 0.0  # the largest share of the body that was sent
    ms: int = 0  # its minimum duration
    retry_after: int = None  # ms
    is_permanent: bool = False
    is_unheard: bool = False  # the request may have been carried out
    has_connection: bool = True


RESET = Fault("net.reset", "the connection was cut", curl=55, sent=1.0, is_unheard=True)
TIMEOUT = Fault("net.timeout", "no answer after 30 s", curl=28, sent=1.0, ms=30_000, is_unheard=True)
STALLED = Fault("net.stalled", "less than 1 B/s for 60 s", curl=28, sent=0.6, ms=60_000, is_unheard=True)
DNS = Fault("net.dns", "could not resolve the host name", curl=6, ms=5_000, has_connection=False)
UNREACHABLE = Fault("net.connect_timeout", "no connection after 10 s", curl=28, ms=10_000, has_connection=False)
FAILED = Fault("http.500", "the server answered 500", status=500, curl=0, sent=1.0, is_unheard=True)
GATEWAY = Fault("http.502", "the server answered 502", status=502, curl=0, sent=0.5, is_unheard=True)
OVERLOADED = Fault("http.503", "the server answered 503", status=503, curl=0, sent=0.3, retry_after=30_000)
BUSY = Fault("http.503", "the server answered 503", status=503, curl=0, sent=0.1)
SLOW_DOWN = Fault("http.429", "the server answered 429", status=429, curl=0, retry_after=5_000)
TOO_LARGE = Fault("http.413", "the server answered 413", status=413, curl=0, sent=0.01, is_permanent=True)
FORBIDDEN = Fault("http.403", "the server answered 403", status=403, curl=0, is_permanent=True)
MISSING = Fault("http.404", "the server answered 404", status=404, curl=0, is_permanent=True)
CHANGED = Fault("source.changed", "the file changed while it was sent", sent=0.7, is_permanent=True)
LOST = Fault("proto.lost_answer", "the answer was lost", curl=56, sent=1.0, is_unheard=True, is_permanent=True)

# Faults that happen anywhere, as shares of the attempts.
EVERYWHERE = ((0.0045, RESET), (0.0060, TIMEOUT), (0.0066, STALLED), (0.0080, FAILED), (0.0110, BUSY), (0.0125, GATEWAY))
TOO_LARGE_FROM = 5 << 30  # bytes, at up3.example


def weather(found, start, days):
    """Incidents: (from, until, share of the attempts, fault). One of each kind, and more in long histories."""

    def incident(name, day, hour, hours, share, fault):
        begin = start + min(day, days - 1) * DAY + int(hour * HOUR)
        found[name].weather.append((begin, begin + int(hours * HOUR), share, fault))

    incident("up3.example", 0.63 * days // 1, 17, 2.5, 0.55, OVERLOADED)
    for day in range(3, days, 7):
        incident("s3.archive.example", day, 2, 0.05, 0.3, SLOW_DOWN)
    incident("media.example", days * 0.3 // 1, 22, 0.25, 0.6, DNS)
    incident("data.example", days * 0.5 // 1, 5, 0.25, 0.6, UNREACHABLE)
    incident("cloud.example", days * 0.75 // 1, 12, 0.5, 0.4, TIMEOUT)
    incident("cloud.example", days - 1, 12, 0.3, 0.15, FORBIDDEN)


def pace(host, t, start, days):
    """How much slower than usual a server is at this time: in office hours, and one that became slower in the last
    week."""
    hour = t // HOUR % 24
    slow = 1.5 if 9 <= hour < 17 else 1.0
    return slow * 2.0 if host.name == "media.example" and t > start + days * DAY * 3 // 4 else slow
