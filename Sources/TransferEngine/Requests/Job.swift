import TransferLedger
import TransferModel
import TransferProtocols

/// A request that was begun in the ledger.
///
/// An object, because a turn of the loop touches each some ten times: as a value its many parts would be counted each
/// time.
final class Job {
  typealias ID = Scheduler.JobID

  let id: ID
  let file: FileID
  var step: JobStep
  let range: ByteRange?
  let destination: BatchDestination
  /// Which of the places of its file it goes to (``SeveralPlaces``).
  let place: Int
  var phase = Phase.preparing
  var prepared: Prepared?
  /// When it went to the transport, by the boot clock.
  var sentMs: Int64 = 0
  /// Of a request that ends its file.
  var inquiry: Inquiry?
  /// Of a question: the request that it is about.
  var beside: ID?
  /// Bytes of the body before those of the file.
  var prefixLength = 0
  /// What was known of the destination when the request was made.
  var learnedWhenSent: LearnedFacts?
  /// Where it was sent.
  var routeWhenSent: Route?
  /// How often the credentials had been read again when the request was begun.
  var credentialGeneration = 0
  enum Phase {
    case preparing, ready, sending
    /// Its answer is there: it is being read, or the ledger is asked about it.
    case answered
  }

  init(_ id: ID, file: FileID, step: JobStep, range: ByteRange?, destination: BatchDestination, place: Int = 0) {
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

extension Job {
  var isSendingBody: Bool { range != nil && (phase == .sending || phase == .answered) }

  /// The step with the digests that go ahead of the body.
  var requestStep: StepRequest {
    guard case .chunk(var chunk) = step.step, let body = prepared?.body else { return step.step }
    chunk.digests = body.ahead
    return .chunk(chunk)
  }

  var identityNow: SourceIdentity? {
    // Which version a server has now, the next generation asks for itself.
    if prepared?.region != nil { return SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0) }
    guard case .slice(let slice)? = prepared?.body?.content else { return nil }
    return slice.identityNow
  }

  /// What its request read of the file.
  var sentPiece: SentContent.Piece? {
    range.flatMap { range in prepared?.body.flatMap { $0.sentPiece(of: range) } }
  }

  /// What is known of its file, as it is seen from where it goes.
  func facts(_ work: FileWork) -> TransferFacts { work.machine.facts.seen(from: place) }

  /// The mirror that it goes to; nil for the server of its destination.
  func mirror(_ work: FileWork) -> String? {
    place == 0 ? nil : destination.resolved.transferProtocol.places?.host(of: place, work.machine.facts)
  }

  /// What a protocol needs to know to make its request and to read the answer.
  func context(_ work: FileWork, civilMs: Int64) -> RequestContext {
    var context = RequestContext(
      wallMs: civilMs, credential: prepared?.credential, learned: destination.learned, failures: step.failures,
      fileDigests: work.fileDigests, learnedWhenSent: learnedWhenSent)
    context.routeWhenSent = routeWhenSent
    context.holdsPast = prepared?.holdsPast ?? false
    return context
  }

  /// The transport ends the exchange, and says so with a reply.
  func cancel() { destination.resolved.transport.cancel(ExchangeID(rawValue: id)) }

  /// A pause never cuts off what is short or what must not be repeated: that would cost more than it stops. Nothing
  /// cuts off the finish step, because nobody could say then whether the file is there.
  func mayBeCut(by wish: Wish, _ abilities: ProtocolAbilities) -> Bool {
    switch wish {
    case .pause: false
    case .pauseNow: range != nil && abilities.repeatable
    case .cancel, .remove: step.step != .finish
    }
  }

  /// The reply with the bytes of the file alone, and as a lost answer where we ended the request because the file is
  /// there: the protocol asks as after any lost answer.
  func settled(_ reply: TransferReply) -> TransferReply {
    var reply = reply
    if inquiry?.isFound == true, reply.isCancelled, !reply.isAnswered {
      reply.isCancelled = false
      reply.curlCode = 28
      reply.curlMessage = "no answer came, and the file was found at the server"
    }
    reply.bytesSent = max(0, reply.bytesSent - Int64(prefixLength))
    // Behind the body may stand the end of a form.
    if let length = range?.length { reply.bytesSent = min(reply.bytesSent, length) }
    return reply
  }
}
