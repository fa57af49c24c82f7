import TransferEngine
package import TransferModel
import TransferProtocols

/// What a destination answered to a question that changes nothing there. No ledger knows of it: nothing was moved.
package struct DestinationTest: Sendable {
  /// `HEAD` or `OPTIONS`.
  package let question: String
  /// `https://host:port`
  package let host: String
  package private(set) var status: Int?
  /// The server's own words about what it can: `Server`, `Allow`, `DAV`, `Tus-Version` … in lower case.
  package private(set) var fields: [String: String] = [:]
  package private(set) var address: String?
  package private(set) var httpVersion: String?
  package private(set) var totalMs: Int64?
  /// Why there is no answer, or a refusal; nil when the destination is there and takes what it was shown.
  package private(set) var failure: Failure?

  /// Asks, and once more where the first answer says how. Blocking.
  /// - Throws: `.usage` and `.config` for a destination that cannot be understood.
  package init(_ asked: BatchSettings) throws(TransferError) {
    let target = try UploadTarget(asked)
    let destinations = CurlDestinations(connections: 1)
    defer { destinations.stop() }
    let resolved = try destinations.resolve(target.settings)
    let question = try DestinationQuestion(target.settings)
    (self.question, host) = (question.name, resolved.host)
    do throws(Failure) {
      var context = RequestContext(
        wallMs: SystemClock().wallMs, credential: try resolved.credentials.credential { false }, learned: LearnedFacts()
      )
      var reply = try Self.ask(1, question, context, resolved)
      if let learned = question.learned(from: reply, context) {
        context.learned = learned
        reply = try Self.ask(2, question, context, resolved)
      }
      take(reply)
    } catch {
      failure = error
    }
  }

  private static func ask(
    _ number: UInt64, _ question: DestinationQuestion, _ context: RequestContext, _ resolved: ResolvedDestination
  ) throws(Failure) -> TransferReply {
    var request = try question.request(context)
    request.credentialLabel = resolved.credentials.label
    let box = Mailbox<TransferReply>()
    resolved.transport.start(ExchangeID(rawValue: number), request) { box.put($0) }
    guard let reply = box.take()?.first else { throw Failure(.engineBug, "a request ended without a reply") }
    return reply
  }

  private mutating func take(_ reply: TransferReply) {
    address = reply.remoteIP.isEmpty ? nil : reply.remoteIP
    httpVersion = reply.httpVersion.isEmpty ? nil : reply.httpVersion
    totalMs = reply.timing.totalMs < 0 ? nil : reply.timing.totalMs
    if let failure = reply.transportFailure {
      self.failure = failure
      return
    }
    status = reply.status
    fields = DestinationQuestion.told(reply)
    failure = Self.refusal(reply.status)
  }

  /// 404 is what an object that is not there gets, and 405 or 501 a method that a server does not know: all of them
  /// know who asks.
  private static func refusal(_ status: Int) -> Failure? {
    switch status {
    case 401: Failure(.authRefused, "it answers 401: the credentials are refused, or missing")
    case 403:
      Failure(
        .authRefused, "it answers 403: the credentials lack the permission for this query, or for everything here")
    case 407: Failure(.authRefused, "a proxy answers 407: it requires credentials")
    case 500...: status == 501 ? nil : Failure(.http5xx, "it answers \(status)")
    default: nil
    }
  }
}
