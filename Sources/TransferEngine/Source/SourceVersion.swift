import TransferLedger
import TransferModel

/// The admitted version of one source, and its current identity. Shared by the threads that prepare its requests.
final class SourceVersion: Sendable {
  private let known: Lock<SourceIdentity>
  private let admitted: SourceIdentity
  /// Its ctime or device changed while bodies that had not been compared may have been running: the server may have
  /// bytes that differ from those of the file now.
  private let isUnproven = Lock(false)
  /// The content that was sent of it. Blocking.
  private let content: @Sendable () throws(TransferError) -> SentContent
  /// Holds one token, so that only one thread reads the file.
  private let turn = Mailbox<Void>()

  init(_ admitted: SourceIdentity, content: @escaping @Sendable () throws(TransferError) -> SentContent) {
    known = Lock(admitted)
    self.admitted = admitted
    self.content = content
    turn.put(())
  }

  /// The identity with which it was last seen.
  var identity: SourceIdentity { known.withLock { $0 } }

  /// The current identity of `file`, if it is still the admitted version; nil if it is another. Blocking: if only ctime
  /// or device differ, the content that was sent is compared with the file.
  func recognise(_ file: SourceFile, _ stop: ReadStop = .never) throws(Failure) -> SourceIdentity? {
    if let answer = try compareIdentity(file) { return answer.identity }
    _ = turn.take()
    defer { turn.put(()) }
    // Another thread may have compared it meanwhile.
    if let answer = try compareIdentity(file) { return answer.identity }
    return try compareContent(file, stop)
  }

  /// The same check before a file is finished, when all of it is stored: content that was accepted without comparison
  /// is now compared with everything that was sent.
  func prove(_ file: SourceFile, _ stop: ReadStop = .never) throws(Failure) -> SourceIdentity? {
    guard needsProof else { return try recognise(file, stop) }
    let now = try ContentCheck.identity(of: file, known: admitted, try whatWasSent(), stop)
    guard let now else { return nil }
    known.withLock { $0 = now }
    isUnproven.withLock { $0 = false }
    return now
  }

  /// Whether ``recognise(_:_:)``, or ``prove(_:_:)`` for the whole file, reads the file.
  func isToBeCompared(with file: SourceFile, isWhole: Bool) -> Bool {
    if isWhole && needsProof { return true }
    guard let now = try? file.currentIdentity() else { return false }
    return identity.relation(to: now) == .moved
  }

  var needsProof: Bool { isUnproven.withLock { $0 } }

  /// nil if the content must be compared.
  private func compareIdentity(_ file: SourceFile) throws(Failure) -> (identity: SourceIdentity?, Void)? {
    let now = try file.currentIdentity()
    switch identity.relation(to: now) {
    case .same:
      // From now on the device is significant, because it was read in this boot.
      known.withLock { $0 = now }
      return (now, ())
    case .other: return (nil, ())
    case .moved: return nil
    }
  }

  private func compareContent(_ file: SourceFile, _ stop: ReadStop) throws(Failure) -> SourceIdentity? {
    let now = try ContentCheck.identity(of: file, known: identity, try whatWasSent(), stop)
    if let now {
      isUnproven.withLock { $0 = true }
      known.withLock { $0 = now }
    }
    return now
  }

  private func whatWasSent() throws(Failure) -> SentContent {
    do throws(TransferError) { return try content() } catch {
      throw Failure(.localIO, "the record of its sent content cannot be read from the ledger: \(error.cause)")
    }
  }
}
