/// How a ``CurlTransport`` behaves. TLS 1.2 or newer with verified peer and host is not negotiable; proxies come from
/// the environment (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`), as with every other program.
public struct CurlConfiguration: Sendable, Hashable {
  /// The value of `User-Agent`.
  public var userAgent: String
  /// A PEM file of certificate authorities instead of the system's.
  public var caFile: String?
  /// Leaves proxies of the environment out: for addresses of this machine, which no proxy has.
  public var ignoresProxies = false
  /// libcurl's buffer for bodies from ``bulkThreshold`` on, in bytes, 16 KiB … 2 MiB. 256 KiB was fastest:
  /// 64 KiB 3.2, 256 KiB 3.4, 512 KiB 3.2, 2 MiB 2.4 GiB/s.
  public var bulkUploadBuffer = 256 << 10
  /// The same for smaller bodies; 256 KiB cost a third more CPU time there.
  public var smallUploadBuffer = 64 << 10
  /// From this length on a body is bulk, in bytes.
  public var bulkThreshold: Int64 = 1 << 20
  /// libcurl's buffer for an answer with a sink, in bytes, 1 KiB … 512 KiB: what one system call receives at most, and
  /// what libcurl keeps of a transfer that waits for a rate. Other answers have libcurl's own 16 KiB.
  public var receiveBuffer = 256 << 10
  /// Connections that one pool uses at a time; further requests wait in the pool, in order, and their time limits start
  /// when they do. A cap against running out of descriptors: how much runs at a time is decided by the caller.
  public var maxConnections = 64
  /// Connections that one pool keeps, those in use included.
  public var maxIdleConnections = 64
  /// A connection that was idle for longer is not used again. Servers close idle ones after 2 s (gunicorn) or 5 s
  /// (Node, Apache) and more; a request that meets such an end has lost its answer, and nobody can say whether it took
  /// effect. libcurl sees an end that has arrived, so only an answer's way is left for the two to cross.
  public var maxIdleSeconds = 1

  public init(userAgent: String, caFile: String? = nil) {
    self.userAgent = userAgent
    self.caFile = caFile
  }
}
