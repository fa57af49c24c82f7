import Glibc
import Testing
import TransferModel

@testable import TransfersCLI

/// Servers and proxies whose ranges belong to another version, without a sign of it in the answer: no file is mixed,
/// in whatever way it is fetched.
@Suite struct PullMixedVersionsTests {
  /// Two versions of one length behind a proxy.
  final class Proxy: Sendable {
    enum Fault: Sendable {
      /// Ranges after the first are of the second version; ETag and `If-Range` are dropped.
      case dropsTag
      /// The same for a file that has only a date.
      case dropsDate
      /// Ranges after the first two begin early; the bytes before the requested range are those of the second version.
      case otherBefore(Int)
    }
    static let size = 6 << 20
    let first = [UInt8](repeating: 0x41, count: Proxy.size)
    let second = [UInt8](repeating: 0x42, count: Proxy.size)
    private let fault: Fault
    private let count = Lock<Int>(0)

    init(_ fault: Fault) { self.fault = fault }

    func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Reply? {
      let number = count.withLock { count in
        count += 1
        return count
      }
      let ends = (request.headers["range"] ?? "").dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
      guard ends.count == 2 else { return reply(200, second, second: true, named: true) }
      let isLate = number > 1
      var from = ends[0]
      var bytes = isLate ? second : first
      if case .otherBefore(let length) = fault {
        bytes = first
        if number > 2 {
          from = max(0, from - length)
          bytes.replaceSubrange(from..<ends[0], with: second[from..<ends[0]])
        }
      }
      let to = min(ends[1], Self.size - 1)
      var reply = self.reply(206, Array(bytes[from...to]), second: false, named: !isLate)
      reply.headers.append(("Content-Range", "bytes \(from)-\(to)/\(Self.size)"))
      return reply
    }

    private func reply(_ status: Int, _ body: [UInt8], second: Bool, named: Bool) -> ScriptedServer.Reply {
      var fields = [("Accept-Ranges", "bytes"), ("Date", "Sun, 06 Nov 1994 09:49:37 GMT")]
      switch fault {
      case .dropsTag: if named { fields.append(("ETag", second ? "\"v2\"" : "\"v1\"")) }
      case .dropsDate: if named { fields.append(("Last-Modified", "Sun, 06 Nov 1994 08:49:3\(second ? 9 : 7) GMT")) }
      case .otherBefore: fields.append(("ETag", "\"v1\""))
      }
      return .init(status: status, headers: fields, body: String(decoding: body, as: UTF8.self))
    }
  }

  private let program: BuiltProgram

  init() throws { program = try BuiltProgram() }

  private func pull(_ words: String...) throws -> BuiltProgram.Outcome {
    try program.run(
      (["pull", "--store", program.folder.path + "/l.db"] + words).map { Array($0.utf8) })
  }

  /// A range that does not name its version counts for nothing: the file is fetched again, in one body.
  @Test(arguments: [Proxy.Fault.dropsTag, .dropsDate], [["--segments", "4", "--part-size", "1M"], []])
  func aRangeThatDoesNotNameItsVersionIsNotUsed(_ fault: Proxy.Fault, _ options: [String]) throws {
    let proxy = Proxy(fault)
    let server = try ScriptedServer { proxy.answer($0) }
    let folder = program.folder.path + "/in"
    mkdir(folder, 0o700)
    let words = ["pull", "--store", program.folder.path + "/l.db"] + options + [server.url + "/a.bin", folder]
    let outcome = try program.run(words.map { Array($0.utf8) })
    #expect(outcome.code == 0, "\(outcome.out) \(outcome.err)")
    let isSecond = try readText(folder + "/a.bin").utf8.elementsEqual(proxy.second)
    #expect(isSecond)
  }

  /// Mirrors without digests serve no file together, but one of them may be such a server.
  @Test func neitherDoesThatOfAMirror() throws {
    let proxy = Proxy(.dropsTag)
    let dead = try ScriptedServer { _ in .init(status: 404) }
    let server = try ScriptedServer { proxy.answer($0) }
    let (folder, list) = (program.folder.path + "/in", program.folder.path + "/list.csv")
    mkdir(folder, 0o700)
    try writeFile(list, Array("url,path,mirrors\n\(dead.url)/a.bin,a.bin,\(server.url)/a.bin\n".utf8))
    let outcome = try pull("--part-size", "1M", "--files-from", list, folder)
    if outcome.code == 0 {
      let isSecond = try readText(folder + "/a.bin").utf8.elementsEqual(proxy.second)
      #expect(isSecond, "\(outcome.out) \(outcome.err)")
    } else {
      #expect(try names(in: folder).isEmpty)
    }
  }

  /// What was written of a stream cannot be taken back: it ends with an error, and has one version.
  @Test(arguments: [Proxy.Fault.dropsTag, .dropsDate, .otherBefore(1_000), .otherBefore(Proxy.size)])
  func aStreamIsBrokenOff(_ fault: Proxy.Fault) throws {
    let proxy = Proxy(fault)
    let server = try ScriptedServer { proxy.answer($0) }
    let out = program.folder.path + "/out"
    let outcome = try program.run(
      ["pull", "--part-size", "1M", server.url + "/a.bin", "-"].map { Array($0.utf8) }, out: out)
    #expect(outcome.code != 0)
    let isMixed = try readText(out).utf8.contains(0x42)
    #expect(!isMixed)
  }

  @Test(arguments: [Proxy.Fault.dropsTag, .otherBefore(1_000)])
  func noArchiveHasTwoVersions(_ fault: Proxy.Fault) throws {
    let proxy = Proxy(fault)
    let server = try ScriptedServer { proxy.answer($0) }
    let path = program.folder.path + "/x.tar"
    let outcome = try program.run("pull", "--part-size", "1M", "--into-tar", path, server.url + "/a.bin")
    #expect(outcome.code != 0 && access(path, F_OK) != 0, "\(outcome.err)")
  }

  /// Bytes before the requested range are those of other chunks, too, and they are on the disk.
  @Test(arguments: [1_000, Proxy.size])
  func bytesOfOtherChunksAreCompared(_ length: Int) throws {
    let proxy = Proxy(.otherBefore(length))
    let server = try ScriptedServer { proxy.answer($0) }
    let folder = program.folder.path + "/in"
    mkdir(folder, 0o700)
    let outcome = try pull("--segments", "1", "--part-size", "1M", server.url + "/a.bin", folder)
    #expect(outcome.code != 0, "\(outcome.out)")
    #expect(outcome.err.contains("source.changed") || outcome.out.contains("source.changed"), "\(outcome)")
    #expect(try names(in: folder) == [])
  }
}
