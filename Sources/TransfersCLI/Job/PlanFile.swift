import FoundationEssentials
import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A plan file: JSON records, one per line. The first identifies the job, the last has the number of files, so that a
/// truncated plan is detected.
enum PlanFile {
  static let form = "transfers.job.plan/2"
  private static let longestLine = 64 << 10

  struct Record: Codable {
    var plan: String?
    var job: String?
    var destination: String?
    var origin: String?
    /// Of a job with several destinations, instead of the two above.
    var destinations: [Place]?
    /// The number of the destination of a file, from 1; nil if there is only one.
    var to: Int?
    var path: String?
    var path_b64: String?
    var key: String?
    var key_b64: String?
    var bytes: Int64?
    var mtime_ns: Int64?
    var ctime_ns: Int64?
    var inode: UInt64?
    var verdict: String?
    var files: Int?

    /// The destinations of a header.
    var places: [Place] { destinations ?? [Place(destination ?? "", at: origin ?? "")] }
  }

  /// Verdicts of files to send; the others exist already, or cannot be decided here.
  static func isSent(_ verdict: String) -> Bool { ["new", "changed", "requeued", "queued"].contains(verdict) }

  /// The destination of a plan's files.
  struct Place: Hashable, Codable {
    var destination: String
    /// The service that is queried; another service may have the same bucket name.
    var origin: String
    /// The hash of all that tells it from other destinations, such as an account or a query, if there are several.
    var id: String?

    init(_ destination: String, at origin: String) { (self.destination, self.origin) = (destination, origin) }

    init(_ settings: BatchSettings, isOneOfSeveral: Bool) throws(CommandFailure) {
      destination = RecordedArguments.masked([settings.destination])[0]
      origin = try failing { () throws(TransferError) in try ProtocolCatalog.origin(settings) }
      guard isOneOfSeveral else { return }
      id = try failing { () throws(TransferError) in try ProtocolCatalog.placeHash(settings) }
    }
  }

  static func places(of all: [UploadOptions]) throws(CommandFailure) -> [Place] {
    var places: [Place] = []
    for options in all { places.append(try Place(options.settings, isOneOfSeveral: all.count > 1)) }
    return places
  }

  static func header(_ job: ConfigSection, _ places: [Place]) -> [UInt8] {
    guard places.count == 1 else { return line(Record(plan: form, job: job.name, destinations: places)) }
    return line(Record(plan: form, job: job.name, destination: places[0].destination, origin: places[0].origin))
  }

  /// The last record.
  static func end(files: Int) -> [UInt8] { line(Record(files: files)) }

  static func record(_ path: NameBytes, _ entry: PlannedFiles.Entry, _ verdict: String, to: Int?) -> [UInt8] {
    var record = Record(to: to)
    (record.path, record.path_b64) = names(path)
    (record.key, record.key_b64) = names(entry.key)
    (record.bytes, record.mtime_ns, record.ctime_ns) = (entry.size, entry.mtimeNs, entry.ctimeNs)
    (record.inode, record.verdict) = (entry.inode, verdict)
    return line(record)
  }

  /// Names are bytes: those that are not UTF-8 also have their exact bytes.
  private static func names(_ name: NameBytes) -> (text: String, base64: String?) {
    if let text = name.utf8 { return (text, nil) }
    return (String(decoding: name.bytes, as: UTF8.self), Data(name.bytes).base64EncodedString())
  }

  private static func line(_ record: Record) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return ((try? encoder.encode(record)).map(Array.init) ?? []) + [0x0A]
  }

  /// The job of a plan, from its first record. The plan is read again later, so it cannot be a pipe.
  /// - Throws: `.noSource` if it does not exist; `.usage` for a pipe; `.badData` if it is not a plan.
  static func job(of file: NameBytes) throws(CommandFailure) -> String {
    guard let stream = fopen(file.terminated, "re") else { throw missing(file, "NAME") }
    defer { fclose(stream) }
    var status = stat()
    guard fstat(fileno(stream), &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .usage("the plan \"\(file)\" is not a regular file", remedy: "transfers job run NAME --plan FILE")
    }
    var buffer = [CChar](repeating: 0, count: longestLine)
    let isRead = fgets(&buffer, Int32(buffer.count), stream) != nil
    let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    guard isRead, let record = try? JSONDecoder().decode(Record.self, from: Data(bytes)), record.plan == form,
      let job = record.job
    else {
      throw CommandFailure(
        .badData, "read plan \"\(file)\", line 1: it is not the first record of a plan",
        remedy: "transfers job plan NAME -o FILE")
    }
    return job
  }

  private static func missing(_ file: NameBytes, _ job: String) -> CommandFailure {
    CommandFailure(
      .noSource, "read plan \"\(file)\": \(printable(systemText(errno)))",
      remedy: "transfers job plan \(job) -o FILE")
  }

  /// - Throws: `.badData` for a file that is not a plan of this job and these destinations, with its line; `.noSource`
  ///   if it does not exist.
  /// - Returns: the files for each of the places.
  static func read(
    _ file: NameBytes, of job: ConfigSection, to places: [Place]
  ) throws(CommandFailure) -> [PlannedFiles] {
    guard let stream = fopen(file.terminated, "re") else { throw missing(file, job.name) }
    defer { fclose(stream) }
    var (reader, buffer) = (PlanReader(file, of: job, to: places), [CChar](repeating: 0, count: longestLine))
    while fgets(&buffer, Int32(buffer.count), stream) != nil {
      try reader.take(buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
    }
    return try reader.end(isRead: ferror(stream) == 0)
  }
}
