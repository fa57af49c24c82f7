import Testing
import TransferModel

@testable import TransferEngine

/// The header of a file in an archive; StreamTests checks that `tar` can read it.
@Suite struct TarHeaderTests {
  private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

  private func isSummed(_ header: ArraySlice<UInt8>) -> Bool {
    let at = header.startIndex
    let sum = header.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 0x20 : Int($1.element)) }
    return Int(text(header[(at + 148)..<(at + 156)]), radix: 8) == sum
  }

  @Test func aPlainFileHasOneHeader() {
    let header = TarHeader.bytes(NameBytes("a/b"), size: 1_000, modifiedMs: 784_111_777_000)
    #expect(header.count == 512 && isSummed(header[...]))
    #expect(text(header[0...]) == "a/b" && text(header[124...]) == "00000001750" && header[156] == 0x30)
    #expect(text(header[136...]) == "05657114241" && text(header[257...]) == "ustar")
    #expect(TarHeader.padding(1_000).count == 24 && TarHeader.padding(512).isEmpty && TarHeader.padding(0).isEmpty)
  }

  /// The length at the start of a record includes its own digits, even if they make the record longer.
  @Test(arguments: [101, 85, 86, 87, 88, 980, 981, 982, 983, 984, 985, 986, 987, 988, 989, 990])
  func longNamesHaveARecord(_ length: Int) throws {
    let name = NameBytes([0xC3, 0xA9] + [UInt8](repeating: 0x78, count: length))
    let header = TarHeader.bytes(name, size: 0, modifiedMs: 0)
    #expect(header[156] == 0x78 && isSummed(header[..<512]) && isSummed(header.suffix(512)))
    let size = try #require(Int(text(header[124...]), radix: 8))
    let record = header[512..<(512 + size)]
    #expect(Int(text(record.prefix { $0 != 0x20 })) == size)
    #expect(Array(record.drop { $0 != 0x20 }) == Array(" path=".utf8) + name.bytes + [0x0A])
    #expect(header.count % 512 == 0 && header.suffix(512)[header.count - 512 + 156] == 0x30)
  }

  @Test func whatAHeaderCannotHoldHasARecord() {
    let large = TarHeader.bytes(NameBytes("a"), size: 1 << 33, modifiedMs: 0)
    #expect(text(large[512...]) == "19 size=8589934592\n")
    let bytes = TarHeader.bytes(NameBytes([0xFF]), size: 0, modifiedMs: -1)
    #expect(text(bytes[512...]).hasPrefix("21 hdrcharset=BINARY\n9 path="))
  }
}
