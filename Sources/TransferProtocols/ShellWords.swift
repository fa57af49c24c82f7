/// Splits a command into words like a POSIX shell, without any expansion.
/// Source: POSIX.1-2017, Shell Command Language, section 2.2 "Quoting"; Python's `shlex.split`, which AWS tools use.
package enum ShellWords {
  /// nil if a quote is not closed, or the text ends in a backslash.
  package static func split(_ text: String) -> [String]? {
    var (words, word): ([String], String?) = ([], nil)
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        // In double quotes a backslash is literal, unless it escapes a quote or another backslash.
        let isPlain = quote == "\"" && character != "\"" && character != "\\"
        word = (word ?? "") + (isPlain ? "\\" : "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
        word = word ?? ""
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        if let whole = word { words.append(whole) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil, !isEscaped else { return nil }
    if let whole = word { words.append(whole) }
    return words
  }
}
