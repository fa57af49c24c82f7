public import TransferModel

/// One of several destinations of a job. Its place and the beginning of its keys identify it, however it is spelled.
public struct JobDestination: Sendable, Hashable {
  /// That of its batches.
  let place: String
  /// The common prefix of its keys, which precedes the relative path of a file.
  let prefix: NameBytes
  /// For people.
  let destination: String

  /// - Parameter destination: as typed; its query is left out.
  public init(place: String, prefix: NameBytes, destination: String) {
    (self.place, self.prefix) = (place, prefix)
    self.destination = String(destination.prefix { $0 != "?" && $0 != "#" })
  }
}

extension LedgerReader {
  /// The destinations of a job that has several; empty for other jobs.
  public func destinations(ofJob job: String) throws -> Set<JobDestination> {
    Set(
      try db.rows("SELECT place, prefix, destination FROM job_destination WHERE job = ?", .text(job)) { row in
        JobDestination(place: row.text(0), prefix: row.name(1), destination: row.text(2))
      })
  }
}

extension LedgerTransaction {
  /// Replaces the destinations of a job, with an event that names them. From this commit on, no source of the job is
  /// removed before each of these has it, so this comes before the first file for a new destination. A single
  /// destination needs no row.
  public func setDestinations(ofJob job: String, _ destinations: Set<JobDestination>) throws {
    let names = destinations.isEmpty ? "only one" : destinations.map(\.destination).sorted().joined(separator: ", ")
    try recordEvent("set", batch: nil, file: nil, detail: "destinations of job \(job): \(names)")
    try db.run("DELETE FROM job_destination WHERE job = ?", .text(job))
    guard destinations.count > 1 else { return }
    for one in destinations {
      try db.run(
        """
        INSERT INTO job_destination (job, place, prefix, destination, after_event)
        VALUES (?, ?, ?, ?, (SELECT max(id) FROM event))
        """, .text(job), .text(one.place), .name(one.prefix), .text(one.destination))
    }
  }
}
