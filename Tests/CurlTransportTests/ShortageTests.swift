import HTTPTypes
import Testing
import TransferModel
import TransferTestSupport

@testable import CurlTransport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What this process has at the moment, for tests that run in a process of their own.
enum Held {
  static var threads: Int { count("/proc/self/task") }
  static var descriptors: Int { count("/proc/self/fd") }

  private static func count(_ folder: String) -> Int {
    guard let open = opendir(folder) else { return -1 }
    defer { closedir(open) }
    var count = 0
    while readdir(open) != nil { count += 1 }
    return count
  }
}

/// Takes all descriptors that this process may still open. For a process of its own.
func takeAllDescriptors() -> [Int32] {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  limit.rlim_cur = min(limit.rlim_cur, 256)
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  var taken: [Int32] = []
  while true {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return taken }
    taken.append(descriptor)
  }
}

private func makeTransport() -> CurlTransport {
  var configuration = CurlConfiguration(userAgent: agent)
  configuration.ignoresProxies = true
  return loadedTransport(configuration)
}

private func get(_ transport: CurlTransport, _ url: String) -> TransferReply? {
  transport.begin(TransferRequest(method: .get, url: url)).take(timeoutMs: 20_000)?.first
}

/// The request failed because of this machine, and nothing was sent.
private func checkShortage(_ reply: TransferReply?, says words: String) throws {
  try check(reply?.transportFailure?.code == .localFDLimit, "\(String(describing: reply))")
  try check(reply?.requestMayHaveArrived == false, "\(String(describing: reply))")
  let text = reply?.transportFailure?.message ?? ""
  try check(text.contains(words), text)
}

/// The system has nothing more to give: each request ends as a fault of this machine, or runs with what there is.
@Suite(.timeLimit(.minutes(1))) struct ShortageTests {
  @Test func withoutDescriptorsARequestFailsHere() async {
    await #expect(processExitsWith: .success) {
      let server = ScriptedServer(everywhere: true, answeringAll(answer("200 OK")))
      let (transport, empty) = (makeTransport(), makeTransport())
      try check(get(transport, server.url(1))?.status == 200, "the first request")
      let taken = takeAllDescriptors()
      // A guest of the first origin, which gets no socket.
      let guest = get(transport, server.url(2))
      try checkShortage(guest, says: "open a connection: too many open files; raise the limit of open files")
      try check(guest?.systemError == EMFILE, "\(String(describing: guest))")
      try checkShortage(get(transport, "http://nobody.invalid/"), says: "ulimit -n")
      try checkShortage(get(empty, server.url(3)), says: "too many open files; raise the limit of open files")
      for descriptor in taken { close(descriptor) }
      for number in 2...3 {
        try check(get(transport, server.url(number))?.status == 200, "\(number)")
        try check(get(empty, server.url(number))?.status == 200, "\(number)")
      }
      transport.stop()
      empty.stop()
    }
  }

  @Test func withoutThreadsARequestIsAGuestOrFailsHere() async {
    await #expect(processExitsWith: .success) {
      let (listener, port) = listenOnLoopback(backlog: 8, everywhere: true)
      let (transport, empty) = (makeTransport(), makeTransport())
      for number in 1...3 {
        let replies = transport.begin(TransferRequest(method: .get, url: "http://127.0.0.\(number):\(port)/"))
        let connection = ServerConnection(number: number, descriptor: accept(listener, nil, nil))
        _ = connection.readRequest()
        connection.send(answer("200 OK"))
        let reply = replies.take(timeoutMs: 20_000)?.first
        try check(reply?.status == 200, "\(String(describing: reply))")
        if number == 1 { refuseThreads() }
      }
      try checkShortage(get(empty, "http://127.0.0.9:\(port)/"), says: "(ulimit -u)")
      transport.stop()
    }
  }
}
