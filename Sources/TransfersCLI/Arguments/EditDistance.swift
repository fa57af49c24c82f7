/// The edit distance of two words, for suggestions.
enum EditDistance {
  /// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
  /// Source: the restricted Damerau–Levenshtein distance ("optimal string alignment").
  static func between(_ first: String, _ second: String) -> Int {
    let (a, b) = (Array(first.utf8), Array(second.utf8))
    var twoBack: [Int] = []
    var previous = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        let cost = a[i] == b[j] ? 0 : 1
        var least = min(previous[j] + cost, previous[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, twoBack[j - 1] + 1) }
        row.append(least)
      }
      (twoBack, previous) = (previous, row)
    }
    return previous[b.count]
  }

  /// The nearest word, if it is near enough: a third of the word may be wrong.
  static func nearest(to word: String, in words: some Sequence<String>) -> String? {
    guard word.utf8.count <= 64 else { return nil }
    let distances = words.map { (word: $0, distance: between(word, $0)) }
    guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
    return nearest.distance <= max(1, word.utf8.count / 3) ? nearest.word : nil
  }
}
