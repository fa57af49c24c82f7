/// How long to wait before the next attempt: full jitter, `random(0 ... min(cap, base * 2^n))`
/// Source: AWS Architecture Blog, "Exponential Backoff And Jitter".
///
/// | attempt without progress | network, 5xx | throttled |
/// |---|---|---|
/// | 1 | 0 … 0.5 s | 0 … 1 s |
/// | 2 | 0 … 1 s | 0 … 2 s |
/// | 4 | 0 … 4 s | 0 … 8 s |
/// | 8 and more | 0 … 30 s | 0 … 30 s |
package struct RetryPolicy: Sendable, Hashable {
  package var baseMs: Int64
  package var throttleBaseMs: Int64
  package var capMs: Int64
  /// Consecutive attempts without progress after which a file fails.
  package var maxAttempts: Int

  package init(baseMs: Int64 = 500, throttleBaseMs: Int64 = 1_000, capMs: Int64 = 30_000, maxAttempts: Int = 8) {
    self.baseMs = baseMs
    self.throttleBaseMs = throttleBaseMs
    self.capMs = capMs
    self.maxAttempts = maxAttempts
  }

  package static let standard = RetryPolicy()

  /// The wait of a file, in milliseconds, in a run in which only a person can help; the next run tries it at once.
  package static let nextRunMs: Int64 = 86_400_000

  /// The wait in milliseconds before the attempt after failure number `n` (1 is the first). A longer wait requested by
  /// the server (`retryAfterMs`) takes precedence; up to a tenth is added so that clients spread out.
  package func delayMs(
    afterFailure n: Int, isThrottled: Bool, retryAfterMs: Int64?, using generator: inout some RandomNumberGenerator
  ) -> Int64 {
    precondition(n >= 1, "failure \(n)")
    let base = isThrottled ? throttleBaseMs : baseMs
    let ceiling = n > 20 ? capMs : min(capMs, base << Int64(n - 1))
    let jittered = Int64.random(in: 0...max(ceiling, 0), using: &generator)
    guard let asked = retryAfterMs, asked > 0 else { return jittered }
    return max(jittered, asked) + Int64.random(in: 0...(asked / 10), using: &generator)
  }
}
