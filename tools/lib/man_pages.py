#!/usr/bin/env python3
"""man_pages.py VERSION DATE FOLDER: a man page for each command, from the program's own description of itself.

Reads what `transfers --experimental-dump-help` prints from standard input; writes FOLDER/transfers.1 and
FOLDER/transfers-COMMAND.1, in mdoc(7). DATE is seconds of the epoch, so that the same input gives the same bytes.
"""
import datetime
import json
import re
import sys
import textwrap


def text(words):
    """One line of words without roff markup."""
    line = words.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    line = line.replace("~", "\\(ti").replace("^", "\\(ha").replace('"', "\\(dq")
    return "\\&" + line if line[:1] in (".", "'") else line


def sentences(words):
    """Each sentence begins a line, as mdoc(7) requires, and no line is long."""
    parts = re.split(r"(?<=[.!?]) (?=[A-Z])", " ".join(words.split()))
    wrapper = textwrap.TextWrapper(68, break_on_hyphens=False, break_long_words=False)
    return [text(line) for part in parts for line in wrapper.wrap(part)]


def macro(name, *words):
    """A macro whose arguments are never taken for macros."""
    return " ".join(["." + name] + ['"\\&' + text(word) + '"' for word in words])


def prose(words):
    """Paragraphs; lines that begin with spaces are kept literally."""
    lines, literal = [], False
    for line in words.split("\n"):
        wants = line.startswith("  ")
        if wants and not literal:
            lines.append(".Bd -literal -offset indent")
        if literal and not wants:
            lines.append(".Ed")
        literal = wants
        if wants:
            lines.append(text(line[2:].rstrip()) or "\\&")
        elif line.strip():
            lines += sentences(line)
        elif lines and lines[-1] not in (".Ed", ".Pp"):
            lines.append(".Pp")
    if literal:
        lines.append(".Ed")
    while lines and lines[-1] == ".Pp":
        lines.pop()
    # A display starts a paragraph by itself.
    pairs = zip(lines, lines[1:] + [""])
    return [line for line, after in pairs if line != ".Pp" or not after.startswith(".Bd")]


def shown(arguments, positional):
    return [a for a in arguments if a["shouldDisplay"] and (a["kind"] == "positional") == positional]


def dashed(name):
    return ("--" if name["kind"] == "long" else "-") + name["name"]


def synopsis(path, command):
    lines = [macro("Nm", " ".join(path))]
    if command.get("subcommands"):
        return lines + [".Ar command", ".Op Ar options"]
    if shown(command.get("arguments", []), False):
        lines.append(".Op Ar options")
    for argument in shown(command.get("arguments", []), True):
        words = ["Ar", argument["valueName"]] + (["..."] if argument["isRepeating"] else [])
        lines.append(".%s%s" % ("Op " if argument["isOptional"] else "", " ".join(words)))
    return lines


def tail(argument):
    """The end of the description of one argument."""
    values = argument.get("allValues")
    said = argument.get("abstract", "")
    if values:
        said += " One of: " + ", ".join(values) + "."
    if argument.get("defaultValue") and "default" not in said:
        said += " Default: " + argument["defaultValue"] + "."
    return sentences(said)


def options(arguments):
    """A list for each title, in the order of the program."""
    titles = []
    for argument in arguments:
        title = argument.get("sectionTitle") or "Options"
        if title not in titles:
            titles.append(title)
    lines = []
    for title in titles:
        lines += [macro("Ss", title), ".Bl -tag -width Ds"]
        for argument in arguments:
            if (argument.get("sectionTitle") or "Options") != title:
                continue
            if argument["kind"] == "positional":
                lines.append(macro("It Ar", argument["valueName"]))
            else:
                names = ", ".join(dashed(name) for name in sorted(argument["names"], key=lambda n: len(n["name"]) > 1))
                value = " <%s>" % argument["valueName"] if argument["kind"] == "option" else ""
                lines.append(macro("It Sy", names + value))
            lines += tail(argument)
        lines.append(".El")
    return lines


def page(path, command, version, date):
    name = "-".join(path)
    lines = [
        ".\\\" Made from the program's own description by tools/lib/man_pages.py.",
        ".Dd %s %d, %d" % (date.strftime("%B"), date.day, date.year),
        ".Dt %s 1" % name.upper(),
        ".Os transfers " + version,
        ".Sh NAME",
        macro("Nm", name),
        macro("Nd", command.get("abstract", "").rstrip(".")),
        ".Sh SYNOPSIS",
    ] + synopsis(path, command)
    description = prose(command.get("discussion", "")) or sentences(command.get("abstract", ""))
    lines += [".Sh DESCRIPTION"] + description
    children = [c for c in command.get("subcommands", []) if c["shouldDisplay"]]
    if children:
        lines += [".Ss Commands", ".Bl -tag -width Ds"]
        for child in children:
            lines += [macro("It Sy", child["commandName"]), text(child.get("abstract", "")) or "\\&"]
        lines.append(".El")
    arguments = [a for a in command.get("arguments", []) if a["shouldDisplay"]]
    if arguments:
        lines += [".Sh OPTIONS"] + options(arguments)
    pages = ["-".join(path + [c["commandName"]]) for c in children]
    if len(path) > 1:
        pages = ["-".join(path[:-1])] + pages
    lines += [".Sh SEE ALSO"]
    pages = sorted(set(pages))
    lines += [".Xr %s 1%s" % (p, " ," if i + 1 < len(pages) else "") for i, p in enumerate(pages)]
    return name, "\n".join(lines) + "\n"


def write(path, command, version, date, folder, seen):
    name, body = page(path, command, version, date)
    if name in seen:
        return
    seen.add(name)
    with open("%s/%s.1" % (folder, name), "w", encoding="utf-8") as out:
        out.write(body)
    for child in command.get("subcommands", []):
        if child["shouldDisplay"]:
            write(path + [child["commandName"]], child, version, date, folder, seen)


def main():
    version, seconds, folder = sys.argv[1:]
    date = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    command = json.load(sys.stdin)["command"]
    write([command["commandName"]], command, version, date, folder, set())


main()
