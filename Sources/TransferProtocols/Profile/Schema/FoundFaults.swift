import StrictYAML

/// The faults that the decoders of one profile have found so far; all of them add to the same ones.
final class FoundFaults {
  private(set) var all: [YAMLFault] = []

  func add(_ mark: SourceMark, _ message: String) {
    let fault = YAMLFault(mark, message)
    if !all.contains(fault) { all.append(fault) }
  }

  /// In text order.
  var sorted: [YAMLFault] { Array(all.sorted { $0.mark < $1.mark }.prefix(ProfileFaults.most)) }
}
