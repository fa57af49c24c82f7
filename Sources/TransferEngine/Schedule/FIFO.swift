/// A queue with amortised constant cost at both ends.
struct FIFO<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer {
      head += 1
      if head > 64 && head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }

  func first(where fits: (Element) -> Bool) -> Element? { elements[head...].first(where: fits) }

  func count(where fits: (Element) -> Bool) -> Int { elements[head...].count(where: fits) }

  /// The first element for which `fits` is true; the others keep their order.
  mutating func popFirst(where fits: (Element) -> Bool) -> Element? {
    guard let index = elements[head...].firstIndex(where: fits) else { return nil }
    return index == head ? popFirst() : elements.remove(at: index)
  }

  /// Removes and returns the elements for which `belongs` is true; the others keep their order.
  mutating func removeAll(where belongs: (Element) -> Bool) -> [Element] {
    let waiting = elements[head...]
    let taken = waiting.filter(belongs)
    guard !taken.isEmpty else { return [] }
    elements = waiting.filter { !belongs($0) }
    head = 0
    return taken
  }
}
