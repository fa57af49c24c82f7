import StrictYAML

/// The errors found in one configuration file.
struct ConfigFaults {
  private let file: String
  private var faults: [ConfigFault] = []

  init(file: String) { self.file = file }

  var count: Int { faults.count }
  /// In text order.
  var sorted: [ConfigFault] { faults.sorted { ($0.place, $0.message) < ($1.place, $1.message) } }

  func place(_ mark: SourceMark) -> ConfigPlace { ConfigPlace(file: file, mark: mark) }

  mutating func add(_ fault: ConfigFault) { faults.append(fault) }

  mutating func add(_ mark: SourceMark, _ message: String) {
    faults.append(ConfigFault(place: place(mark), message: message))
  }

  /// A key that is not among the known ones, with the nearest of these.
  mutating func addUnknown(_ entry: YAMLNode.Entry, _ known: [String]) {
    let word = entry.key.replacing("-", with: "_")
    let near = known.contains(word) ? word : EditDistance.nearest(to: word, in: known.sorted())
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
