import StrictYAML
import Testing

@testable import TransferProtocols

@Suite struct CanonicalTextTests {
  private func read(_ text: String) throws -> YAMLNode { try YAMLReader.read(Array(text.utf8)) }

  @Test(arguments: [
    "a: [1, '1', 1.5e3, yes, null, \"\\x01\\u2028\\u0085 \\\"q\\\" \\\\ é 😀\"]\nb: {}\nc: []\nd: |\n  two\n  lines\n",
    "x: &q {k: v}\ny: *q\n",
  ])
  func canonicalTextIsTheSameTree(_ text: String) throws {
    let first = try read(text)
    let canonical = CanonicalText.of(first)
    #expect(!canonical.contains("\n"))
    let second = try read(canonical)
    #expect(CanonicalText.of(second) == canonical)
    #expect(Self.values(first) == Self.values(second))
  }

  /// The tree without positions.
  private static func values(_ node: YAMLNode) -> String {
    switch node.content {
    case .scalar: "\(String(describing: node.scalar))"
    case .list(let nodes): "[" + nodes.map(values).joined(separator: ",") + "]"
    case .map(let entries): "{" + entries.map { $0.key + ":" + values($0.value) }.joined(separator: ",") + "}"
    }
  }
}
