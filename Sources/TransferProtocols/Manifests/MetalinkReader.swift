import TransferModel

/// Metalink 4 (RFC 5854), read as a whole: at most 64 MiB, 16 levels and 2,000,000 elements. Elements of other
/// namespaces, and those irrelevant for fetching (`identity`, `origin`, `metaurl`, …), are ignored.
final class MetalinkReader {
  static let limits = XMLScanner.Limits(bytes: 64 << 20, depth: 16, elements: 2_000_000)

  private let name: NameBytes
  private var bytes: [UInt8] = []

  init(_ name: NameBytes) { self.name = name }

  func append(_ more: UnsafeRawBufferPointer) throws(TransferError) {
    guard bytes.count + more.count <= Self.limits.bytes else { throw Self.fault(.tooLarge).error(name, line: 1) }
    bytes.append(contentsOf: more)
  }

  /// Delivers the files of the complete document.
  func finish(_ body: ManifestReader.Body) throws(TransferError) {
    var lines = LineCount()
    var walk: MetalinkWalk
    do throws(ManifestFault) { walk = try MetalinkWalk(bytes) } catch { throw error.error(name, line: 1) }
    while true {
      let entry: ManifestEntry?
      do throws(ManifestFault) {
        entry = try walk.next { position in lines.line(of: position, in: bytes) }
      } catch {
        throw error.error(name, line: lines.line(of: walk.position, in: bytes))
      }
      guard let entry else { return }
      try body(entry)
    }
  }

  static func fault(_ fault: XMLFault) -> ManifestFault {
    switch fault {
    case .tooLarge: ManifestFault("it is longer than \(limits.bytes >> 20) MiB", "split the manifest")
    case .tooDeep: ManifestFault("its elements are nested too deep", "check that this is a Metalink file")
    case .tooMany: ManifestFault("it has more than \(limits.elements) elements", "split the manifest")
    case .doctype: ManifestFault("it has a document type, which Metalink has not", "check that this is a Metalink file")
    case .syntax: ManifestFault("its XML is not well-formed", "fetch the manifest again")
    case .unfinished: ManifestFault("it ends before its last element does", "fetch the manifest again")
    }
  }

  /// Counts line ends up to increasing positions.
  private struct LineCount {
    var position = 0
    var line = 1

    mutating func line(of next: Int, in bytes: [UInt8]) -> Int {
      while position < min(next, bytes.count) {
        if bytes[position] == 0x0A { line += 1 }
        position += 1
      }
      return line
    }
  }
}
