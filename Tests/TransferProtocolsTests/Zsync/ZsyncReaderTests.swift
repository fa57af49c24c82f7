import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct ZsyncReaderTests {
  private let scene = ZsyncScene(bytes: ZsyncScene.random(10_000))

  private func fault(_ header: [String], _ table: [UInt8]? = nil) -> String? {
    do throws(ZsyncFault) {
      _ = try ZsyncReader.read(ZsyncScene.file(header, table ?? scene.table))
      return nil
    } catch {
      return error.cause
    }
  }

  private func header(_ name: String, _ value: String?) -> [String] {
    scene.header.compactMap { $0.hasPrefix(name + ":") ? value.map { "\(name): \($0)" } : $0 }
  }

  @Test(arguments: [(1, 4, 16), (2, 3, 5), (2, 2, 3), (1, 1, 3)]) func theTableIsRead(_ lengths: (Int, Int, Int)) throws
  {
    var scene = scene
    (scene.sequence, scene.sumBytes, scene.digestBytes) = lengths
    let blocks = try scene.published()
    #expect(blocks.size == 10_000 && blocks.count == 10 && blocks.blockLength == 1_024)
    #expect(blocks.sequence == lengths.0 && blocks.digest == RunningDigest.of(scene.bytes, .sha1))
    for number in 0..<10 {
      let block = scene.block(number)
      #expect(blocks.sum(number) == ZsyncScene.sum(block) & blocks.mask)
      #expect(blocks.matches(number, md4: ZsyncScene.md4(block)))
      #expect(!blocks.matches(number, md4: ZsyncScene.md4(block.map { ~$0 })))
    }
    #expect(blocks.range(9) == ByteRange(offset: 9_216, length: 784))
  }

  /// What zsyncmake 0.6.2 wrote (`-b 1024`) for these bytes.
  @Test func aRealFileIsRead() throws {
    let text = """
      enN5bmM6IDAuNi4yCkZpbGVuYW1lOiBmaWxlLmJpbgpNVGltZTogVGh1LCAyNiBOb3YgMjAyNiAxNTowNjoxNSArMDAwMApCbG9j\
      a3NpemU6IDEwMjQKTGVuZ3RoOiA1MDAwCkhhc2gtTGVuZ3RoczogMiwyLDMKVVJMOiBmaWxlLmJpbgpTSEEtMTogOWJkNzU0ZDlh\
      NTAwNGJiOWZhYTg2NzAxNjk4MTQwMzg1NjliYjRmZAoKmrUCfht7wMcGwy/Chf5Zf+CAla5bWAwf8A==
      """
    let blocks = try ZsyncReader.read(bytesFromBase64(text) ?? [])
    let scene = ZsyncScene(bytes: (0..<5_000).map { UInt8(truncatingIfNeeded: $0 * $0 / 7 + $0 / 251) })
    #expect(blocks.digest == RunningDigest.of(scene.bytes, .sha1) && blocks.count == 5 && blocks.sequence == 2)
    for number in 0..<5 {
      #expect(blocks.sum(number) == ZsyncScene.sum(scene.block(number)) & 0xFFFF)
      #expect(blocks.matches(number, md4: ZsyncScene.md4(scene.block(number))))
    }
  }

  /// Old files have no `Hash-Lengths`, and MD4s of 16 bytes.
  @Test func missingLengthsAreThoseOfTheFirstVersion() throws {
    var scene = scene
    (scene.sequence, scene.sumBytes, scene.digestBytes) = (1, 4, 16)
    let header = scene.header.filter { !$0.hasPrefix("Hash-Lengths") }
    #expect(try ZsyncReader.read(ZsyncScene.file(header, scene.table)).sequence == 1)
  }

  /// Names and addresses in the file are not used, whatever they are.
  @Test func namesAndAddressesAreIgnored() {
    #expect(fault(header("Filename", "../../etc/passwd")) == nil)
    #expect(fault(header("URL", "http://169.254.169.254/") + ["URL: file:///etc/passwd"]) == nil)
    #expect(fault(scene.header + ["Safe: X-Other", "X-Other: 1"]) == nil)
  }

  @Test func hostileFilesAreRefused() {
    for value in ["0", "-1024", "1000", "99999999999999999999", "2147483648", "128", "1 024", ""] {
      #expect(fault(header("Blocksize", value))?.hasPrefix("its Blocksize") == true, "\(value)")
    }
    for value in ["0", "-1", "9223372036854775807", "999999999999999999999", "0x10"] {
      #expect(fault(header("Length", value)) == "its Length is invalid", "\(value)")
    }
    #expect(fault(header("Length", "4611686018427387904")) == "its Length is invalid")
    #expect(fault(header("Length", "999999999999999999")) == "it has more than 2097152 blocks")
    for value in ["0,2,5", "3,2,5", "2,0,5", "2,5,5", "2,2,2", "2,2,17", "2,2", "2,2,5,5", "a,b,c", "2,2,", ""] {
      #expect(fault(header("Hash-Lengths", value)) == "its Hash-Lengths are invalid", "\(value)")
    }
    for value in [nil, "", "abc", String(repeating: "g", count: 40)] {
      #expect(fault(header("SHA-1", value)) == "it has no valid SHA-1 of the whole file")
    }
    #expect(fault(scene.header + ["Z-Map2: 17"]) == "it is for the content of a compressed file")
    #expect(fault(scene.header + ["Length: 10001"]) == "its header has a field twice")
    #expect(fault(scene.header + ["nothing"]) == "its header has a line without a name")
  }

  @Test func tablesOfAnotherLengthAreRefused() {
    let text = "its table has another length than its header says"
    #expect(fault(scene.header, Array(scene.table.dropLast())) == text)
    #expect(fault(scene.header, scene.table + [0]) == text)
    #expect(fault(scene.header, []) == text)
    #expect(fault(header("Length", "10241")) == text)
  }

  @Test func whatIsNoZsyncFileIsRefused() {
    func fault(_ bytes: [UInt8]) -> String? {
      do throws(ZsyncFault) {
        _ = try ZsyncReader.read(bytes)
        return nil
      } catch {
        return error.cause
      }
    }
    for bytes in [[], Array("<html>".utf8), Array("zsync".utf8)] { #expect(fault(bytes) == "it is not a .zsync file") }
    let endless = Array("zsync: 0.6.2\n".utf8) + [UInt8](repeating: 0x41, count: 1 << 20)
    #expect(fault(endless) == "its header has no end")
    #expect(fault(endless + [0x0A, 0x0A]) == "its header has no end")
    #expect(fault(Array("zsync: 0.6.2".utf8)) == "its header has no end")
    #expect(fault(Array("zsync: 0.6.2\n\n".utf8)) == "its Length is invalid")
  }

  /// Binary data, and a file cut at any byte, result in an error or a valid value, never in a trap.
  @Test func everyDamageIsSurvived() {
    let file = scene.file
    for cut in 0..<file.count - scene.table.count + 8 {
      #expect(throws: ZsyncFault.self) { try ZsyncReader.read(Array(file[..<cut])) }
    }
    for at in 0..<file.count - scene.table.count {
      var damaged = file
      damaged[at] ^= 0x80
      _ = try? ZsyncReader.read(damaged)
    }
  }
}
