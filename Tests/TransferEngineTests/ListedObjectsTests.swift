import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Lists of what a destination has.
@Suite struct ListedObjectsTests {
  /// `--known-at <(…)` of a shell: what was read from a pipe cannot be read again. Nothing in this test can block.
  @Test func aListMayComeThroughAPipe() throws {
    var ends: [Int32] = [-1, -1]
    #expect(pipe(&ends) == 0)
    let text = "path,key,size\na,,1\nb,x/b,2\n"
    #expect(write(ends[1], text, text.utf8.count) == text.utf8.count)
    close(ends[1])
    defer { close(ends[0]) }
    let lists = ListedDownloads(NameBytes("/dev/fd/\(ends[0])"), nil, base: nil, notice: { _ in })
    var found: [String] = []
    let inventory = try lists.readObjects { key, isKey, size, _ throws(TransferError) in
      found.append("\(key) \(isKey) \(size ?? -1)")
    }
    #expect(inventory == nil && found == ["a false 1", "x/b false 2"])
  }
}
