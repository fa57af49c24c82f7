import StrictYAML
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A configuration that was read and found valid, for the commands that the daemon starts: later changes of the files
/// do not affect them until the daemon reads them again.
final class HeldConfig: Sendable {
  static let variable = "_TRANSFERS_HELD_CONFIG"

  let config: Config
  let schedules: [String: JobSchedule]
  /// Unlinked files that hold the texts that were read.
  let descriptors: [Int32]
  /// For ``ConfigFiles``: one `DESCRIPTOR:PATH` per line.
  let note: String

  /// Reads the configuration files that apply.
  /// - Parameters:
  /// - folder: the folder of the copies, which are unlinked at once.
  /// - watched: the `--watch` options of the daemon; their jobs are added to those of the files.
  /// - Throws: `.config` with all faults, in one line.
  init(
    _ option: String?, _ context: Context, beside folder: String, watched: WatchOption = WatchOption()
  ) throws(CommandFailure) {
    var (config, faults, copies) = (Config(), [ConfigFault](), [(descriptor: Int32, path: String)]())
    do throws(CommandFailure) {
      var texts: [(bytes: [UInt8], path: String)] = []
      for candidate in ConfigFiles.candidates(option, context) {
        if let bytes = try ConfigFiles.contents(candidate) { texts.append((bytes, candidate.path)) }
      }
      if !watched.isEmpty { texts.append((watched.text, WatchOption.name)) }
      for text in texts {
        let found = ConfigReader.read(text.bytes, file: text.path, home: context.variable("HOME"))
        if text.path == WatchOption.name { try WatchOption.check(found.config, beside: config) }
        config.fill(from: found.config)
        faults += found.faults
        copies.append((try Self.copy(text.bytes, beside: folder), text.path))
      }
      faults = (faults + ConfigSense.faults(config, context)).sorted { $0.place < $1.place }
      guard faults.isEmpty else {
        let lines = faults.map { "\($0.place): \(printable($0.message))" }.joined(separator: "; ")
        throw CommandFailure(.config, "read configuration: \(lines)", remedy: context.configCheck)
      }
    } catch {
      for copy in copies { close(copy.descriptor) }
      throw error
    }
    self.config = config
    schedules = config.jobs.compactMapValues { try? JobSchedule($0) }
    descriptors = copies.map(\.descriptor)
    note = copies.map { "\($0.descriptor):\($0.path)" }.joined(separator: "\n")
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  private static func copy(_ bytes: [UInt8], beside folder: String) throws(CommandFailure) -> Int32 {
    var template = Array("\(folder)/.transfers-config.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw failure(folder) }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        defer { close(descriptor) }
        throw failure(folder)
      }
      done += count
    }
    return descriptor
  }

  private static func failure(_ folder: String) -> CommandFailure {
    CommandFailure(
      .store, "keep the configuration in \"\(printable(folder))\": \(printable(systemText(errno)))",
      remedy: "free space, or allow writing there")
  }

  /// The copies that a daemon passed to this process; nil if no daemon started it.
  static func candidates(_ context: Context) -> [ConfigFiles.Candidate]? {
    guard let note = context.environment[variable] else { return nil }
    return note.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2, let descriptor = Int32(parts[0]) else { return nil }
      return ConfigFiles.Candidate(path: String(parts[1]), origin: "daemon", heldAt: descriptor)
    }
  }
}
