/// A place in a JSON value: `$.a.b[0]`, `$.list[*].n`, `$["odd.key"]`.
struct JSONPath: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    case name(String)
    case index(Int)
    case every
  }

  let source: String
  let steps: [Step]

  /// Matches any number of values, in order.
  var isMany: Bool { steps.contains(.every) }

  init(_ source: String) throws(TemplateSyntaxFault) {
    var parser = Parser(bytes: Array(source.utf8))
    self.source = source
    steps = try parser.parse()
  }

  /// Whether the list that it names, or whose elements it names, exists, even if it is empty. `null` does not count.
  func finds(in root: JSONValue) -> Bool {
    Self.values(steps.prefix { $0 != .every }, in: root).contains { value in
      switch value {
      case .null: false
      case .array, .object: true
      case .bool, .int, .number, .string: !isMany
      }
    }
  }

  /// The values that exist; missing ones are left out.
  func values(in root: JSONValue) -> [JSONValue] { Self.values(steps[...], in: root) }

  private static func values(_ steps: ArraySlice<Step>, in root: JSONValue) -> [JSONValue] {
    var values = [root]
    for step in steps {
      values = values.flatMap { value -> [JSONValue] in
        switch (step, value) {
        case (.name(let name), _): value[name].map { [$0] } ?? []
        case (.index(let index), .array(let list)): index < list.count ? [list[index]] : []
        case (.every, .array(let list)): list
        case (.every, .object(let members)): members.map(\.value)
        default: []
        }
      }
    }
    return values
  }

  private struct Parser {
    let bytes: [UInt8]
    var position = 0

    mutating func parse() throws(TemplateSyntaxFault) -> [Step] {
      guard bytes.first == 0x24 else { throw fault("a JSON path must begin with \"$\"") }
      position = 1
      var steps: [Step] = []
      while position < bytes.count {
        switch bytes[position] {
        case 0x2E: steps.append(try name())
        case 0x5B: steps.append(try bracket())
        default: throw fault("\".\" or \"[\" is expected here")
        }
      }
      return steps
    }

    private mutating func name() throws(TemplateSyntaxFault) -> Step {
      position += 1
      let name = bytes[position...].prefix { $0 != 0x2E && $0 != 0x5B && $0 != 0x20 }
      guard !name.isEmpty else { throw fault("a name is missing after the dot") }
      position = name.endIndex
      return name.elementsEqual([0x2A]) ? .every : .name(String(decoding: name, as: UTF8.self))
    }

    private mutating func bracket() throws(TemplateSyntaxFault) -> Step {
      guard let close = closing() else { throw fault("a \"]\" is missing") }
      let inside = bytes[(position + 1)..<close]
      defer { position = close + 1 }
      if inside.elementsEqual([0x2A]) { return .every }
      if let quote = inside.first, quote == 0x22 || quote == 0x27 {
        return .name(String(decoding: inside.dropFirst().dropLast(), as: UTF8.self))
      }
      guard inside.count <= 9, let index = Int(String(decoding: inside, as: UTF8.self)), index >= 0 else {
        throw fault("brackets must contain a number from 0, a \"*\" or a quoted name")
      }
      return .index(index)
    }

    /// The bracket that closes this one, ignoring those inside quoted names.
    private func closing() -> Int? {
      guard position + 1 < bytes.count else { return nil }
      let quote = bytes[position + 1]
      guard quote == 0x22 || quote == 0x27 else { return bytes[position...].firstIndex(of: 0x5D) }
      guard let end = bytes[(position + 2)...].firstIndex(of: quote), end + 1 < bytes.count, bytes[end + 1] == 0x5D
      else { return nil }
      return end + 1
    }

    private func fault(_ message: String) -> TemplateSyntaxFault {
      TemplateSyntaxFault(offset: position, message: message)
    }
  }
}
