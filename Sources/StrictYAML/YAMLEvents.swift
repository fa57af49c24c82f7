import CYAML

/// One event of libyaml's parser, as a value.
struct YAMLEvent {
  enum Kind {
    case documentStart
    case documentEnd
    case streamStart
    case streamEnd
    case scalar(String, isPlain: Bool)
    case listStart
    case listEnd
    case mapStart
    case mapEnd
    case alias(String)
  }

  var kind: Kind
  var mark: SourceMark
  /// The position after its last character.
  var endMark: SourceMark
  var anchor: String?
  var hasTag: Bool
}

/// Owns one parser of libyaml. The bytes must live as long as it.
struct YAMLEvents: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>

  init(_ bytes: UnsafeBufferPointer<UInt8>) throws(YAMLFault) {
    parser = .allocate(capacity: 1)
    guard yaml_parser_initialize(parser) == 1 else {
      parser.deallocate()
      throw YAMLFault(SourceMark(line: 1, column: 1), "out of memory")
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  mutating func next() throws(YAMLFault) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw fault() }
    defer { yaml_event_delete(&event) }
    let (anchor, hasTag) = Self.properties(event)
    return YAMLEvent(
      kind: try Self.kind(event), mark: SourceMark(event.start_mark), endMark: SourceMark(event.end_mark),
      anchor: anchor, hasTag: hasTag)
  }

  private func fault() -> YAMLFault {
    let state = parser.pointee
    let problem = state.problem.map { String(cString: $0) } ?? "it cannot be read"
    let isReader = state.error == YAML_READER_ERROR
    return YAMLFault(SourceMark(isReader ? state.mark : state.problem_mark), "not valid YAML: \(problem)")
  }

  private static func kind(_ event: yaml_event_t) throws(YAMLFault) -> YAMLEvent.Kind {
    switch event.type {
    case YAML_STREAM_START_EVENT: return .streamStart
    case YAML_STREAM_END_EVENT: return .streamEnd
    case YAML_DOCUMENT_START_EVENT: return .documentStart
    case YAML_DOCUMENT_END_EVENT: return .documentEnd
    case YAML_SEQUENCE_START_EVENT: return .listStart
    case YAML_SEQUENCE_END_EVENT: return .listEnd
    case YAML_MAPPING_START_EVENT: return .mapStart
    case YAML_MAPPING_END_EVENT: return .mapEnd
    case YAML_ALIAS_EVENT: return .alias(String(cString: event.data.alias.anchor))
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      return .scalar(String(decoding: bytes, as: UTF8.self), isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
    default: throw YAMLFault(SourceMark(event.start_mark), "not valid YAML")
    }
  }

  private static func properties(_ event: yaml_event_t) -> (anchor: String?, hasTag: Bool) {
    func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? { pointer.map { String(cString: $0) } }
    switch event.type {
    case YAML_SCALAR_EVENT: return (text(event.data.scalar.anchor), event.data.scalar.tag != nil)
    case YAML_SEQUENCE_START_EVENT:
      return (text(event.data.sequence_start.anchor), event.data.sequence_start.tag != nil)
    case YAML_MAPPING_START_EVENT:
      return (text(event.data.mapping_start.anchor), event.data.mapping_start.tag != nil)
    default: return (nil, false)
    }
  }
}

extension SourceMark {
  fileprivate init(_ mark: yaml_mark_t) { self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1) }
}
