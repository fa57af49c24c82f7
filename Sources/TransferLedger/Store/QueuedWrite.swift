import TransferModel

/// One closure that waits for the writer. Its methods are called only on the writer's thread, in this order:
/// ``run(_:)``, perhaps again after a rollback, then exactly one of the others.
protocol QueuedWrite: AnyObject, Sendable {
  /// It may delete rows that others refer to: it runs in a separate transaction, in which SQLite checks no references.
  var isUnreferenced: Bool { get }
  func run(_ transaction: LedgerTransaction) throws
  /// Its changes are durable.
  func committed()
  /// It changed nothing or, if the error says so, the outcome is unknown.
  func failed(_ error: TransferError)
}

extension QueuedWrite {
  var isUnreferenced: Bool { false }
}

final class TypedWrite<T: Sendable>: QueuedWrite, @unchecked Sendable {
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
