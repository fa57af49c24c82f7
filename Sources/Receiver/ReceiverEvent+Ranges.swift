import TransferModel

extension Sequence<ReceiverEvent> {
  /// The received byte ranges of an object, body by body in the order of the record, as ranges in the object. Bodies
  /// that arrived under another path before the object had its name are included. Bytes that were sent twice appear
  /// twice.
  package func receivedRanges(of path: NameBytes) -> [ByteRange] {
    var places: [NameBytes: [Int64]] = [path: [0]]
    for event in self where event.path == path {
      if case .joined(let from, let range) = event.kind { places[from, default: []].append(range.offset) }
    }
    return flatMap { event -> [ByteRange] in
      guard case .bytes(let range, _) = event.kind, let starts = places[event.path] else { return [] }
      return starts.map { ByteRange(offset: $0 + range.offset, length: range.length) }
    }
  }
}
