public import TransferModel

/// One line of the receiver's record: what the server itself saw and did.
///
/// The record is an append-only text file. Each line is a flat JSON object written with one `write(2)`; the effects of
/// a request are in the file before its answer leaves. All lines contain `t` (the kind), `at_ms` (wall clock,
/// milliseconds since 1970 UTC), `conn` and `req` (numbers that count from 1 in each run of the server) and, except
/// `open`, `path_b64` (base64 of the bytes of the path below the folder, decoded; of the request target where that is
/// not a valid path).
///
///     open    pid, seed                  a receiver began to write here; conn and req are 0
///     start   method, declared           a request head arrived; declared is Content-Length, -1 when there is none
///     fault   line, effect               this line of the script is applied to the request
///     bytes   offset, length, crc32c     body bytes received, written once, at the end of the body or where it is cut;
///                                        crc32c (8 hex digits) is absent if it was not computed (--discard)
///     commit  size, crc32c               the object is complete under its final name; durable when an answer follows
///     delete                             the object or collection was removed
///     mkcol                              the collection was made
///     session protocol, id, state        an upload of several requests was opened, completed (its object is there),
///                                        aborted by the client, expired, or forgotten by the script
///     joined  from_b64, offset, length   bytes that were recorded under another path (a part whose object was not
///                                        known yet) are now at this place of the object
///     content offset, length             the following answer to a GET contains these bytes of the object
///     answer  status                     this answer is about to be sent
///     lost    status, cause              the answer was not sent, or not completely: lose-answer, truncate-answer,
///                                        garbage, disconnected, or superseded by a later request on the same
///                                        upload; status is what would have been answered
///
/// The path of `bytes` is that of the object, and the offset is that in the object, once the request or the upload that
/// it continues names the object. Before that, the path is that of the request, and the offset counts from the
/// beginning of the part.
public struct ReceiverEvent: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case open(pid: Int64, seed: UInt64)
    case start(method: String, declared: Int64?)
    case fault(line: Int, effect: String)
    case bytes(ByteRange, crc32c: UInt32?)
    case commit(size: Int64, crc32c: UInt32?)
    case delete
    case makeCollection
    case session(String, id: String, SessionState)
    case joined(from: NameBytes, ByteRange)
    case content(ByteRange)
    case answer(status: Int)
    case lost(status: Int, cause: String)
  }

  /// The state of an upload that takes several requests.
  public enum SessionState: String, Sendable {
    case opened, completed, aborted, expired, forgotten
  }

  /// Milliseconds since 1970 UTC.
  public var atMs: Int64
  public var connection: Int64
  public var request: Int64
  public var path: NameBytes
  package var kind: Kind

  package init(atMs: Int64, connection: Int64, request: Int64, path: NameBytes, kind: Kind) {
    self.atMs = atMs
    self.connection = connection
    self.request = request
    self.path = path
    self.kind = kind
  }
}

extension ReceiverEvent {
  /// The line as it is stored, newline included.
  var line: [UInt8] {
    var members: [(String, JSON)] = [
      ("t", .text(kind.name)), ("at_ms", .number(atMs)), ("conn", .number(connection)), ("req", .number(request)),
    ]
    if case .open = kind {} else { members.append(("path_b64", .text(base64(path.bytes)))) }
    return JSON.object((members + kind.members).map { JSON.Member(name: $0.0, value: $0.1) }).bytes + [0x0A]
  }
}

extension ReceiverEvent.Kind {
  fileprivate var members: [(String, JSON)] {
    switch self {
    case .open(let pid, let seed): [("pid", .number(pid)), ("seed", .text(String(seed)))]
    case .start(let method, let declared): [("method", .text(method)), ("declared", .number(declared ?? -1))]
    case .fault(let line, let effect): [("line", .number(Int64(line))), ("effect", .text(effect))]
    case .bytes(let range, let crc32c): Self.range(range) + Self.checksum(crc32c)
    case .commit(let size, let crc32c): [("size", .number(size))] + Self.checksum(crc32c)
    case .delete, .makeCollection: []
    case .session(let name, let id, let state):
      [("protocol", .text(name)), ("id", .text(id)), ("state", .text(state.rawValue))]
    case .joined(let from, let range): [("from_b64", .text(base64(from.bytes)))] + Self.range(range)
    case .content(let range): Self.range(range)
    case .answer(let status): [("status", .number(Int64(status)))]
    case .lost(let status, let cause): [("status", .number(Int64(status))), ("cause", .text(cause))]
    }
  }

  private static func range(_ range: ByteRange) -> [(String, JSON)] {
    [("offset", .number(range.offset)), ("length", .number(range.length))]
  }

  private static func checksum(_ crc32c: UInt32?) -> [(String, JSON)] {
    crc32c.map { [("crc32c", .text(CRC32C.text($0)))] } ?? []
  }
}

extension ReceiverEvent.Kind {
  var name: String {
    switch self {
    case .open: "open"
    case .start: "start"
    case .fault: "fault"
    case .bytes: "bytes"
    case .commit: "commit"
    case .delete: "delete"
    case .makeCollection: "mkcol"
    case .session: "session"
    case .joined: "joined"
    case .content: "content"
    case .answer: "answer"
    case .lost: "lost"
    }
  }
}
