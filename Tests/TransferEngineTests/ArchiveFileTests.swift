import Testing
import TransferModel

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Archives that are written to a file.
@Suite struct ArchiveFileTests {
  private static func names(in folder: NameBytes) -> [String] {
    guard let directory = folder.withCString({ opendir($0) }) else { return ["?"] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private static func write(_ text: String, to file: ArchiveFile) throws {
    try Array(text.utf8).withUnsafeBytes { bytes in try file.write(bytes) }
  }

  /// With and without a name until it is complete, it ends the same.
  @Test(arguments: [false, true], [false, true])
  func itHasItsNameWhenItIsComplete(_ isNamed: Bool, _ replaces: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.path.appending(NameBytes("x.tar"))
    if replaces {
      let older = try ArchiveFile(path, overwrites: false, isNamed: isNamed)
      try Self.write("older and longer", to: older)
      try older.place()
      #expect(throws: Failure.self) { try ArchiveFile(path, overwrites: false, isNamed: isNamed) }
    }
    let file = try ArchiveFile(path, overwrites: replaces, isNamed: isNamed)
    try Self.write("ab", to: file)
    try Self.write("c", to: file)
    try file.place()
    file.discard()
    #expect(Self.names(in: folder.path) == ["x.tar"])
    var status = stat()
    #expect(stat(path.description, &status) == 0 && status.st_size == 3 && status.st_mode & 0o700 == 0o600)
  }

  /// Where files without a name are not possible, a signal removes the partial file, and no other gets a name.
  @Test func anEndOfTheProcessRemovesPartialFiles() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.path.appending(NameBytes("x.tar"))
      let file = try ArchiveFile(path, overwrites: false, isNamed: true)
      try ArchiveFileTests.write("abc", to: file)
      precondition(ArchiveFileTests.names(in: folder.path).count == 1)
      UnfinishedArchives.abandon()
      precondition(ArchiveFileTests.names(in: folder.path).isEmpty)
      precondition((try? file.place()) == nil)
      precondition((try? ArchiveFile(path, overwrites: false, isNamed: true)) == nil)
      let unnamed = try? ArchiveFile(path, overwrites: false)
      if let unnamed { precondition((try? unnamed.place()) == nil) }
      precondition(ArchiveFileTests.names(in: folder.path).isEmpty)
    }
  }
}
