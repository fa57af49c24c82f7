import TransferModel

/// A job whose `to` is a list: one scan of its sources, and one batch for each destination.
enum JobDestinations {
  /// Options of a run that destinations can set; a run has one value for all of them.
  private static let ofRun = ["workers", "rate", "rate_group"]

  /// What a job cannot have together with several destinations.
  static func faults(_ job: ConfigSection, _ config: Config) -> [ConfigFault] {
    guard job.direction == .upload, let to = job["to"], to.values.count > 1 else { return [] }
    var faults: [ConfigFault] = []
    if let name = job["name"] {
      let message = "\"name\" names one batch, but a job with several destinations makes one for each; use \"labels\""
      faults.append(ConfigFault(place: name.place, message: message))
    }
    let names = to.values.map { name($0, config) }
    for (n, word) in to.values.enumerated() {
      guard let same = names[..<n].firstIndex(of: names[n]) else { continue }
      let other = to.values[same] == word ? "" : ", once as \"\(to.values[same])\""
      faults.append(ConfigFault(place: to.place, message: "\"to\" names \"\(word)\" twice\(other)"))
    }
    let places = to.values.map { config.place($0, .destination)?.section }
    for key in ofRun where job[key] == nil && Set(places.map { $0?[key]?.value }).count > 1 {
      let message = "the destinations have different values of \"\(key)\", and a run has one; set it in the job"
      faults.append(ConfigFault(place: to.place, message: message))
    }
    return faults
  }

  /// What a slash at the end does not change: whether it makes another place depends on the sources, which may be a
  /// file today and a folder tomorrow.
  private static func name(_ word: String, _ config: Config) -> [String] {
    let (section, path) = config.place(word, .destination).map { ($0.section, $0.path) } ?? (nil, "")
    let url = section?["url"].flatMap { url in try? ConfigURL.joined(url.value, path) } ?? word
    return [section?.name ?? "", url.hasSuffix("/") ? String(url.dropLast()) : url]
  }
}
