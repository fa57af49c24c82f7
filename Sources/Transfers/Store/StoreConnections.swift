import TransferLedger

/// Connections to stores that one command keeps while it opens and closes its store several times.
package final class StoreConnections: Sendable {
  let kept = KeptConnections()

  package init() {}

  /// Closes those that no open store uses. To be called before a file is opened that may belong to a store.
  package func closeIdle() { kept.closeIdle() }
}
