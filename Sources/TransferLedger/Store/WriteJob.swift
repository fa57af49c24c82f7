import TransferModel

/// One body that waits for the writer. Its members are called on the writer's thread only, in this order: ``run(_:)``,
/// perhaps again after a rollback, then exactly one of the others.
protocol WriteJob: AnyObject, Sendable {
  /// Rows may go that others name: it runs in a transaction of its own, in which SQLite looks for no references.
  var isUnreferenced: Bool { get }
  func run(_ transaction: LedgerTransaction) throws
  /// What it did is durable.
  func committed()
  /// It did nothing, or (as the error says) nobody knows.
  func failed(_ error: TransferError)
}

extension WriteJob {
  var isUnreferenced: Bool { false }
}

final class TypedWriteJob<T: Sendable>: WriteJob, @unchecked Sendable {
  private let body: @Sendable (LedgerTransaction) throws -> T
  private let then: @Sendable (Result<T, TransferError>) -> Void
  private var value: T?
  let isUnreferenced: Bool

  init(
    isUnreferenced: Bool = false, _ body: @escaping @Sendable (LedgerTransaction) throws -> T,
    then: @escaping @Sendable (Result<T, TransferError>) -> Void
  ) {
    self.isUnreferenced = isUnreferenced
    self.body = body
    self.then = then
  }

  func run(_ transaction: LedgerTransaction) throws { value = try body(transaction) }

  func committed() {
    guard let value else { preconditionFailure("committed before it ran") }
    then(.success(value))
  }

  func failed(_ error: TransferError) { then(.failure(error)) }
}
