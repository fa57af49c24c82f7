import Testing
import TransferModel
import TransferTestSupport

@testable import TransferProtocols

@Suite struct ManifestPathTests {
  private func path(_ bytes: [UInt8], escaped: Bool = false) -> NameBytes? {
    try? bytes.withUnsafeBytes { try ManifestPath.read($0, hasEscapedLineEnds: escaped) }
  }

  @Test func lengthsAreThoseOfLinux() {
    let component = [UInt8](repeating: 0x61, count: 255)
    #expect(path(component) != nil && path(component + [0x61]) == nil)
    let whole = Array((0..<16).map { _ in component }.joined(separator: [0x2F]))
    #expect(whole.count == 4095 && path(whole) != nil)
    #expect(path([0x2E, 0x2F] + whole) == NameBytes(whole))
    #expect(path(Array([[0x61], component].joined(separator: [0x2F])) + whole) == nil)
    let long = Array((0..<2049).map { _ in [UInt8](repeating: 0x61, count: 1) }.joined(separator: [0x2F]))
    #expect(long.count == 4097 && path(long) == nil)
  }

  @Test func lineEndsBelongToNamesOnlyWhereTheyAreEscaped() {
    for byte in UInt8(0)..<0x20 {
      #expect(path([0x61, byte]) == nil)
      #expect((path([0x61, byte], escaped: true) != nil) == (byte == 0x0A || byte == 0x0D))
    }
    #expect(path([0x7F]) == nil && path([0x5C]) != nil && path([0xFF, 0x80]) != nil)
  }

  /// Every accepted path is relative and stays inside the folder, whatever the format; nothing crashes.
  @Test(arguments: ManifestFormat.allCases)
  func twelveThousandHostileNames(_ format: ManifestFormat) {
    var noise = SplitMix(state: 11)
    let parts = [
      "..", ".", "/", "//", "\\", "a", "b c", "\0", "\n", "\r", "\t", "\"", "<", "&", "&#x2e;", "%2e", "%2F", "%",
      "%0A",
      ",", "{", "}", ":", "~", "C:", "\u{202E}", "\u{FEFF}", "data/", "https://h/", String(repeating: "x", count: 260),
      "\u{FF}", "é", "?", "#", "@", " ", "(", ") = ", "-", "*",
    ]
    var taken = 0
    for _ in 0..<2000 {
      let name = (0..<Int.random(in: 1...6, using: &noise)).map { _ in parts.randomElement(using: &noise)! }.joined()
      let outcome = ManifestScene.read(format, Self.manifest(format, name), name: "fetch.txt")
      if !outcome.entries.allSatisfy({ Self.staysInside($0.path) }) { Issue.record("\(name)") }
      taken += outcome.entries.count
      if outcome.error?.description.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) == true {
        Issue.record("\(name)")
      }
    }
    #expect(taken > 20)
  }

  private static func staysInside(_ path: NameBytes) -> Bool {
    let components = path.bytes.split(separator: 0x2F, omittingEmptySubsequences: false)
    return path.bytes.count < 4096 && !path.bytes.contains(0)
      && components.allSatisfy { part in
        !part.isEmpty && part.count < 256 && !part.elementsEqual([0x2E]) && !part.elementsEqual([0x2E, 0x2E])
      }
  }

  private static func manifest(_ format: ManifestFormat, _ name: String) -> [UInt8] {
    switch format {
    case .sums: Array("\(String.md5)  \(name)\n".utf8)
    case .list: Array(name.utf8)
    case .csv: Array("url,path\n,\"\(name.replacing("\"", with: "\"\""))\"\n".utf8)
    case .jsonl: Array("{\"path\":\(JSONText.quoted(name))}".utf8)
    case .bagit: Array("https://h/a - data/\(name)\n".utf8)
    case .metalink:
      Array(
        "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\"><file name=\"\(name)\"><url>https://h/a</url></file></metalink>"
          .utf8)
    }
  }

  /// Seeded mutations of good manifests: the reader never crashes and always ends.
  @Test(arguments: ManifestFormat.allCases)
  func mutationsNeitherCrashNorHang(_ format: ManifestFormat) {
    var noise = SplitMix(state: 12)
    let good = Self.manifest(format, "data/a b/c") + Self.manifest(format, "d")
    for _ in 0..<1000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &noise) {
        let place = Int.random(in: 0..<bytes.count, using: &noise)
        switch Int.random(in: 0..<3, using: &noise) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &noise)
        case 1: bytes.remove(at: place)
        default: bytes.insert(contentsOf: good[..<Int.random(in: 0..<good.count, using: &noise)], at: place)
        }
      }
      let whole = ManifestScene.read(format, bytes)
      let cut = ManifestScene.read(format, bytes, step: Int.random(in: 1...9, using: &noise))
      if cut != whole || !whole.entries.allSatisfy({ Self.staysInside($0.path) }) { Issue.record("\(bytes)") }
    }
  }
}
