import Testing
import TransferModel
import TransferProtocols

@testable import Transfers

/// A body was sent in part or as a whole, its answer is lost, and the server has a file of that size.
@Suite struct CutOffBodyTests {
  private let scene: AnsweringScene

  init() throws { scene = try AnsweringScene() }

  /// PUT, and then a query that compares the size only.
  private static func putting(_ settings: inout BatchSettings) throws {
    let text = """
      profile: 1
      name: t
      chunk: {mode: single}
      steps:
        chunk: {method: PUT, url: "/{{file.path}}", body: {kind: raw}}
        verify:
          method: HEAD
          url: "/{{file.path}}"
          success: {require: [{header: Content-Length, eq: "{{file.size}}"}]}
      """
    let profile = try Profile.read(Array(text.utf8), file: "t")
    settings.profile = ProfileSettings(name: "t", text: profile.text, inputs: [:], secrets: [:], isBuiltin: false)
  }

  /// Does with each PUT what `puts` says, and has a file of `size` bytes.
  private func server(
    _ size: Int, modified: String = "", _ puts: @escaping @Sendable (Int) -> AnsweringServer.Reaction
  ) throws -> AnsweringServer {
    let sent = Lock(0)
    return try AnsweringServer { request in
      guard request.method == "HEAD" else {
        return puts(
          sent.withLock { sent in
            sent += 1
            return sent
          })
      }
      let date = "Date: Fri, 27 Nov 2026 12:00:00 GMT\r\n\(modified)"
      return .answer("HTTP/1.1 200 OK\r\n\(date)Content-Length: \(size)\r\nConnection: close\r\n\r\n")
    }
  }

  /// Reads the body, and closes the connection without an answer.
  private static let silence = AnsweringServer.Reaction.answer("")

  @Test func anOlderFileDoesNotStandForABodyThatWasCutOff() throws {
    let size = 24 << 20
    let server = try server(size) { _ in .hangUp }
    try scene.push(to: server, "", [size], Self.putting)
    let state = try scene.states().first ?? ""
    #expect(state.hasPrefix("failed net."), "\(state)")
    #expect(server.count("HEAD") > 0 && server.count("PUT") > 1, "it is sent again")
  }

  @Test func theSizeProvesABodyThatWentOutCompletely() throws {
    let server = try server(1_000) { _ in Self.silence }
    try scene.push(to: server, "", [1_000], Self.putting)
    #expect(try scene.states() == ["done"] && scene.proofs() == ["size"])
    #expect(server.count("PUT") == 1)
  }

  @Test func notIfTheFileWasThereBefore() throws {
    let older = "Last-Modified: Fri, 27 Nov 2026 11:00:00 GMT\r\n"
    let server = try server(1_000, modified: older) { number in
      number == 1 ? Self.silence : AnsweringScene.answer("201 Created")
    }
    try scene.push(to: server, "", [1_000], Self.putting)
    #expect(try scene.states() == ["done"] && server.count("PUT") == 2)
  }
}
