import HTTPTypes
import TransferModel

/// The version of a remote file that was fetched before, for comparison with what its server reports now. Only
/// properties that reliably distinguish versions show that both are the same.
struct PastVersion {
  let download: PastDownload
  let version: RemoteVersion

  /// nil if its bytes cannot be used: nothing was fetched before, the expected content of the file is different now, or
  /// it was divided differently.
  init?(_ facts: TransferFacts) {
    // Only for the same server: others may use the same ETag for other bytes.
    let lead = facts.session.map { Mirrors.lead($0.notes) } ?? 0
    guard let past = facts.past, facts.mirror == 0, lead == Mirrors.lead(past.session.notes), lead == 0,
      let version = RemoteVersion(past.session), past.meets(facts.file.expected),
      past.expected.pieces == facts.file.expected.pieces,
      !facts.isPlanned || facts.layout == past.layout
    else { return nil }
    (download, self.version) = (past, version)
  }

  // MARK: - Requests

  struct Condition {
    var name: HTTPField.Name
    var value: String
  }

  /// Lets the server omit the content if it still has that version (RFC 9110 section 13.1); nil if the condition could
  /// prove nothing, or if no bytes of the version are here.
  static func condition(_ facts: TransferFacts, _ context: RequestContext, _ learned: LearnedFacts) -> Condition? {
    guard context.holdsPast, !learned.misusesConditions, let past = PastVersion(facts) else { return nil }
    return past.version.lastingValidator.map { validator in
      Condition(name: past.version.etag == nil ? .ifModifiedSince : .ifNoneMatch, value: validator)
    }
  }

  /// Why a 304 with these fields does not prove that it is the same version; nil if it does.
  func doubt(in fields: HTTPFields, _ condition: Condition) -> String? {
    if let change = version.change(in: fields, size: nil) {
      return "the server answered 304 (not modified) and names another version: \(change.message)"
    }
    // A server may treat the date as "not later" (RFC 9110 section 13.1.3), and the file may have been replaced by an
    // older one.
    guard condition.name == .ifModifiedSince, fields[.lastModified] != condition.value else { return nil }
    return "the server answered 304 (not modified) but does not date the file"
  }

  // MARK: - Answers

  /// Whether an answer with content, whatever was requested, shows that the server still has the version.
  func isSame(as now: RemoteVersion) -> Bool {
    guard now.size == version.size else { return false }
    if let validator = version.lastingValidator, version.etag == now.etag, now.validator == validator { return true }
    return now.digests.contains { $0.algorithm.isCollisionResistant && download.digests.contains($0) }
  }
}

extension GetProtocol {
  public func isSame(_ etag: String, as notes: [String: String]) -> Bool {
    let session = SessionFacts(remoteID: "past", intendedAtMs: 0, notes: notes)
    guard let past = RemoteVersion(session), past.etag == etag else { return false }
    return past.lastingValidator == etag
  }
}

extension RemoteVersion {
  /// The ``validator`` if no other version can have got it since, whatever digests exist: not the ETag of a file that
  /// had just been changed.
  fileprivate var lastingValidator: String? { isFresh && etag != nil ? nil : validator }
}

extension DigestAlgorithm {
  /// Whether it is infeasible to make two files with the same digest.
  fileprivate var isCollisionResistant: Bool { self == .sha256 || self == .sha512 }
}
