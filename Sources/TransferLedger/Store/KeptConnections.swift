import CSQLite
import TransferModel

/// Connections that were left by ledgers which this process has closed, for the next one that it opens at the same
/// path: a new connection reads the whole schema, which costs milliseconds, and prepares its statements again. Every
/// other step of opening a ledger takes place as usual. For a command that opens its ledger several times.
package final class KeptConnections: Sendable {
  private struct Idle {
    let path: String
    let access: Connection.Access
    let connection: Connection
  }

  /// A ledger that delivers callbacks may be open beside another.
  private static let mostOfOneAccess = 2
  private let idle = Lock<[Idle]>([])

  package init() {}

  /// Closes those that no ledger uses. To be called before the files of a ledger are opened in another way: closing a
  /// descriptor of them would drop SQLite's locks.
  package func closeIdle() { idle.withLock { $0 = [] } }

  /// nil if there is none, or if the path leads to another file now.
  func take(_ access: Connection.Access, of path: String) -> Connection? {
    idle.withLock { idle in
      while let found = idle.lastIndex(where: { $0.access == access && $0.path == path }) {
        let connection = idle.remove(at: found).connection
        if !connection.hasLostItsPath { return connection }
      }
      return nil
    }
  }

  /// Closes the connection instead if it still has a transaction, or if there are enough.
  func keep(_ connection: Connection, _ access: Connection.Access, of path: String) {
    guard connection.isAtRest else { return }
    idle.withLock { idle in
      guard idle.count(where: { $0.access == access && $0.path == path }) < Self.mostOfOneAccess else { return }
      idle.append(Idle(path: path, access: access, connection: connection))
    }
  }
}
