import Glibc
import Testing
import TransferLedger
import TransferModel
import Transfers

/// Programs that write through a mapping do not change mtime with each byte: what is sent is compared with what was
/// announced.
@Suite struct WrittenSourceTests {
  private static let size = 200_000

  @Test func aSourceThatIsWrittenBehindItsDigestIsNotStored() throws {
    let server = try FixedAnswerServer(
      FixedAnswerServer.answer("200 OK", "ETag: \"0123456789abcdef0123456789abcdef\"\r\n"))
    let scene = try Scene()
    let source = try MappedFile("\(scene.root)/source/file.bin", size: Self.size)
    let settings = BatchSettings(
      destination: "s3://bucket/", options: ["endpoint-url": .text(server.url), "unsigned-payload": true])
    _ = try TransferStore(at: scene.storePath).add(
      [NameBytes("\(scene.root)/source")], UploadOptions(settings: settings),
      notice: { _ in })
    let resolver = Interposed(beforeStart: { source.write(at: 150_000) })
    _ = try scene.work(with: resolver)
    let files = try scene.fileRows()
    #expect(files.map(\.state) == ["failed"])
    #expect(files.first?.cause == ErrorCode.sourceChanged.rawValue)
  }
}

/// A file whose pages are written to in memory.
private final class MappedFile: Sendable {
  private let bytes: Int
  private let size: Int

  init(_ path: String, size: Int) throws {
    try Scene.write([UInt8](repeating: 7, count: size), to: NameBytes(path))
    let descriptor = open(path, O_RDWR)
    defer { close(descriptor) }
    guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), start != MAP_FAILED else {
      throw Scene.Broken(what: "mmap: \(errno)")
    }
    (bytes, self.size) = (Int(bitPattern: start), size)
    // The first write to a page changes mtime; later ones do not.
    for offset in stride(from: 0, to: size, by: 4_096) { write(at: offset) }
  }

  deinit { munmap(UnsafeMutableRawPointer(bitPattern: bytes), size) }

  func write(at offset: Int) { UnsafeMutablePointer<UInt8>(bitPattern: bytes + offset)?.pointee &+= 1 }
}
