#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How many descriptors this process may have (`ulimit -n`), and how many of them the threads of connections may use.
package struct DescriptorLimit: Sendable, Hashable {
  /// More threads would gain nothing: each of them serves any number of connections.
  private static let mostThreads = 128
  /// One thread for this many descriptors; it needs two of them to be woken, and one for each of its connections.
  private static let descriptorsForEach = 16

  package let count: Int

  /// nil for the present limit of the process.
  package init(_ count: Int? = nil) { self.count = count ?? Self.ofProcess }

  /// The most threads that a transport has at once for its connections.
  package var connectionThreads: Int { min(Self.mostThreads, max(2, count / Self.descriptorsForEach)) }

  /// The descriptors by which these threads are woken.
  package var wakeDescriptors: Int { 2 * connectionThreads }

  private static var ofProcess: Int {
    var limit = rlimit()
    #if canImport(Glibc)
      guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
    #else
      guard getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return 1_024 }
    #endif
    return Int(clamping: limit.rlim_cur)
  }
}
