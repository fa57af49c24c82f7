import TransferModel

/// Disjoint time spans, in order.
struct SpanSet: Sendable, Hashable {
  private(set) var spans: [TimeSpan] = []

  /// From any spans; empty ones are omitted, and overlapping ones joined.
  init(_ any: [TimeSpan]) {
    for span in any.filter({ $0.lengthMs > 0 }).sorted(by: { ($0.fromMs, $0.toMs) < ($1.fromMs, $1.toMs) }) {
      if let last = spans.last, span.fromMs <= last.toMs {
        spans[spans.count - 1].toMs = max(last.toMs, span.toMs)
      } else {
        spans.append(span)
      }
    }
  }

  var lengthMs: Int64 { spans.reduce(0) { $0 +| $1.lengthMs } }

  /// Between the first and the last of them.
  var gapsMs: Int64 {
    guard let first = spans.first, let last = spans.last else { return 0 }
    return last.toMs -| first.fromMs -| lengthMs
  }

  func clipped(to window: TimeSpan) -> SpanSet {
    SpanSet(spans.map { TimeSpan(max($0.fromMs, window.fromMs), min($0.toMs, window.toMs)) })
  }

  func joined(_ other: SpanSet) -> SpanSet { SpanSet(spans + other.spans) }

  /// The parts that `other` does not cover.
  func without(_ other: SpanSet) -> SpanSet {
    var (left, next) = ([TimeSpan](), 0)
    for span in spans {
      var fromMs = span.fromMs
      while next < other.spans.count, other.spans[next].toMs <= fromMs { next += 1 }
      var index = next
      while index < other.spans.count, other.spans[index].fromMs < span.toMs {
        left.append(TimeSpan(fromMs, other.spans[index].fromMs))
        fromMs = max(fromMs, other.spans[index].toMs)
        index += 1
      }
      left.append(TimeSpan(fromMs, span.toMs))
    }
    return SpanSet(left)
  }
}
