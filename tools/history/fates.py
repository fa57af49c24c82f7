"""The fate of an attempt: how long it takes, and whether it meets a fault. Drawn from the host and its weather."""

import hosts


class Fate:
    """`fault` is None if it succeeds. `sent` counts body bytes. Moments are in ms: `body` is when the whole body of an
    upload had been sent, `held` is how long a rate limit delayed a body."""

    __slots__ = ("fault", "sent", "dns", "connect", "tls", "body", "first_byte", "total", "held", "address")

    def __init__(self):
        self.fault = None
        self.sent = 0
        self.dns = self.connect = self.tls = self.body = self.first_byte = self.held = self.address = None
        self.total = 0

    def fall_asleep(self, passed, length):
        """The machine is suspended after this many ms. The other moments are those of libcurl, whose clock stops,
        too."""
        if self.body is not None and self.body > passed:
            self.body += length
        self.total += length


class Fates:
    def __init__(self, plan, chance):
        self.start, self.days, self.chance = plan.start, plan.days, chance
        # Small histories contain rare faults, too.
        self.rare = max(0.00015, 3 / plan.attempts)

    def fault(self, host, operation, size, t):
        drawn = self.chance.random()
        for begin, end, share, fault in host.weather:
            if begin <= t < end and drawn < share and not (fault.is_permanent and operation != "part"):
                return fault
        if host.name == "up3.example" and operation == "part" and size > hosts.TOO_LARGE_FROM:
            return hosts.TOO_LARGE
        drawn = self.chance.random()
        if drawn < hosts.EVERYWHERE[-1][0]:
            return next(fault for share, fault in hosts.EVERYWHERE if drawn < share)
        if operation == "create" and host.is_download and drawn > 1 - 20 * self.rare:
            return hosts.MISSING
        if operation == "part" and host.protocol == "post" and drawn > 1 - 20 * self.rare:
            return hosts.LOST
        # Not while a large file is sent, so that the number of attempts stays close to the requested one.
        if operation == "part" and not host.is_download and size < 8 << 20 and drawn > 1 - 8 * self.rare:
            return hosts.CHANGED if host.protocol != "put" or drawn > 1 - 4 * self.rare else hosts.TOO_LARGE
        return None

    def draw(self, host, operation, size, t, most):
        """`most` is in bytes per second; 0 means no limit."""
        chance, fate = self.chance, Fate()
        fault = fate.fault = self.fault(host, operation, size, t)
        if fault is not None and fault.is_unheard and host.protocol == "post":
            fault = fate.fault = hosts.LOST
        slow = hosts.pace(host, t, self.start, self.days)
        begin = 0
        if fault is None or fault.has_connection:
            if chance.random() < 0.12:
                jitter = chance.lognormvariate(0, 0.35)
                fate.dns, fate.connect, fate.tls = (int(ms * jitter) for ms in host.connect)
                begin = fate.tls
            fate.address = host.addresses[int(chance.random() * len(host.addresses))]
        elif fault.code == "net.connect_timeout":
            fate.dns = host.connect[0]
        first_byte = host.first_byte * slow * chance.lognormvariate(0, 0.5)
        share = 1.0 if fault is None else fault.sent * chance.random()
        fate.sent = size if fault is None else int(size * share)
        moving = size * share / host.rate * 1000 * slow * chance.lognormvariate(0, 0.3)
        held = int(max(0, fate.sent / most * 1000 - moving)) if most else 0
        fate.held = held or None
        fate.total = int(begin + first_byte + moving) + held + (fault.ms if fault else 0)
        if fault is None or fault.status is not None:
            # As libcurl counts it: for an upload, until the first byte is sent.
            fate.first_byte = int(begin + (first_byte if host.is_download or operation != "part" else 1))
        if size and fate.sent == size and not host.is_download:
            fate.body = min(fate.total, int(begin + 1 + moving) + held)
        return fate
