import Glibc
import Testing
import TransferModel

@testable import Receiver

@Suite struct PathTests {
  @Test(arguments: [
    ("/../a", 400), ("/a/../b", 400), ("/a/%2e%2e/b", 400), ("/./a", 400), ("/a//b", 400), ("//a", 400),
    ("/a%2fb", 400), ("/a%00b", 400), ("/a%2", 400), ("/a%zz", 400), ("/a/", 409), ("/", 409),
    ("/.transfers-receiver/1.part", 403), ("/%2etransfers-receiver/x", 403), ("a", 400),
    ("/" + String(repeating: "n", count: 256), 414), ("/" + String(repeating: "%e4", count: 256), 414),
  ])
  func refusesWhatMustNotReachTheDisk(path: String, status: Int) throws {
    let receiver = try ReceiverFixture()
    #expect(receiver.ask("PUT", path, [1])?.status == status)
    #expect(receiver.names() == [".transfers-receiver"])
    #expect(receiver.staged == [])
  }

  @Test(arguments: [
    "%ff%fe", "%0a", "-rf", "%1b[31m", "a%20b", "...", "%25", "%3f", "%5c", String(repeating: "%ff", count: 255),
  ])
  func keepsHostileNamesByteForByte(name: String) throws {
    let receiver = try ReceiverFixture()
    #expect(receiver.ask("PUT", "/d/\(name)", [7])?.status == 201)
    #expect(receiver.ask("GET", "/d/\(name)")?.body == [7])
    let bytes = percentDecoded(Array(name.utf8)[...])!
    let committed = try receiver.events().last { if case .commit = $0.kind { true } else { false } }
    #expect(committed?.path.bytes == Array("d/".utf8) + bytes)
    let path = NameBytes(Array("\(receiver.folder)/d/".utf8) + bytes)
    #expect(path.withCString { access($0, R_OK) } == 0)
  }

  @Test func followsNoSymbolicLink() throws {
    let receiver = try ReceiverFixture()
    receiver.ask("PUT", "/real/a", [1])
    symlink("real", receiver.folder + "/link")
    symlink("/etc/hostname", receiver.folder + "/out")
    #expect(receiver.ask("PUT", "/link/b", [2])?.status == 409)
    #expect(receiver.ask("GET", "/link/a")?.status == 404)
    #expect(receiver.ask("GET", "/out")?.status == 403)
    #expect(receiver.ask("PUT", "/out", [3])?.status == 204)
    #expect(receiver.content("out") == [3])
    #expect(receiver.names("real") == ["a"])
  }

  @Test func makesAndRemovesCollections() throws {
    let receiver = try ReceiverFixture { $0.strictParents = true }
    #expect(receiver.ask("PUT", "/d/a", [1])?.status == 409)
    #expect(receiver.ask("POST", "/d/", [1])?.status == 409)
    #expect(receiver.ask("MKCOL", "/d/e/")?.status == 409)
    #expect(receiver.ask("MKCOL", "/d/")?.status == 201)
    #expect(receiver.ask("MKCOL", "/d")?.status == 405)
    #expect(receiver.ask("MKCOL", "/f/", [1])?.status == 415)
    #expect(receiver.ask("PUT", "/d/a", [1])?.status == 201)
    #expect(receiver.ask("PUT", "/d", [1])?.status == 409)
    #expect(receiver.ask("PUT", "/d/a/b", [1])?.status == 409)
    #expect(receiver.ask("DELETE", "/d/")?.status == 409)
    #expect(receiver.ask("DELETE", "/d/a")?.status == 204)
    #expect(receiver.ask("DELETE", "/d/a")?.status == 404)
    #expect(receiver.ask("DELETE", "/d/")?.status == 204)
    #expect(receiver.names() == [".transfers-receiver"])
    #expect(try receiver.events().kinds.filter { ["mkcol", "delete"].contains($0) } == ["mkcol", "delete", "delete"])
  }
}
