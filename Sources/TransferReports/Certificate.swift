public import TransferModel

/// The statement of a certificate: in-toto Statement v1, whose subjects are the files with a known SHA-256.
public struct Certificate: Sendable {
  public static let payloadType = "application/vnd.in-toto+json"
  /// A name: nothing is found there. docs/receipts.md has what it means.
  static let predicateType = "https://transfers.invalid/delivery/v1"

  private let proof: LossProof
  private let seal: LedgerSeal
  private let filters: [String: Cell]
  private let provenMs: Int64
  private var subjects: [FigureTree] = []
  private var others: [FigureTree] = []

  public init(_ proof: LossProof, _ seal: LedgerSeal, filters: [String: Cell], provenMs: Int64) {
    (self.proof, self.seal, self.filters, self.provenMs) = (proof, seal, filters, provenMs)
  }

  /// A done file by its first receipt.
  public mutating func add(_ receipt: ProvenReceipt) {
    let facts = Self.facts(receipt)
    guard let sha256 = receipt.stored.sha256 else { return others.append(.object([Self.name(receipt)] + facts)) }
    subjects.append(
      .object([
        Self.name(receipt), Member("digest", .object([Member("sha256", .figure(.text(sha256)))])),
        Member("annotations", .object(facts)),
      ]))
  }

  public var files: Int { subjects.count + others.count }
  public var undigested: Int { others.count }

  public var statement: [UInt8] {
    JSONWriter.bytes(
      .object([
        Member("_type", .figure(.text("https://in-toto.io/Statement/v1"))), Member("subject", .array(subjects)),
        Member("predicateType", .figure(.text(Self.predicateType))), Member("predicate", .object(predicate)),
      ]))
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

  private var predicate: [Member] {
    let states = proof.files.map { Member($0.key.rawValue, .figure(.integer(Int64($0.value)))) }
    return [
      Member("proven_at", .figure(.time(provenMs))),
      Member("filters", .object(filters.map { Member($0.key, .figure($0.value)) })),
      Member("files", .object(states)), Member("bytes", .figure(.bytes(proof.bytes))),
      Member("without_sha256", .array(others)), Member("checkpoint", .figure(.text(seal.note))),
      Member("public_key", .figure(Cell(seal.publicKey))),
    ]
  }
}
