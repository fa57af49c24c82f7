import Glibc
import TransferModel
import Testing

@testable import TransferProtocols

/// `docs/profiles.md` documents everything that a profile may contain, and its example is a valid profile.
@Suite struct ProfilePageTests {
  private static let page: String = {
    let root = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }
    guard let file = fopen(root + "/docs/profiles.md", "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }()

  @Test func theExampleIsAProfile() throws {
    let start = try #require(Self.page.firstRange(of: "```yaml\n")).upperBound
    let end = try #require(Self.page[start...].firstRange(of: "```")).lowerBound
    let profile = try Profile.read(Array(Self.page[start..<end].utf8), file: "docs/profiles.md")
    #expect(profile.name == "archive")
  }

  static let words =
    ProfileDecoder.keys + StepName.allCases.map(\.rawValue) + ProfileRule.Action.allCases.map(\.rawValue)
    + AmbiguousLast.allCases.map(\.rawValue) + ProfileHash.allCases.map(\.rawValue) + ProfileNames.file
    + ProfileNames.chunk + ChunkRules.Mode.allCases.map(\.rawValue) + ChunkRules.Remainder.allCases.map(\.rawValue)
    + Extraction.Kind.allCases.map(\.rawValue) + ExtractTarget.Scope.allCases.map(\.rawValue)

  @Test(arguments: words)
  func theWordIsExplained(_ word: String) {
    #expect(
      Self.page.contains("`\(word)`") || Self.page.contains("`\(word)."), "docs/profiles.md does not say `\(word)`")
  }

  @Test(arguments: Filter.Name.allCases.map(\.rawValue))
  func theFilterIsNamed(_ name: String) {
    #expect(
      Self.page.contains("`\(name)`") || Self.page.contains("`\(name)("), "docs/profiles.md does not say `\(name)`")
  }
}
