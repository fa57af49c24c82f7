import TransferModel

/// One URL or relative path per line, optionally followed by a tab and a target path. There are no comments; empty
/// lines are skipped.
final class ListLines: ManifestLines {
  private var places = ManifestPlaces()

  func entry(_ line: UnsafeRawBufferPointer, _ number: Int) throws(ManifestFault) -> ManifestEntry? {
    guard !line.isEmpty else { return nil }
    let tab = line.firstIndex(of: 0x09)
    guard tab != 0 else { throw ManifestFault("no URL is before the tab", "write the URL or the path first") }
    let url = UnsafeRawBufferPointer(rebasing: line[..<(tab ?? line.count)])
    let path = tab.map { UnsafeRawBufferPointer(rebasing: line[($0 + 1)...]) }
    if let path, path.isEmpty { throw ManifestFault("no target path follows the tab", "take the tab out") }
    let (location, target) = try places.read(url: url, path: path)
    return ManifestEntry(location: location, path: target, line: number)
  }

  func last() throws(ManifestFault) -> ManifestEntry? { nil }
}
