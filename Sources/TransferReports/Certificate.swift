import TransferModel

/// The text of a certificate: in-toto Statement v1, whose subjects are the files with a known SHA-256. It is written in
/// pieces, because its length grows with the number of files: ``opening``, the subjects, ``middle``, the others,
/// ``ending``, with commas between entries.
package struct Certificate: Sendable {
  package static let payloadType = "application/vnd.in-toto+json"
  /// An identifier, not an address. Its meaning is in docs/receipts.md.
  static let predicateType = "https://transfers.invalid/delivery/v1"

  private let proof: LossProof
  private let seal: LedgerSeal
  private let filters: [String: Cell]
  private let provenMs: Int64
  private let remote: RemoteProof?

  package init(
    _ proof: LossProof, _ seal: LedgerSeal, filters: [String: Cell], provenMs: Int64, remote: RemoteProof? = nil
  ) {
    (self.proof, self.seal, self.filters, self.provenMs, self.remote) = (proof, seal, filters, provenMs, remote)
  }

  package let opening = Array(#"{"_type":"https://in-toto.io/Statement/v1","subject":["#.utf8)
  package let middle = Array(#"],"predicateType":"\#(predicateType)","predicate":{"without_sha256":["#.utf8)

  package var ending: [UInt8] {
    Array("],".utf8) + JSONWriter.bytes(.object(predicate)).dropFirst() + Array("}".utf8)
  }

  /// A done file with its first receipt and, if there is one, the finding of its newest.
  package func entry(_ receipt: ProvenReceipt, newest: ProvenReceipt?) -> (bytes: [UInt8], isSubject: Bool) {
    let facts = Self.facts(receipt) + (newest.map { [Member("last_check", .object(Self.check($0)))] } ?? [])
    guard let sha256 = receipt.stored.sha256 else {
      return (JSONWriter.bytes(.object([Self.name(receipt)] + facts)), false)
    }
    let subject = [
      Self.name(receipt), Member("digest", .object([Member("sha256", .figure(.text(sha256)))])),
      Member("annotations", .object(facts)),
    ]
    return (JSONWriter.bytes(.object(subject)), true)
  }

  private typealias Member = FigureTree.Member

  private static func name(_ receipt: ProvenReceipt) -> Member { Member("name", .figure(.name(receipt.stored.key))) }

  private static func facts(_ receipt: ProvenReceipt) -> [Member] {
    [
      Member("file", .figure(.text(receipt.stored.file.description))),
      Member("path", .figure(.name(receipt.stored.path))),
      Member("bytes", .figure(Cell(bytes: receipt.stored.receipt.size))),
      Member("confirmed_by", .figure(.text(receipt.stored.receipt.confirmation))),
      Member("recorded_at", .figure(Cell(time: receipt.stored.receipt.recordedMs))),
      Member("leaf", .figure(.integer(receipt.index))),
    ]
  }

  private static func check(_ receipt: ProvenReceipt) -> [Member] {
    [
      Member("finding", .figure(Cell(receipt.stored.finding))),
      Member("confirmed_by", .figure(.text(receipt.stored.receipt.confirmation))),
      Member("recorded_at", .figure(Cell(time: receipt.stored.receipt.recordedMs))),
      Member("leaf", .figure(.integer(receipt.index))),
    ]
  }

  private var predicate: [Member] {
    let states = proof.files.map { Member($0.key.rawValue, .figure(.integer(Int64($0.value)))) }
    let asked = remote.map { [Member("remote", FigureTree(LossProofFigures.remoteObject($0)))] } ?? []
    return asked + [
      Member("proven_at", .figure(.time(provenMs))),
      Member("filters", .object(filters.map { Member($0.key, .figure($0.value)) })),
      Member("files", .object(states)), Member("left_out", FigureTree(LossProofFigures.leftOutObject(proof.leftOut))),
      Member("bytes", .figure(.bytes(proof.bytes))),
      Member("checkpoint", .figure(.text(seal.note))), Member("public_key", .figure(Cell(seal.publicKey))),
    ]
  }
}
