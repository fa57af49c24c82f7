import TransferLedger
import TransferModel
import TransferProtocols

/// A request that was begun in the ledger.
///
/// A class, because an iteration of the loop accesses each about ten times: as a struct its many members would be
/// retained each time.
final class PendingRequest {
  typealias ID = Scheduler.RequestID

  let id: ID
  let file: FileID
  var step: BegunRequest
  let range: ByteRange?
  let destination: BatchDestination
  /// The place of its file to which it is sent (``SeveralPlaces``).
  let place: Int
  var phase = Phase.preparing
  var prepared: Prepared?
  /// When it was passed to the transport, by the boot clock.
  var sentMs: Int64 = 0
  /// For a request that finishes its file.
  var inquiry: Inquiry?
  /// For a query: the request that it is about.
  var beside: ID?
  /// An interim answer named its upload, and the ledger is queried about that name.
  var isNaming = false
  /// Its reply, which arrived meanwhile.
  var heldReply: TransferReply?
  /// Bytes of the body before those of the file.
  var prefixLength = 0
  /// The facts about the destination when the request was made.
  var learnedWhenSent: LearnedFacts?
  /// The route by which it was sent.
  var routeWhenSent: Route?
  /// It was cancelled because the machine slept.
  var endsBySleep = false
  /// How often the credentials had been reloaded when the request was begun.
  var credentialGeneration = 0
  enum Phase {
    case preparing, ready, sending
    /// Its answer has arrived: it is being interpreted, or the ledger is queried about it.
    case answered
  }

  init(_ id: ID, file: FileID, step: BegunRequest, range: ByteRange?, destination: BatchDestination, place: Int = 0) {
    self.place = place
    self.id = id
    self.file = file
    self.step = step
    self.range = range
    self.destination = destination
  }

  var host: String { destination.host.name }
  var batch: BatchID { destination.batch }
}

extension PendingRequest {
  var isSendingBody: Bool { range != nil && (phase == .sending || phase == .answered) }

  /// The step with the digests that are sent before the body.
  var requestStep: StepRequest {
    guard case .chunk(var chunk) = step.step, let body = prepared?.body else { return step.step }
    chunk.digests = body.ahead
    return .chunk(chunk)
  }

  var identityNow: SourceIdentity? {
    // The next generation determines which version the server has now.
    if prepared?.region != nil { return SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0) }
    guard case .slice(let slice)? = prepared?.body?.content else { return nil }
    return slice.identityNow
  }

  /// The part of the file that its request read.
  var sentPiece: SentContent.Piece? {
    range.flatMap { range in prepared?.body.flatMap { $0.sentPiece(of: range) } }
  }

  /// Where the part of the file ends that its request read; nil if it read nothing.
  var sentEnd: Int64? { range.flatMap { range in prepared?.body?.sentEnd(of: range) } }

  /// The facts about its file, as seen for its place.
  func facts(_ work: FileWork) -> TransferFacts { work.machine.facts.seen(from: place) }

  /// The server to which it was sent, with its port: a mirror, or where a redirect or a command led. nil for the server
  /// of its destination.
  func otherHost(_ work: FileWork) -> String? {
    let mirror = place == 0 ? nil : destination.resolved.transferProtocol.places?.host(of: place, work.machine.facts)
    guard let target = routeWhenSent?.place, let there = WebOrigin(url: target) else { return mirror }
    return mirror == nil && there.description == host ? nil : there.authority
  }

  /// The context in which the protocol makes the request and interprets the answer.
  func context(_ work: FileWork, civilMs: Int64) -> RequestContext {
    var context = RequestContext(
      wallMs: civilMs, credential: prepared?.credential, learned: destination.learned, failures: step.failures,
      fileDigests: work.fileDigests, learnedWhenSent: learnedWhenSent)
    context.routeWhenSent = routeWhenSent
    context.holdsPast = prepared?.holdsPast ?? false
    return context
  }

  /// Makes the transport end the exchange, which produces a reply.
  func cancel() { destination.resolved.transport.cancel(ExchangeID(rawValue: id)) }

  /// A pause never interrupts short or unrepeatable requests: that would cost more than it saves. Nothing interrupts
  /// the finish step, because then it would be unknown whether the file is complete.
  func mayBeCut(by requestedAction: RequestedAction, _ abilities: ProtocolAbilities) -> Bool {
    switch requestedAction {
    case .pause: false
    case .pauseNow: range != nil && abilities.repeatable
    case .cancel, .remove: step.step != .finish
    }
  }

  /// After a short sleep the server may still be carrying out a finishing step: a query would find nothing yet, and the
  /// step would be repeated beside it. Its answer is awaited, as that of a request that must not be repeated.
  func mayEnd(bySleepOf ms: Int64, _ abilities: ProtocolAbilities) -> Bool {
    guard beside == nil, !abilities.unrepeatable.contains(step.step.operation) else { return false }
    return (step.step != .finish && step.step != .save) || ms >= RequestLimits.finish.totalMs
  }

  /// The reply with the byte counts of the file only. If we ended the request because the file was found, it becomes a
  /// lost answer: the protocol then queries as after any lost answer. If we end it because the machine slept, a reply
  /// without an answer is cancelled, whichever came first: our end, or the error of a connection that died meanwhile.
  func settled(_ reply: TransferReply) -> TransferReply {
    var reply = reply
    if endsBySleep, reply.bodyFailure == nil, !reply.isAnswered || reply.curlCode != 0 { reply.isCancelled = true }
    if inquiry?.isFound == true, reply.isCancelled, !reply.isAnswered {
      reply.isCancelled = false
      reply.curlCode = 28
      reply.curlMessage = "no answer came, and the file was found at the server"
    }
    reply.bytesSent = max(0, reply.bytesSent - Int64(prefixLength))
    // The body may be followed by the end of a form.
    if let length = range?.length { reply.bytesSent = min(reply.bytesSent, length) }
    return reply
  }
}
