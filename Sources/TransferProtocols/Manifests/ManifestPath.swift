import TransferModel

/// Target paths in manifests. Accepted paths stay below the target folder.
enum ManifestPath {
  /// `PATH_MAX` of Linux without its NUL.
  static let longest = 4095
  /// `NAME_MAX` of Linux.
  static let longestComponent = 255

  /// The path without a leading `./`. Line ends are part of a name only if the format escapes them; other control
  /// characters never are.
  static func read(
    _ bytes: UnsafeRawBufferPointer, hasEscapedLineEnds: Bool = false
  ) throws(ManifestFault) -> NameBytes {
    var rest = bytes[...]
    while rest.starts(with: [0x2E, 0x2F]) { rest = rest.dropFirst(2) }
    guard !rest.isEmpty else { throw ManifestFault("it names no file", "write the path of a file, relative") }
    guard rest.first != 0x2F else {
      throw fault(rest, "begins at the root", "write the path relative to the target folder")
    }
    guard rest.count <= longest else { throw fault(rest, "is longer than \(longest) bytes", "give a shorter path") }
    var start = rest.startIndex
    for i in rest.startIndex..<rest.endIndex {
      let byte = rest[i]
      if byte == 0x2F {
        try check(rest[start..<i], of: rest)
        start = i + 1
      } else if byte < 0x20 || byte == 0x7F, !(hasEscapedLineEnds && (byte == 0x0A || byte == 0x0D)) {
        throw fault(rest, "holds a control character", "rename the file")
      }
    }
    try check(rest[start...], of: rest)
    return NameBytes(Array(rest))
  }

  private static func check(
    _ component: Slice<UnsafeRawBufferPointer>, of path: Slice<UnsafeRawBufferPointer>
  ) throws(ManifestFault) {
    switch component.count {
    case 0:
      let isLast = component.startIndex == path.endIndex
      throw fault(
        path, isLast ? "ends with a slash, as folders do" : "has an empty component", "name files, with single slashes")
    case 1 where component.first == 0x2E, 2 where component.elementsEqual([0x2E, 0x2E]):
      throw fault(path, "has a \".\" or \"..\" component", "write the path without them")
    case ...longestComponent: break
    default:
      throw fault(path, "has a component of more than \(longestComponent) bytes", "give it a shorter name")
    }
  }

  private static func fault(_ path: some Sequence<UInt8>, _ what: String, _ remedy: String) -> ManifestFault {
    ManifestFault("\(ManifestFault.shown(path)) \(what)", remedy)
  }

  /// The file name in the last component of an absolute URL.
  static func name(ofURL url: UnsafeRawBufferPointer) throws(ManifestFault) -> NameBytes {
    let remedy = "give the target path with the URL"
    let path = url.prefix { $0 != 0x3F }.drop { $0 != 0x3A }.dropFirst(3)
    let name = path.lastIndex(of: 0x2F).map { path[($0 + 1)...] } ?? path.suffix(0)
    guard let bytes = PercentEncoding.decode(name) else {
      throw ManifestFault("a \"%\" in its URL is not followed by two hexadecimal digits", "percent-encode it as %25")
    }
    guard !bytes.isEmpty else { throw ManifestFault("its URL names no file", remedy) }
    guard !bytes.contains(0x2F) else { throw ManifestFault("the last component of its URL holds a slash", remedy) }
    return try bytes.withUnsafeBufferPointer { buffer throws(ManifestFault) in
      try read(UnsafeRawBufferPointer(buffer))
    }
  }
}
