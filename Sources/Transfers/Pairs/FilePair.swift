import TransferEngine
package import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A local file and the URL that it is sent to or fetched from, both given by another program.
package struct FilePair: Sendable {
  package let url: NameBytes
  /// Absolute.
  package let path: NameBytes
  /// Why it cannot be transferred at all.
  package internal(set) var fault: TransferError?

  package init(url: NameBytes, path: NameBytes, fault: TransferError? = nil) {
    (self.url, self.path, self.fault) = (url, path, fault)
  }

  /// Keys in buckets are used literally: they contain neither escapes nor templates.
  static func isInBucket(_ url: NameBytes) -> Bool { url.utf8?.prefix(5).lowercased() == "s3://" }

  /// The URL with invalid bytes percent-encoded: other programs append names to URLs unescaped, including blanks and
  /// characters that are not allowed in URLs.
  var visibleURL: String {
    guard !Self.isInBucket(url) else { return url.utf8 ?? "" }
    let digits = Array("0123456789ABCDEF".utf8)
    let bytes = url.bytes.flatMap { byte in
      (0x21...0x7E).contains(byte) ? [byte] : [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func error(_ operation: String, _ subject: NameBytes, _ cause: String) -> TransferError {
    TransferError(.badList, operation, subject, cause: cause)
  }

  /// Marks each pair that has the same target as an earlier one.
  static func refuseRepeated(_ pairs: inout [FilePair], _ direction: Direction) {
    var places: Set<Place> = []
    for index in pairs.indices where pairs[index].fault == nil {
      let place = direction == .upload ? Place.url(pairs[index].url) : Place(pairs[index].path)
      guard !places.insert(place).inserted else { continue }
      pairs[index].fault = error("read ad", pairs[index].path, "another file of this input goes to the same place")
    }
  }

  /// The target of a file, for detecting two files with the same target.
  private enum Place: Hashable {
    case url(NameBytes)
    /// Independent of links that lead to its folder.
    case inFolder(device: UInt64, inode: UInt64, name: NameBytes)
    case path(NameBytes)

    init(_ path: NameBytes) {
      let name = path.lastComponent
      var status = stat()
      let folder = NameBytes(Array(path.bytes.dropLast(name.bytes.count)))
      guard folder.withCString({ stat($0, &status) }) == 0 else {
        self = .path(path)
        return
      }
      self = .inFolder(device: UInt64(status.st_dev), inode: UInt64(status.st_ino), name: name)
    }
  }
}

/// What became of a pair.
package struct PairOutcome: Sendable {
  /// Its newest row; nil for a pair that was not recorded.
  let row: FileRow?
  /// The attempt that shows why it is not done, or the last one.
  let last: AttemptRow?
  let retryAfterMs: Int64?
  /// Why nothing of its batch, or nothing at all, could be transferred.
  let error: TransferError?

  package var isDone: Bool { row?.state == FileState.done.rawValue }

  init(_ pair: FilePair, _ error: TransferError?) {
    (row, last, retryAfterMs, self.error) = (nil, nil, nil, pair.fault ?? error)
  }

  /// - Throws: errors of the store.
  init(_ pair: FilePair, _ row: FileRow?, _ error: TransferError?, _ reader: StoreReader) throws {
    (self.row, self.error) = (row, pair.fault ?? error)
    let attempts = try row.map { try reader.newestAttempts(of: $0.id, chunk: nil, limit: 8) } ?? []
    last = (row?.state == FileState.done.rawValue ? nil : attempts.last { $0.errorCode != nil }) ?? attempts.last
    retryAfterMs = try last.flatMap { try reader.retryAfterMs(of: $0.id) }
  }

  /// For the people who asked for the file; without secrets.
  var text: String {
    if let code = row?.cause ?? last?.errorCode, !isDone {
      let message = printable(row?.message ?? last?.message ?? "")
      return "\(code)\(message.isEmpty ? "" : ": ")\(message)" + (row?.state == "unknown" ? Self.unknown : "")
    }
    return error.map { "\($0)" } ?? "it was not transferred: the run ended first"
  }

  private static let unknown = " (it may have arrived; see \"transfers help resolve\")"

  /// Why it is not done; nil if no attempt or row says so.
  var code: ErrorCode? { (row?.cause ?? last?.errorCode).flatMap { ErrorCode(rawValue: $0) } }

  /// Whether a retry can succeed without anybody changing anything. A file that may have arrived is not sent twice.
  var isPassing: Bool {
    guard let state = row?.state else { return error.map { $0.kind == .locked || $0.kind == .storeBusy } ?? false }
    if state == "unknown" { return false }
    if state != "failed" { return error == nil }
    switch code {
    case .http429, .http500, .http502, .http503, .http504, .http423, .http5xx: return true
    default: return code?.category == .network && code != .netCert
    }
  }

  /// When a retry makes sense, in milliseconds since 1970 UTC; nil if no attempt says so.
  func retryAtMs(wallMs: Int64) -> Int64? {
    last.map { (retryAfterMs ?? $0.backoffMs ?? 0) + ($0.endedMs ?? wallMs) }
  }
}
