import Testing
import TransferModel

@testable import Receiver

@Suite struct NextcloudTests {
  private static let folder = "/-/nextcloud/remote.php/dav/uploads/u/f-1"
  private static let file = "/-/nextcloud/remote.php/dav/files/u/in/a%20b"

  private func fill(_ receiver: ReceiverFixture, _ order: [Int] = [2, 1, 3]) {
    #expect(receiver.ask("MKCOL", Self.folder)?.status == 201)
    for number in order {
      let bytes = Array(sample(25)[((number - 1) * 10)..<min(25, number * 10)])
      #expect(receiver.ask("PUT", "\(Self.folder)/0000\(number)", bytes)?.status == 201)
    }
  }

  private func move(_ receiver: ReceiverFixture, _ fields: [String] = ["OC-Total-Length: 25"], to file: String = file)
    -> Int?
  {
    receiver.ask("MOVE", "\(Self.folder)/.file", fields: ["Destination: \(file)"] + fields)?.status
  }

  @Test func chunksAreJoinedByTheirNumbers() throws {
    let receiver = try ReceiverFixture()
    #expect(receiver.ask("PUT", "\(Self.folder)/00001", [1])?.status == 404)
    fill(receiver)
    #expect(receiver.ask("MKCOL", Self.folder)?.status == 405)
    let listed = receiver.ask("PROPFIND", Self.folder, fields: ["Depth: 1"])
    let xml = String(decoding: listed?.body ?? [], as: UTF8.self)
    #expect(listed?.status == 207)
    for (name, size) in [("00001", 10), ("00002", 10), ("00003", 5)] {
      #expect(xml.contains("<d:href>\(Self.folder)/\(name)</d:href>"))
      #expect(xml.contains("<d:getcontentlength>\(size)</d:getcontentlength>"))
    }
    #expect(move(receiver, ["OC-Total-Length: 26"]) == 400)
    #expect(move(receiver, to: "/elsewhere/a") == 400)
    #expect(move(receiver, to: "http://test\(Self.file)") == 201)
    #expect(receiver.content("in/a b") == sample(25))
    #expect(receiver.ask("GET", Self.file)?.body == sample(25))
    #expect(move(receiver) == 404)
    let joined = try receiver.events().kinds.filter { $0.hasPrefix("joined") }
    #expect(joined == (1...3).map { "joined -/nextcloud/u/f-1/\($0) \(($0 - 1) * 10)+\($0 == 3 ? 5 : 10)" })
  }

  @Test func theTimeOfTheSourceIsKept() throws {
    let receiver = try ReceiverFixture()
    fill(receiver)
    #expect(move(receiver, ["X-OC-Mtime: 784111777"]) == 201)
    #expect(receiver.ask("HEAD", Self.file)?.fields["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  @Test func aLockedMoveMergesMeanwhile() throws {
    let receiver = try ReceiverFixture(script: "match MOVE * : locked=2")
    fill(receiver)
    #expect(move(receiver) == 423)
    #expect(receiver.content("in/a b") == sample(25))
    #expect(move(receiver) == 423)
    #expect(move(receiver) == 404)
    #expect(try receiver.events().commits.count == 1)
  }

  @Test func doesNotReplaceUnlessToldAndCanBeAborted() throws {
    let receiver = try ReceiverFixture()
    receiver.ask("PUT", Self.file, [1])
    fill(receiver, [1, 2, 3])
    #expect(receiver.ask("PUT", "\(Self.folder)/00003", Array(sample(25)[20...]))?.status == 204)
    #expect(move(receiver, ["Overwrite: F"]) == 412)
    #expect(move(receiver) == 204)
    #expect(receiver.ask("MKCOL", Self.folder)?.status == 201)
    #expect(receiver.ask("PUT", "\(Self.folder)/0", [1])?.status == 400)
    #expect(receiver.ask("DELETE", Self.folder + "/")?.status == 204)
    #expect(receiver.ask("PROPFIND", Self.folder)?.status == 404)
    #expect(receiver.staged == [])
  }
}
