public import TransferModel

/// Reads a manifest from buffers of any size, and delivers its files one after the other. Opens nothing.
///
/// Memory does not grow with the number of lines, except for Metalink, which is read as a whole and bounded. A path can
/// occur twice (``ManifestNames``); consecutive lines of a checksum file that name the same path are one entry. After
/// an error the reader must not be used again.
public final class ManifestReader {
  public typealias Body = (ManifestEntry) throws(TransferError) -> Void

  /// The name of the manifest, for messages; the rules of some formats depend on its last component.
  public let name: NameBytes
  public let format: ManifestFormat
  /// The number of delivered entries.
  public private(set) var count = 0
  private var splitter: LineSplitter
  private let source: Source

  private enum Source {
    case lines(any ManifestLines)
    case metalink(MetalinkReader)
  }

  /// - Parameter isUpload: it lists files to send, so that unknown columns, URLs and properties that no object can have
  ///   are errors.
  public init(_ format: ManifestFormat, name: NameBytes, isUpload: Bool = false) {
    (self.format, self.name) = (format, name)
    splitter = LineSplitter(name)
    source =
      switch format {
      case .sums: .lines(SumsLines(manifest: name))
      case .bagit: .lines(BagItLines(manifest: name))
      case .csv: .lines(TableLines(isUpload: isUpload))
      case .jsonl: .lines(JSONLines(isUpload: isUpload))
      case .list: .lines(ListLines())
      case .metalink: .metalink(MetalinkReader(name))
      }
  }

  /// The manifest has an enclosing OpenPGP signature, which was not verified.
  public var isSigned: Bool {
    if case .lines(let lines) = source { lines.isSigned } else { false }
  }

  /// Accepts the next bytes; `isLast` means that none follow. Entries are delivered as soon as they are complete.
  /// - Throws: `.badList` with the line and the remedy, or any error of `body`.
  public func read(_ bytes: UnsafeRawBufferPointer, isLast: Bool, _ body: Body) throws(TransferError) {
    switch source {
    case .metalink(let metalink): try read(metalink, bytes, isLast: isLast, body)
    case .lines(let lines): try read(lines, bytes, isLast: isLast, body)
    }
  }

  /// The same for a complete text.
  public func read(_ text: [UInt8], _ body: Body) throws(TransferError) {
    try text.withUnsafeBufferPointer { buffer throws(TransferError) in
      try read(UnsafeRawBufferPointer(buffer), isLast: true, body)
    }
  }

  private func give(_ number: Int, _ body: Body, _ step: () throws(ManifestFault) -> ManifestEntry?)
    throws(TransferError)
  {
    let entry: ManifestEntry?
    do throws(ManifestFault) { entry = try step() } catch { throw error.error(name, line: number) }
    guard let entry else { return }
    count += 1
    try body(entry)
  }

  private func read(
    _ lines: any ManifestLines, _ bytes: UnsafeRawBufferPointer, isLast: Bool, _ body: Body
  ) throws(TransferError) {
    try splitter.split(bytes, isLast: isLast) { line, number throws(TransferError) in
      try give(number, body) { () throws(ManifestFault) in try lines.entry(line, number) }
    }
    guard isLast else { return }
    try give(max(splitter.line, 1), body) { () throws(ManifestFault) in try lines.last() }
  }

  private func read(
    _ metalink: MetalinkReader, _ bytes: UnsafeRawBufferPointer, isLast: Bool, _ body: Body
  ) throws(TransferError) {
    try metalink.append(bytes)
    guard isLast else { return }
    try metalink.finish { entry throws(TransferError) in
      count += 1
      try body(entry)
    }
  }
}

/// A format in which each line produces at most one entry.
protocol ManifestLines: AnyObject {
  var isSigned: Bool { get }
  /// The entry that this line completes, which may come from an earlier line.
  func entry(_ line: UnsafeRawBufferPointer, _ number: Int) throws(ManifestFault) -> ManifestEntry?
  /// The entry that the end of the manifest completes.
  func last() throws(ManifestFault) -> ManifestEntry?
}

extension ManifestLines {
  var isSigned: Bool { false }
}
