import Testing

/// The public API of the library, its page and the program that uses it agree.
@Suite struct LibraryTests {
  private static let folder = "Tests/PublicProduct/Sources/PublicProduct"
  private static let program = "\(folder)/Trial.swift"

  /// The example on the page is part of the program that runs.
  @Test func theExampleIsAPartOfTheProgram() throws {
    let page = Repository.lines("docs/library.md").map(String.init)
    let heading = try #require(page.firstIndex(of: "## An example"))
    let start = try #require(page[heading...].firstIndex(of: "```swift")) + 1
    let end = try #require(page[start...].firstIndex(of: "```"))
    let lines = Repository.lines(Self.program).map(String.init)
    let first = try #require(lines.firstIndex(of: "    // example: begin")) + 1
    let last = try #require(lines.firstIndex(of: "    // example: end"))
    #expect(Array(page[start..<end]) == lines[first..<last].map { String($0.dropFirst(4)) })
  }

  /// The page names every method of `TransferClient`, and nothing else.
  @Test func thePageNamesEveryMethod() throws {
    let rows = Repository.lines("docs/library.md").filter { $0.hasPrefix("| `") }
    let named = rows.flatMap { row in
      (row.split(separator: "|").first ?? "").split(separator: "`").filter { $0.contains { $0.isLetter } }
    }
    #expect(Set(named.map { String($0.prefix { $0 != "(" }) }) == Self.methods())
  }

  /// What the page promises is compiled and run without access to anything but the public product.
  @Test func theProgramCallsEveryMethod() throws {
    let texts = try Repository.files(under: Self.folder, suffix: ".swift").map { try #require(Repository.text($0)) }
    let missing = Self.methods().filter { method in !texts.contains { $0.contains(".\(method)(") } }
    #expect(missing == [])
  }

  /// The compiler keeps types of internal imports out of the public API; so the other imports must be internal.
  @Test func onlyTheModelAndTheReportsAreInTheSurface() throws {
    let manifest = try #require(Repository.text("Package.swift"))
    let target = try #require(manifest.split(separator: ".target(\n      name: \"Transfers\"").dropFirst().first)
    #expect(target.prefix(300).contains(".enableUpcomingFeature(\"InternalImportsByDefault\")"))
    for file in Repository.files(under: "Sources/Transfers", suffix: ".swift") {
      for line in Repository.lines(file) where line.contains("public import ") || line.hasPrefix("@_exported") {
        let module = line.split(separator: " ").last ?? ""
        #expect(["TransferModel", "TransferReports"].contains(module), "\(file): \(line)")
      }
    }
  }

  /// Names of the public functions in `public final class TransferClient` and its extensions.
  private static func methods() -> Set<String> {
    var names: Set<String> = []
    for file in Repository.files(under: "Sources/Transfers/Client", suffix: ".swift") {
      var isClient = false
      for line in Repository.lines(file) {
        if !line.hasPrefix(" "), !line.isEmpty { isClient = line.contains("TransferClient") }
        guard isClient, let name = line.firstRange(of: "  public func ") ?? line.firstRange(of: "  public static func ")
        else { continue }
        names.insert(String(line[name.upperBound...].prefix { $0 != "(" }))
      }
    }
    return names
  }
}
