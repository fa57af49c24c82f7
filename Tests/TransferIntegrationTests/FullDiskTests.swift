import Testing
import TransferModel
import Transfers

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Downloads to a disk without room for them. The server claims files as large as the whole disk.
@Suite struct FullDiskTests {
  private let scene: Scene
  private let diskSize: Int64
  private let server: FixedAnswerServer

  init() throws {
    scene = try Scene()
    mkdir("\(scene.root)/in", 0o700)
    var disk = statvfs()
    guard statvfs(scene.root, &disk) == 0 else { throw Scene.Broken(what: "statvfs: \(errno)") }
    diskSize = Int64(disk.f_blocks) * Int64(disk.f_frsize)
    server = try FixedAnswerServer(Self.beginning(of: diskSize))
  }

  private static func beginning(of size: Int64) -> String {
    let fields = "Content-Range: bytes 0-9/\(size)\r\nETag: \"a\"\r\n"
    return FixedAnswerServer.answer("206 Partial Content", fields, body: "0123456789")
  }

  private func add(_ count: Int) throws {
    let urls = (0..<count).map { "\(server.url)/f\($0)" }
    _ = try TransferStore(at: scene.storePath).add(
      DownloadOptions(urls: urls, folder: NameBytes("\(scene.root)/in")))
  }

  private func names() throws -> [String] { try Scene.names(in: "\(scene.root)/in", hidden: true) }

  private func causes() throws -> Set<String> { Set(try scene.fileRows().compactMap(\.cause)) }

  /// The server is asked a few times, and not for each file; nothing of a file without room is stored.
  @Test func filesWaitForRoomAndGoOnByThemselves() throws {
    try add(60)
    var result = try Scene.run(scene.storePath, workers: 2)
    #expect(result.done == 0 && result.failed == 0 && result.left == 60, "\(result)")
    #expect(result.stoppedBy == .notDue && result.waiting.values.map(\.code) == [.localDiskFull])
    #expect((2...20).contains(server.requests), "\(server.requests)")
    #expect(try names() == [] && causes().isSubset(of: [ErrorCode.localDiskFull.rawValue]))
    server.setAnswer(FixedAnswerServer.answer("200 OK", "ETag: \"a\"\r\n", body: "0123456789"))
    result = try Scene.run(scene.storePath, workers: 2)
    #expect(result.done == 60 && result.left == 0, "\(result)")
    #expect(try names().count == 60)
  }

  /// One file without room says nothing about the others.
  @Test func aSingleFileWithoutRoomHoldsUpNoOther() throws {
    try add(1)
    #expect(try scene.run().left == 1)
    server.setAnswer(FixedAnswerServer.answer("200 OK", "ETag: \"a\"\r\n", body: "0123456789"))
    let other = try FixedAnswerServer(Self.beginning(of: diskSize))
    _ = try TransferStore(at: scene.storePath).add(
      DownloadOptions(urls: ["\(other.url)/g"], folder: NameBytes("\(scene.root)/in")))
    let result = try scene.run()
    #expect(result.done == 1 && result.failed == 0 && result.left == 1, "\(result)")
    #expect(try names() == ["f0"])
  }

  /// No space that anybody frees would be enough.
  @Test func aFileThatIsLargerThanTheDiskFails() throws {
    server.setAnswer(Self.beginning(of: diskSize * 2))
    try add(1)
    let result = try scene.run()
    #expect(result.failed == 1 && result.left == 0, "\(result)")
    #expect(try names() == [] && causes() == [ErrorCode.localDiskFull.rawValue])
  }
}
