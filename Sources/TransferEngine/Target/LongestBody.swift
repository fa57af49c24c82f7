import TransferModel
import TransferProtocols

/// How long a body may be whose length is not known, because the size of the file is.
struct LongestBody: Sendable {
  /// In bytes.
  let most: Int64
  /// The meaning of a longer one, a failure.
  let meaning: Interpretation

  init(most: Int64, _ meaning: Interpretation) { (self.most, self.meaning) = (most, meaning) }

  /// The failure if the body has bytes up to `end`.
  func failure(at end: Int64) -> Failure? {
    guard end > most else { return nil }
    guard case .failed(let failure, _) = meaning.outcome else {
      preconditionFailure("a body was refused without a failure")
    }
    return failure
  }
}
