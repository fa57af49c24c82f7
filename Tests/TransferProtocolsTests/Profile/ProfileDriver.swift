import HTTPTypes
import TransferModel
import Testing

@testable import TransferProtocols

/// Plays the part of the engine for one file, with chunks instead of rows, one request at a time, and answers requests
/// from a script.
final class ProfileDriver {
  enum End {
    case done(FileProof)
    case failed(Failure)
    case unknown(Failure)
    case stopped
  }

  struct Chunk {
    var acked: Int64 = 0
    var remote: [String: String] = [:]
    var isUncertain = false
    var failures = 0
    /// How often the server lost what it had acknowledged.
    var losses = 0
    var receipt: PartReceipt?
  }

  /// One expected request and its answer.
  struct Turn {
    /// `METHOD path?query`, or the start of it.
    var line: String
    var reply: TransferReply
    var check: ((TransferRequest, [UInt8]) -> Void)?
  }

  let proto: ProfileProtocol
  let content: [UInt8]
  var facts: TransferFacts
  var chunks: [Chunk]
  var credential: Credential?
  var nowMs: Int64 = 1_700_000_000_000
  private(set) var log: [String] = []
  private var failures = 0
  private var repairs = 0
  private var script: [Turn] = []
  private var responder: ((String) -> Turn?)?

  init(_ proto: ProfileProtocol, content: [UInt8], secrets: [String: String] = [:], key: String = "d/a b.txt") throws {
    self.proto = proto
    self.content = content
    let layout = try proto.layout(size: Int64(content.count))
    facts = TransferFacts(
      file: FileFacts(
        uid: UID(high: 1, low: 2), key: NameBytes(key), size: Int64(content.count), mtimeMs: 784_111_777_000),
      layout: layout)
    chunks = [Chunk](repeating: Chunk(), count: layout.count)
    credential = .inputs(secrets)
  }

  /// Runs until the file ends; every turn of the script has to be used.
  func run(_ turns: [Turn]) -> End {
    script = turns
    for _ in 0..<300 {
      if let end = turn() {
        for rest in script { Issue.record("not sent: \(rest.line); sent: \(log)") }
        return end
      }
    }
    Issue.record("it never ends: \(log.suffix(10))")
    return .stopped
  }

  /// The same with a server that never stops: `responder` answers by the request line, and its nil stops the run.
  func run(_ responder: @escaping (String) -> Turn?) -> End {
    self.responder = responder
    for _ in 0..<1_000 {
      if let end = turn() { return end }
    }
    return .stopped
  }

  private func turn() -> End? {
    nowMs += 1
    facts.wallMs = nowMs
    readRows()
    // As the engine does for protocols that need the parts without a last step, and with each last step.
    let stored = chunks.compactMap(\.receipt)
    facts.parts = stored.count >= chunks.count - 1 ? stored : []
    switch proto.nextStep(facts) {
    case .control(let step):
      if step == .create && facts.session == nil { facts.session = SessionFacts(remoteID: nil, intendedAtMs: nowMs) }
      return perform(step)
    case .chunks, .chunkThatOpensSession: return nextChunk()
    case .openSession(let id, let notes):
      facts.session = SessionFacts(remoteID: id, intendedAtMs: nowMs, notes: notes)
      return nil
    case .dropSession:
      dropSession()
      return nil
    case .complete(let proof), .place(let proof), .reuse(let proof): return .done(proof)
    case .fail(let failure): return .failed(failure)
    }
  }

  private func nextChunk() -> End? {
    if proto.plansLate, !facts.isPlanned {
      do { facts.layout = try proto.layout(facts) } catch { return .failed(Failure(.policyLimit, error.cause)) }
      chunks = [Chunk](repeating: Chunk(), count: facts.layout.count)
      facts.isPlanned = true
    }
    guard let seq = chunks.firstIndex(where: { $0.receipt == nil }) else { return .stopped }
    let state = chunks[seq]
    var chunk = ChunkFacts(
      seq: seq, range: facts.layout.range(seq), acked: state.acked, remote: state.remote,
      isUncertain: state.isUncertain,
      failures: state.failures, losses: state.losses)
    chunk.body = chunk.rest
    let opening = proto.abilities(facts).chunkOpening
    if opening.prepares && state.remote.isEmpty { return perform(.prepareChunk(chunk)) }
    if opening.probesUncertain && state.isUncertain { return perform(.probeChunk(chunk)) }
    let body = slice(chunk.body)
    for algorithm in proto.digestsAhead(facts.learned, facts.layout) {
      chunk.digests[algorithm] = RunningDigest.of(body, algorithm)
    }
    return perform(.chunk(chunk))
  }

  private func slice(_ range: ByteRange) -> [UInt8] { Array(content[Int(range.offset)..<Int(range.end)]) }

  private func perform(_ step: StepRequest) -> End? {
    var digests: [DigestAlgorithm: Digest] = [:]
    for algorithm in proto.fileDigests(for: step, facts) { digests[algorithm] = RunningDigest.of(content, algorithm) }
    let context = RequestContext(
      wallMs: nowMs, credential: credential, learned: facts.learned, failures: failures, fileDigests: digests)
    let request: TransferRequest
    do throws(Failure) {
      request = try proto.request(step, facts, context)
    } catch {
      return .failed(error)
    }
    let reply = answer(request, step)
    if reply.status == 0 && reply.curlCode == 0 { return .stopped }
    var interpreted = step
    if case .chunk(var chunk) = step {
      let sent = slice(ByteRange(offset: chunk.range.offset, length: chunk.body.end - chunk.range.offset))
      chunk.digests[proto.sentDigest] = RunningDigest.of(sent, proto.sentDigest)
      interpreted = .chunk(chunk)
      if !reply.isBodyIncomplete { facts.sent(chunk.seq, through: chunk.body.end) }
    }
    return apply(proto.interpret(reply, to: interpreted, facts, context), step, reply)
  }

  private func answer(_ request: TransferRequest, _ step: StepRequest) -> TransferReply {
    var body: [UInt8] = []
    if case .bytes(let bytes) = request.body { body = bytes }
    if case .chunk(let chunk) = step {
      body = (request.envelope?.prefix ?? []) + slice(chunk.body) + (request.envelope?.suffix ?? [])
    }
    let line = "\(request.method.rawValue) \(request.url)"
    log.append(line)
    if let responder { return responder(line)?.reply ?? TransferReply() }
    guard let turn = script.first, line.hasPrefix(turn.line) else {
      Issue.record("sent: \(line); expected: \(script.first?.line ?? "nothing")")
      return TransferReply()
    }
    script.removeFirst()
    turn.check?(request, body)
    return turn.reply
  }

  // MARK: - What answers change

  /// Reads the facts from the chunks, as a claim of the file does.
  private func readRows() {
    facts.storedChunks = chunks.count { $0.receipt != nil }
    facts.acked = chunks.reduce(0) { $0 + ($1.receipt?.length ?? $1.acked) }
  }

  private func apply(_ meaning: Interpretation, _ step: StepRequest, _ reply: TransferReply) -> End? {
    let update = facts.apply(meaning, to: step, proto.abilities(facts))
    if update.isNew && update.gained > 0 { failures = 0 }
    for change in update.changes {
      if let end = write(change, step, reply) { return end }
    }
    return nil
  }

  private func write(_ change: FactsUpdate.Change, _ step: StepRequest, _ reply: TransferReply) -> End? {
    switch change {
    case .openSession, .noteSession, .doubtChunk, .noteChunk, .confirmChunks, .beginFile, .divide, .list: break
    case .storeChunk(let part):
      #expect(part.seq == step.chunk?.seq)
      chunks[part.seq].receipt = part
      chunks[part.seq].remote = part.remote.isEmpty ? chunks[part.seq].remote : part.remote
      repairs = 0
    case .advanceChunk(let acked):
      update(step) { ($0.acked, $0.isUncertain) = (acked, false) }
      repairs = 0
    case .prepareChunk(let remote), .storePiece(let remote):
      update(step) { ($0.remote, $0.isUncertain) = (remote, false) }
    case .probeChunk(let acked): update(step) { ($0.acked, $0.isUncertain) = (acked, false) }
    case .alignChunks(let offset): for i in chunks.indices { align(i, offset) }
    case .adoptChunks(let parts, _): for part in parts { chunks[part.seq].receipt = part }
    case .disownChunks(let seqs):
      let stored = seqs.filter { chunks[$0].receipt != nil }
      for seq in stored { chunks[seq] = Chunk(losses: chunks[seq].losses + 1) }
      facts.disowned(stored.count)
    case .complete(let proof): return .done(proof)
    case .wait(let afterMs):
      nowMs += afterMs
      claimAgain()
    case .fail(let failure, let action): return failed(failure, action, step, reply)
    }
    return nil
  }

  private func update(_ step: StepRequest, _ change: (inout Chunk) -> Void) {
    if let seq = step.chunk?.seq { change(&chunks[seq]) }
  }

  private func align(_ seq: Int, _ offset: Int64) {
    let range = facts.layout.range(seq)
    chunks[seq].isUncertain = false
    if range.end <= offset {
      chunks[seq].receipt =
        chunks[seq].receipt
        ?? PartReceipt(
          seq: seq, length: range.length, etag: "", digest: nil, confirmation: .size, remote: chunks[seq].remote)
    } else {
      let acked = max(0, offset - range.offset)
      if chunks[seq].receipt != nil || chunks[seq].acked > acked { chunks[seq].losses += 1 }
      chunks[seq].receipt = nil
      chunks[seq].acked = acked
    }
  }

  private func failed(_ failure: Failure, _ action: FailureAction, _ step: StepRequest, _ reply: TransferReply) -> End?
  {
    let isLost = (reply.status == 0 && reply.requestMayHaveArrived) || action == .probe
    switch action {
    case .permanent: return .failed(failure)
    case .unknown: return .unknown(failure)
    case .hold: preconditionFailure("only the engine holds a destination back")
    case .repair, .refreshCredential:
      repairs += 1
      return repairs > 3 ? .failed(failure) : nil
    // If every chunk is stored, the engine first requests the end again.
    case .sessionGone:
      if !facts.mayBeCompleting(after: failure, failures: failures) { dropSession() }
    case .makeParents, .elsewhere: return nil
    case .retry, .probe: break
    }
    failures += 1
    if failures >= 8 { return .failed(failure) }
    if let seq = step.chunk?.seq {
      chunks[seq].failures += 1
      if isLost, case .chunk = step { chunks[seq].isUncertain = true }
    }
    if isLost { facts.lostAnswer = step.operation }
    claimAgain()
    return nil
  }

  /// The engine released the file and claimed it again: what it knew about the server is outdated.
  func claimAgain() { facts.claimed(lostAnswer: facts.lostAnswer) }

  private func dropSession() {
    facts.session = nil
    chunks = chunks.map { Chunk(losses: $0.losses + ($0.receipt != nil || $0.acked > 0 ? 1 : 0)) }
  }
}

extension ProfileDriver {
  /// A driver for a profile that is given without its first lines.
  static func of(_ text: String, _ size: Int = 3, _ secrets: [String: String] = [:]) throws -> ProfileDriver {
    try ProfileDriver(profile("profile: 1\nname: x\n" + text), content: pattern(size), secrets: secrets)
  }
}

extension ProfileDriver.End {
  var failure: Failure? { if case .failed(let failure) = self { failure } else { nil } }
  /// The code and the message of the failure.
  var failureText: String? { failure.map { "\($0.code.rawValue): \($0.message)" } }
  var unknown: Failure? { if case .unknown(let failure) = self { failure } else { nil } }

  func isDone(_ confirmation: TransferModel.Confirmation? = nil) -> Bool {
    guard case .done(let proof) = self else { return false }
    return confirmation == nil || proof.confirmation == confirmation
  }
}

extension ProfileDriver.Turn {
  static func on(
    _ line: String, _ status: Int, _ body: String = "", _ fields: [String: String] = [:],
    check: ((TransferRequest, [UInt8]) -> Void)? = nil
  ) -> Self {
    var reply = TransferReply()
    reply.status = status
    reply.body = Array(body.utf8)
    for (name, value) in fields { reply.fields[HTTPField.Name(name)!] = value }
    return Self(line: line, reply: reply, check: check)
  }

  /// The connection is reset after the request was sent.
  static func lost(_ line: String) -> Self {
    var reply = TransferReply()
    reply.curlCode = 56
    reply.requestMayHaveArrived = true
    return Self(line: line, reply: reply)
  }

  /// The same before its body was sent completely.
  static func cutOff(_ line: String) -> Self {
    var turn = lost(line)
    turn.reply.isBodyIncomplete = true
    return turn
  }
}

/// A built-in profile for a destination.
func builtin(_ name: String, _ url: String, _ inputs: [String: String] = [:], partSize: Int64? = nil) throws
  -> ProfileProtocol
{
  let profile = try Profile.read(#require(BuiltinProfile.text(name)), file: name)
  let settings = ProfileSettings(
    name: name, text: profile.text, inputs: inputs,
    secrets: Dictionary(uniqueKeysWithValues: profile.inputs.filter(\.isSecret).map { ($0.name, "env:X") }),
    isBuiltin: true)
  var batch = BatchSettings(destination: url, profile: settings)
  batch.partSize = partSize
  return try ProfileProtocol(batch)
}

/// Reads a profile that may send to every host below `.example`, unless `allowed` says otherwise.
func profile(
  _ text: String, _ url: String = "https://h.example/api", inputs: [String: String] = [:],
  allowed: [String] = ["*.example"]
) throws -> ProfileProtocol {
  let profile = try ProfileReadTests.read(text)
  return try ProfileProtocol(
    profile: profile, url: url, inputs: inputs, partSize: nil, reach: ProfileReach(allowed: try AllowedHosts(allowed)))
}

/// Bytes that show their position: they repeat after a prime number of bytes.
func pattern(_ count: Int) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count)
  while bytes.count < count { bytes += period.prefix(count - bytes.count) }
  return bytes
}

private let period: [UInt8] = (0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
