import TransferLedger
package import TransferModel
import TransferReports

extension StoreReader {
  /// Callbacks by number; with `isOpen`, only those that were not delivered.
  package func callbacks(after: Int64, isOpen: Bool, limit: Int) throws -> [CallbackRow] {
    try reader.callbacks(after: after, isOpen: isOpen, limit: limit)
  }

  /// How many wait or are being delivered, and how many were given up.
  package func callbacksLeft() throws -> CallbacksLeft { try reader.callbacksLeft() }

  /// The same for one job: for its runs and for the files of its batches.
  package func callbacksLeft(ofJob job: String) throws -> CallbacksLeft { try reader.callbacksLeft(ofJob: job) }
}

/// The callbacks of one run of a job.
package struct JobTelling: Sendable {
  package let uid: UID
  package let callbacks: [CallbackSetting]
  private let job: String
  private let startedMs: Int64

  package init(_ job: String, _ callbacks: [CallbackSetting], startedMs: Int64) {
    (self.job, self.callbacks, self.startedMs) = (job, callbacks, startedMs)
    uid = UID.make(wallMs: startedMs)
  }

  func body(
    _ event: CallbackEvent, _ row: JobRow?, summary: String, report: String = "", failedRuns: Int? = nil, store: String
  ) -> String {
    var told = CallbackJob(name: job, startedMs: startedMs)
    (told.summary, told.report) = (summary, report.isEmpty ? nil : report)
    told.failedRuns = failedRuns
    if let row { (told.result, told.message, told.endedMs) = (row.result, row.message, row.endedMs) }
    let id = "\(uid.description.replacing("-", with: ""))-\(event.rawValue)"
    let header = ReportHeader(store: StoreIdentity(path: store), generatedMs: row?.endedMs ?? startedMs)
    return String(decoding: CallbackDocument(event, id: id, job: told).json(header).dropLast(), as: UTF8.self)
  }

  func isAbout(_ event: CallbackEvent) -> Bool { callbacks.contains { $0.event == event } }
}

extension OpenStore {
  /// Queues callbacks for the start of a job's run; durable on return.
  package func tellStart(of job: String, _ telling: JobTelling) throws(TransferError) {
    guard telling.isAbout(.started) else { return }
    let body = telling.body(.started, nil, summary: "transfers: job=\(job) started", store: path)
    try write { tx in
      try tx.tell(.started, ofJob: job, uid: telling.uid, body: body, telling.callbacks)
    }
  }

  /// Withdraws the callbacks for the start of a run that left the ledger to another engine and so did nothing. If they
  /// were delivered already, dead man's switches are notified of the end too; otherwise they would raise an alarm.
  package func takeBackStart(of job: String, _ telling: JobTelling) throws(TransferError) {
    guard telling.isAbout(.started) else { return }
    let body = telling.body(.succeeded, nil, summary: "transfers: job=\(job) result=skipped", store: path)
    let switches = telling.callbacks.filter { $0.kind == .ping }
    try write { tx in
      guard try !tx.takeBack(.started, ofJob: job, uid: telling.uid) else { return }
      try tx.tell(.succeeded, ofJob: job, uid: telling.uid, body: body, switches)
    }
  }

  /// Records how a run of a job ended, and queues its callbacks, in one transaction; durable on return.
  /// - Parameters:
  ///   - run: with ``JobRow/succeededMs`` if it counts as a success.
  ///   - summary: the line for the system log.
  ///   - report: the lines for standard error; empty when all is well.
  package func recordJob(
    _ run: JobRow, _ telling: JobTelling, summary: String, report: String
  ) throws(TransferError) {
    let event: CallbackEvent = run.succeededMs == nil ? .unsuccessful : .succeeded
    try write { [path] tx in
      try tx.recordJob(run)
      try tx.tellEnd(event, ofJob: run.job, uid: telling.uid, result: run.result, telling.callbacks) {
        telling.body(event, run, summary: summary, report: report, failedRuns: $0, store: path)
      }
    }
  }

  /// Queues again callbacks that were given up or cancelled; nil for all that were given up. Returns how many.
  package func retryCallbacks(_ ids: [Int64]?) throws(TransferError) -> Int {
    try write { tx in try tx.retryCallbacks(ids) }
  }

  /// Cancels waiting callbacks; nil for all. Returns how many.
  package func cancelCallbacks(_ ids: [Int64]?) throws(TransferError) -> Int {
    try write { tx in try tx.cancelCallbacks(ids) }
  }
}
