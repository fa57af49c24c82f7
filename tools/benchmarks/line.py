"""A bad network on loopback: a proxy that limits, delays and cuts. It works on connections, so it loses connections,
never packets: a network with packet loss, which TCP repairs, behaves differently."""

import random
import socket
import threading
import time

PIECE = 16 << 10


class Line:
    """`rate` is the bytes a second towards the server, for all connections together. All connections are cut every
    `cut_every` seconds, and after each `cut_after` bytes that went towards the server. `loss` is the chance that a
    connection is cut within a MiB of what it carries. `delay` is in seconds, each way."""

    def __init__(self, target, rate=None, cut_every=None, cut_after=None, loss=0.0, delay=0.0, seed=1):
        self.target, self.rate, self.loss, self.delay = target, rate, loss, delay
        self.cut_after, self.sent = cut_after, 0
        self.random, self.lock = random.Random(seed), threading.Lock()
        self.pairs, self.next_free, self.ended, self.cuts, self.passed = set(), 0.0, False, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()
        if cut_every:
            threading.Thread(target=self.cut_all, args=(cut_every,), daemon=True).start()

    def stop(self):
        self.ended = True
        self.listener.close()
        self.drop(list(self.pairs))

    def accept(self):
        while not self.ended:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            # The proxy is the bottleneck, not the kernel's buffer before it.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 256 << 10)
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def carry(self, client):
        if self.delay:
            time.sleep(2 * self.delay)  # the handshake
        try:
            server = socket.create_connection(self.target)
        except OSError:
            return client.close()
        pair = (client, server)
        with self.lock:
            self.pairs.add(pair)
            left = int(self.random.expovariate(self.loss) * (1 << 20)) if self.loss else None
        back = threading.Thread(target=self.pump, args=(server, client, pair, None, None), daemon=True)
        back.start()
        self.pump(client, server, pair, self.rate, left)
        back.join()
        with self.lock:
            self.pairs.discard(pair)

    def pump(self, source, sink, pair, rate, left):
        """Each direction has a thread that reads and, with a delay, one that writes later."""
        try:
            if self.delay:
                self.pump_late(source, sink, rate)
            else:
                while piece := source.recv(PIECE):
                    if left is not None and (left := left - len(piece)) <= 0:
                        return self.drop([pair])
                    self.wait(len(piece), rate)
                    if rate and self.cuts_at(len(piece)):
                        return self.drop(list(self.pairs))
                    sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            self.drop([pair])

    def pump_late(self, source, sink, rate):
        queue, more = [], threading.Condition()

        def write():
            while True:
                with more:
                    while not queue:
                        more.wait()
                    due, piece = queue.pop(0)
                time.sleep(max(0.0, due - time.monotonic()))
                if not piece:
                    return
                try:
                    sink.sendall(piece)
                except OSError:
                    return source.close()

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        while True:
            piece = source.recv(PIECE)
            self.wait(len(piece), rate)
            with more:
                queue.append((time.monotonic() + self.delay, piece))
                more.notify()
            if not piece:
                return writer.join()

    def wait(self, count, rate):
        self.passed += count
        if not rate:
            return
        with self.lock:
            now = time.monotonic()
            self.next_free = max(now, self.next_free) + count / rate
            due = self.next_free
        time.sleep(max(0.0, due - now))

    def cuts_at(self, count):
        """Whether the connection is cut within the next `count` bytes."""
        with self.lock:
            before, self.sent = self.sent, self.sent + count
            return self.cut_after and before // self.cut_after < self.sent // self.cut_after

    def cut_all(self, seconds):
        while not self.ended:
            time.sleep(seconds)
            self.drop(list(self.pairs))

    def drop(self, pairs):
        for pair in pairs:
            with self.lock:
                if pair not in self.pairs:
                    continue
                self.pairs.discard(pair)
                self.cuts += 1
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()
