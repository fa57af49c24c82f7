import TransferLedger
import TransferModel

/// The version of one source that was admitted, and the identity that it has by now. Shared by the threads that prepare
/// its requests.
final class SourceVersion: Sendable {
  private let known: Lock<SourceIdentity>
  private let admitted: SourceIdentity
  /// It went on under a new ctime or device while bodies may have been under way that nobody had compared: of those the
  /// server may have other bytes than the file holds now.
  private let isUnproven = Lock(false)
  /// What was sent of it. Blocking.
  private let content: @Sendable () throws(TransferError) -> SentContent
  /// Holds one token: reading a file once is enough.
  private let turn = Mailbox<Void>()

  init(_ admitted: SourceIdentity, content: @escaping @Sendable () throws(TransferError) -> SentContent) {
    known = Lock(admitted)
    self.admitted = admitted
    self.content = content
    turn.put(())
  }

  /// The identity under which it was seen last.
  var identity: SourceIdentity { known.withLock { $0 } }

  /// The identity that `file` has now, when it is still the version that was admitted; nil when it is another.
  /// Blocking: where only ctime or device differ, what was sent is compared with what is there.
  func recognise(_ file: SourceFile, _ stop: ReadStop = .never) throws(Failure) -> SourceIdentity? {
    if let answer = try compareIdentity(file) { return answer.identity }
    _ = turn.take()
    defer { turn.put(()) }
    // Another thread may have compared it meanwhile.
    if let answer = try compareIdentity(file) { return answer.identity }
    return try compareContent(file, stop)
  }

  /// The same before a file is finished, when all of it is stored: what was let pass before is compared with all that
  /// was sent.
  func prove(_ file: SourceFile, _ stop: ReadStop = .never) throws(Failure) -> SourceIdentity? {
    guard needsProof else { return try recognise(file, stop) }
    let now = try ContentCheck.identity(of: file, known: admitted, try whatWasSent(), stop)
    guard let now else { return nil }
    known.withLock { $0 = now }
    isUnproven.withLock { $0 = false }
    return now
  }

  /// Whether ``recognise(_:_:)``, or ``prove(_:_:)`` of the whole, reads the file.
  func isToBeCompared(with file: SourceFile, isWhole: Bool) -> Bool {
    if isWhole && needsProof { return true }
    guard let now = try? file.currentIdentity() else { return false }
    return identity.relation(to: now) == .moved
  }

  var needsProof: Bool { isUnproven.withLock { $0 } }

  /// nil when the content has to decide.
  private func compareIdentity(_ file: SourceFile) throws(Failure) -> (identity: SourceIdentity?, Void)? {
    let now = try file.currentIdentity()
    switch identity.relation(to: now) {
    case .same:
      // From here on the device counts: it is the one of this boot.
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
      throw Failure(.localIO, "what was sent of it cannot be read from the ledger: \(error.cause)")
    }
  }
}
