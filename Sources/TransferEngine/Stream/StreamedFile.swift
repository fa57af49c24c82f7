import HTTPTypes
import TransferModel
import TransferProtocols

/// One file, fetched in order, range after range, and written out as it arrives: memory for a transport buffer, the
/// beginning of the file and what was written last (``RecentBytes``). An interrupted body is continued if the server
/// gives a strong validator of the file; bytes are never written twice, and bytes of another version never follow.
///
/// It is not recorded in a ledger, because no other process could continue the output. Blocking; one thread.
public final class StreamedFile: @unchecked Sendable {
  private let resolved: ResolvedDestination
  private let receiving: any BodiesInAnswers
  private let output: any StreamOutput
  private let clock: any TransferClock
  private var retries: StreamRetries
  private var number: UInt64 = 0

  private var facts: TransferFacts
  private var receipts: [PartReceipt] = []
  /// Digests of the current chunk, and of the whole file, as far as they are compared.
  private var chunkDigest: RunningDigest
  private var digests: [RunningDigest] = []
  /// The header of the answer whose bytes are written; passed to the output with the first of them.
  private var head: AnswerHead?
  private var isOpen = false
  /// Bytes written to the output.
  public private(set) var written: Int64 = 0
  private var recent = RecentBytes()

  /// - Parameter resolved: the destination of a download.
  package init(
    _ resolved: ResolvedDestination, key: NameBytes, _ expected: ExpectedContent, to output: any StreamOutput,
    clock: any TransferClock, policy: RetryPolicy = .standard
  ) {
    guard let receiving = resolved.transferProtocol.bodiesInAnswers else {
      preconditionFailure("\(resolved.transferProtocol.name) fetches nothing")
    }
    (self.resolved, self.receiving, self.output, self.clock) = (resolved, receiving, output, clock)
    retries = StreamRetries(policy)
    chunkDigest = RunningDigest(resolved.transferProtocol.sentDigest)
    var file = FileFacts(uid: UID.make(wallMs: clock.wallMs), key: key, size: 0, mtimeMs: 0)
    file.expected = expected.ofOnePlace
    facts = Self.facts(file, clock)
    // Parts are not digested one by one, so a list of them would prove nothing.
    facts.learned.refusesPartLists = true
  }

  private static func facts(_ file: FileFacts, _ clock: any TransferClock) -> TransferFacts {
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: clock.wallMs)
    return facts
  }

  /// Fetches the file; on return all of it was written, and matches the server's and the manifest's digests.
  /// - Throws: why it failed; ``written`` is the number of bytes written.
  package func fetch() throws(Failure) -> (size: Int64, proof: FileProof) {
    while true {
      facts.wallMs = clock.civilMs
      if facts.isAllStored { facts.parts = receipts }
      switch resolved.transferProtocol.nextStep(facts) {
      case .control(.create): try perform(.create, receiving.beginning(facts))
      // A step without content.
      case .control(let step): try perform(step, ByteRange(offset: written, length: 0))
      case .chunks:
        let chunk = nextChunk
        try perform(.chunk(chunk), chunk.body)
      case .place(let proof):
        try open()
        return (facts.layout.size, try compared(proof))
      case .fail(let failure): throw failure
      case .chunkThatOpensSession, .openSession, .dropSession, .complete, .reuse:
        throw Failure(.engineBug, "\(resolved.transferProtocol.name) does not fetch in order")
      }
    }
  }

  private var nextChunk: ChunkFacts {
    let range = facts.layout.range(facts.storedChunks)
    var chunk = ChunkFacts(
      seq: facts.storedChunks, range: range, acked: facts.acked - range.offset, failures: retries.failures)
    chunk.body = resolved.transferProtocol.bodyRange(of: chunk, facts)
    return chunk
  }

  /// A digest that the server sends only at the end, and that was not computed, proves nothing.
  private func compared(_ proof: FileProof) throws(Failure) -> FileProof {
    var proof = proof
    // The parts were not digested one by one while they arrived.
    if receiving.partedDigest(facts) != nil { proof.confirmation = .size }
    for wanted in receiving.digestsToCompare(facts) {
      let computed = digests.first { $0.algorithm == wanted.algorithm }
      guard let found = (computed ?? (written == 0 ? RunningDigest(wanted.algorithm) : nil))?.finish() else {
        if proof.digest == wanted { (proof.confirmation, proof.digest, proof.remoteDigest) = (.size, nil, nil) }
        continue
      }
      guard found == wanted else {
        throw Failure(.integrityMismatch, "the file should have \(wanted), but the received data has \(found)")
      }
    }
    return proof
  }

  // MARK: - Requests

  private func perform(_ step: StepRequest, _ range: ByteRange) throws(Failure) {
    guard range.offset == written else { throw retries.cannotGoOn }
    // The header of an answer without content does not apply to the next one.
    if step == .create { (head, digests) = (nil, []) }
    try findStart()
    let credential = try resolved.credentials.credential { false }
    var context = RequestContext(
      wallMs: clock.civilMs, credential: credential, learned: facts.learned, failures: retries.failures,
      learnedWhenSent: facts.learned)
    context.routeWhenSent = facts.route
    let sink = sink(step, range)
    let reply = try reply(to: step, sink, context)
    let meaning = read(reply, step, sink, context)
    let update = facts.apply(meaning, to: step, resolved.transferProtocol.abilities)
    if let held = sink.held, update.gained > 0 { try give(held) }
    for change in update.changes { try take(change) }
    try retries.count(update.gained, of: min(range.length, facts.layout.size - range.offset), facts)
  }

  /// Obtains a URL from a command, if the file has none that can be requested.
  private func findStart() throws(Failure) {
    guard let urls = resolved.urls, facts.route.needsStart(wallMs: clock.civilMs) else { return }
    facts.route.begin(at: try urls.url(for: facts.file.key, isOver: { false }))
  }

  private func sink(_ step: StepRequest, _ range: ByteRange) -> StreamSink {
    let (facts, receiving) = (facts, receiving)
    return StreamSink(
      range, isBeginning: step == .create,
      content: { status, fields in receiving.content(status: status, fields, of: step, facts) },
      begun: { [unowned self] status, fields in
        if step == .create { begin(receiving.head(status: status, fields, facts)) }
      },
      difference: { [unowned self] bytes, offset in recent.difference(from: bytes, at: offset) },
      take: { [unowned self] bytes in
        do throws(Failure) { try give(bytes) } catch { return error }
        return nil
      })
  }

  private func reply(
    to step: StepRequest, _ sink: StreamSink, _ context: RequestContext
  ) throws(Failure) -> TransferReply {
    var request = try resolved.transferProtocol.request(step, facts, context)
    request.sink = sink
    request.credentialLabel = resolved.credentials.label
    let uncoded = request.removeCodings()
    let box = Mailbox<TransferReply>()
    number += 1
    resolved.transport.start(ExchangeID(rawValue: number), request) { box.put(uncoded?.judged($0) ?? $0) }
    guard let reply = box.take()?.first else { throw Failure(.engineBug, "a request ended without a reply") }
    let facts = facts
    return SecretMask(context.credential, [facts.learned], capabilities: facts.capabilities(nil)).applied(to: reply)
  }

  /// The meaning of the answer, with the digests of its content.
  private func read(
    _ reply: TransferReply, _ step: StepRequest, _ sink: StreamSink, _ context: RequestContext
  ) -> Interpretation {
    if let failure = reply.bodyFailure { return sink.refusal ?? .failed(failure, .permanent) }
    var (reply, step, context) = (reply, step, context)
    reply.bytesReceived = sink.taken
    if sink.isComplete {
      if case .chunk(var chunk) = step {
        chunk.digests[chunkDigest.algorithm] = chunkDigest.finish()
        step = .chunk(chunk)
      } else if reply.bytesReceived > 0 {
        context.receivedDigest = sink.held.map { RunningDigest.of($0, chunkDigest.algorithm) } ?? chunkDigest.finish()
      }
    }
    return resolved.transferProtocol.interpret(reply, to: step, facts, context)
  }

  // MARK: - Received data

  private func begin(_ head: AnswerHead) {
    guard written == 0 else { return }
    self.head = head
    // The digests that the protocol prefers, if there are any.
    let quick = head.digests.filter { [.crc32c, .crc64nvme, .crc32].contains($0.algorithm) }
    let told = quick.isEmpty ? head.digests : quick
    digests = Set((told + facts.file.expected.digests).map(\.algorithm)).map { RunningDigest($0) }
  }

  private func open() throws(Failure) {
    guard !isOpen else { return }
    isOpen = true
    try output.begin(head ?? AnswerHead(size: facts.layout.size))
  }

  private func give(_ bytes: [UInt8]) throws(Failure) {
    try bytes.withUnsafeBufferPointer { buffer throws(Failure) in try give(UnsafeRawBufferPointer(buffer)) }
  }

  private func give(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    try open()
    try output.write(bytes)
    written += Int64(bytes.count)
    recent.append(bytes)
    chunkDigest.update(bytes)
    for i in digests.indices { digests[i].update(bytes) }
  }

  private func take(_ change: FactsUpdate.Change) throws(Failure) {
    switch change {
    case .beginFile(let beginning, _): if let part = beginning.part { stored(part) }
    case .storeChunk(let part): stored(part)
    case .fail(let failure, let action):
      retries.failed(failure)
      try decide(failure, action)
    default: break
    }
  }

  private func stored(_ part: PartReceipt) {
    receipts.append(part)
    chunkDigest = RunningDigest(chunkDigest.algorithm)
  }

  // MARK: - Failures

  /// Returns if the request is to be repeated.
  private func decide(_ failure: Failure, _ action: FailureAction) throws(Failure) {
    switch action {
    case _ where failure.code == .sourceChanged: try beginAnew(failure)
    case .elsewhere: break
    case .repair: try retries.repair(failure)
    case .refreshCredential: try retries.refresh(failure, resolved.credentials)
    case .permanent where failure.code == .authRefused || failure.code == .authExpired:
      try retries.refresh(failure, resolved.credentials)
    case .retry(let isThrottled): try retries.wait(failure, isThrottled)
    case .probe, .sessionGone: try retries.wait(failure, false)
    case .permanent, .hold, .unknown, .makeParents: throw failure
    }
  }

  /// Restarts with another version; nothing of the first one may have been written.
  private func beginAnew(_ failure: Failure) throws(Failure) {
    guard written == 0 else { throw failure }
    try retries.changed(failure)
    let learned = facts.learned
    facts = Self.facts(facts.file, clock)
    facts.learned = learned
    (receipts, chunkDigest) = ([], RunningDigest(chunkDigest.algorithm))
  }
}
