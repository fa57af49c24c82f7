import StrictYAML

/// The errors found in one configuration file.
struct ConfigFaults {
  private let file: String
  private var faults: [ConfigFault] = []
  /// The job whose values are read: an invalid one stops only this job.
  var job: String?

  init(file: String) { self.file = file }

  var count: Int { faults.count }
  /// In text order.
  var sorted: [ConfigFault] { faults.sorted { ($0.place, $0.message) < ($1.place, $1.message) } }

  func place(_ mark: SourceMark) -> ConfigPlace { ConfigPlace(file: file, mark: mark) }

  mutating func add(_ fault: ConfigFault) {
    faults.append(ConfigFault(place: fault.place, message: fault.message, job: job))
  }

  mutating func add(_ mark: SourceMark, _ message: String) {
    add(ConfigFault(place: place(mark), message: message))
  }

  /// The first fault of each job.
  var ofJobs: [String: ConfigFault] {
    Dictionary(sorted.compactMap { fault in fault.job.map { ($0, fault) } }) { first, _ in first }
  }

  /// A key that is not among the known ones, with the nearest of these.
  mutating func addUnknown(_ entry: YAMLNode.Entry, _ known: [String]) {
    let word = entry.key.replacing("-", with: "_")
    let near = known.contains(word) ? word : EditDistance.nearest(to: word, in: known.sorted())
    // It may be a misspelt setting of any job.
    let reading = job
    job = nil
    defer { job = reading }
    add(
      entry.keyMark,
      "unknown key \"\(entry.key)\""
        + (near.map { "; did you mean \"\($0)\"?" } ?? "; \"transfers config example\" shows all keys"))
  }

  /// The entries of a map; none after a fault.
  mutating func entries(_ node: YAMLNode, _ what: String) -> [YAMLNode.Entry] {
    if let entries = node.entries { return entries }
    add(node.mark, "\(what) must be a map (key: value), not \(node.kind)")
    return []
  }
}
