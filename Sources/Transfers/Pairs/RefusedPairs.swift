import TransferLedger
import TransferModel

extension TransferStore {
  /// Records which of these files cannot be transferred at all, and why: each has an event, because only a file with a
  /// destination has a row. Without their URLs, which may hold secrets. Durable on return.
  func note(refused pairs: [FilePair]) throws(TransferError) {
    let details = pairs.compactMap { pair in pair.fault.map { "\"\(pair.path.embedded)\": \($0.cause)" } }
    guard !details.isEmpty else { return }
    let ledger = try Ledger.open(at: path, mode: .create, clock: machine.clock)
    defer { ledger.close() }
    try ledger.write { transaction in
      for detail in details { try transaction.recordEvent("refused", batch: nil, file: nil, detail: detail) }
    }
  }
}
