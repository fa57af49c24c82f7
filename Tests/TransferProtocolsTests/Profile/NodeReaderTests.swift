import StrictYAML
import Testing

@testable import TransferProtocols

/// Plain values in a profile, and the faults of those that are none.
@Suite struct NodeReaderTests {
  private let nodes = NodeReader(faults: FoundFaults())

  private func node(_ text: String) throws -> YAMLNode {
    try #require(try YAMLReader.read(Array("k: \(text)".utf8)).entries?.first).value
  }

  @Test(
    arguments: [
      ("4MiB", 4 << 20), ("150MB", 150_000_000), ("320 KiB", 320 << 10), ("17", 17), ("1B", 1), ("0", 0),
      ("1152921504606846976", 1 << 60),
    ] as [(String, Int64)])
  func sizes(_ text: String, _ bytes: Int64) throws {
    #expect(nodes.size(try node(text), "x") == bytes && nodes.faults.all.isEmpty)
  }

  @Test(
    arguments: [
      ("500ms", 500), ("10s", 10_000), ("30m", 1_800_000), ("24h", 86_400_000), ("7d", 604_800_000), ("3", 3_000),
      ("366d", 366 * 86_400_000),
    ] as [(String, Int64)])
  func durations(_ text: String, _ ms: Int64) throws {
    #expect(nodes.duration(try node(text), "x") == ms && nodes.faults.all.isEmpty)
  }

  @Test(arguments: ["4 bananas", "-1", "1152921504606846977", "99999999999TB", "[4]"])
  func noSize(_ text: String) throws {
    #expect(nodes.size(try node(text), "x") == nil && nodes.faults.all.map(\.mark.column) == [4])
  }

  @Test(arguments: ["1w", "367d", "-1s", "{s: 1}"])
  func noDuration(_ text: String) throws {
    #expect(nodes.duration(try node(text), "x") == nil && nodes.faults.all.count == 1)
  }

  @Test func aMissingKeyIsNoFaultUnlessItIsRequired() throws {
    let map = try #require(nodes.map(try node("{a: null, b: 1}"), "x", keys: ["a", "b"]))
    #expect(nodes.int(map["a"], "x.a", in: 0...1) == nil && nodes.bool(map["a"], "x.a", true))
    #expect(nodes.faults.all.isEmpty)
    #expect(nodes.required("a", map, "x") == nil && nodes.faults.all.map(\.message) == ["x needs the key \"a\""])
  }

  /// Several decoders look at the same node.
  @Test func theSameFaultIsReportedOnceAndInTheOrderOfTheText() throws {
    let tree = try YAMLReader.read(Array("a: x\nb: y".utf8))
    let (first, last) = (try #require(tree.entries?.first).value, try #require(tree.entries?.last).value)
    for node in [last, first, last] { #expect(nodes.int(node, "n", in: 0...9) == nil) }
    #expect(nodes.faults.sorted.map(\.mark.line) == [1, 2])
  }
}
