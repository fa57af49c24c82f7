import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Missing sources and wrong lists of a job, and what else keeps its files from being recorded. They end the run with
/// their exit code, but only after everything else was done: the other sources are scanned, and what earlier runs have
/// left is sent.
final class SourceFaults: Sendable {
  private let job: ConfigSection
  private let found = Lock<[TransferError]>([])

  init(_ job: ConfigSection) { self.job = job }

  func note(_ error: TransferError) { found.withLock { $0.append(error) } }

  /// Records files; nothing if all sources are missing, the list is wrong, or files or their batch are refused.
  /// - Throws: all other errors, and these while there is no ledger.
  func keeping(
    _ storePath: String, _ add: () throws(TransferError) -> [AddResult]
  ) throws(CommandFailure) -> [AddResult] {
    do throws(TransferError) { return try add() } catch {
      let error = inWordsOfTheJob(error)
      let isOfSources = [.noSource, .badList, .usage].contains(error.kind)
      guard isOfSources, access(storePath, F_OK) == 0 else { throw CommandFailure(error) }
      found.withLock { $0.insert(error, at: 0) }
      return []
    }
  }

  /// The error of a batch with the name that the job gives, but other settings: it is the setting to change.
  private func inWordsOfTheJob(_ error: TransferError) -> TransferError {
    guard error.kind == .usage, let name = job["name"], error.operation == "add to batch" else { return error }
    return TransferError(
      error.kind, "\(name.place): \(error.operation)", error.subject, cause: error.cause,
      remedy: "change \"name\" of the job, or leave it out")
  }

  /// The failure of the run: a worse one than files that are left stays, with these faults in its text.
  func joined(to failure: CommandFailure?) -> CommandFailure? {
    let all = found.withLock { $0 }
    guard let first = all.first else { return failure }
    var fault = CommandFailure(first)
    if all.count > 1 { fault.text += " (and \(Quantity.count(all.count - 1, "more source")))" }
    guard var failure, failure.status != .workLeft else { return fault }
    guard failure.text != fault.text else { return failure }
    failure.text += "; \(fault.text)"
    return failure
  }
}
