import TransferLedger
import TransferModel
import TransferProtocols

/// Takes the findings of one scan, and passes the files to the sink of each destination.
final class SourceIntake<Sink: FileSink> {
  private let lanes: [IntakeLane<Sink>]
  private let admitter: SourceAdmitter
  private let isSingleFile: Bool
  /// The counts of findings that concern all destinations.
  private var seen = SourceCounts()
  /// Files that the program itself writes, and the folder of its copies, as far as they were found.
  private var ownFound: Set<NameBytes> = []

  /// - Parameter sinks: one for each lane of the admitter.
  init(_ sinks: [Sink], _ admitter: SourceAdmitter) {
    lanes = zip(sinks, admitter.lanes).map { IntakeLane($0, $1) }
    self.admitter = admitter
    isSingleFile = admitter.sources.isSingleFile
  }

  func take(_ finding: SourceScanner.Finding) throws(TransferError) {
    switch finding {
    case .file(let path, let root, let relative, let identity, let mode, let listed):
      try take(path, root, relative, identity, mode, listed)
    case .excluded(let path, let rule):
      seen.excluded += 1
      seen.excludedBy[rule, default: 0] += 1
      admitter.notice(.excluded(path: path, rule: rule))
    case .special(let path, let kind):
      seen.special += 1
      admitter.notice(.skipped(path: path, reason: "\(kind) is not sent"))
    case .unreadable(let path, let relative, let failure):
      for lane in lanes { try lane.refuse(path, relative, failure) }
    case .remark(let text): admitter.notice(.remark(text))
    }
  }

  private func take(
    _ path: BorrowedName, _ root: Int, _ relative: BorrowedName, _ identity: SourceIdentity, _ mode: UInt32,
    _ listed: ListedFile?
  ) throws(TransferError) {
    if let own = admitter.ownFiles.found(path, identity) {
      guard ownFound.insert(own.path).inserted else { return }
      seen.special += 1
      return admitter.notice(.skipped(path: own.path, reason: own.reason))
    }
    if let marker = admitter.marker, !isReady(path, marker) { return }
    if let listed, case let name = NameBytes(Array(path)),
      let failure = listed.difference(from: identity, at: name, root: root)
    {
      for lane in lanes { try lane.refuse(name, listed.key ?? NameBytes(Array(relative)), failure) }
      return
    }
    for lane in lanes { try lane.take(path, root, relative, identity, mode, listed, isSingleFile: isSingleFile) }
  }

  /// Whether a source is complete, and is not a marker itself.
  private func isReady(_ path: BorrowedName, _ marker: ReadyMarker) -> Bool {
    let path = NameBytes(Array(path))
    guard !marker.isMarker(path.lastComponent.bytes) else { return false }
    if marker.isThere(for: path) { return true }
    for lane in lanes { lane.waits(path) }
    seen.notReady += 1
    return false
  }

  /// Ends the scan.
  /// - Returns: for each lane, the counts of findings that were not passed to its sink.
  func finish() throws(TransferError) -> [SourceCounts] {
    for lane in lanes { try lane.refuseMissing() }
    return lanes.map { lane in
      var counts = seen
      counts.excluded += lane.unplanned
      if lane.unplanned > 0 { counts.excludedBy["not in the plan", default: 0] += lane.unplanned }
      return counts
    }
  }
}

/// The part of an intake that depends on the destination.
private final class IntakeLane<Sink: FileSink> {
  private let sink: Sink
  private let lane: AdmissionLane
  /// Reused for each file to avoid allocations.
  private var key = NameBytes("")
  /// Entries of the plan that were not found yet.
  private var planned: [NameBytes: PlannedFiles.Entry]?
  /// Number of files that are not in the plan.
  private(set) var unplanned = 0

  init(_ sink: Sink, _ lane: AdmissionLane) {
    (self.sink, self.lane) = (sink, lane)
    planned = lane.plan?.entries
  }

  func refuse(_ path: NameBytes, _ relative: NameBytes, _ failure: Failure) throws(TransferError) {
    let key = lane.destination.key(forRelativePath: relative, isSingleFile: false)
    try sink.refuse(path: path, key: key, failure)
  }

  func take(
    _ path: BorrowedName, _ root: Int, _ relative: BorrowedName, _ identity: SourceIdentity, _ mode: UInt32,
    _ listed: ListedFile?, isSingleFile: Bool
  ) throws(TransferError) {
    key.bytes.removeAll(keepingCapacity: true)
    if let own = listed?.key {
      own.bytes.withUnsafeBytes {
        lane.destination.appendKey(forRelativePath: $0, isSingleFile: isSingleFile, to: &key.bytes)
      }
    } else {
      lane.destination.appendKey(forRelativePath: relative, isSingleFile: isSingleFile, to: &key.bytes)
    }
    guard try isPlanned(path, identity) else { return }
    if let failure = lane.transferProtocol.refusal(ofKey: key) {
      return try sink.refuse(path: NameBytes(Array(path)), key: key, failure)
    }
    let properties = lane.rules.properties(of: path, relative, mode: mode)
    try key.bytes.withUnsafeBufferPointer { key throws(TransferError) in
      try sink.take(
        FoundFile(
          path: path, root: root, key: UnsafeRawBufferPointer(key), identity: identity, mode: mode,
          properties: try listed?.properties(over: properties, at: lane.destination) ?? properties,
          isCompared: lane.plan != nil || listed?.saysContent == true))
    }
  }

  /// True without a plan. A file that changed since the plan was made is recorded as failed.
  private func isPlanned(_ path: BorrowedName, _ identity: SourceIdentity) throws(TransferError) -> Bool {
    guard let plan = lane.plan else { return true }
    let name = NameBytes(Array(path))
    guard let entry = plan.entries[name] else {
      unplanned += 1
      return false
    }
    planned?[name] = nil
    if entry.key == key, entry.isSame(as: identity) { return true }
    try sink.refuse(path: name, key: key, Failure(.sourceChanged, "it has changed since the plan was made"))
    return false
  }

  /// A planned file that waits for its marker exists: it is not missing.
  func waits(_ path: NameBytes) { planned?[path] = nil }

  /// Records files of the plan that the scan did not find as failed.
  func refuseMissing() throws(TransferError) {
    for (path, entry) in (planned ?? [:]).sorted(by: { $0.key < $1.key }) {
      try sink.refuse(path: path, key: entry.key, Failure(.sourceMissing, "it no longer exists, or is excluded now"))
    }
  }
}
