/// The signed head of a ledger's log at one moment, with which later changes and removals can be detected.
package struct LedgerSeal: Sendable, Hashable {
  /// The log's name, which is also that of its key: `transfers/` and the uid of the ledger.
  package let origin: String
  /// Leaves of the log.
  package let leaves: Int64
  /// The head of the tree (RFC 6962) in base64.
  package let head: String
  /// The checkpoint as a signed note: https://c2sp.org/tlog-checkpoint
  package let note: String
  /// The public key in the format of Go's package sumdb/note: `name+keyid+base64`; nil for an existing seal whose key
  /// the ledger does not have.
  package let publicKey: String?

  package init(origin: String, leaves: Int64, head: String, note: String, publicKey: String?) {
    (self.origin, self.leaves, self.head, self.note, self.publicKey) = (origin, leaves, head, note, publicKey)
  }
}

/// Proof that the log of an earlier seal is the beginning of a later one.
package struct SealConsistency: Sendable, Hashable {
  package let from: Int64
  /// RFC 6962 section 2.1.2, each hash in base64.
  package let proof: [String]

  package init(from: Int64, proof: [String]) { (self.from, self.proof) = (from, proof) }
}

/// The result of comparing the ledger with an existing seal.
package struct SealComparison: Sendable, Hashable {
  package enum Signature: String, Sendable, Hashable, Codable {
    case valid, invalid
    /// The ledger does not have the key that signed it: the key file was lost, or it is a seal of the ledger from which
    /// this one was copied.
    case unknown
  }

  package let origin: String
  package let leaves: Int64
  package let signature: Signature
  /// Empty if the log begins with the sealed log.
  package let findings: [Finding]

  package init(origin: String, leaves: Int64, signature: Signature, findings: [Finding]) {
    (self.origin, self.leaves, self.signature, self.findings) = (origin, leaves, signature, findings)
  }
}

/// A receipt of a file that is done.
package struct StoredReceipt: Sendable, Hashable {
  package let file: FileID
  package let path, key: NameBytes
  package let receipt: ReceiptRow
  /// Its number among the receipts of the file, from 1, and for a later one its finding.
  package let number: Int64
  package let finding: String?

  /// In hexadecimal: the one that was recorded, or the digest that the server confirmed. nil if only another digest, or
  /// none, is known.
  package var sha256: String? {
    let prefix = "sha256:"
    guard let digest = receipt.sha256 ?? receipt.digest, digest.hasPrefix(prefix) else { return nil }
    return String(digest.dropFirst(prefix.count))
  }

  package init(
    file: FileID, path: NameBytes, key: NameBytes, receipt: ReceiptRow, number: Int64, finding: String?
  ) {
    (self.file, self.path, self.key, self.receipt) = (file, path, key, receipt)
    (self.number, self.finding) = (number, finding)
  }
}

/// A receipt with the proof that it is in the log.
package struct ProvenReceipt: Sendable, Hashable {
  package let stored: StoredReceipt
  /// Its position in the log, from 0.
  package let index: Int64
  /// The bytes hashed by its leaf: docs/receipts.md.
  package let leaf: [UInt8]
  /// https://c2sp.org/tlog-proof
  package let proof: String

  package init(_ stored: StoredReceipt, index: Int64, leaf: [UInt8], proof: String) {
    (self.stored, self.index, self.leaf, self.proof) = (stored, index, leaf, proof)
  }
}
