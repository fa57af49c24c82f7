#!/usr/bin/env python3
"""Checks receipts of `transfers` and seals of its log, without the program and without its ledger.

  tools/verify-receipt.py [--key KEY] [--seal FILE] receipts RECEIPTS     of `transfers store receipts --json`
  tools/verify-receipt.py [--key KEY] seals OLD NEW     OLD of `store seal`, NEW of `store seal --json --since OLD`
KEY is the public key as its owner published it, `public_key` of `transfers store seal --json`. Without it the key in
the files is believed, which does not tell who made them. With --seal the receipts must belong to the log of FILE, a
seal that was kept elsewhere. Ends with 0 when everything holds, 1 when something does not, 2 when an input cannot be
read. Needs the package `cryptography` (Debian: python3-cryptography); docs/receipts.md says what is checked.
"""
import argparse
import base64
import datetime
import hashlib
import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# The items of a leaf's array in their order (docs/receipts.md), and those of them that are columns of JSON too.
COMPARED = "bytes confirmed_by digest remote_digest etag version_id request_id server_date location proof_note".split()
RECEIPT = "encoding kind file n uid batch generation is_download path key mtime_ns finding bytes attempt".split()
RECEIPT += COMPARED[1:] + ["recorded_at"]


# What does not hold ends in one of these: what is required here, and what other bytes than receipts lead to.
BROKEN = (InvalidSignature, ValueError, LookupError, TypeError, AttributeError, RecursionError)


def require(holds, text):
    if not holds:
        raise ValueError(text)


def sha256(data):
    return hashlib.sha256(data).digest()


def unbase64(text):
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "not base64 as it is written")
    return data


def node(left, right):
    return sha256(b"\x01" + left + right)


def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(text) if text.startswith("{") else {"data": {"checkpoint": text}}


def climb(place, last, path, join):
    """Goes from a node to the head: RFC 9162 sections 2.1.3.2 and 2.1.4.2. `join` gets each sibling and its side."""
    for sibling in path:
        require(last > 0, "the proof is too long")
        is_left = place & 1 or place == last
        join(sibling, is_left)
        while is_left and not place & 1 and place:
            place, last = place >> 1, last >> 1
        place, last = place >> 1, last >> 1
    require(last == 0, "the proof is too short")


def head_above(leaf, index, size, path):
    require(0 <= index < size, "the leaf lies outside of the tree")
    found = [leaf]
    climb(index, size - 1, path, lambda h, left: found.append(node(h, found[-1]) if left else node(found[-1], h)))
    return found[-1]


def require_consistent(old, old_head, new, new_head, proof):
    require(0 <= old <= new, f"the older seal has {old} leaves, the newer one {new}")
    if old in (0, new):
        return require(old_head == (new_head if old == new else sha256(b"")) and not proof, "the heads differ")
    first, *rest = ([old_head] if old & (old - 1) == 0 else []) + proof
    place, last, before, after = old - 1, new - 1, [first], [first]

    def join(other, is_left):
        if is_left:
            before.append(node(other, before[-1]))
        after.append(node(other, after[-1]) if is_left else node(after[-1], other))

    while place & 1:
        place, last = place >> 1, last >> 1
    climb(place, last, rest, join)
    require((before[-1], after[-1]) == (old_head, new_head), "the proof does not lead from one head to the other")


def parse_key(text):
    name, key_id, data = text.split("+", 2)
    data = unbase64(data)
    require(sha256(name.encode() + b"\n" + data)[:4].hex() == key_id and data[0] == 1, "not an Ed25519 key of its id")
    return name, bytes.fromhex(key_id), Ed25519PublicKey.from_public_bytes(data[1:])


def open_checkpoint(note, key):
    """(leaves, head) of a checkpoint that the key signed: C2SP signed-note and tlog-checkpoint."""
    name, key_id, public = key
    text, _, signatures = note.rpartition("\n\n")
    *lines, rest = [line.split(" ") for line in signatures.split("\n")]
    require(rest == [""] and all(line[0] == "\u2014" for line in lines), "not a signed note")
    own = [unbase64(data) for _, signer, data in lines if signer == name and unbase64(data)[:4] == key_id]
    for data in own or [b""]:
        public.verify(data[4:], text.encode() + b"\n")
    origin, leaves, head = text.split("\n")[:3]
    require(origin == name, "it is the checkpoint of another log")
    return int(leaves), unbase64(head)


def decode(data, at=0):
    """The item of CBOR (RFC 8949) at a place, and the place behind it: as much of it as leaves are made of."""
    major, value, at = data[at] >> 5, data[at] & 31, at + 1
    if data[at - 1] == 0xF6:
        return None, at
    require(value < 28 and major < 5, "no leaf")
    if value >= 24:
        width = 1 << (value - 24)
        value, at = int.from_bytes(data[at : at + width], "big"), at + width
    if major < 2:
        return (-1 - value if major else value), at
    if major < 4:
        part = data[at : at + value]
        return (part if major == 2 else part.decode("utf-8", "replace")), at + value
    items = []
    while len(items) < value:
        item, at = decode(data, at)
        items.append(item)
    return items, at


def check_receipt(row, key, seal):
    leaf = unbase64(row["leaf_bytes"])
    items, end = decode(leaf)
    logged = dict(zip(RECEIPT, items))
    require((end, len(items), items[:2]) == (len(leaf), len(RECEIPT), [1, "receipt"]), "the leaf is no receipt")
    require((f"f{logged['file']}", logged["finding"] or "stored") == (row["file"], row["finding"]), "another leaf")
    for name in COMPARED + ["n", "path", "key"]:
        said, told = logged[name], row[name]
        if isinstance(said, bytes) and (name + "_b64" not in row or unbase64(row[name + "_b64"]) == said):
            said = said.decode("utf-8", "replace" if name + "_b64" in row else "strict")  # What people read.
        require(said == told, f"{name} is not what was logged")
    recorded = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=logged["recorded_at"])
    require(row["recorded_at"] == recorded.isoformat(timespec="milliseconds") + "Z", "recorded_at is not as logged")
    lines, checkpoint = row["proof"].split("\n\n", 1)
    require(lines.split("\n")[:2] == ["c2sp.org/tlog-proof@v1", f"index {row['leaf']}"], "not a proof of this leaf")
    leaves, head = open_checkpoint(checkpoint, key)
    found = head_above(sha256(b"\x00" + leaf), row["leaf"], leaves, [*map(unbase64, lines.split("\n")[2:])])
    require(found == head, "the path does not lead to the head")
    require(seal in (None, (leaves, head)), "its checkpoint is not the seal that was kept")


def check_receipts(document, asked):
    key = parse_key(asked.key or document["summary"]["public_key"])
    seal = open_checkpoint(read(asked.seal)["data"]["checkpoint"], key) if asked.seal else None
    wrong, seen = 0, set()
    require(isinstance(document["data"], list) and document["data"], "there is no receipt in it")
    for row in document["data"]:
        try:
            check_receipt(row, key, seal)
            require((row["file"], row["n"]) not in seen and not seen.add((row["file"], row["n"])), "it is there twice")
        except BROKEN as error:
            wrong += 1
            print(f"WRONG {row.get('file')!r} receipt {row.get('n')!r}: {error!r}")
    print(f"{'WRONG' if wrong else 'ok'}: {len(document['data']) - wrong} receipts hold, {wrong} do not")
    return bool(wrong)


def check_seals(old, new, asked):
    key = parse_key(asked.key or new["public_key"])
    (leaves, head), (later, later_head) = (open_checkpoint(d["checkpoint"], key) for d in (old, new))
    require_consistent(leaves, head, later, later_head, [*map(unbase64, new.get("consistency", {}).get("proof", []))])
    print(f"ok: the log of {later} leaves begins with the {leaves} that were sealed before")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--key")
    parser.add_argument("--seal")
    parser.add_argument("what", choices=("receipts", "seals"))
    parser.add_argument("files", nargs="+")
    asked = parser.parse_args()
    if len(asked.files) != (1 if asked.what == "receipts" else 2):
        parser.error("receipts takes one file, seals takes two")
    if not asked.key:
        print("the key is that of the files themselves: it does not tell who made them", file=sys.stderr)
    try:
        found = [read(path) for path in asked.files]
        return check_receipts(*found, asked) if asked.what == "receipts" else check_seals(*[d["data"] for d in found], asked)
    except OSError as error:
        parser.error(str(error))
    except BROKEN as error:
        print(f"WRONG: {error!r}")
        return True


sys.exit(main())
