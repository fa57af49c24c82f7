internal import CCurl
internal import TransferModel

/// The requests that share connections: those of one origin, credential and rule.
struct PoolKey: Hashable, Sendable {
  /// nil for requests whose URL is refused: they need a thread for the reply, but no connection.
  var origin: Origin?
  var credentialLabel: String
  /// A connection made under another rule may lead to an address that this one forbids.
  var addresses: AddressRule
}

/// The pools of a transport, which chooses one for each request here.
///
/// Each key has a pool of its own, until it was idle for some seconds. There are at most ``most`` pools, because each
/// is a thread with descriptors, and a server chooses how many origins it refers to. Beyond that the pool that has been
/// idle for the longest time ends, and requests without a pool of their own are guests of a few shared pools: a guest
/// has a connection to itself, which is closed after it, so that it never uses one of another credential. So no request
/// waits for a pool, and none is refused because the others are busy.
struct PoolSet {
  enum Place {
    case own(CurlPool)
    case shared(CurlPool)
    case stopped
    case none(PoolShortage)
  }

  /// Shared pools that exist at once, if there may be that many.
  private static let mostShared = 4

  let most: Int
  private var own: [PoolKey: CurlPool] = [:]
  private var shared: [Int: CurlPool] = [:]
  /// Pools that get no more requests, and end after their last one.
  private var leaving: [CurlPool] = []
  /// Pools whose threads run no more code of ours.
  private var ended: [CurlPool] = []
  private(set) var isStopped = false

  init(most: Int) { self.most = max(2, most) }

  private var mostShared: Int { min(Self.mostShared, most / 2) }

  /// Those that may have requests.
  var all: [CurlPool] { Array(own.values) + Array(shared.values) + leaving }

  /// The pool for a request. It may have ended meanwhile: then ``leave(_:)`` it, and ask again.
  mutating func place(_ key: PoolKey, making make: () throws(PoolShortage) -> CurlPool) -> Place {
    if isStopped { return .stopped }
    if let pool = own[key] { return .own(pool) }
    do throws(PoolShortage) {
      if own.count + leaving.count < most - mostShared {
        let pool = try make()
        own[key] = pool
        return .own(pool)
      }
      endLongestIdle()
      return .shared(try sharedPool(for: key, making: make))
    } catch {
      // Any pool can have guests.
      guard let pool = shared.values.first ?? own.values.first else { return .none(error) }
      endLongestIdle(except: pool)
      return .shared(pool)
    }
  }

  private mutating func sharedPool(
    for key: PoolKey, making make: () throws(PoolShortage) -> CurlPool
  ) throws(PoolShortage) -> CurlPool {
    let slot = Int(UInt(bitPattern: key.hashValue) % UInt(mostShared))
    if let pool = shared[slot] { return pool }
    let pool = try make()
    shared[slot] = pool
    return pool
  }

  /// Makes room for a pool that is needed now.
  private mutating func endLongestIdle(except kept: CurlPool? = nil) {
    let idle = own.compactMap { key, pool in pool === kept ? nil : pool.idleSinceNs.map { (key, pool, since: $0) } }
    guard let (key, pool, _) = idle.min(by: { $0.since < $1.since }), pool.endsIfIdle() else { return }
    own[key] = nil
    leaving.append(pool)
  }

  /// The pool gets no more requests.
  mutating func leave(_ pool: CurlPool) {
    let count = own.count + shared.count
    own = own.filter { $0.value !== pool }
    shared = shared.filter { $0.value !== pool }
    if own.count + shared.count < count { leaving.append(pool) }
  }

  /// The same for all pools; returns them.
  mutating func leaveAll() -> [CurlPool] {
    let left = Array(own.values) + Array(shared.values)
    (own, shared) = ([:], [:])
    leaving += left
    return left
  }

  /// For the thread of a pool, as the last thing that it does: returns others that have done so, for it to join.
  mutating func end(_ pool: CurlPool) -> [CurlPool] {
    guard !isStopped else { return [] }
    leave(pool)
    leaving.removeAll { $0 === pool }
    defer { ended = [pool] }
    return ended
  }

  /// There are no more pools from now on; returns those whose threads have to be joined.
  mutating func stop() -> [CurlPool] {
    isStopped = true
    defer { (own, shared, leaving, ended) = ([:], [:], [], []) }
    return all + ended
  }
}

/// Why there can be no further pool.
enum PoolShortage: Error {
  case threads(TransferError)
  case descriptors
  case memory
  /// libcurl could not be initialized.
  case library

  /// The reply to a request that no pool can take.
  var reply: TransferReply {
    var reply: TransferReply
    switch self {
    case .threads(let error): reply = .refused(Int32(CURLE_COULDNT_CONNECT.rawValue), "\(error)")
    case .descriptors:
      reply = .refused(
        Int32(CURLE_COULDNT_CONNECT.rawValue),
        "start a thread to \"\(CurlPool.purpose)\": too many open files; raise the limit of open files (ulimit -n)")
    case .memory: return .refused(CURLE_OUT_OF_MEMORY)
    case .library: return .refused(CURLE_FAILED_INIT)
    }
    reply.isLocalShortage = true
    return reply
  }
}
