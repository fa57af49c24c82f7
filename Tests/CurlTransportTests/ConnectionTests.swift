import CurlTransport
import HTTPTypes
import Testing
import TransferModel

@Suite(.timeLimit(.minutes(1))) struct ConnectionTests {
  @Test func manyRequestsShareFewConnections() async {
    await withServer(answeringAll(answer("200 OK")), configure: { $0.maxConnections = 8 }) { server, transport in
      let replies = await withTaskGroup { group in
        for size in 0..<200 {
          group.addTask {
            await transport.perform(TransferRequest(method: .put, url: server.url, body: .source(PatternBody(size))))
          }
        }
        return await group.reduce(into: [TransferReply]()) { $0.append($1) }
      }
      #expect(replies.count == 200 && replies.allSatisfy { $0.status == 200 })
      #expect(server.accepted <= 8)
      #expect(replies.filter { !$0.isReusedConnection }.count == server.accepted)
      #expect(transport.bytesInFlight().isEmpty)
    }
  }

  @Test func aReusedConnectionIsSaidToBeOne() async {
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      let first = await transport.perform(TransferRequest(method: .get, url: server.url))
      let second = await transport.perform(TransferRequest(method: .get, url: server.url))
      #expect(!first.isReusedConnection && second.isReusedConnection && second.remoteIP == "127.0.0.1")
      #expect(server.accepted == 1)
    }
  }

  /// After a sleep of the machine: a running request keeps its connection, and later ones get new ones.
  @Test func droppedConnectionsAreNotUsedAgain() async {
    let (isRunning, mayAnswer) = (Mailbox<Bool>(), Mailbox<Bool>())
    await withServer({ connection in
      while let request = connection.readRequest() {
        if request.head.hasPrefix("GET /slow") {
          isRunning.put(true)
          _ = mayAnswer.take(timeoutMs: 20_000)
        }
        guard connection.send(answer("200 OK")) else { return }
      }
    }) { server, transport in
      let first = await transport.perform(TransferRequest(method: .get, url: "\(server.url)/first"))
      let slow = transport.begin(TransferRequest(method: .get, url: "\(server.url)/slow"))
      #expect(isRunning.take(timeoutMs: 20_000)?.isEmpty == false)
      transport.dropConnections()
      let second = await transport.perform(TransferRequest(method: .get, url: "\(server.url)/second"))
      mayAnswer.put(true)
      let last = slow.take(timeoutMs: 20_000)?.first
      let third = await transport.perform(TransferRequest(method: .get, url: "\(server.url)/third"))
      #expect(!first.isReusedConnection && !second.isReusedConnection)
      #expect(last?.isReusedConnection == true && last?.status == 200)
      #expect(third.isReusedConnection)
      #expect(server.accepted == 2)
    }
  }

  @Test func labelsNeverShareAConnection() async {
    await withServer(answeringAll(answer("200 OK"))) { server, transport in
      for label in ["a", "b", "a", "b", "a"] {
        let reply = await transport.perform(TransferRequest(method: .get, url: server.url, credentialLabel: label))
        #expect(reply.status == 200)
      }
      #expect(server.accepted == 2)
    }
  }

  @Test func anIDThatRunsIsRefused() async {
    await withServer({ $0.waitForClose() }) { server, transport in
      let id = newID()
      let first = transport.begin(TransferRequest(method: .get, url: server.url), id: id)
      let second = await transport.perform(TransferRequest(method: .get, url: server.url), id: id)
      #expect(second.curlCode == 43 && second.status == 0)
      transport.cancel(id)
      #expect(first.take(timeoutMs: 20_000)?.first?.isCancelled == true)
    }
  }

  @Test func versionsAreKnown() throws {
    let library = try CurlLibrary.load()
    #expect(library.version.split(separator: ".").count >= 3)
    #expect(library.tls?.isEmpty == false)
    #expect(library.features.contains("SSL"))
    #expect(library.caFile != nil || library.caPath != nil)
  }
}
