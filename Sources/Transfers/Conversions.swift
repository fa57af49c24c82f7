import TransferEngine
import TransferLedger
import TransferModel

extension UploadOptions {
  var pathRules: PathRules {
    PathRules(rules.map { PathRules.Rule($0.kind == .include ? .include : .exclude, $0.pattern) })
  }

  func selection(_ sources: [NameBytes]) -> SourceSelection {
    let list = list.map {
      FileList(path: $0.path, separator: $0.isNULSeparated ? .nul : .newline, skipsMissing: $0.skipsMissing)
    }
    return SourceSelection(
      sources, list: list, base: base, rules: pathRules, followsSymlinks: followSymlinks)
  }
}

extension AddResult {
  init(_ counts: SourceAdmitter.Counts, since mark: AddedFiles.Mark) {
    self.init(
      batch: counts.batch, files: AddedFiles(since: mark, batch: counts.batch, files: counts.files))
    added = counts.added
    changed = counts.changed
    unchanged = counts.unchanged
    queued = counts.queued
    requeued = counts.requeued
    repeated = counts.repeated
    unknown = counts.unknown
    failed = counts.failed
    special = counts.special
    excluded = counts.excluded
    bytes = counts.bytes
  }
}

extension Notice {
  init(_ notice: SourceNotice) {
    switch notice {
    case .excluded(let path, let rule): self = .planned(path: path, key: nil, size: nil, verdict: "excluded: \(rule)")
    case .skipped(let path, let reason): self = .skipped(path: path, reason: reason)
    case .failed(let path, let failure): self = .failed(path: path, failure)
    case .remark(let text): self = .remark(text)
    }
  }

  init(_ notice: EngineNotice) {
    switch notice {
    case .failed(let path, let failure): self = .failed(path: path, failure)
    case .unknown(let path, let failure): self = .unknown(path: path, failure)
    case .retrying(let path, let failure, let inMs): self = .retrying(path: path, failure, inMs: inMs)
    case .sourceChanged(let path): self = .sourceChanged(path: path)
    case .recovered(let attempts, let files, let unknown):
      self = .recovered(attempts: attempts, files: files, unknown: unknown)
    case .draining(let requests): self = .draining(requests: requests)
    case .diskTrouble(let error, let waitMs): self = .diskTrouble(error, waitMs: waitMs)
    case .circuitOpened(let host, let forMs): self = .circuitOpened(host: host, forMs: forMs)
    case .circuitClosed(let host): self = .circuitClosed(host: host)
    }
  }
}

extension RunResult {
  init(_ summary: EngineSummary) {
    self.init()
    done = summary.filesDone
    failed = summary.filesFailed
    unknown = summary.filesUnknown
    mismatched = summary.filesMismatched
    left = summary.filesLeft
    paused = summary.filesPaused
    bytesAcked = summary.bytesAcked
    bytesSent = summary.bytesSent
    retries = summary.retries
    wallMs = summary.wallMs
    stoppedBy = summary.stop.map(StopCause.init)
    unreachable = summary.unreachable
    blocked = summary.blocked
  }
}

extension StopCause {
  init(_ cause: TransferEngine.StopCause) {
    switch cause {
    case .drained: self = .drained
    case .interrupted: self = .interrupted
    case .unreachable: self = .unreachable
    case .notDue: self = .notDue
    case .paused: self = .paused
    case .deadline: self = .deadline
    }
  }
}
