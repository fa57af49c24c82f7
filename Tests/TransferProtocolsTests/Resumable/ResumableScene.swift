import HTTPTypes
import TransferModel

@testable import TransferProtocols

/// Facts, requests and answers of resumable uploads.
enum ResumableScene {
  static func proto(
    _ destination: String = "resumable+http://h/in/", partSize: Int64? = nil, ifNoneMatch: Bool = false,
    change: (inout BatchSettings) -> Void = { _ in }
  ) throws -> ResumableProtocol {
    var settings = BatchSettings(destination: destination)
    settings.partSize = partSize
    settings.ifNoneMatch = ifNoneMatch
    change(&settings)
    return try AllProtocols.make(settings, credentialsRegion: nil) as! ResumableProtocol
  }

  /// A file whose upload is open on a server that speaks version 9.
  static func facts(
    size: Int64, chunk: Int64? = nil, url: String? = "http://h/up/1", discovered: [String: String]? = ["speaks": "9"],
    change: (inout TransferFacts) -> Void = { _ in }
  ) -> TransferFacts {
    let layout = chunk.map { ChunkLayout(size: size, chunkSize: $0) } ?? ChunkLayout(whole: size)
    var facts = TransferFacts(
      file: FileFacts(uid: Scene.uid, key: NameBytes("in/a b"), size: size, mtimeMs: 0), layout: layout)
    facts.isPlanned = true
    facts.learned.discovered = discovered
    facts.wallMs = Scene.wallMs
    if let url { facts.session = SessionFacts(remoteID: url, intendedAtMs: Scene.wallMs - 60_000) }
    change(&facts)
    return facts
  }

  /// The upload is not created yet; the `intended` row exists.
  static func fresh(size: Int64, discovered: [String: String]? = ["speaks": "9"]) -> TransferFacts {
    facts(size: size, url: nil, discovered: discovered) { facts in
      facts.session = SessionFacts(remoteID: nil, intendedAtMs: Scene.wallMs)
    }
  }

  static let large: Int64 = 20 << 20
  static let plain = ["tried": "8"]
}
