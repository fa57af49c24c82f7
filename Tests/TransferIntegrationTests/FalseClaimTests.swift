import Testing
import TransferModel

/// A server confirms what it cannot have: nothing of that becomes `done`.
@Suite struct FalseClaimTests {
  private let scene: AnsweringScene

  init() throws { scene = try AnsweringScene() }

  /// It takes the beginning of each body, hangs up, and then claims the whole file.
  @Test func whatWasNeverSentIsNotDone() throws {
    let size = 24 << 20
    let server = try AnsweringServer { request in
      switch request.method {
      case "OPTIONS": AnsweringScene.tus("creation,termination")
      case "POST": AnsweringScene.answer("201 Created", ["Location: /up/1"])
      case "HEAD": AnsweringScene.answer("200 OK", ["Upload-Offset: \(size)", "Upload-Length: \(size)"])
      case "DELETE": AnsweringScene.answer("204 No Content", [])
      default: .hangUp
      }
    }
    try scene.push(to: server, "tus+", [size])
    let file = try scene.files()[0]
    #expect(file.state == "failed" && file.cause == "proto.offset", "\(file)")
    #expect((1...4).contains(server.count("PATCH")) && server.count("HEAD") > 0)
  }

  /// Every creation is answered with the same upload.
  @Test func oneUploadIsNotThreeFiles() throws {
    let server = try AnsweringServer { request in
      switch request.method {
      case "OPTIONS": AnsweringScene.tus("creation,termination")
      case "POST": AnsweringScene.answer("201 Created", ["Location: /up/1"])
      case "PATCH": AnsweringScene.answer("204 No Content", ["Upload-Offset: 1000"])
      default: AnsweringScene.answer("200 OK", ["Upload-Offset: 0", "Upload-Length: 1000"])
      }
    }
    try scene.push(to: server, "tus+", [1_000, 1_000, 1_000])
    let files = try scene.files()
    #expect(files.count { $0.state == "done" } == 1)
    #expect(files.count { $0.state == "failed" && $0.cause == "proto.bad_reply" } == 2, "\(files)")
    #expect(server.count("PATCH") == 1)
    #expect(server.count("DELETE") == 0, "the upload is that of the first file")
  }
}
