import TransferLedger
import TransferModel
import TransferProtocols

/// An active file with its open descriptor.
///
/// A class, because an iteration of the loop accesses each about ten times: as a struct its many members would be
/// retained each time.
final class FileWork {
  var machine: FileMachine
  var source: SourceFile?
  /// For a download: the local file.
  let target: Target?
  let version: SourceVersion
  /// What is sent in place of the source.
  let copy: StagedCopy?
  /// The identity of the source, or of the partial file, as recorded in the ledger.
  var recorded: SourceIdentity
  /// Digests of the whole file that the protocol needed.
  var fileDigests: [DigestAlgorithm: Digest] = [:]
  /// SHA-256 of the content, if its batch records it (``BatchSettings/recordSHA256``).
  var sha256: Digest?
  /// The request before which the file is being read for it.
  var digesting: PendingRequest.ID?
  var requests: Set<PendingRequest.ID> = []
  /// The control request that the engine has begun to apply.
  var requestedAction: RequestedAction?
  /// Why the ledger refused a change of the file; no further work is done for it.
  var refusal: String?
  /// Concurrent chunks.
  var concurrency: Concurrency
  let destination: BatchDestination
  var hints = CollectionHints()

  /// `isLossy` says that connections to its host are lost repeatedly.
  init(_ file: ClaimedFile, to destination: BatchDestination, _ engine: Engine, isLossy: Bool) {
    self.destination = destination
    let (ledger, id) = (engine.ledger, file.id)
    let download = destination.refusals.settings.download
    machine = FileMachine(
      file, destination.resolved.transferProtocol, isLossy: isLossy,
      isOfScan: destination.isOfJob && !file.isCompared && download == nil)
    machine.facts.byteLimit = engine.configuration.maxBytes
    let chunks = download?.segments ?? engine.configuration.chunksPerFile
    version = SourceVersion(file.identity) { () throws(TransferError) in
      try ledger.read { reader in try reader.sentContent(of: id) }
    }
    copy = file.staged.flatMap { name in
      engine.configuration.copies.map { copies in
        StagedCopy(name, in: copies, of: file.identity) { () throws(TransferError) in
          try ledger.read { reader in try reader.recordedSegment(id) }
        }
      }
    }
    recorded = version.identity
    target = download.map { settings in
      Target(
        TargetNames(
          file.path, below: settings.folder, file.uid, of: file.partialOf, isNamedLater: settings.usesRemoteNames),
        known: file.identity, overwrites: settings.overwrites, isSparse: settings.isSparse,
        isNamedLater: settings.usesRemoteNames, engine.configuration.syncs)
    }
    // An existing file is not examined if it is not to be replaced.
    if target?.overwrites != true || target?.isNamedLater == true { machine.facts.past = nil }
    if let settings = destination.refusals.settings.download, !file.key.isFolder,
      let fault = TargetNames.fault(in: file.path, below: settings.folder)
    {
      machine.end(.fail(Failure(.sourceName, "no local file can have its name, \(fault)"), keepsSession: false))
    }
    concurrency = Concurrency(first: chunks, highest: chunks, isExplicit: true)
    guard recordsSHA256, target == nil else { return }
    sha256 = file.identity.size == 0 ? RunningDigest.of([], .sha256) : file.sha256
  }
}

extension FileWork {
  /// A remote folder, whose files are recorded as it is listed.
  var isListing: Bool { target != nil && machine.claimed.key.isFolder }

  /// The target of a download that is released with nothing stored. A complete empty file is still to be placed.
  var unusedTarget: Target? {
    guard let target, target.mayHavePartial, !machine.facts.holdsBytes, !machine.isFetched else { return nil }
    return target
  }

  /// Its batch uses `dedupe`, and its content has not been digested yet. Until then at most one request is begun, so
  /// that nothing of a duplicate is sent.
  var isToBeIdentified: Bool {
    destination.refusals.settings.dedupe == true && target == nil && machine.claimed.identity.size > 0
      && fileDigests[.sha256] == nil
  }

  /// SHA-256 of the content of an upload, if its batch uses `dedupe`.
  var deliveredDigest: Digest? {
    destination.refusals.settings.dedupe == true && target == nil ? fileDigests[.sha256] : nil
  }

  var recordsSHA256: Bool { destination.refusals.settings.recordSHA256 == true && !isListing }

  /// SHA-256 of the content for the receipt, wherever it is known from.
  var knownSHA256: Digest? { sha256 ?? (target == nil ? fileDigests[.sha256] : nil) }

  /// How the SHA-256 of an upload is computed with this request. A file that is not sent in one body is read once more,
  /// before the first request that can complete it.
  func recordedSHA256(by pending: PendingRequest) -> RecordedSHA256 {
    guard recordsSHA256, target == nil, fileDigests[.sha256] == nil, !isToBeIdentified else { return .none }
    if pending.range == ByteRange(offset: 0, length: machine.claimed.identity.size) { return .ofBody }
    let isRead = digesting.map(requests.contains) ?? false
    guard sha256 == nil, !isRead, machine.mayComplete(pending.step.step) else { return .none }
    digesting = pending.id
    return .ofFile
  }

  /// The range of the file that the answer to a control step contains; nil for none.
  func beginning(_ step: StepRequest) -> ByteRange? {
    guard target != nil, step == .create else { return nil }
    return destination.resolved.transferProtocol.bodiesInAnswers?.beginning(machine.facts)
  }
}

extension FileMachine {
  /// A claimed file, with a layout planned if it has none. It ends at once if it cannot be sent.
  init(_ file: ClaimedFile, _ proto: ProtocolInUse, isLossy: Bool, isOfScan: Bool) {
    let (layout, failure) = Self.layout(of: file, proto, isLossy: isLossy)
    self.init(
      claimed: file, layout: layout, location: proto.location(ofKey: file.key), abilities: proto.abilities,
      isOfScan: isOfScan)
    if let failure { end(.fail(failure, keepsSession: false)) }
    if let only = file.onlyCopy { end(.fail(.replacing(only), keepsSession: false)) }
    guard !proto.abilities.unrepeatable.isEmpty else { return }
    if file.isDoubtful {
      end(.unknown(Self.copied))
    } else if let earlier = file.earlierDelivery, !earlier.isFollowed || !proto.abilities.repeatable {
      // What a body that may be repeated stored was replaced by the version that followed.
      end(.unknown(Self.sent(by: earlier.file)))
    }
  }

  private static func sent(by earlier: FileID) -> Failure {
    Failure(
      .protoLostAnswer,
      "\(earlier) may have delivered this version of the source already; look at the server, then \"transfers resolve\""
    )
  }

  private static let copied = Failure(
    .engineCopied,
    "this ledger is a copy or was restored from one: the original may have sent the file since, and the server cannot be asked; check there, then \"transfers resolve\""
  )

  private static func layout(
    of file: ClaimedFile, _ proto: ProtocolInUse, isLossy: Bool
  ) -> (ChunkLayout, Failure?) {
    if let layout = file.layout { return (layout, nil) }
    if let refusal = proto.refusal(ofKey: file.key) { return (ChunkLayout(whole: file.identity.size), refusal) }
    do throws(TransferError) {
      let size = file.identity.size
      return (try isLossy ? proto.layoutOfShortChunks(size: size) : proto.layout(size: size), nil)
    } catch {
      return (ChunkLayout(whole: file.identity.size), Failure(.policyLimit, error.cause))
    }
  }
}
