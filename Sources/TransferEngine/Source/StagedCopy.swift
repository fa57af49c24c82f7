import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The staged copy of one file, which is sent in its place. That of a segment of a growing file is compared with what
/// was recorded before any of it is sent, and made again from the growing file if it is lost or was changed. Shared by
/// the threads that prepare its requests.
final class StagedCopy: Sendable {
  private let copies: StagedCopies
  private let name: String
  /// Of the source, when it was copied: the copy has its size and mtime.
  private let source: SourceIdentity
  /// What was recorded of a segment; nil for a whole file. Blocking.
  private let segment: @Sendable () throws(TransferError) -> RecordedSegment?
  /// The copy when its content was compared.
  private let proven = Lock<SourceIdentity?>(nil)
  /// Holds one token, so that only one thread reads or makes it.
  private let turn = Mailbox<Void>()

  init(
    _ name: String, in copies: StagedCopies, of source: SourceIdentity,
    segment: @escaping @Sendable () throws(TransferError) -> RecordedSegment?
  ) {
    (self.name, self.copies, self.source, self.segment) = (name, copies, source, segment)
    turn.put(())
  }

  /// How many bytes ``proved(_:_:)`` is going to read.
  var unprovenLength: Int64 { proven.withLock { $0 } == nil ? source.size : 0 }

  /// The copy, opened, if it is what was recorded. Blocking: reads it once, and again if it was touched since.
  /// - Parameter file: its open descriptor, if there is one.
  func proved(_ file: SourceFile?, _ stop: ReadStop) throws(Failure) -> SourceFile {
    if let file, try isProven(file) { return file }
    _ = turn.take()
    defer { turn.put(()) }
    let recorded: RecordedSegment?
    do throws(TransferError) { recorded = try segment() } catch {
      throw Failure(.localIO, "the record of its copy cannot be read from the ledger: \(error.cause)")
    }
    let found: SourceFile?
    if let file { found = file } else { found = try opened() }
    if let found, try holds(found, recorded, stop) { return found }
    guard let recorded else { throw found == nil ? Self.isGone : Self.isOther }
    let renewed = try renew(recorded, wasThere: found != nil, stop)
    guard try holds(renewed, recorded, stop) else { throw Self.isOther }
    return renewed
  }

  private static let isGone = Failure(
    .sourceIO, "its staged copy is gone; remove the file from the ledger (\"transfers rm\") and add it again")
  private static let isOther = Failure(
    .sourceIO,
    "the staged copy differs from the added source; remove the file from the ledger (\"transfers rm\") and add it again"
  )

  /// nil if it is gone.
  private func opened() throws(Failure) -> SourceFile? {
    do throws(Failure) { return try SourceFile(path: copies.path(name)) } catch {
      guard error.code == .sourceMissing else { throw error }
      return nil
    }
  }

  private func isProven(_ file: SourceFile) throws(Failure) -> Bool {
    guard let known = proven.withLock({ $0 }) else { return false }
    return try known.relation(to: file.currentIdentity()) == .same
  }

  /// Only size and mtime are known of the copy of a whole file.
  private func holds(_ file: SourceFile, _ recorded: RecordedSegment?, _ stop: ReadStop) throws(Failure) -> Bool {
    let now = try file.currentIdentity()
    guard now.size == source.size, now.mtimeNs == source.mtimeNs else { return false }
    if let recorded, try !isProven(file) {
      guard try Self.digest(of: file, ByteRange(offset: 0, length: now.size), stop) == recorded.digest,
        try file.currentIdentity() == now
      else { return false }
    }
    proven.withLock { $0 = now }
    return true
  }

  /// Makes the copy again under its name, if the growing file still has the bytes.
  private func renew(_ recorded: RecordedSegment, wasThere: Bool, _ stop: ReadStop) throws(Failure) -> SourceFile {
    for path in recorded.paths {
      guard let file = try? SourceFile(path: path), file.identity.size >= recorded.range.end,
        try Self.digest(of: file, recorded.range, stop) == recorded.digest
      else { continue }
      try copies.replace(name, mtimeNs: source.mtimeNs, from: file.descriptor, recorded.range, stop)
      return try SourceFile(path: copies.path(name))
    }
    let place = "bytes \(recorded.range.offset) to \(recorded.range.end - 1) of \"\(recorded.paths[0].embedded)\""
    throw Failure(
      .sourceIO,
      """
      the copy of \(place) \(wasThere ? "was changed" : "is gone"), and the file no longer has them: they are lost for \
      this series. Restore the copy, or accept the hole ("transfers rm"); to send all that is left of the file as a new \
      series, put a copy of it in its place (cp, then mv)
      """)
  }

  private static func digest(
    of file: SourceFile, _ range: ByteRange, _ stop: ReadStop
  ) throws(Failure) -> Digest? {
    do throws(Failure) { return try file.digests(of: range, [.sha256], stop)[.sha256] } catch {
      // It became shorter, or its disk fails: it has not what is looked for.
      guard error.code == .engineInterrupted else { return nil }
      throw error
    }
  }
}

extension StagedCopies {
  /// Makes a copy in the place of the one with this name, durably.
  fileprivate func replace(
    _ name: String, mtimeNs: Int64, from source: Int32, _ range: ByteRange, _ stop: ReadStop
  ) throws(Failure) {
    let hold: Hold
    do throws(TransferError) { hold = try self.hold() } catch { throw Failure(.localIO, "\(error)") }
    defer { withExtendedLifetime(hold) {} }
    let temporary = Self.newName()
    do throws(Failure) {
      try make(temporary, mtimeNs: mtimeNs, from: source, range, stop)
      if rename("\(folder)/\(temporary)", "\(folder)/\(name)") != 0 { throw localFailure("rename a copy in \(folder)") }
    } catch {
      remove(temporary)
      throw error
    }
    try syncFolder()
  }
}
