import TransferModel

/// Common to all formats with URLs and paths: the source and the target of a file.
struct ManifestPlaces {
  private var urls = ManifestURLReader()

  /// `url` is absolute or relative to the base, `path` is the target; one of them may be missing.
  /// - Parameter hasEscapedLineEnds: whether the format escapes line ends in paths.
  mutating func read(
    url: UnsafeRawBufferPointer?, path: UnsafeRawBufferPointer?, hasEscapedLineEnds: Bool = false
  ) throws(ManifestFault) -> (ManifestEntry.Location, NameBytes) {
    guard let url, !url.isEmpty else {
      guard let path, !path.isEmpty else {
        throw ManifestFault("it has neither a URL nor a path", "give each file one of them")
      }
      let name = try ManifestPath.read(path, hasEscapedLineEnds: hasEscapedLineEnds)
      return (.relative(name), name)
    }
    let target: NameBytes? =
      if let path, !path.isEmpty {
        try ManifestPath.read(path, hasEscapedLineEnds: hasEscapedLineEnds)
      } else {
        nil
      }
    guard ManifestURLReader.isAbsolute(url) else {
      let source = try ManifestPath.read(url)
      return (.relative(source), target ?? source)
    }
    let text = try urls.read(url)
    if let target { return (.urls([ManifestURL(text)]), target) }
    return (.urls([ManifestURL(text)]), try ManifestPath.name(ofURL: url))
  }

  /// The same with further URLs of the file, the preferred one first; these mirrors require an absolute URL.
  mutating func read(
    url: UnsafeRawBufferPointer?, path: UnsafeRawBufferPointer?, mirrors: UnsafeRawBufferPointer?,
    hasEscapedLineEnds: Bool = false
  ) throws(ManifestFault) -> (ManifestEntry.Location, NameBytes) {
    let (location, target) = try read(url: url, path: path, hasEscapedLineEnds: hasEscapedLineEnds)
    guard let mirrors, !mirrors.isEmpty else { return (location, target) }
    guard case .urls(var all) = location else {
      throw ManifestFault("it has mirrors and no absolute URL", "give the first of its URLs as \"url\"")
    }
    for mirror in mirrors.split(separator: 0x20) {
      all.append(ManifestURL(try urls.read(UnsafeRawBufferPointer(rebasing: mirror))))
    }
    return (.urls(all), target)
  }

  static func size(_ text: some Collection<UInt8>) throws(ManifestFault) -> Int64 {
    let isNumber = !text.isEmpty && text.count <= 16 && text.allSatisfy { (0x30...0x39).contains($0) }
    let size = isNumber ? text.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) } : -1
    guard (0...ContentSize.largest).contains(size) else {
      throw ManifestFault("its size is not a number of bytes from 0 to 2^53", "write the size in decimal digits")
    }
    return size
  }
}
