import HTTPTypes
import Testing
import TransferModel

@testable import CurlTransport

private func makeTransport(most: Int? = nil, idleMs: Int64 = 5_000) -> CurlTransport {
  var configuration = CurlConfiguration(userAgent: agent)
  (configuration.maxPools, configuration.idlePoolMs) = (most, idleMs)
  configuration.ignoresProxies = true
  configuration.maxIdleSeconds = 60
  return loadedTransport(configuration)
}

private func get(_ url: String, as label: String = "") -> TransferRequest {
  TransferRequest(method: .get, url: url, credentialLabel: label)
}

private func eventually(_ isSo: () -> Bool) -> Bool {
  let (never, end) = (Mailbox<Void>(), ContinuousClock.now + .seconds(20))
  while !isSo() {
    guard ContinuousClock.now < end else { return false }
    _ = never.take(timeoutMs: 10)
  }
  return true
}

/// Threads and descriptors for requests to many origins. Tests that count those of the process have one of their own.
@Suite(.timeLimit(.minutes(1))) struct PoolTests {
  @Test func whatWasIdleForAWhileIsGivenBack() async {
    await #expect(processExitsWith: .success) {
      let server = ScriptedServer(everywhere: true, answeringAll(answer("200 OK")))
      let transport = makeTransport(idleMs: 100)
      let threads = Held.threads
      _ = transport.begin(get(server.url(1))).take(timeoutMs: 20_000)
      try check(eventually { Held.threads <= threads }, "\(Held.threads) threads, not \(threads)")
      let descriptors = Held.descriptors
      for number in 2...100 {
        let reply = transport.begin(get(server.url(number))).take(timeoutMs: 20_000)?.first
        try check(reply?.status == 200, "\(number): \(String(describing: reply))")
      }
      try check(eventually { Held.threads <= threads }, "\(Held.threads) threads, not \(threads)")
      try check(eventually { Held.descriptors <= descriptors }, "\(Held.descriptors), not \(descriptors)")
      let last = transport.begin(get(server.url(7))).take(timeoutMs: 20_000)?.first
      try check(last?.status == 200 && last?.isReusedConnection == false, "\(String(describing: last))")
    }
  }

  /// Each request arrives while the pool of the one before it ends.
  @Test func noRequestIsLostWhileItsPoolEnds() async {
    let server = ScriptedServer(answeringAll(answer("200 OK")))
    defer { server.stop() }
    let transport = makeTransport(idleMs: 0)
    defer { transport.stop() }
    for _ in 0..<300 {
      #expect(transport.begin(get(server.url)).take(timeoutMs: 20_000)?.first?.status == 200)
    }
    #expect(server.accepted > 1)
  }

  /// The server holds every request: none waits for another one, and one can be cancelled meanwhile.
  @Test func atTheBoundAllRequestsRunAllTheSame() async {
    await #expect(processExitsWith: .success) {
      let (arrived, mayAnswer) = (Mailbox<Void>(), Mailbox<Void>())
      let server = ScriptedServer(everywhere: true) { connection in
        guard connection.readRequest() != nil else { return }
        arrived.put(())
        _ = mayAnswer.take(timeoutMs: 40_000)
        connection.send(answer("200 OK"))
      }
      let transport = makeTransport(most: 8)
      let (before, ids) = (Held.threads, (0..<60).map { _ in newID() })
      let replies = (1...60).map { transport.begin(get(server.url($0)), id: ids[$0 - 1]) }
      var count = 0
      try check(
        eventually {
          count += arrived.take(timeoutMs: 0)?.count ?? 0
          return count == 60
        }, "\(count) of 60 requests arrived")
      // The server has a thread for each connection.
      try check(Held.threads - before <= 60 + 8, "\(Held.threads - before) threads")
      for index in [0, 59] {
        transport.cancel(ids[index])
        let reply = replies[index].take(timeoutMs: 20_000)?.first
        try check(reply?.isCancelled == true, "\(String(describing: reply))")
      }
      mayAnswer.close()
      for index in 1..<59 {
        let reply = replies[index].take(timeoutMs: 20_000)?.first
        try check(reply?.status == 200, "\(index): \(String(describing: reply))")
      }
    }
  }

  @Test func aGuestNeverUsesAConnectionOfAnotherCredential() async {
    let (arrived, mayAnswer) = (Mailbox<Void>(), Mailbox<Void>())
    let server = ScriptedServer { connection in
      while let request = connection.readRequest() {
        if request.head.hasPrefix("GET /held") {
          arrived.put(())
          _ = mayAnswer.take(timeoutMs: 40_000)
        }
        guard connection.send(answer("200 OK")) else { return }
      }
    }
    defer { server.stop() }
    let transport = makeTransport(most: 2, idleMs: 60_000)
    defer { transport.stop() }
    let first = await transport.perform(get(server.url, as: "a"))
    let held = transport.begin(get("\(server.url)/held", as: "a"))
    #expect(arrived.take(timeoutMs: 20_000)?.isEmpty == false)
    for label in ["b", "c", "b", "c"] {
      let reply = await transport.perform(get(server.url, as: label))
      #expect(reply.status == 200 && !reply.isReusedConnection)
    }
    #expect(server.accepted == 5)
    mayAnswer.close()
    #expect(first.status == 200 && held.take(timeoutMs: 20_000)?.first?.isReusedConnection == true)
  }

  @Test func theIdlePoolMakesRoom() {
    let server = ScriptedServer(everywhere: true, answeringAll(answer("200 OK")))
    defer { server.stop() }
    let transport = makeTransport(most: 2, idleMs: 60_000)
    defer { transport.stop() }
    func isReused(_ number: Int) -> Bool {
      transport.begin(get(server.url(number))).take(timeoutMs: 20_000)?.first?.isReusedConnection == true
    }
    #expect(!isReused(1) && eventually { isReused(1) })
    #expect(!isReused(2) && eventually { isReused(2) })
    #expect(!isReused(1) && eventually { isReused(1) })
  }
}
