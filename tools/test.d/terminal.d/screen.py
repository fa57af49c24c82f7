"""A terminal as the program sees it: a screen built from the output, and everything that should not have been sent."""

import re
import unicodedata

ESCAPE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


def width(char):
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


class Screen:
    """Interprets the sequences that the program may send; the rest is kept in `strange`."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines, self.row, self.column = [[]], 0, 0
        self.wraps = True
        # The content of the first screen while the second is shown; None otherwise.
        self.first, self.has_cursor = None, True
        self.strange, self.clipped, self.colours, self.frames = [], 0, set(), 0
        self.pending = b""
        self.raw = b""

    def feed(self, data):
        self.raw += data
        data = self.pending + data
        text = data.decode("utf-8", "surrogateescape")
        # An escape or a character may be split between two reads.
        cut = text.rfind("\x1b")
        if cut >= 0 and not ESCAPE.match(text, cut):
            text = text[:cut]
        while text and "\udc80" <= text[-1] <= "\udcff" and len(data) < 1 << 20:
            text = text[:-1]
        self.pending = data[len(text.encode("utf-8", "surrogateescape")) :]
        if len(self.pending) > 16:
            self.strange.append(self.pending)
            self.pending = b""
        at = 0
        while at < len(text):
            match = ESCAPE.match(text, at)
            if match:
                self.escape(*match.groups())
                at = match.end()
            else:
                self.put(text[at])
                at += 1

    def escape(self, private, numbers, letter):
        if (private, letter) == ("", "A"):
            self.row = max(0, self.row - int(numbers or 1))
            self.frames += 1
        elif (private, numbers, letter) == ("", "", "K"):
            self.line()[self.column :] = []
        elif (private, numbers, letter) == ("", "", "J"):
            self.line()[self.column :] = []
            del self.lines[self.row + 1 :]
        elif (private, letter) == ("", "m"):
            self.colours.add(numbers)
        elif (private, numbers, letter) == ("", "", "H"):
            self.row, self.column = 0, 0
            self.frames += 1
        elif (private, numbers, letter) == ("", "2", "J") and self.first is not None:
            self.lines, self.row, self.column = [[]], 0, 0
        elif (private, numbers) == ("?", "1049") and letter in "hl":
            self.second(letter == "h")
        elif (private, numbers) == ("?", "25") and letter in "hl":
            self.has_cursor = letter == "h"
        elif (private, numbers) == ("?", "7") and letter in "hl":
            self.wraps = letter == "h"
        else:
            self.strange.append(f"ESC[{private}{numbers}{letter}")

    def second(self, shown):
        if shown and self.first is None:
            self.first = (self.lines, self.row, self.column)
            self.lines, self.row, self.column = [[]], 0, 0
        elif not shown and self.first is not None:
            (self.lines, self.row, self.column), self.first = self.first, None

    def line(self):
        while len(self.lines) <= self.row:
            self.lines.append([])
        return self.lines[self.row]

    def put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row += 1
            self.line()
        elif unicodedata.category(char) in ("Cc", "Cs") or char in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068":
            self.strange.append(repr(char))
        else:
            self.print(char)

    def print(self, char):
        size = width(char)
        if self.columns and self.column + size > self.columns:
            if not self.wraps:
                self.clipped += 1
                return
            self.row, self.column = self.row + 1, 0
        line = self.line()
        while len(line) < self.column:
            line.append(" ")
        if size == 0 and line:
            line[-1] += char
            return
        line[self.column : self.column + size] = [char] + [""] * (size - 1)
        self.column += size

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip("\n")
