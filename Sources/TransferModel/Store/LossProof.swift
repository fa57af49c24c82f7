/// The result of checking a selection for lost files, from the ledger.
package struct LossProof: Sendable, Hashable {
  /// A violated rule of one file or of the log.
  package struct Violation: Sendable, Hashable {
    /// nil for a violation in the log.
    package let file: FileID?
    package let rule: Rule
    package let detail: String
    package let path: NameBytes?

    package init(file: FileID?, _ rule: Rule, detail: String, path: NameBytes?) {
      (self.file, self.rule, self.detail, self.path) = (file, rule, detail, path)
    }
  }

  /// The rules.
  package enum Rule: String, Sendable, Hashable, CaseIterable {
    /// Each file is done, failed, cancelled or superseded.
    case ended
    /// The chunks of a file cover it without gap and overlap.
    case tiled
    /// Each chunk of a done file is done, and each done chunk names the attempt that succeeded.
    case won
    /// Each done file has its receipt, whose digests agree, and no other file has one.
    case receipt
    /// No later finding says that the content is missing or different, unless the file was sent or fetched again since;
    /// and in a merged ledger, no other shard replaced it with other content.
    case kept
    /// The log matches its rows.
    case log
  }

  /// What scans left out, so that no file was recorded for it. Known of the last complete scan of each set of sources.
  package struct LeftOut: Sendable, Hashable {
    /// The scans for the jobs and places of the files.
    package var scans = 0
    /// By rules; a folder that is not entered counts as one.
    package var excluded = 0
    /// Without the marker file that shows that they are complete.
    package var notReady = 0
    /// Links, FIFOs, sockets, devices, and files of the ledger itself.
    package var special = 0
    /// At the destination already, by a list of it: nothing here shows that they are there.
    package var known = 0
    /// Refused, because they would replace the only copy or a segment, or may have arrived before they were cancelled.
    package var refused = 0

    package init(
      scans: Int = 0, excluded: Int = 0, notReady: Int = 0, special: Int = 0, known: Int = 0, refused: Int = 0
    ) {
      (self.scans, self.excluded, self.notReady, self.special) = (scans, excluded, notReady, special)
      (self.known, self.refused) = (known, refused)
    }
  }

  package let files: [FileState: Int]
  package let leftOut: LeftOut
  /// Of the done files.
  package let bytes: Int64
  /// Done files whose chunks and attempts were pruned, so that only their receipts remain.
  package let pruned: Int
  /// At most ``most`` of each rule.
  package let violations: [Violation]
  /// Violations of a rule that are listed.
  package static let most = 1_000

  package init(
    files: [FileState: Int], bytes: Int64, pruned: Int = 0, leftOut: LeftOut = LeftOut(), violations: [Violation]
  ) {
    (self.files, self.bytes, self.pruned, self.violations) = (files, bytes, pruned, violations)
    self.leftOut = leftOut
  }

  package var total: Int { files.values.reduce(0, +) }
  package var holds: Bool { violations.isEmpty }
}
