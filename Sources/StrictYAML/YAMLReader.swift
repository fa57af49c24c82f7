/// Reads one YAML document (JSON is YAML too) into a tree with the position of every node.
///
/// Bounded, because such files may come from others: at most 1 MiB, 32 levels, 256 aliases, and 20,000 nodes with all
/// aliases expanded (64 bytes of text count as one more node), so that a small text cannot become a large tree. Keys
/// and anchors must be unique; tags and further documents are refused.
public struct YAMLReader: ~Copyable {
  public static let largest = 1 << 20
  public static let deepest = 32
  public static let mostAliases = 256
  public static let mostNodes = 20_000

  private var events: YAMLEvents
  private var anchors: [String: YAMLNode] = [:]
  private var aliases = 0
  private var nodes = 0
  /// Keys that come twice in their map, and anchors that come twice: the first counts.
  private var duplicates: [YAMLFault] = []

  /// - Parameter what: the kind of document, for messages.
  /// - Throws: the first error.
  public static func read(_ bytes: [UInt8], as what: String = "a profile") throws(YAMLFault) -> YAMLNode {
    let (root, duplicates) = try readAll(bytes, as: what)
    if let first = duplicates.first { throw first }
    return root
  }

  /// The same with all duplicate keys and anchors, whose first values are in the tree, so that other errors are found,
  /// too.
  /// - Throws: the first of all other errors, or a duplicate before it.
  public static func readAll(
    _ bytes: [UInt8], as what: String
  ) throws(YAMLFault) -> (root: YAMLNode, duplicates: [YAMLFault]) {
    guard bytes.count <= largest else {
      throw YAMLFault(SourceMark(line: 1, column: 1), "it has \(bytes.count) bytes; \(what) may have \(largest)")
    }
    typealias Found = Result<(root: YAMLNode, duplicates: [YAMLFault]), YAMLFault>
    let result = bytes.withUnsafeBufferPointer { buffer -> Found in
      do throws(YAMLFault) {
        var reader = YAMLReader(events: try YAMLEvents(buffer))
        let root: YAMLNode
        do throws(YAMLFault) { root = try reader.document() } catch { throw reader.duplicates.first ?? error }
        return .success((root: root, duplicates: reader.duplicates))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private init(events: consuming YAMLEvents) { self.events = events }

  private mutating func document() throws(YAMLFault) -> YAMLNode {
    _ = try events.next()
    let start = try events.next()
    if case .streamEnd = start.kind { throw YAMLFault(SourceMark(line: 1, column: 1), "it is empty") }
    let root = try node(try events.next(), depth: 0)
    _ = try events.next()
    let next = try events.next()
    guard case .streamEnd = next.kind else {
      throw YAMLFault(next.mark, "a second document begins here; put each document into its own file")
    }
    return root
  }

  private mutating func node(_ event: YAMLEvent, depth: Int) throws(YAMLFault) -> YAMLNode {
    guard !event.hasTag else { throw YAMLFault(event.mark, "tags (\"!…\") are not supported") }
    guard depth < Self.deepest else {
      throw YAMLFault(event.mark, "it is nested deeper than \(Self.deepest) levels")
    }
    if case .alias(let name) = event.kind { return try alias(name, event.mark) }
    let content = try content(event, depth)
    var node = YAMLNode(content: content, mark: event.mark, count: content.count)
    node.isVerbatim = event.isVerbatim
    try charge(1, event.mark)
    if let anchor = event.anchor { name(node, anchor) }
    return node
  }

  private mutating func content(_ event: YAMLEvent, _ depth: Int) throws(YAMLFault) -> YAMLNode.Content {
    switch event.kind {
    case .scalar(let text, let isPlain): return .scalar(text, isPlain: isPlain)
    case .listStart: return .list(try list(depth))
    case .mapStart: return .map(try map(depth))
    default: throw YAMLFault(event.mark, "not valid YAML")
    }
  }

  private mutating func list(_ depth: Int) throws(YAMLFault) -> [YAMLNode] {
    var list: [YAMLNode] = []
    while true {
      let event = try events.next()
      if case .listEnd = event.kind { return list }
      list.append(try node(event, depth: depth + 1))
    }
  }

  private mutating func map(_ depth: Int) throws(YAMLFault) -> [YAMLNode.Entry] {
    var entries: [YAMLNode.Entry] = []
    var known: Set<String> = []
    while true {
      let event = try events.next()
      if case .mapEnd = event.kind { return entries }
      let key = try node(event, depth: depth + 1)
      guard let name = key.text else { throw YAMLFault(event.mark, "a key has to be text, but this is \(key.kind)") }
      let isNew = known.insert(name).inserted
      if !isNew { duplicates.append(YAMLFault(event.mark, "the key \"\(name)\" is duplicated")) }
      let value = try node(try events.next(), depth: depth + 1)
      guard isNew else { continue }
      entries.append(YAMLNode.Entry(key: name, keyMark: event.mark, value: value))
    }
  }

  /// YAML lets a later node take over an anchor; here an alias means the same node wherever it is.
  private mutating func name(_ node: YAMLNode, _ anchor: String) {
    guard anchors[anchor] == nil else {
      duplicates.append(YAMLFault(node.mark, "the anchor \"&\(anchor)\" is duplicated"))
      return
    }
    anchors[anchor] = node
  }

  /// An anchor is only known when its node is complete, so that a node cannot contain itself.
  private mutating func alias(_ name: String, _ mark: SourceMark) throws(YAMLFault) -> YAMLNode {
    guard let node = anchors[name] else { throw YAMLFault(mark, "there is no anchor \"&\(name)\" before this") }
    aliases += 1
    guard aliases <= Self.mostAliases else { throw YAMLFault(mark, "it has more than \(Self.mostAliases) aliases") }
    try charge(node.count, mark)
    return node
  }

  private mutating func charge(_ count: Int, _ mark: SourceMark) throws(YAMLFault) {
    nodes += count
    guard nodes <= Self.mostNodes else {
      throw YAMLFault(mark, "it has more than \(Self.mostNodes) values, with aliases expanded")
    }
  }
}

extension YAMLEvent {
  /// Whether a scalar is exactly as long in the document as its text and its quotes.
  fileprivate var isVerbatim: Bool {
    guard case .scalar(let text, let isPlain) = kind else { return true }
    return endMark.line == mark.line
      && endMark.column - mark.column == text.unicodeScalars.count + (isPlain ? 0 : 2)
  }
}

extension YAMLNode.Content {
  /// As how many nodes a copy of a node with this content counts.
  fileprivate var count: Int {
    switch self {
    case .scalar(let text, _): 1 + text.utf8.count / 64
    case .list(let nodes): nodes.reduce(1) { $0 + $1.count }
    case .map(let entries): entries.reduce(1) { $0 + 1 + $1.key.utf8.count / 64 + $1.value.count }
    }
  }
}
