import HTTPTypes
import TransferModel

/// The version of a remote file that was fetched before, beside what its server says of it now. Only what is sure to
/// tell two versions apart shows that they are the same.
struct PastVersion {
  let download: PastDownload
  let version: RemoteVersion

  /// nil where no bytes of it could be of use: nothing was fetched before, something else is expected of the file now,
  /// or it was cut in another way.
  init?(_ facts: TransferFacts) {
    // Of the same server: others may call other bytes by the same ETag.
    let lead = facts.session.map { Mirrors.lead($0.notes) } ?? 0
    guard let past = facts.past, facts.mirror == 0, lead == Mirrors.lead(past.session.notes), lead == 0,
      let version = RemoteVersion(past.session), past.meets(facts.file.expected),
      past.expected.pieces == facts.file.expected.pieces,
      !facts.isPlanned || facts.layout == past.layout
    else { return nil }
    (download, self.version) = (past, version)
  }

  // MARK: - What is asked

  struct Condition {
    var name: HTTPField.Name
    var value: String
  }

  /// Lets the server leave out the content when it still has that version (RFC 9110 section 13.1); nil where that could
  /// prove nothing, or no bytes of it are here.
  static func condition(_ facts: TransferFacts, _ context: RequestContext, _ learned: LearnedFacts) -> Condition? {
    guard context.holdsPast, !learned.misusesConditions, let past = PastVersion(facts) else { return nil }
    return past.version.lastingValidator.map { validator in
      Condition(name: past.version.etag == nil ? .ifModifiedSince : .ifNoneMatch, value: validator)
    }
  }

  /// Why a 304 with these fields does not say that it is the same version; nil when it does.
  func doubt(in fields: HTTPFields, _ condition: Condition) -> String? {
    if let change = version.change(in: fields, size: nil) {
      return "the server answered 304 (not modified) and names another version: \(change.message)"
    }
    // A server may compare for "not later" (RFC 9110 section 13.1.3), and an older file may have come in its place.
    guard condition.name == .ifModifiedSince, fields[.lastModified] != condition.value else { return nil }
    return "the server answered 304 (not modified) and does not say of when its file is"
  }

  // MARK: - What is answered

  /// An answer with content, whatever it was asked, shows that the server still has the version.
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
  /// ``validator`` where no other version can have got it since, whatever digests there are: not that of a file that
  /// had just been changed.
  fileprivate var lastingValidator: String? { isFresh && etag != nil ? nil : validator }
}

extension DigestAlgorithm {
  /// Nobody can make two files of one digest.
  fileprivate var isCollisionResistant: Bool { self == .sha256 || self == .sha512 }
}
