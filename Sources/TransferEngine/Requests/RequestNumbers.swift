/// Unique numbers for the requests of one run. Used by the engine's thread.
final class RequestNumbers {
  typealias Number = UInt64
  private var last: Number = 0

  func next() -> Number {
    last += 1
    return last
  }
}
