import CSys
public import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The marker file that shows that a source is complete: `{path}.done`, `{dir}/.{name}.ok`, `{dir}/{stem}.ready`, or
/// `{dir}/.done` for a whole folder. It is in the folder of its source.
public struct ReadyMarker: Sendable, Hashable {
  private enum Part: Hashable { case name, stem, none }

  private let part: Part
  private let before, after: [UInt8]

  /// - Throws: `.usage` if the text is not such a pattern.
  public init(_ text: String) throws(TransferError) {
    let inFolder =
      text.hasPrefix("{path}")
      ? "{name}" + text.dropFirst("{path}".count)
      : text.hasPrefix("{dir}/") ? String(text.dropFirst("{dir}/".count)) : ""
    let parts = Self.parts(inFolder)
    (part, before, after) = (parts.part, Array(parts.before.utf8), Array(parts.after.utf8))
    let literal = parts.before + parts.after
    guard !literal.isEmpty, !literal.contains("/"), !literal.contains("{"), !literal.contains("}"),
      literal != ".", literal != "..", !literal.utf8.contains(0)
    else {
      throw TransferError(
        .usage, "read", NameBytes(text), cause: "--ready-file is not a pattern for a file beside its source",
        remedy: "{path}.done, {dir}/{stem}.ready, or {dir}/.done for a whole folder")
    }
  }

  private static func parts(_ text: String) -> (part: Part, before: String, after: String) {
    for (word, part) in [("{name}", Part.name), ("{stem}", .stem)] {
      guard let place = text.firstRange(of: word) else { continue }
      return (part, String(text[..<place.lowerBound]), String(text[place.upperBound...]))
    }
    return (.none, text, "")
  }

  /// One marker for all sources of its folder.
  public var isOfFolder: Bool { part == .none }

  /// One marker for all sources with its stem.
  public var isOfStem: Bool { part == .stem }

  /// Whether a file of this name is a marker, and therefore not a source.
  func isMarker(_ name: [UInt8]) -> Bool {
    guard part != .none else { return name == before }
    return name.count > before.count + after.count && name.starts(with: before)
      && name.suffix(after.count) == after[...]
  }

  /// The name of the marker of a source of this name.
  func name(of source: [UInt8]) -> NameBytes {
    switch part {
    case .name: NameBytes(before + source + after)
    case .stem: NameBytes(before + Self.stem(source) + after)
    case .none: NameBytes(before)
    }
  }

  private static func stem(_ name: [UInt8]) -> ArraySlice<UInt8> {
    guard let dot = name.lastIndex(of: 0x2E), dot > 0 else { return name[...] }
    return name[..<dot]
  }

  /// Whether the marker of the source at `path` exists. Blocking.
  func isThere(for path: NameBytes) -> Bool {
    let folder = path.bytes[..<((path.bytes.lastIndex(of: 0x2F) ?? -1) + 1)]
    let marker = NameBytes(Array(folder) + name(of: path.lastComponent.bytes).bytes)
    var status = csys_file_status()
    return marker.withCString { csys_status_at(AT_FDCWD, $0, 0, &status) } == 0 && status.mode & S_IFMT == S_IFREG
  }
}
