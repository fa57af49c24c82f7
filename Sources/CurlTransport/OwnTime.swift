internal import CSys

/// How long our own sources and sinks blocked the thread of a pool, which sends and receives nothing meanwhile. Used by
/// that thread.
final class OwnTime {
  /// In nanoseconds, since the pool was started.
  private(set) var ns: Int64 = 0

  func measured<T>(_ body: () -> T) -> T {
    let startNs = csys_awake_ns()
    defer { ns += csys_awake_ns() - startNs }
    return body()
  }
}
