import TransferLedger
import TransferModel
import TransferProtocols

/// The name that a server gave to a new upload, while the ledger is queried for another upload that has it. With the
/// same name for two files, one would be stored in place of the other, and both would count as done.
struct GivenUpload: Sendable {
  enum Place: Sendable {
    case answer(Interpretation, TransferReply)
    /// The request is still running.
    case interim(OpenedSession)
  }

  let request: RequestNumbers.Number
  let file: FileID
  let name: UploadName
  let place: Place

  /// Queries the writer, after all its earlier work.
  func askWhetherItIsTaken(
    _ ledger: Ledger, then report: @escaping @Sendable (Result<Bool, TransferError>) -> Void
  ) {
    let (file, name) = (file, name)
    ledger.write(
      { tx in
        guard let chunk = name.chunk else {
          return try tx.isSessionTaken(name.text, from: file, isAnywhere: name.scope == .everywhere)
        }
        return try name.scope == .everywhere && tx.isChunkUploadTaken(name.text, by: chunk, of: file)
      }, then: report)
  }

  /// A failure that opens nothing: the upload belongs to the other file, and must not be aborted either.
  var refusal: Interpretation {
    let what = name.isURL ? "URL" : "ID"
    return .failed(Failure(.protoBadReply, "the server gave the \(what) of another upload"), .permanent)
  }
}

/// The names that servers gave to uploads of active files in this run: what is looked up in the ledger at the same time
/// is not there yet.
struct GivenUploads {
  private struct Owner: Hashable {
    var file: FileID
    var session: SessionID?
    var chunk: Int?
  }

  private var owners: [String: Owner] = [:]
  private var most = 1_024

  /// False if another upload has the name: that of another file, or of another chunk in the same session.
  mutating func take(_ name: UploadName, _ work: FileWork, isActive: (FileID) -> Bool) -> Bool {
    let owner = Owner(file: work.machine.claimed.id, session: work.machine.sessionID, chunk: name.chunk)
    let key = key(name, work)
    if let other = owners[key], other != owner {
      let isOfOther = other.file != owner.file && isActive(other.file)
      if isOfOther || other.file == owner.file && other.session == owner.session { return false }
    }
    owners[key] = owner
    guard owners.count > most else { return true }
    owners = owners.filter { isActive($0.value.file) }
    most = max(1_024, 2 * owners.count)
    return true
  }

  private func key(_ name: UploadName, _ work: FileWork) -> String {
    switch name.scope {
    case .everywhere: name.text
    case .destination: "\(work.destination.batch) \(name.text)"
    case .file: "\(work.machine.claimed.id) \(name.text)"
    }
  }
}
