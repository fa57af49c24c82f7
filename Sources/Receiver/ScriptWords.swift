/// Splits one line of a fault script into words and parses its rule.
struct ScriptWords {
  struct Word {
    var text: String
    /// From 1, in bytes.
    var column: Int
  }

  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The rule of this line; nil when the line is empty or a comment.
  mutating func rule(line: Int) throws(ScriptMistake) -> FaultRule? {
    guard let first = try next() else { return nil }
    guard first.text == "match" else { throw ScriptMistake(column: first.column, text: "expected \"match\"") }
    let method = try expected("a method or *")
    guard method.text == "*" || method.text.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
      throw ScriptMistake(column: method.column, text: "expected a method in capitals or *")
    }
    let path = try expected("a path pattern")
    var rule = FaultRule(line: line, method: method.text == "*" ? nil : method.text, pattern: Array(path.text.utf8))
    try readSelectors(&rule)
    try readActions(&rule)
    return rule
  }

  private mutating func readSelectors(_ rule: inout FaultRule) throws(ScriptMistake) {
    var seen: Set<String> = []
    while true {
      let word = try expected("\":\" and an action")
      if word.text == ":" { return }
      let setting = try ScriptSetting(word, &seen)
      try setting.select(&rule)
    }
  }

  private mutating func readActions(_ rule: inout FaultRule) throws(ScriptMistake) {
    var seen: Set<String> = rule.times == nil ? [] : ["times"]
    var texts: [String] = []
    repeat {
      let word = try expected("an action")
      let setting = try ScriptSetting(word, &seen)
      try setting.act(&rule)
      texts.append(word.text)
    } while try peekIsMore()
    rule.effect.text = texts.joined(separator: " ")
    try ScriptSetting.checkTogether(rule.effect, column: at + 1)
  }

  private mutating func expected(_ what: String) throws(ScriptMistake) -> Word {
    guard let word = try next() else { throw ScriptMistake(column: at + 1, text: "expected \(what)") }
    return word
  }

  private mutating func peekIsMore() throws(ScriptMistake) -> Bool {
    let before = at
    defer { at = before }
    return try next() != nil
  }

  private mutating func next() throws(ScriptMistake) -> Word? {
    while at < bytes.count, Self.isBlank(bytes[at]) { at += 1 }
    guard at < bytes.count, bytes[at] != 0x23 else { return nil }
    let column = at + 1
    var word: [UInt8] = []
    var isQuoted = false
    while at < bytes.count, isQuoted || !Self.isBlank(bytes[at]) {
      if bytes[at] == 0x22 { isQuoted.toggle() } else { word.append(bytes[at]) }
      at += 1
    }
    if isQuoted { throw ScriptMistake(column: column, text: "the quote is not closed") }
    if word.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw ScriptMistake(column: column, text: "the word contains a control character")
    }
    return Word(text: String(decoding: word, as: UTF8.self), column: column)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
