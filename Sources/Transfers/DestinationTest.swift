import TransferEngine
package import TransferModel
import TransferProtocols

/// The answer of a destination to a request that changes nothing there. It is not recorded in a ledger, because nothing
/// was transferred.
package struct DestinationTest: Sendable {
  /// `HEAD` or `OPTIONS`.
  package let question: String
  /// `https://host:port`
  package let host: String
  package private(set) var status: Int?
  /// Header fields in which the server describes its capabilities: `Server`, `Allow`, `DAV`, `Tus-Version` … in lower
  /// case.
  package private(set) var fields: [String: String] = [:]
  package private(set) var address: String?
  package private(set) var httpVersion: String?
  package private(set) var totalMs: Int64?
  /// Why there is no answer, or why the request was refused; nil when the destination answers and accepts the
  /// credentials.
  package private(set) var failure: Failure?

  /// Sends the request, and once more if the first answer says how it has to be sent. Blocking.
  /// - Throws: `.usage` and `.config` for an invalid destination.
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

  /// 404 is the answer for an object that does not exist, 405 or 501 for a method that the server does not support;
  /// with all of them, the server has accepted the credentials.
  private static func refusal(_ status: Int) -> Failure? {
    switch status {
    case 401: Failure(.authRefused, "it answers 401: the credentials are missing or refused")
    case 403:
      Failure(
        .authRefused, "it answers 403: the credentials lack the permission for this query, or for everything here")
    case 407: Failure(.authRefused, "a proxy answers 407: it requires credentials")
    case 500...: status == 501 ? nil : Failure(.http5xx, "it answers \(status)")
    default: nil
    }
  }
}
