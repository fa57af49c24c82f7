/// Configures a ``CurlTransport``. TLS 1.2 or newer with verification of peer and host is always required; proxies come
/// from the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`), as in other programs.
public struct CurlConfiguration: Sendable, Hashable {
  /// The value of `User-Agent`.
  public var userAgent: String
  /// A PEM file of certificate authorities instead of the system's.
  public var caFile: String?
  /// Ignores proxies of the environment: for addresses of this machine, which a proxy cannot reach.
  public var ignoresProxies = false
  /// libcurl's buffer for bodies of ``bulkThreshold`` or more, in bytes, 16 KiB … 2 MiB. 256 KiB was fastest: 64 KiB
  /// 3.2, 256 KiB 3.4, 512 KiB 3.2, 2 MiB 2.4 GiB/s.
  public var bulkUploadBuffer = 256 << 10
  /// The same for smaller bodies; for them, 256 KiB cost a third more CPU time.
  public var smallUploadBuffer = 64 << 10
  /// The length from which a body is bulk, in bytes.
  public var bulkThreshold: Int64 = 1 << 20
  /// libcurl's buffer for an answer with a sink, in bytes, 1 KiB … 512 KiB: the most that one system call receives, and
  /// that libcurl buffers while a transfer waits for a rate. Other answers use libcurl's default of 16 KiB.
  public var receiveBuffer = 256 << 10
  /// Connections that one pool uses at a time; further requests wait in the pool, in order, and their time limits start
  /// when they are started. This only protects from running out of descriptors; the caller decides how many run at a
  /// time.
  public var maxConnections = 64
  /// Connections that one pool keeps, including those in use.
  public var maxIdleConnections = 64
  /// The most pools of a transport, each of them a thread with descriptors, at least 2; nil for what the limit of
  /// descriptors allows (``DescriptorLimit``).
  package var maxPools: Int?
  /// A pool that had no request for this long ends, with its thread and its connections, in milliseconds.
  package var idlePoolMs: Int64 = 5_000
  /// A connection that was idle for longer is not reused. Servers close idle ones after 2 s (gunicorn) or 5 s (Node,
  /// Apache) and more; a request sent at that moment loses its answer, and nobody can tell whether it took effect.
  /// libcurl detects a close that has already arrived, so that the two can only cross while it is under way.
  public var maxIdleSeconds = 1

  public init(userAgent: String, caFile: String? = nil) {
    self.userAgent = userAgent
    self.caFile = caFile
  }
}
