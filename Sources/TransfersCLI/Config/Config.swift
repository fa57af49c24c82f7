import StrictYAML
import TransferModel

/// A position in a configuration.
struct ConfigPlace: Sendable, Hashable, Comparable, CustomStringConvertible {
  let file: String
  let mark: SourceMark

  /// `/etc/transfers/config.yaml:3:5`, as editors read it.
  var description: String { "\(printable(file)):\(mark.line):\(mark.column)" }

  static func < (a: ConfigPlace, b: ConfigPlace) -> Bool { (a.file, a.mark) < (b.file, b.mark) }
}

/// One error in a configuration.
struct ConfigFault: Sendable, Hashable {
  let place: ConfigPlace
  /// One line; may quote the file, so escape it before printing.
  let message: String
  /// The job that cannot run because of it; nil if nothing of the file can be used.
  var job: String?
}

/// One key of a configuration, its value in the form that an option takes on the command line.
struct ConfigSetting: Sendable, Hashable {
  /// As written: `max_duration`.
  let key: String
  /// The long name of the option that it sets; nil if it sets none.
  let option: String?
  /// One for each occurrence of the option; `true` or `false` for a flag.
  let values: [String]
  let place: ConfigPlace

  /// The value of a key that has one.
  var value: String { values.first ?? "" }
  var isTrue: Bool { value == "true" }
}

/// A destination, a source or a job.
struct ConfigSection: Sendable, Hashable {
  enum Kind: String, Sendable, CaseIterable {
    case destination, source, job

    /// The key of the configuration that holds them.
    var plural: String { rawValue + "s" }
  }

  let kind: Kind
  let name: String
  let place: ConfigPlace
  /// The keys, in order.
  let settings: [ConfigSetting]

  subscript(_ key: String) -> ConfigSetting? { settings.first { $0.key == key } }

  /// The direction of a job.
  var direction: Direction { self["direction"]?.value == "download" ? .download : .upload }
}

/// The configuration: named places, recurring jobs, and options for all commands.
struct Config: Sendable, Hashable {
  var destinations: [String: ConfigSection] = [:]
  var sources: [String: ConfigSection] = [:]
  var jobs: [String: ConfigSection] = [:]
  /// Settings by the long names of their options.
  var defaults: [String: ConfigSetting] = [:]
  /// The first fault of each job that has an invalid value.
  var unusable: [String: ConfigFault] = [:]
  /// The files that were read, in order of precedence.
  var files: [String] = []

  func sections(_ kind: ConfigSection.Kind) -> [String: ConfigSection] {
    switch kind {
    case .destination: destinations
    case .source: sources
    case .job: jobs
    }
  }

  mutating func add(_ section: ConfigSection) {
    switch section.kind {
    case .destination: destinations[section.name] = section
    case .source: sources[section.name] = section
    case .job: jobs[section.name] = section
    }
  }

  /// Adds entries of `other` that are missing here: a place or a job is taken as a whole, so that no credential of one
  /// file is used for a server of another.
  mutating func fill(from other: Config) {
    destinations.merge(other.destinations) { own, _ in own }
    sources.merge(other.sources) { own, _ in own }
    unusable.merge(other.unusable.filter { jobs[$0.key] == nil }) { own, _ in own }
    jobs.merge(other.jobs) { own, _ in own }
    defaults.merge(other.defaults) { own, _ in own }
    files += other.files
  }

  /// The job with the given name.
  /// - Throws: `.config` also for one with an invalid value.
  func job(_ name: String, check: String) throws(CommandFailure) -> ConfigSection {
    if let fault = unusable[name] {
      throw CommandFailure(
        .config, "read configuration: \(fault.place): \(printable(fault.message))", remedy: check)
    }
    if let job = jobs[name] { return job }
    let longer = jobs.keys.filter { name.utf8.count > 2 && $0.hasPrefix(name) }
    let near = EditDistance.nearest(to: name, in: jobs.keys.sorted()) ?? (longer.count == 1 ? longer[0] : nil)
    throw CommandFailure(
      .config, "no job \"\(printable(name))\" in the configuration",
      remedy: near.map { "transfers job show \($0)" } ?? "transfers job list, transfers config path")
  }
}
