import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

@Suite struct FileSliceTests {
  @Test func longPiecesMeetTheBufferAtTheSamePlaceOfAPage() throws {
    let folder = try TemporaryFolder()
    let text = (0..<100_000).map { String($0 % 9_000 + 1_000) }.joined()
    folder.write(NameBytes("source"), text)
    let content = Array(text.utf8)
    let path = folder.path.appending(NameBytes("source"))
    let file = try SourceFile(path: path)
    let range = ByteRange(offset: 5, length: 399_990)
    let slice = FileSlice(file: file, path: path, range: range, admitted: file.identity, algorithm: .crc32c)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 70_000, alignment: 4096)
    defer { memory.deallocate() }
    let buffer = UnsafeMutableRawBufferPointer(rebasing: memory[16..<65_552])
    var got: [UInt8] = []
    var counts: [Int] = []
    while got.count < 399_990 {
      let count = try slice.read(into: buffer, at: Int64(got.count)).get()
      counts.append(count)
      got += buffer[..<count]
    }
    #expect(got == Array(content[5..<399_995]))
    #expect(slice.sentDigest() == RunningDigest.of(got, .crc32c))
    // After the first piece the file offset is 16 bytes into a page, like the buffer; all other pieces but the last are
    // full.
    #expect((5 + counts[0]) % 4096 == 16)
    #expect(counts.dropFirst().dropLast().allSatisfy { $0 == 65_536 })
    #expect(counts.count == 7)
  }
}
