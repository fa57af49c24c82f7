/// One `key` or `key=value` of a fault script.
struct ScriptSetting {
  private let key: String
  private let value: String
  private let hasValue: Bool
  private let keyColumn: Int
  private let valueColumn: Int

  init(_ word: ScriptWords.Word, _ seen: inout Set<String>) throws(ScriptMistake) {
    let parts = word.text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    key = String(parts[0])
    hasValue = parts.count == 2
    value = hasValue ? String(parts[1]) : ""
    keyColumn = word.column
    valueColumn = word.column + key.utf8.count + 1
    guard seen.insert(key).inserted else { throw mistake("\"\(key)\" appears twice") }
  }

  func select(_ rule: inout FaultRule) throws(ScriptMistake) {
    switch key {
    case "nth", "every", "p":
      guard rule.selector == .all else { throw mistake("only one of nth, every and p can be used") }
      rule.selector = try selector()
    case "per":
      guard value == "path" else { throw wrongValue("expected per=path") }
      rule.isPerPath = true
    case "times": rule.times = try count()
    default: throw mistake("unknown selector \"\(key)\"")
    }
  }

  private func selector() throws(ScriptMistake) -> FaultRule.Selector {
    switch key {
    case "nth": return .nth(try count())
    case "every": return .every(try count())
    default:
      guard let p = Double(value), (0...1).contains(p) else { throw wrongValue("expected a number from 0 to 1") }
      return .chance(p)
    }
  }

  func act(_ rule: inout FaultRule) throws(ScriptMistake) {
    switch key {
    case "times": rule.times = try count()
    case "latency": rule.effect.latencyMs = try number(upTo: 86_400_000)
    case "late-latency": rule.effect.lateMs = try number(upTo: 86_400_000)
    case "late-status":
      if rule.effect.status != nil { throw mistake("late-status contradicts another status") }
      rule.effect.lateStatus = try status()
    case "status", "early-status":
      if rule.effect.status != nil || rule.effect.lateStatus != nil {
        throw mistake("\(key) contradicts another status")
      }
      rule.effect.status = try status()
      rule.effect.isEarly = key == "early-status"
    case "retry-after": rule.effect.retryAfter = try text()
    case "redirect": rule.effect.redirect = try text()
    case "cut-after": rule.effect.cutAfter = try number()
    case "reset-after": rule.effect.resetAfter = try number()
    case "stall": rule.effect.stall = try stall()
    case "slow": rule.effect.slow = Int64(try count())
    case "hold": rule.effect.hold = try name(value)
    case "late-hold": rule.effect.lateHold = try name(value)
    case "body-hold": rule.effect.bodyHold = try bodyHold()
    default: try actOnUpload(&rule)
    }
  }

  private func actOnUpload(_ rule: inout FaultRule) throws(ScriptMistake) {
    switch key {
    case "wrong-offset": rule.effect.regress = try number()
    case "forget-offset": rule.effect.forgetsOffset = try flag()
    case "locked": try lock(&rule)
    case "bad-location": rule.effect.location = try text()
    case "token": rule.effect.token = try escapedText()
    case "limit": rule.effect.limit = try number()
    case "forget-session": rule.effect.forgetsSession = try flag()
    case "offset-past-end": rule.effect.isOffsetPastEnd = try flag()
    case "no-104": rule.effect.hidesInterim = try flag()
    case "html": rule.effect.isHTML = try flag()
    default: try actOnDownload(&rule)
    }
  }

  private func actOnDownload(_ rule: inout FaultRule) throws(ScriptMistake) {
    switch key {
    case "version":
      guard let version = UInt8(value), version > 0 else { throw wrongValue("expected a number from 1 to 255") }
      rule.effect.version = version
    case "wrong-byte": rule.effect.wrongByte = try number()
    case "ignore-range": rule.effect.ignoresRange = try flag()
    case "ignore-condition": rule.effect.ignoresCondition = try flag()
    case "content-range": rule.effect.contentRange = try text()
    case "earlier": rule.effect.earlier = try number()
    case "parts": rule.effect.parts = Int64(try count())
    case "field": rule.effect.field = try field()
    case "weak-etag": rule.effect.isETagWeak = try flag()
    case "omit": rule.effect.omitted = Set(try text().lowercased().split(separator: ",").map(String.init))
    case Answer.Framing.chunked.rawValue, Answer.Framing.close.rawValue: try frame(&rule)
    default: try end(&rule)
    }
  }

  private func frame(_ rule: inout FaultRule) throws(ScriptMistake) {
    guard try flag(), let framing = Answer.Framing(rawValue: key) else { return }
    if rule.effect.framing != .length { throw mistake("\"\(key)\" contradicts \"\(rule.effect.framing.rawValue)\"") }
    rule.effect.framing = framing
  }

  private func lock(_ rule: inout FaultRule) throws(ScriptMistake) {
    if rule.effect.status != nil { throw mistake("locked contradicts status") }
    if rule.times != nil { throw mistake("locked=TIMES contradicts times") }
    rule.effect.status = 423
    rule.effect.isLocked = true
    rule.times = try count()
  }

  private func field() throws(ScriptMistake) -> Answer.Field {
    let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { throw wrongValue("expected NAME:VALUE") }
    return Answer.Field(String(parts[0]), String(parts[1].drop { $0 == " " }))
  }

  private func flag() throws(ScriptMistake) -> Bool {
    if hasValue { throw wrongValue("\"\(key)\" takes no value") }
    return true
  }

  /// Text in which `\r`, `\n` and `\\` stand for one byte.
  private func escapedText() throws(ScriptMistake) -> String {
    var (out, rest) = ("", try text()[...])
    while let character = rest.popFirst() {
      guard character == "\\" else {
        out.append(character)
        continue
      }
      switch rest.popFirst() {
      case "r": out += "\r"
      case "n": out += "\n"
      case "\\": out += "\\"
      default: throw wrongValue("only \\r, \\n and \\\\ can follow a backslash")
      }
    }
    return out
  }

  private func end(_ rule: inout FaultRule) throws(ScriptMistake) {
    guard let ending = FaultEffect.Ending(rawValue: key) else { throw mistake("unknown action \"\(key)\"") }
    _ = try flag()
    if let other = rule.effect.ending { throw mistake("\"\(key)\" contradicts \"\(other.rawValue)\"") }
    rule.effect.ending = ending
  }

  /// Refuses actions that contradict each other.
  static func checkTogether(_ effect: FaultEffect, column: Int) throws(ScriptMistake) {
    let isAnswered = effect.status != nil || effect.lateStatus != nil || effect.redirect != nil
    if effect.cutAfter != nil && effect.resetAfter != nil {
      throw ScriptMistake(column: column, text: "cut-after contradicts reset-after")
    }
    if effect.ending != nil && (effect.cutAfter != nil || effect.resetAfter != nil) {
      throw ScriptMistake(column: column, text: "cut-after and reset-after leave no answer to modify")
    }
    if effect.retryAfter != nil && !isAnswered {
      throw ScriptMistake(column: column, text: "retry-after needs a status")
    }
  }

  private func stall() throws(ScriptMistake) -> FaultEffect.Stall {
    let parts = value.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let bytes = Int64(parts[0]), bytes >= 0, let seconds = Double(parts[1]),
      (0...86_400).contains(seconds)
    else { throw wrongValue("expected BYTES,SECONDS") }
    return FaultEffect.Stall(afterBytes: bytes, milliseconds: Int64(seconds * 1000))
  }

  private func bodyHold() throws(ScriptMistake) -> FaultEffect.BodyHold {
    let parts = value.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let bytes = Int64(parts[0]), bytes >= 0 else { throw wrongValue("expected BYTES,NAME") }
    return FaultEffect.BodyHold(afterBytes: bytes, name: try name(String(parts[1])))
  }

  /// Characters that need no encoding in a URL.
  private func name(_ text: String) throws(ScriptMistake) -> String {
    let isName = text.utf8.allSatisfy {
      (0x61...0x7A).contains($0) || (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D
    }
    guard isName, !text.isEmpty else { throw wrongValue("expected a name of letters, digits and minus signs") }
    return text
  }

  private func status() throws(ScriptMistake) -> Int {
    guard let status = Int(value), (200...599).contains(status) else {
      throw wrongValue("expected a status from 200 to 599")
    }
    return status
  }

  private func text() throws(ScriptMistake) -> String {
    if value.isEmpty { throw wrongValue("expected a value") }
    return value
  }

  private func count() throws(ScriptMistake) -> Int {
    guard let count = Int(value), count > 0 else { throw wrongValue("expected a whole number above 0") }
    return count
  }

  private func number(upTo limit: Int64 = .max) throws(ScriptMistake) -> Int64 {
    guard let number = Int64(value), (0...limit).contains(number) else { throw wrongValue("expected a whole number") }
    return number
  }

  private func mistake(_ text: String) -> ScriptMistake { ScriptMistake(column: keyColumn, text: text) }

  private func wrongValue(_ text: String) -> ScriptMistake { ScriptMistake(column: valueColumn, text: text) }
}
