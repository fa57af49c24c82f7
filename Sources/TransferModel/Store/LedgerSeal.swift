/// The head of a ledger's log at one moment, signed: whoever keeps it can tell later that nothing of it was changed or
/// taken away.
public struct LedgerSeal: Sendable, Hashable {
  /// The log's name, which is also that of its key: `transfers/` and the uid of the ledger.
  public let origin: String
  /// Leaves of the log.
  public let leaves: Int64
  /// The head of the tree (RFC 6962) in base64.
  public let head: String
  /// The checkpoint as a signed note: https://c2sp.org/tlog-checkpoint
  public let note: String
  /// The public key in the form of Go's package sumdb/note: `name+keyid+base64`; nil where a seal was kept whose key
  /// the ledger does not have.
  public let publicKey: String?

  package init(origin: String, leaves: Int64, head: String, note: String, publicKey: String?) {
    (self.origin, self.leaves, self.head, self.note, self.publicKey) = (origin, leaves, head, note, publicKey)
  }
}

/// That the log of an earlier seal is the beginning of that of a later one.
public struct SealConsistency: Sendable, Hashable {
  public let from: Int64
  /// RFC 6962 section 2.1.2, each hash in base64.
  public let proof: [String]

  package init(from: Int64, proof: [String]) { (self.from, self.proof) = (from, proof) }
}

/// What a seal that was kept elsewhere says of the ledger.
public struct SealComparison: Sendable, Hashable {
  public enum Signature: String, Sendable, Hashable, Codable {
    case valid, invalid
    /// The ledger has no key that made it: the key file was lost, or it is the seal of what this ledger is a copy of.
    case unknown
  }

  public let origin: String
  public let leaves: Int64
  public let signature: Signature
  /// Empty when the log begins with what was sealed.
  public let findings: [Finding]

  package init(origin: String, leaves: Int64, signature: Signature, findings: [Finding]) {
    (self.origin, self.leaves, self.signature, self.findings) = (origin, leaves, signature, findings)
  }
}

/// A receipt of a file that is done.
public struct StoredReceipt: Sendable, Hashable {
  public let file: FileID
  public let path, key: NameBytes
  public let receipt: ReceiptRow
  /// Which one of the file, from 1, and what was found, of a later one.
  public let number: Int64
  public let finding: String?

  /// In hexadecimal; nil where another digest is known or none.
  public var sha256: String? {
    let prefix = "sha256:"
    guard let digest = receipt.digest, digest.hasPrefix(prefix) else { return nil }
    return String(digest.dropFirst(prefix.count))
  }

  package init(
    file: FileID, path: NameBytes, key: NameBytes, receipt: ReceiptRow, number: Int64, finding: String?
  ) {
    (self.file, self.path, self.key, self.receipt) = (file, path, key, receipt)
    (self.number, self.finding) = (number, finding)
  }
}

/// The same with the proof that it is in the log.
public struct ProvenReceipt: Sendable, Hashable {
  public let stored: StoredReceipt
  /// Its place in the log, from 0.
  public let index: Int64
  /// The bytes that its leaf is the hash of: docs/receipts.md.
  public let leaf: [UInt8]
  /// https://c2sp.org/tlog-proof
  public let proof: String

  package init(_ stored: StoredReceipt, index: Int64, leaf: [UInt8], proof: String) {
    (self.stored, self.index, self.leaf, self.proof) = (stored, index, leaf, proof)
  }
}
