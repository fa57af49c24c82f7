import Testing

/// Dependencies between targets point only downwards: the table lists what the manifest declares, and the manifest
/// declares what the files import.
@Suite struct ArrowTests {
  /// Each target and what it may import, from top to bottom. ARCHITECTURE.md has the same table without the third-party
  /// modules `ArgumentParser` and `HTTPTypes`.
  static let arrows: [(target: String, may: [String])] = [
    ("transfers", ["TransfersCLI"]),
    ("TransfersCLI", ["Transfers", "TransferReports", "HTTPServer", "StrictYAML", "TransferModel", "ArgumentParser"]),
    (
      "Transfers",
      [
        "TransferEngine", "TransferProtocols", "TransferReports", "TransferLedger", "CurlTransport", "CScripts",
        "CSys", "TransferModel",
      ]
    ),
    ("TransferReports", ["TransferModel"]),
    ("HTTPServer", ["TransferModel"]),
    (
      "TransferEngine",
      ["TransferLedger", "TransferProtocols", "CSys", "CDigest", "CZlib", "TransferModel", "HTTPTypes"]
    ),
    ("TransferProtocols", ["CDigest", "CProfiles", "StrictYAML", "TransferModel", "HTTPTypes"]),
    ("CurlTransport", ["CCurl", "CSys", "TransferModel", "HTTPTypes"]),
    ("TransferLedger", ["CSQLite", "CMigrations", "CSys", "TransferLog", "TransferModel"]),
    ("TransferLog", ["CDigest", "TransferModel"]),
    ("StrictYAML", ["CYAML"]),
    ("TransferModel", ["HTTPTypes"]),
    ("Receiver", ["CCrypto", "TransferModel"]),
    ("transfers-receiver", ["Receiver", "TransferModel", "ArgumentParser"]),
  ]

  /// The full `Foundation` is excluded on purpose: it costs 44 MB and 5 ms. `Synchronization` provides the atomics.
  static let system: Set<String> = ["Glibc", "Darwin", "FoundationEssentials", "Synchronization"]

  @Test(arguments: arrows.map(\.target))
  func importsAreInTheManifest(_ target: String) throws {
    let declared = try #require(Self.declared(target), "\(target) is not in Package.swift")
    for file in Repository.files(under: "Sources/\(target)", suffix: ".swift") {
      for module in Self.imports(file) where !Self.system.contains(module) {
        #expect(declared.contains(module), "\(file) imports \(module)")
      }
    }
  }

  @Test(arguments: arrows.map(\.target))
  func theManifestDeclaresOnlyArrowsOfTheTable(_ target: String) throws {
    let declared = try #require(Self.declared(target), "\(target) is not in Package.swift")
    let may = try #require(Self.arrows.first { $0.target == target }).may
    #expect(declared.subtracting(may).isEmpty)
  }

  @Test func everySourceFolderIsInTheTable() {
    let known = Set(Self.arrows.map(\.target))
    let folders = Set(
      Repository.files(under: "Sources", suffix: ".swift").compactMap { $0.split(separator: "/").dropFirst().first })
    #expect(folders.filter { !known.contains(String($0)) }.isEmpty)
    #expect(folders.count >= known.count - 1)
  }

  /// The table in ARCHITECTURE.md and this one agree on our own targets.
  @Test func theDocumentedTableIsTheSame() throws {
    let rows = try #require(Repository.text("ARCHITECTURE.md")).split(separator: "\n").filter { $0.hasPrefix("| `") }
    for (target, may) in Self.arrows {
      let row = rows.first { $0.split(separator: "|").first?.contains("`\(target)`") ?? false }
      let cells = try #require(row, "\(target) is not in ARCHITECTURE.md").split(separator: "|")
      let documented = Set(
        cells.last(where: { $0.contains { $0 != " " } })?.split { ",– ".contains($0) }.map(String.init) ?? [])
      let own = Set(may).subtracting(["ArgumentParser", "HTTPTypes", "Receiver"])
      #expect(documented == own, "\(target)")
    }
  }

  /// The modules that a file imports, whatever the attributes, access level or kind of the import.
  private static func imports(_ file: String) -> [String] {
    Repository.lines(file).compactMap { line in
      let words = line.split(separator: " ")
      guard let index = words.firstIndex(of: "import"), words[..<index].allSatisfy(isImportPrefix) else { return nil }
      let kinds: Set<Substring> = ["func", "struct", "class", "enum", "protocol", "var", "let", "typealias"]
      let names = words[(index + 1)...].drop { kinds.contains($0) }
      return names.first?.split(separator: ".").first.map(String.init)
    }
  }

  private static func isImportPrefix(_ word: Substring) -> Bool {
    word.hasPrefix("@") || ["public", "internal", "package", "private", "fileprivate"].contains(word)
  }

  /// The dependencies that Package.swift declares for a target; nil if it has no target of that name.
  private static func declared(_ target: String) -> Set<String>? {
    guard let manifest = Repository.text("Package.swift") else { return nil }
    for opening in [
      "room(\"\(target)\"", "room(\n      \"\(target)\"", "executableTarget(name: \"\(target)\"",
      "executableTarget(\n      name: \"\(target)\"", ".target(\n      name: \"\(target)\"",
    ] {
      guard let start = manifest.firstRange(of: opening) else { continue }
      let rest = manifest[start.upperBound...]
      guard let open = rest.firstIndex(of: "["), let close = rest.firstIndex(of: "]") else { return nil }
      return names(rest[open..<close])
    }
    return nil
  }

  private static func names(_ list: Substring) -> Set<String> {
    let separators: Set<Character> = ["[", ",", " ", "\n"]
    let words = list.split { separators.contains($0) }.map { $0.filter { $0 != "\"" } }
    return Set(words.map { ["httpTypes": "HTTPTypes", "argumentParser": "ArgumentParser"][$0] ?? $0 })
  }
}
