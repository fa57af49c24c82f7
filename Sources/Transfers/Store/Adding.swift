import TransferEngine
import TransferLedger
package import TransferModel
import TransferProtocols

extension TransferStore {
  /// Records the files below `sources`, or in the list of `options`, for the destination in `options`; does not use the
  /// network. Durable on return; adding the same again records nothing, not even a batch.
  /// - Throws: `.usage`, `.config`, `.noSource` and `.badList` before anything is recorded; errors of the store.
  package func add(
    _ sources: [NameBytes], _ options: UploadOptions, notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> AddResult {
    AddResult(of: try add(sources, toEach: [options], notice: notice))
  }

  /// The same for several destinations, with one scan of the sources and one batch for each destination.
  /// - Parameter all: at least one; they differ only in their settings and plans.
  /// - Returns: one result for each destination.
  package func add(
    _ sources: [NameBytes], toEach all: [UploadOptions], notice: @escaping @Sendable (Notice) -> Void
  ) throws(TransferError) -> [AddResult] {
    guard let options = all.first else { return [] }
    let (found, targets) = try Self.resolve(sources, all)
    let clock = machine.clock
    let startedMs = clock.bootMs
    let opened = Lock<(ledger: Ledger?, mark: AddedFiles.Mark)>((nil, .beginning))
    defer { opened.withLock { $0.ledger }?.close() }
    let lanes = try lanes(targets, all, notice) { opened.withLock { $0.ledger } }
    let admitter = SourceAdmitter(
      found, lanes, ownFiles: OwnFiles(ledger: path, files: options.ownFiles), marker: try options.marker,
      notice: notice)
    let copies = StagedCopies(storePath: path)
    let open = { () throws(TransferError) -> (ledger: Ledger, targets: [AdmissionTarget]) in
      let ledger = try self.open(.create)
      opened.withLock { $0.ledger = ledger }
      let mark = try ledger.read { reader in try reader.addedMark() }
      opened.withLock { $0.mark = mark }
      let admissions = zip(targets, all).map { AdmissionTarget($0.batch($1), since: mark, wallMs: clock.wallMs) }
      try Self.note(targets.map { $0.jobDestination(isSingleFile: found.isSingleFile) }, ofJob: options.job, ledger)
      return (ledger, admissions)
    }
    let recorded =
      options.settings.growing == .segments
      ? try admitter.admitSegments(copies, open: open) : try admitter.admit(open: open)
    let mark = opened.withLock { $0.mark }
    var uncopied: [FileID] = []
    if let ledger = opened.withLock({ $0.ledger }) {
      if found.isComplete {
        try Self.noteScan(of: sources, recorded, targets, options, tookMs: clock.bootMs - startedMs, ledger)
      }
      if options.settings.stage == true {
        uncopied = try copies.settle(ledger, notice: notice)
        try copies.sweep(ledger)
      }
      for one in recorded { try options.tellFates(one, ledger, notice) }
    }
    return recorded.map { AddResult($0, since: mark, uncopied: uncopied) }
  }

  /// A scan is a row for each place, whose destinations differ only in the prefix.
  private static func noteScan(
    of sources: [NameBytes], _ recorded: [SourceAdmitter.Recorded], _ targets: [UploadTarget],
    _ options: UploadOptions, tookMs: Int64, _ ledger: Ledger
  ) throws(TransferError) {
    try ledger.write { tx in
      for (place, some) in Dictionary(grouping: targets.indices, by: { targets[$0].keyPlace }) {
        let counts = SourceCounts(of: some.map { recorded[$0].counts })
        let refused = some.reduce(0) { $0 + recorded[$1].failedBefore.withoutRow() }
        try tx.noteScan(options.scan(sources, at: place, counts, refused: refused, tookMs: tookMs))
      }
    }
  }

  /// - Throws: `.usage` for an empty name of a batch or a job.
  static func checkNames(_ batch: String?, job: String?) throws(TransferError) {
    guard batch == "" || job == "" else { return }
    let what = batch == "" ? "batch" : "job"
    throw TransferError(.usage, "name the \(what)", cause: "its name is empty", remedy: "give it a name, or none")
  }

  /// The sources, and the destination of each of the options.
  static func resolve(
    _ sources: [NameBytes], _ all: [UploadOptions]
  ) throws(TransferError) -> (ResolvedSources, [UploadTarget]) {
    for options in all {
      try checkNames(options.name, job: options.job)
      _ = try UploadTarget(options.settings)
    }
    let found = try all[0].selection(sources).resolve()
    let targets = try all.map { options throws(TransferError) in try UploadTarget(try options.settings(for: found)) }
    for (n, target) in targets.enumerated() {
      for other in targets[..<n] { try target.refuse(beside: other, singleFile: found.singleFile) }
    }
    return (found, targets)
  }

  /// - Parameter ledger: returns the ledger, if there is one, when the first file is looked up.
  func lanes(
    _ targets: [UploadTarget], _ all: [UploadOptions], _ notice: @escaping @Sendable (Notice) -> Void,
    ledger: @escaping @Sendable () -> Ledger?
  ) throws(TransferError) -> [AdmissionLane] {
    var lanes: [AdmissionLane] = []
    for (target, options) in zip(targets, all) {
      var lane = AdmissionLane(
        to: target.destination, target.transferProtocol, plan: options.plan, rules: try options.objectRules)
      lane.known = try known(at: target, options, notice, ledger)
      lanes.append(lane)
    }
    return lanes
  }

  private func known(
    at target: UploadTarget, _ options: UploadOptions, _ notice: @escaping @Sendable (Notice) -> Void,
    _ ledger: @escaping @Sendable () -> Ledger?
  ) throws(TransferError) -> KnownFilter? {
    guard let list = options.known else { return nil }
    let objects = try KnownObjects(
      list.path, of: target.destination, trustsSizes: list.evidence == .size, notice: notice)
    let (batch, place, clock) = (target.batch(options), target.keyPlace, machine.clock)
    return KnownFilter(objects) { path, key, identity throws(TransferError) in
      guard let ledger = ledger() else { return true }
      return try ledger.read { reader in
        try reader.standing(place: place, path: path, key: key, identity: identity, in: batch, nowMs: clock.wallMs)
      }.standing == .new
    }
  }

  /// Records the destinations of a job before any of its files.
  private static func note(
    _ destinations: [JobDestination], ofJob job: String?, _ ledger: Ledger
  ) throws(TransferError) {
    guard let job else { return }
    let asked = destinations.count > 1 ? Set(destinations) : []
    guard try ledger.read({ reader in try reader.destinations(ofJob: job) }) != asked else { return }
    try ledger.write { tx in try tx.setDestinations(ofJob: job, asked) }
  }
}

extension AddResult {
  /// What was recorded for one destination. Files whose copies were not made have failed since.
  fileprivate init(_ recorded: SourceAdmitter.Recorded, since mark: AddedFiles.Mark, uncopied: [FileID]) {
    let files = AddedFiles(since: mark, batch: recorded.batch, files: recorded.files)
    var counts = recorded.counts
    counts.failed += uncopied.count { AddedFiles.holds($0.rawValue, files.ranges) }
    self.init(batch: recorded.batch, counts: counts, files: files)
    failedBefore = recorded.failedBefore
  }
}

extension UploadTarget {
  /// The common prefix of all keys: what precedes the relative path of a file. For a single file, its whole key.
  private func prefix(isSingleFile: Bool) -> NameBytes {
    destination.key(forRelativePath: NameBytes(""), isSingleFile: isSingleFile)
  }

  func jobDestination(isSingleFile: Bool) -> JobDestination {
    JobDestination(
      place: keyPlace, prefix: prefix(isSingleFile: isSingleFile), destination: settings.destination)
  }

  /// What all keys begin with; for a single file, its key.
  private func start(_ singleFile: NameBytes?) -> NameBytes {
    singleFile.map { destination.key(forRelativePath: $0, isSingleFile: true) } ?? prefix(isSingleFile: false)
  }

  /// - Parameter singleFile: the relative path of the only source, if that is a file.
  /// - Throws: `.config` if the keys of both destinations could be the same.
  fileprivate func refuse(beside other: UploadTarget, singleFile: NameBytes?) throws(TransferError) {
    let (own, others) = (start(singleFile), other.start(singleFile))
    guard keyPlace == other.keyPlace else { return }
    var cause = "the job names this destination twice"
    if own != others {
      guard Self.overlap(own, others, isSingleFile: singleFile != nil) else { return }
      cause = "it overlaps with \"\(NameBytes(other.settings.destination).embedded)\": files could overwrite each other"
    }
    throw TransferError(
      .config, "add to", NameBytes(settings.destination), cause: cause, remedy: "remove one of them from \"to\"")
  }

  /// Whether one place is below the other. Of a single file, the key `up` and keys below `up/` are such places.
  private static func overlap(_ own: NameBytes, _ others: NameBytes, isSingleFile: Bool) -> Bool {
    let ends: [UInt8] = isSingleFile ? [0x2F] : []
    return own.bytes.starts(with: others.bytes + ends) || others.bytes.starts(with: own.bytes + ends)
  }
}
