import TransferModel

/// One of several destinations of a job, as its batches record it.
public struct JobDestination: Sendable, Hashable {
  let place: String
  let destination: String
}

extension AdmissionTarget {
  public var jobDestination: JobDestination {
    JobDestination(place: batch.canonicalPlace, destination: batch.destination)
  }
}

extension LedgerReader {
  /// The destinations of a job that has several; empty for other jobs.
  public func destinations(ofJob job: String) throws -> Set<JobDestination> {
    Set(
      try db.rows("SELECT place, destination FROM job_destination WHERE job = ?", .text(job)) { row in
        JobDestination(place: row.text(0), destination: row.text(1))
      })
  }
}

extension LedgerTransaction {
  /// Replaces the destinations of a job. From this commit on, no source of the job is removed before each of these has
  /// it, so this comes before the first file for a new destination. A single destination needs no row.
  public func setDestinations(ofJob job: String, _ destinations: Set<JobDestination>) throws {
    try db.run("DELETE FROM job_destination WHERE job = ?", .text(job))
    guard destinations.count > 1 else { return }
    for one in destinations {
      try db.run(
        "INSERT INTO job_destination (job, place, destination) VALUES (?, ?, ?)", .text(job), .text(one.place),
        .text(one.destination))
    }
  }
}
