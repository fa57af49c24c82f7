import Testing
import TransferLedger
import TransferModel

@testable import TransferEngine

/// What is kept of a scan until the request is known to be valid.
@Suite struct SourceSpoolTests {
  private final class Sink: FileSink {
    var taken: [String] = []
    var compared: [Bool] = []
    var roots: Set<Int> = []
    func take(_ found: FoundFile) throws(TransferError) {
      taken.append("\(String(decoding: found.path, as: UTF8.self))=\(String(decoding: found.key, as: UTF8.self))")
      compared.append(found.isCompared)
      roots.insert(found.root)
    }
    func refuse(path: NameBytes, key: NameBytes, _ failure: Failure) throws(TransferError) {
      taken.append("!\(path)")
    }
  }

  private func spool(_ files: [(path: String, key: String)]) throws(TransferError) -> SourceSpool {
    let spool = try SourceSpool(watchesKeys: true)
    for file in files {
      let (path, key) = (Array(file.path.utf8), Array(file.key.utf8))
      let identity = SourceIdentity(size: 1, mtimeNs: 1, ctimeNs: 1, inode: 1, device: 1)
      try path.withUnsafeBufferPointer { path throws(TransferError) in
        try key.withUnsafeBufferPointer { key throws(TransferError) in
          try spool.take(
            FoundFile(
              path: UnsafeRawBufferPointer(path), root: path.count / 2, key: UnsafeRawBufferPointer(key),
              identity: identity, mode: 0, isCompared: file.path == "/3"))
        }
      }
    }
    return spool
  }

  @Test func theFirstPairIsTold() throws {
    let pairs = [("/x", "x"), ("/a", "k"), ("/b", "l"), ("/a", "k"), ("/c", "l"), ("/d", "k"), ("/e", "x")]
    let spool = try spool(pairs.map { (path: $0.0, key: $0.1) })
    let error = #expect(throws: TransferError.self) { try spool.check() }
    #expect(error == .sameKey(NameBytes("/c"), NameBytes("/b"), NameBytes("l")))
  }

  @Test func whatCameBeforeCanBeLeftOut() throws {
    let spool = try spool((0..<300).map { (path: "/\($0 % 100)", key: "\($0 % 100)") })
    try spool.refuse(path: NameBytes("/bad"), key: NameBytes("bad"), Failure(.sourceDenied, "no"))
    try spool.check()
    let (all, once) = (Sink(), Sink())
    #expect(try spool.replay(into: all) == 200)
    #expect(try spool.replay(into: once, repeats: false) == 200)
    #expect(all.compared.count(where: \.self) == 3 && once.compared == (0..<100).map { $0 == 3 })
    #expect(all.roots == [1])
    #expect(all.taken.count == 301 && once.taken == (0..<100).map { "/\($0)=\($0)" } + ["!/bad"])
  }

  /// A name that is listed a hundred thousand times is compared with one name each time, not with all before it.
  @Test func oneNameListedOftenIsCheap() throws {
    let spool = try spool(Array(repeating: (path: "/a", key: "a"), count: 100_000))
    try spool.check()
    #expect(try spool.replay(into: Sink(), repeats: false) == 99_999)
  }

  @Test func groupsAreFoundAcrossAllParts() throws {
    let log = try KeyLog(partSize: 7)
    for number in 0..<100 {
      try Array("\(number % 60)".utf8).withUnsafeBufferPointer { key throws(TransferError) in
        try log.append(UnsafeRawBufferPointer(key), at: UInt64(number * 10))
      }
    }
    var groups: [[UInt64]] = []
    try log.forEachGroup { group throws(TransferError) in
      groups.append(group.map(\.number))
      #expect(group.allSatisfy { $0.offset == $0.number * 10 })
    }
    #expect(groups.sorted { $0[0] < $1[0] } == (0..<40).map { [$0, $0 + 60] })
  }
}
