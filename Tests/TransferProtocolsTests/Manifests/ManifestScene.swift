import Testing
import TransferModel

@testable import TransferProtocols

/// Reads manifests whole and in small buffers, which must give the same result.
enum ManifestScene {
  struct Outcome: Hashable {
    var entries: [ManifestEntry] = []
    var isSigned = false
    var error: TransferError?
  }

  static func read(_ format: ManifestFormat, _ text: [UInt8], name: String = "list", step: Int? = nil) -> Outcome {
    let reader = ManifestReader(format, name: NameBytes(name))
    var outcome = Outcome()
    do throws(TransferError) {
      if let step {
        for start in stride(from: 0, to: text.count, by: step) {
          let piece = Array(text[start..<min(start + step, text.count)])
          try piece.withUnsafeBufferPointer { buffer throws(TransferError) in
            try reader.read(UnsafeRawBufferPointer(buffer), isLast: false) { outcome.entries.append($0) }
          }
        }
        try reader.read([]) { outcome.entries.append($0) }
      } else {
        try reader.read(text) { outcome.entries.append($0) }
      }
    } catch {
      outcome.error = error
    }
    outcome.isSigned = reader.isSigned
    return outcome
  }

  static func entries(
    _ format: ManifestFormat, _ text: String, name: String = "list", _ location: SourceLocation = #_sourceLocation
  ) throws -> [ManifestEntry] {
    let bytes = Array(text.utf8)
    let whole = read(format, bytes, name: name)
    for step in [1, 7] {
      #expect(read(format, bytes, name: name, step: step) == whole, "in steps of \(step)", sourceLocation: location)
    }
    if let error = whole.error { throw error }
    return whole.entries
  }

  /// The cause of the refusal; nil when there is none.
  static func cause(
    _ format: ManifestFormat, _ text: String, name: String = "list", _ location: SourceLocation = #_sourceLocation
  ) -> String? {
    let bytes = Array(text.utf8)
    let whole = read(format, bytes, name: name)
    #expect(read(format, bytes, name: name, step: 3) == whole, sourceLocation: location)
    #expect(whole.error == nil || (whole.error?.kind == .badList && whole.error?.subject == NameBytes(name)))
    #expect(whole.error?.remedy != "", sourceLocation: location)
    return whole.error?.cause
  }
}

extension ManifestEntry {
  /// `path < location` and the other known facts, for comparison.
  var brief: String {
    let source =
      switch location {
      case .relative(let path): path.description
      case .urls(let urls): urls.map(\.text).joined(separator: "|")
      }
    let facts = [size.map { "\($0)" } ?? "-"] + digests.map { "\($0.algorithm)" }
    return "\(line): \(path) < \(source) \(facts.joined(separator: " "))"
  }
}

extension String {
  static let md5 = "d41d8cd98f00b204e9800998ecf8427e"
  static let sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709"
  static let sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
  static let sha512 =
    "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
    + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
}
