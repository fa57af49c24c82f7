import Testing
import TransferModel

@testable import Transfers

/// A server gives one upload to two files, or to two chunks of one: the second one fails, and is not sent there.
@Suite struct NamedUploadTests {
  private let scene: AnsweringScene

  init() throws { scene = try AnsweringScene() }

  private static let taken = "failed proto.bad_reply"

  // MARK: - tus uploads that are joined

  private static func joining(_ settings: inout BatchSettings) {
    (settings.options["parallel"], settings.options["part-size"]) = (true, .number(16_384))
  }

  /// Creates upload after upload, as `url` says, and joins whatever it is asked to.
  private func joiningServer(_ size: Int, _ url: @escaping @Sendable (Int) -> String) throws -> AnsweringServer {
    let created = Lock(0)
    return try AnsweringServer { request in
      let length = request.fields["content-length"] ?? "0"
      switch (request.method, request.fields["upload-concat"]) {
      case ("OPTIONS", _): return AnsweringScene.tus("creation,concatenation")
      case ("POST", "partial"):
        let number = created.withLock { number in
          number += 1
          return number - 1
        }
        return AnsweringScene.answer("201 Created", ["Location: \(url(number))"])
      case ("POST", _): return AnsweringScene.answer("201 Created", ["Location: /up/whole\(size)"])
      case ("PATCH", _): return AnsweringScene.answer("204 No Content", ["Upload-Offset: \(length)"])
      default: return AnsweringScene.answer("200 OK", ["Upload-Offset: \(size)", "Upload-Length: \(size)"])
      }
    }
  }

  @Test func oneUploadIsNotTwoChunks() throws {
    let server = try joiningServer(40_000) { _ in "/up/1" }
    try scene.push(to: server, "tus+", [40_000], Self.joining)
    #expect(try scene.states() == [Self.taken])
    #expect(server.requests("POST").allSatisfy { $0.fields["upload-concat"] == "partial" }, "nothing is joined")
    #expect(server.count("PATCH") <= 1)
  }

  /// The first file is done; a later run gets its uploads again, with other spellings of their URLs.
  @Test func uploadsOfADoneFileAreNotThoseOfAnother() throws {
    let server = try joiningServer(40_000) { $0 < 3 ? "/up/\($0)" : "/in/../up/\($0 % 3)" }
    try scene.push(to: server, "tus+", [40_000], Self.joining)
    #expect(try scene.states() == ["done"])
    try scene.push(to: server, "tus+", [40_000], first: 1, Self.joining)
    #expect(try scene.states() == ["done", Self.taken])
    #expect(server.count("PATCH") == 3)
  }

  // MARK: - An interim answer

  /// It names the upload of another file, and the final answer is lost. A query about that upload would show a complete
  /// one.
  @Test func anInterimAnswerWithTheUploadOfAnotherFileIsIgnored() throws {
    let sent = Lock(0)
    let interim = "HTTP/1.1 104 Upload Resumption\r\nUpload-Draft-Interop-Version: 5\r\nLocation: /up/1\r\n\r\n"
    let server = try AnsweringServer { request in
      guard request.method == "PUT" else {
        return AnsweringScene.answer("204 No Content", ["Upload-Offset: 1000", "Upload-Complete: ?1"])
      }
      let isSecond = sent.withLock { sent in
        sent += 1
        return sent == 2
      }
      let final = FixedAnswerServer.answer("201 Created", "Upload-Complete: ?1\r\n")
      return .answer(isSecond ? interim : sent.withLock { $0 } == 1 ? interim + final : final)
    }
    let interop5: (inout BatchSettings) -> Void = { $0.options["interop"] = "5" }
    try scene.push(to: server, "resumable+", [1_000], interop5)
    #expect(try scene.states() == ["done"])
    try scene.push(to: server, "resumable+", [1_000], first: 1, interop5)
    #expect(try scene.states() == ["done", "done"])
    #expect(server.count("HEAD") == 0, "nothing is asked about the upload of the first file")
    #expect(server.count("PUT") == 3, "the second file is sent again")
  }

  // MARK: - Profiles

  @Test func oneUploadOfAProfileIsNotTwoFiles() throws {
    let server = try AnsweringServer { request in
      request.method == "POST"
        ? AnsweringScene.answer("200 OK", ["Location: /up/1"]) : AnsweringScene.answer("200 OK", body: "{}")
    }
    try scene.push(to: server, "", [1_000, 1_000]) { settings in
      settings.profile = try ProfileLibrary.settings(via: "google", inputs: [])
    }
    #expect(try scene.states().sorted() == ["done", Self.taken])
    #expect(server.count("PUT") == 1)
    #expect(server.count("DELETE") == 0, "the upload is that of the first file")
  }

  /// An ID is unique at its server only, and is looked up in the ledger as well.
  @Test func oneTokenIsNotTwoFiles() throws {
    let react: @Sendable (AnsweringServer.Request) -> AnsweringServer.Reaction = { _ in
      AnsweringScene.answer(
        "200 OK", ["Content-Type: application/json"],
        body: #"{"code":0,"data":{"upToken":"T","fileUrl":"http://f/1"}}"#)
    }
    let (server, other) = (try AnsweringServer(react), try AnsweringServer(react))
    let viaBlocks: (inout BatchSettings) throws -> Void = {
      $0.profile = try ProfileLibrary.settings(via: "token-blocks", inputs: [])
    }
    try scene.push(to: server, "", [1_000], viaBlocks)
    try scene.push(to: server, "", [1_000], first: 1, viaBlocks)
    #expect(try scene.states() == ["done", Self.taken])
    #expect(server.requests("POST").count { $0.target.hasPrefix("/in/block") } == 1)
    try scene.push(to: other, "", [], viaBlocks)
    let states = try scene.states()
    #expect(states.count { $0 == "done" } == 2 && states.count == 4, "another server has tokens of its own: \(states)")
  }
}
