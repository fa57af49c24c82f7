import FoundationEssentials
import TransferModel
import Transfers

/// Reads the records of a plan, one after the other, and refuses what is not a plan of this job.
struct PlanReader {
  private let file: NameBytes
  private let job: ConfigSection
  private let places: [PlanFile.Place]
  /// For each of the places.
  private var files: [PlannedFiles]
  /// For each destination of the plan, its position in ``places``.
  private var positions: [Int] = []
  /// Of the line that was read last, from 1.
  private var number = 0
  private var isComplete = false

  init(_ file: NameBytes, of job: ConfigSection, to places: [PlanFile.Place]) {
    (self.file, self.job, self.places) = (file, job, places)
    files = places.map { _ in PlannedFiles() }
  }

  /// Takes the next line.
  mutating func take(_ line: [UInt8]) throws(CommandFailure) {
    number += 1
    guard let record = try? JSONDecoder().decode(PlanFile.Record.self, from: Data(line)) else {
      throw wrong("it is not a record of a plan")
    }
    if number == 1 { return try begin(record) }
    guard !isComplete else { throw wrong("there is data after its last record") }
    if let count = record.files { return try complete(count) }
    try add(record)
  }

  /// The files for each of the places, after the last line.
  func end(isRead: Bool) throws(CommandFailure) -> [PlannedFiles] {
    guard isRead, number > 0 else { throw wrong("it is empty or cannot be read") }
    guard isComplete else { throw wrong("its end is missing") }
    return files
  }

  // MARK: - Records

  private mutating func begin(_ record: PlanFile.Record) throws(CommandFailure) {
    guard record.plan == PlanFile.form else { throw wrong("it does not begin with the header of a plan") }
    guard record.job == job.name else { throw wrong("it is a plan of the job \"\(printable(record.job ?? ""))\"") }
    for planned in record.places {
      guard let position = places.firstIndex(of: planned) else {
        let shown = printable("\(planned.destination) at \(planned.origin)")
        throw wrong("it is a plan for \(shown), where the job sends nothing now")
      }
      positions.append(position)
    }
    guard Set(positions).count == positions.count else { throw wrong("it names the same destination twice") }
  }

  private mutating func complete(_ count: Int) throws(CommandFailure) {
    let listed = files.reduce(0) { $0 + $1.entries.count }
    guard count == listed else { throw wrong("its last record says \(count) files, but it lists \(listed)") }
    isComplete = true
  }

  private mutating func add(_ record: PlanFile.Record) throws(CommandFailure) {
    guard let (path, entry) = Self.entry(record) else { throw wrong("a file needs path, key, bytes and times") }
    let to = (record.to ?? 1) &- 1
    guard positions.indices.contains(to), (record.to == nil) == (positions.count == 1) else {
      throw wrong("a file needs the number of one of its destinations")
    }
    guard files[positions[to]].entries.updateValue(entry, forKey: path) == nil else {
      throw wrong("the same file comes twice")
    }
  }

  private static func entry(_ record: PlanFile.Record) -> (NameBytes, PlannedFiles.Entry)? {
    guard let path = name(record.path, record.path_b64), let key = name(record.key, record.key_b64),
      let size = record.bytes, let mtime = record.mtime_ns, let ctime = record.ctime_ns, let inode = record.inode
    else { return nil }
    return (path, PlannedFiles.Entry(key: key, size: size, mtimeNs: mtime, ctimeNs: ctime, inode: inode))
  }

  private static func name(_ text: String?, _ base64: String?) -> NameBytes? {
    if let base64 { return Data(base64Encoded: base64).map { NameBytes(Array($0)) } }
    return text.map { NameBytes(Array($0.utf8)) }
  }

  private func wrong(_ cause: String) -> CommandFailure {
    CommandFailure(
      .badData, "read plan \"\(file)\", line \(number): \(cause)", remedy: "transfers job plan \(job.name) -o FILE")
  }
}
