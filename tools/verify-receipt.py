#!/usr/bin/env python3
"""Checks receipts and certificates of `transfers` and seals of its log, without the program and without its ledger.

  tools/verify-receipt.py [--key KEY] [--seal FILE] receipts RECEIPTS     of `transfers store receipts --json`
  tools/verify-receipt.py [--key KEY] [--seal FILE] certificate FILE      of `transfers prove -o FILE`
  tools/verify-receipt.py [--key KEY] seals OLD NEW     OLD of `store seal`, NEW of `store seal --json --since OLD`
KEY is the public key as its owner published it, `public_key` of `transfers store seal --json`. Without it the key in
the files is trusted, which does not show who made them. With --seal they must belong to FILE, a seal that was kept
elsewhere. Exits with 0 if all are valid, 1 if any is not, 2 if an input cannot be read. Needs the package
`cryptography` (Debian: python3-cryptography); docs/receipts.md describes the checks.
"""
import argparse, base64, datetime, hashlib, json, sys  # noqa: E401

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# The items of a leaf's array in order (docs/receipts.md), and those that are also columns of the JSON.
COMPARED = "bytes confirmed_by digest remote_digest sha256 etag version_id request_id server_date location proof_note".split()
RECEIPT = "encoding kind file n uid batch generation is_download path key mtime_ns finding bytes attempt".split()
RECEIPT += COMPARED[1:] + ["recorded_at"]
TYPES = ["application/vnd.in-toto+json", "https://in-toto.io/Statement/v1", "https://transfers.invalid/delivery/v1"]
# Invalid input raises one of these: failed requirements, and errors caused by bytes that are not receipts.
BROKEN = (InvalidSignature, ValueError, LookupError, TypeError, AttributeError, RecursionError)

class Wrong(ValueError):
    """A requirement that is not met; its text is the whole message."""

def require(holds, text):
    if not holds:
        raise Wrong(text)

def told(error):
    if isinstance(error, InvalidSignature):
        return "a signature was not made with this key"
    return str(error) if isinstance(error, Wrong) else f"not what transfers writes, or damaged: {error!r}"

def unbase64(text):
    require(base64.b64encode(data := base64.b64decode(text, validate=True)).decode() == text, "not base64 as it is")
    return data

def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

def joined(node, sibling, is_left):
    return sha256(b"\x01", *((sibling, node) if is_left else (node, sibling)))

def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(text) if text.startswith("{") else {"data": {"checkpoint": text}}

def climb(place, last, path, join):
    """Computes the head from a node: RFC 9162 sections 2.1.3.2 and 2.1.4.2. `join` gets each sibling and its side."""
    for sibling in path:
        require(last > 0, "the proof is too long")
        is_left = place & 1 or place == last
        join(sibling, is_left)
        while is_left and not place & 1 and place:
            place, last = place >> 1, last >> 1
        place, last = place >> 1, last >> 1
    require(last == 0, "the proof is too short")

def require_consistent(old, old_head, new, new_head, proof):
    require(0 <= old <= new, f"the older seal has {old} leaves, the newer one {new}")
    if old in (0, new):
        return require(old_head == (new_head if old else sha256()) and not proof, "the heads differ")
    first, *rest = ([old_head] if old & (old - 1) == 0 else []) + proof
    place, last, before, after = old - 1, new - 1, [first], [first]

    def join(other, is_left):
        before.append(joined(before[-1], other, True) if is_left else before[-1])
        after.append(joined(after[-1], other, is_left))

    while place & 1:
        place, last = place >> 1, last >> 1
    climb(place, last, rest, join)
    require((before[-1], after[-1]) == (old_head, new_head), "the proof does not lead from one head to the other")

def parse_key(text):
    require(isinstance(text, str) and text.count("+") >= 2, "the public key is not NAME+ID+BASE64")
    name, key_id, data = text.split("+", 2)
    data = unbase64(data)
    require(sha256(name.encode(), b"\n", data)[:4].hex() == key_id and data[0] == 1, "not the Ed25519 key of its id")
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
    require(origin == name, "the checkpoint belongs to another log")
    return int(leaves), unbase64(head)

def decode(data, at=0):
    """The CBOR item (RFC 8949) at a position, and the position after it; supports only what leaves contain."""
    if data[at] == 0xF6:
        return None, at + 1
    major, value, at = data[at] >> 5, data[at] & 31, at + 1
    require(value < 28 and major < 5, "not a leaf")
    if value >= 24:
        at, value = at + (width := 1 << value - 24), int.from_bytes(data[at : at + width], "big")
    if major < 2:
        return (-1 - value if major else value), at
    items, part = [], data[at : at + value]
    if major < 4:
        return (part if major == 2 else part.decode("utf-8", "replace")), at + value
    while len(items) < value:
        items, at = [*items, (found := decode(data, at))[0]], found[1]
    return items, at

def check_receipt(row, key, seal):
    items, end = decode(leaf := unbase64(row["leaf_bytes"]))
    logged = dict(zip(RECEIPT, items))
    require((end, len(items), items[:2]) == (len(leaf), len(RECEIPT), [1, "receipt"]), "the leaf is not a receipt")
    number = int(row["file"][1:]) // 10**12 * 10**12 + logged["file"]  # A merged ledger adds multiples of 10^12.
    require((f"f{number}", logged["finding"] or "stored") == (row["file"], row["finding"]), "another leaf")
    for name in COMPARED + ["n", "path", "key"]:
        said, told = logged[name], row[name]
        if isinstance(said, bytes) and (name + "_b64" not in row or unbase64(row[name + "_b64"]) == said):
            said = said.decode("utf-8", "replace" if name + "_b64" in row else "strict")  # The readable form.
        require(said == told, f"{name} differs from the log")
    recorded = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=logged["recorded_at"])
    require(row["recorded_at"] == recorded.isoformat(timespec="milliseconds") + "Z", "recorded_at differs from the log")
    lines, checkpoint = row["proof"].split("\n\n", 1)
    require(lines.split("\n")[:2] == ["c2sp.org/tlog-proof@v1", f"index {row['leaf']}"], "not a proof of this leaf")
    leaves, head = open_checkpoint(checkpoint, key)
    require(0 <= row["leaf"] < leaves, "the leaf is outside the tree")
    found, path = [sha256(b"\x00", leaf)], map(unbase64, lines.split("\n")[2:])
    climb(row["leaf"], leaves - 1, path, lambda other, is_left: found.append(joined(found[-1], other, is_left)))
    require(found[-1] == head, "the path does not lead to the head")
    require(seal in (None, (leaves, head)), "its checkpoint is not the seal that was kept")

def check_receipts(document, asked):
    key = parse_key(asked.key or document["summary"]["public_key"])
    seal, wrong, seen = asked.seal and open_checkpoint(asked.seal, key), 0, set()
    require(isinstance(document["data"], list) and document["data"], "it contains no receipt")
    for row in document["data"]:
        try:
            check_receipt(row, key, seal)
            require(row["leaf"] not in seen and not seen.add(row["leaf"]), "it appears twice")
        except BROKEN as error:
            wrong += 1
            at = f"{row.get('file')!r} receipt {row.get('n')!r}" if isinstance(row, dict) else "a row"
            print(f"WRONG {at}: {told(error)}")
    print(f"{'WRONG' if wrong else 'ok'}: {len(document['data']) - wrong} receipts hold, {wrong} do not")
    return bool(wrong)

def check_certificate(envelope, asked):
    """An in-toto Statement in a DSSE envelope: the payload is not used before its signature is checked."""
    payload, kind = unbase64(envelope["payload"]), envelope["payloadType"]
    said = (statement := json.loads(payload))["predicate"]
    name, key_id, public = key = parse_key(asked.key or said["public_key"])
    [signature] = [one["sig"] for one in envelope["signatures"] if one["keyid"] == f"{name}+{key_id.hex()}"]
    public.verify(unbase64(signature), b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload))
    require([kind, statement["_type"], statement["predicateType"]] == TYPES, "it is of another kind")
    seal = open_checkpoint(said["checkpoint"], key)
    require(not asked.seal or open_checkpoint(asked.seal, key) == seal, "its checkpoint is not the seal that was kept")
    require(all(len(bytes.fromhex(one["digest"]["sha256"])) == 32 for one in statement["subject"]), "not a SHA-256")
    files = [one["annotations"] for one in statement["subject"]] + said["without_sha256"]
    require(len({one["leaf"] for one in files} & set(range(seal[0]))) == len(files), "receipts that are not in the log")
    counted = len(files), sum(one["bytes"] or 0 for one in files)
    require((said["files"].get("done", 0), said["bytes"]) == counted, "the totals differ from the files")
    others = [f"{said['files'].get(state, 0)} {state}" for state in ("failed", "cancelled")]
    others += [f"{n} left out as {cause}" for cause, n in said.get("left_out", {}).items() if n and cause != "scans"]
    print(f"ok: {len(files)} files arrived, {len(said['without_sha256'])} of them without a known SHA-256; {', '.join(others)}")

def check_seals(old, new, asked):
    old, new = old["data"], new["data"]
    key = parse_key(asked.key or new["public_key"])
    (leaves, head), (later, later_head) = (open_checkpoint(d["checkpoint"], key) for d in (old, new))
    require_consistent(leaves, head, later, later_head, [*map(unbase64, new.get("consistency", {}).get("proof", []))])
    print(f"ok: the log of {later} leaves begins with the {leaves} leaves sealed before")

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--key")
    parser.add_argument("--seal")
    checks = {"receipts": check_receipts, "certificate": check_certificate, "seals": check_seals}
    parser.add_argument("what", choices=checks)
    parser.add_argument("files", nargs="+")
    asked = parser.parse_args()
    if len(asked.files) != (2 if asked.what == "seals" else 1):
        parser.error("seals takes two files, the others one")
    if not asked.key:
        print("the key comes from the files themselves: it does not show who made them", file=sys.stderr)
    try:
        asked.seal = asked.seal and read(asked.seal)["data"]["checkpoint"]
        return checks[asked.what](*map(read, asked.files), asked)
    except OSError as error:
        parser.error(str(error))
    except BROKEN as error:
        print(f"WRONG: {told(error)}")
        return True

sys.exit(main())
