import Testing
import TransferEngine
import TransferModel

@testable import TransferLedger

/// A server that another one redirects to answers for itself in the reports by host.
@Suite struct RedirectedHostTests {
  private static func hosts(_ scene: AnsweringScene) throws -> [String: (attempts: Int64, errors: Int64)] {
    let ledger = try Ledger.open(at: scene.scene.storePath, mode: .readOnly, clock: SystemClock())
    defer { ledger.close() }
    let rows = try ledger.read { try $0.hosts(RowFilter()) }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0.host, ($0.flow.attempts, $0.flow.errors)) })
  }

  private static func name(_ server: AnsweringServer) -> String { String(server.url.dropFirst("http://".count)) }

  @Test func theTargetOfARedirectCountsForItself() throws {
    let target = try AnsweringServer { request in
      request.target == "/gone"
        ? AnsweringScene.answer("404 Not Found") : AnsweringScene.answer("200 OK", ["ETag: \"v1\""], body: "content")
    }
    let place = target.url
    let origin = try AnsweringServer { request in
      AnsweringScene.answer("302 Found", ["Location: \(place)\(request.target)"])
    }
    let scene = try AnsweringScene()
    try scene.pull("f", from: origin, partSize: 64 << 10)
    try scene.pull("gone", from: origin, partSize: 64 << 10)
    #expect(try scene.states().sorted() == ["done", "failed http.404"])
    let hosts = try Self.hosts(scene)
    #expect(hosts[Self.name(origin)]?.attempts == Int64(origin.count("GET")), "\(hosts)")
    #expect(hosts[Self.name(origin)]?.errors == 0, "\(hosts)")
    #expect(hosts[Self.name(target)]?.attempts == Int64(target.count("GET")), "\(hosts)")
    #expect((hosts[Self.name(target)]?.errors ?? 0) > 0, "\(hosts)")
  }
}
