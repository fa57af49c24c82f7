import HTTPTypes
import TransferLedger
import TransferModel
import TransferProtocols

/// Work on local files, on the preparing threads: a source is opened and read before its request; a partial file is
/// opened or created, and renamed when it is complete. Used by the engine's thread.
final class LocalFiles {
  private let engine: Engine
  private let mailbox: Mailbox<EngineEvent>
  private let pool: PreparingPool
  private let journal: SendingJournal?
  /// Ends reads of local files.
  private let readStop: ReadStop
  let reuse: LocalReuse
  private let urls: FreshURLs
  private let credentials: FreshCredentials
  private let targets: GroupedOrders<(id: PendingRequest.ID, order: TargetOrder, url: String?)>
  private let placings: GroupedOrders<(file: FileID, proof: FileProof, placing: Placing)>

  init(
    _ engine: Engine, _ mailbox: Mailbox<EngineEvent>, pool: PreparingPool, readStop: ReadStop, urls: FreshURLs,
    credentials: FreshCredentials
  ) {
    (self.engine, self.mailbox, self.pool, self.readStop) = (engine, mailbox, pool, readStop)
    (self.urls, self.credentials) = (urls, credentials)
    journal = engine.ledger.sendingJournal()
    reuse = LocalReuse(engine: engine, mailbox: mailbox, pool: pool, readStop: readStop)
    targets = GroupedOrders(pool, most: Self.mostTogether) { group in
      var open = OpenFolders()
      let prepared = group.map { (id, order, url) -> EngineEvent in
        let result = order.perform(in: &open)
        return .prepared(id, url.map(result.at) ?? result)
      }
      mailbox.put(contentsOf: prepared)
    }
    placings = GroupedOrders(pool, most: Self.mostTogether) { group in
      let others = group.filter { !$0.placing.isReadForLong }
      for members in [others] + group.filter(\.placing.isReadForLong).map({ [$0] }) where !members.isEmpty {
        let results = PlacingGroup.perform(members.map(\.placing))
        mailbox.put(contentsOf: zip(members, results).map { .placed($0.file, $0.proof, $1) })
      }
    }
  }

  /// Maximum number in a group: with more, the first of them would only wait longer.
  static let mostTogether = 64
  /// Maximum number of bytes to be read or written for one member of a group, because the others wait for it.
  static let longestTogether: Int64 = 1 << 20

  /// Ends all waits for URLs and credentials. Blocking.
  func end() {
    urls.end()
    credentials.end()
  }

  /// Prepares a request.
  func prepare(_ pending: PendingRequest, _ work: FileWork) {
    let receiving = pending.destination.resolved.transferProtocol.bodiesInAnswers
    if let target = work.target, let range = pending.range, let receiving {
      return prepare(target, range, pending, work, receiving)
    }
    let (id, mailbox, pool, order) = (pending.id, mailbox, pool, order(pending, work))
    withCredential(pending) { credential in
      var order = order
      order.credential = credential
      pool.perform(order) { mailbox.put(.prepared(id, $0)) }
    }
  }

  /// The request is not prepared before it has its credential.
  private func withCredential(_ pending: PendingRequest, then: @escaping @Sendable (Credential?) -> Void) {
    let (id, mailbox) = (pending.id, mailbox)
    credentials.get(from: pending.destination.resolved.credentials, for: pending.file) { answer in
      switch answer {
      case .success(let credential): then(credential)
      case .failure(let failure): mailbox.put(.prepared(id, .failure(PreparationFailure(failure))))
      }
    }
  }

  private func order(_ pending: PendingRequest, _ work: FileWork) -> PreparationOrder {
    let (step, range, destination) = (pending.step, pending.range, pending.destination)
    let proto = destination.resolved.transferProtocol
    var ahead = range == nil ? [] : proto.digestsAhead(destination.learned, work.machine.facts.layout)
    if pending.listing(work) != nil { ahead.formUnion(proto.digestsOfListing) }
    var order = PreparationOrder(
      path: path(of: work.machine.claimed), root: root(of: work.machine.claimed), version: work.version,
      copy: work.copy, range: range,
      head: range == nil ? nil : step.step.chunk?.head, checksIdentity: step.step == .finish,
      digestsAhead: ahead,
      digestsOfFile: proto.fileDigests(for: step.step, work.machine.facts).subtracting(work.fileDigests.keys),
      sentAlgorithm: proto.sentDigest, journal: journal?.entry(step.attempt), file: work.source, stop: readStop)
    if work.isToBeIdentified, step.step != .discover { identify(work, &order) }
    if !order.digestsOfFile.contains(.sha256) { order.recordedSHA256 = work.recordedSHA256(by: pending) }
    order.hashing = { [pool] task in pool.wait(task, then: {}) }
    return order
  }

  /// With `dedupe`, the whole file is read before its first request.
  private func identify(_ work: FileWork, _ order: inout PreparationOrder) {
    order.digestsOfFile.insert(.sha256)
    guard work.machine.isUntouched else { return }
    let (ledger, file) = (engine.ledger, work.machine.claimed.id)
    order.delivered = DeliveredContent(
      find: { digest throws(TransferError) in try ledger.read { try $0.delivered(digest, like: file) } },
      content: { other throws(TransferError) in try ledger.read { try $0.sentContent(of: other) } })
  }

  /// The path from which a file is read.
  private func path(of file: ClaimedFile) -> NameBytes {
    guard let staged = file.staged, let copies = engine.configuration.copies else { return file.path }
    return copies.path(staged)
  }

  /// How much of that path may lead through symbolic links: the folder of the copies is not the user's choice.
  private func root(of file: ClaimedFile) -> Int? { file.staged == nil ? file.root : nil }

  /// Opens or creates the partial file.
  private func prepare(
    _ target: Target, _ range: ByteRange, _ pending: PendingRequest, _ work: FileWork, _ receiving: any BodiesInAnswers
  ) {
    let (facts, step) = (pending.facts(work), pending.step.step)
    let chunk = step.chunk?.range ?? range
    // Bytes that were copied from an older file are not compared with those that a server sends before the range: if
    // they differ, the digest of the whole file shows it, and the file is fetched without them.
    let hasCopies = step.chunk.flatMap(MissingRanges.init) != nil
    let known = hasCopies ? range.offset : chunk.offset
    var order = TargetOrder(
      target: target, holdsBytes: facts.acked > 0 || work.machine.facts.holdsCopies,
      size: step.chunk == nil ? nil : facts.layout.size, range: range,
      stored: ByteRange(offset: known, length: range.offset - known),
      endsChunk: range.end == chunk.end && !receiving.isReadAnew(step, facts),
      hasPast: step == .create && isToBeCompared(work, pending),
      algorithm: pending.destination.resolved.transferProtocol.sentDigest,
      content: { status, fields in
        receiving.content(status: status, fields, of: step, facts.replacing(target, by: fields))
      }, stop: readStop)
    // Pieces are compared with their digests, and some of what is in the file may be wrong.
    order.others = facts.file.expected.pieces == nil ? stored(work.machine.claimed.id) : nil
    if step == .create { order.twins = twins(facts, order.algorithm) }
    let needsURL = facts.route.needsStart(wallMs: engine.civilMs)
    let source = needsURL ? pending.destination.resolved.urls : nil
    let (id, file, key, mailbox, urls, opener) = (pending.id, pending.file, facts.file.key, mailbox, urls, targetOpener)
    withCredential(pending) { [order] credential in
      var order = order
      order.credential = credential
      guard let source else { return opener(id, order, nil) }
      urls.get(file, key, from: source) { [order] answer in
        switch answer {
        case .failure(let failure):
          mailbox.put(.prepared(id, .failure(PreparationFailure(failure, action: .hold))))
        case .success(let url): opener(id, order, url)
        }
      }
    }
  }

  /// What is stored of a file, for comparison with bytes that come again. What arrived since the file was opened is not
  /// in the ledger yet, but the file knows of it.
  private func stored(_ file: FileID) -> TargetRegion.StoredRanges {
    { [ledger = engine.ledger] () throws(Failure) in
      do throws(TransferError) { return try ledger.read { try $0.storedRanges(of: file) } } catch {
        throw Failure(.localIO, "what is stored of the file cannot be read from the ledger: \(error.cause)")
      }
    }
  }

  /// Performs the order for a request. A non-nil `url` is the URL to request.
  private var targetOpener: @Sendable (PendingRequest.ID, TargetOrder, String?) -> Void {
    { [targets, pool, mailbox] id, order, url in
      if order.isShort { return targets.add((id, order, url)) }
      pool.wait({ order.perform() }, then: { mailbox.put(.prepared(id, url.map($0.at) ?? $0)) })
    }
  }

  /// If the expected digest is known and nothing of the file is stored yet, another local file may have its content.
  private func twins(_ facts: TransferFacts, _ algorithm: DigestAlgorithm) -> Twins? {
    let expected = facts.file.expected
    guard !facts.isPlanned, let digest = expected[.sha256] ?? expected[.sha512] else { return nil }
    let ledger = engine.ledger
    return Twins(
      digest: digest, size: expected.size, algorithm: algorithm,
      find: { (try? ledger.read { try $0.localPaths(of: digest) }) ?? [] }, stop: readStop)
  }

  /// An existing file may have bytes of the version to be fetched: it may be that version, or is compared with digests
  /// of pieces or with checksums of blocks.
  private func isToBeCompared(_ work: FileWork, _ pending: PendingRequest) -> Bool {
    let facts = work.machine.facts
    if facts.file.expected.pieces != nil { return true }
    let usesZsync = work.destination.refusals.settings.download?.usesZsync ?? false
    return pending.place == 0 && (facts.past != nil || usesZsync)
  }

  /// Every byte is stored and recorded: the file gets its final name, and is then done.
  /// - Parameter path: absolute, if the server supplied another name; nil for the recorded path.
  func place(_ work: FileWork, _ proof: FileProof, at path: NameBytes?) {
    guard let target = work.target else { preconditionFailure("an upload has no target file") }
    target.recordsSHA256.withLock { $0 = work.recordsSHA256 && proof.digest?.algorithm != .sha256 }
    let file = work.machine.claimed.id
    let facts = work.machine.facts
    let receiving = work.destination.resolved.transferProtocol.bodiesInAnswers
    let keepsTime = work.destination.refusals.settings.download?.keepsTime ?? true
    let placing = target.placing(
      at: path, size: facts.layout.size, digest: proof.digest,
      modifiedMs: keepsTime ? receiving?.modificationTimeMs(facts) : nil,
      access: receiving?.access(facts) ?? FileAccess(), compared: receiving?.digestsToCompare(facts) ?? [],
      parted: receiving?.partedDigest(facts), readStop)
    if placing.isShort { return placings.add((file, proof, placing)) }
    let mailbox = mailbox
    pool.wait({ PlacingGroup.perform([placing])[0] }, then: { mailbox.put(.placed(file, proof, $0)) })
  }
}

extension TransferFacts {
  /// The same, knowing whether a web page would replace a file.
  fileprivate func replacing(_ target: Target, by fields: HTTPFields) -> TransferFacts {
    guard target.overwrites, fields.announcesPage else { return self }
    var facts = self
    facts.replacesFile = target.standing() != nil
    return facts
  }
}

extension Result<Prepared, PreparationFailure> {
  /// The same preparation, with this URL to request.
  fileprivate func at(_ url: String) -> Self {
    map { prepared in
      var placed = prepared
      placed.start = url
      return placed
    }
  }
}

extension ChunkFacts {
  /// The stored part of the chunk, if the request fetches all the rest; nil for none.
  fileprivate var head: ByteRange? {
    guard body.offset > range.offset, body.end == range.end else { return nil }
    return ByteRange(offset: range.offset, length: body.offset - range.offset)
  }
}
