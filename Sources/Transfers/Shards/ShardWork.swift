import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What the tasks of a scheduler do with the shards of a set: one task for each shard, on any node, with its part of
/// the limits.
package struct ShardWork: Sendable {
  package enum Direction: Sendable, Hashable {
    /// Files below a folder, as the nodes see it, to a destination.
    case upload(base: String, destination: String)
    case download(into: String)
  }

  let shards: ShardFolder
  /// Absolute path of a folder that all nodes share, for ledgers and logs.
  let shared: String
  private let direction: Direction
  /// Arguments of `add` or `pull`.
  private let words: [String]
  /// The number of tasks that run at the same time.
  package let atOnce: Int
  /// Limits of one task; nil for none.
  package private(set) var rate: Int64?
  package private(set) var workers: Int?
  /// The maximum number of runs of one task.
  package var tries = 20
  /// A folder on a disk of the node, for the ledgers; nil for its temporary folder.
  package var local: String?

  /// - Parameter atOnce: the maximum number of tasks at the same time.
  package init(_ shards: ShardFolder, shared: String, _ direction: Direction, words: [String], atOnce: Int) {
    (self.shards, self.shared, self.direction, self.words) = (shards, shared, direction, words)
    self.atOnce = min(atOnce, shards.shards.count)
  }

  package var count: Int { shards.shards.count }

  /// The folder of the files if this host does not have it; the nodes may.
  package var missingBase: String? {
    guard case .upload(let base, _) = direction, !FolderPlace.isFolder(NameBytes(base)) else { return nil }
    return base
  }

  /// Divides the limits of all tasks together, in bytes per second and connections: each may use its share, even if the
  /// others do not use theirs.
  package mutating func divide(rate: Int64?, workers: Int?) {
    self.rate = rate.map { max(1, $0 / Int64(atOnce)) }
    self.workers = workers.map { max(1, $0 / atOnce) }
  }

  /// The arguments of a task: what it does, the limits of its engine, and after "--" those of `add` or `pull`.
  var arguments: [String] {
    let (verb, place, destination) =
      switch direction {
      case .upload(let base, let destination): ("add", base, destination)
      case .download(let folder): ("pull", folder, "-")
      }
    var limits: [String] = []
    if let rate { limits += ["--rate", String(rate)] }
    if let workers { limits += ["--workers", String(workers)] }
    return [verb, shards.path, shared, place, destination, String(tries), local ?? "-"] + limits + ["--"] + words
  }

  /// Creates the shared folder, with an id by which nodes distinguish it from an earlier one of the same name.
  func makeFolder() throws(TransferError) {
    guard mkdir(shared, 0o777) == 0 || errno == EEXIST else { throw ShardSet.failure("make folder", shared) }
    guard access("\(shared)/id", F_OK) != 0 else { return }
    let id = String(UInt64.random(in: .min ... .max), radix: 16)
    try put(Array("\(id)\n".utf8), "id", mode: 0o666)
  }

  /// Writes a file of the shared folder durably, or not at all.
  func put(_ bytes: [UInt8], _ name: String, mode: mode_t) throws(TransferError) {
    let path = "\(shared)/\(name)"
    try ShardSet.put(bytes, path, through: "\(path).\(getpid())", mode: mode)
  }
}
