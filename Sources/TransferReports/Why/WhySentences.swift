import TransferModel

/// ``WhyFigures`` in words: the verdict first, then supporting sentences.
extension WhyFigures {
  package var sentences: [String] {
    ([verdict] + standing + clock + waits + [limit, others]).compactMap(\.self)
  }

  /// One sentence.
  package var verdict: String {
    guard let wallMs else {
      return "The clock was set back by at least \(time(row.fromMs -| toMs)) in between: how long it took is not known."
    }
    if row.files == 0, tally.attempts == 0 { return "The batch has no files." }
    if wallMs == 0, tally.attempts == 0 {
      return "It ended when it was recorded\(row.cause.map { ": \($0)" } ?? ""), without a request."
    }
    guard let part = result.parts.cause else {
      let most = WallPart.allCases.max { result.parts[$0] < result.parts[$1] } ?? .queued
      guard result.parts[most] > 0 else { return "It took less than a millisecond." }
      return "No part took more than half of the time; the longest is \(most.name(isDownload: row.isDownload)) with "
        + "\(time(result.parts[most])) of \(time(wallMs))."
    }
    return "\(time(result.parts[part])) of \(time(wallMs)) \(share(of: part))."
  }

  private func share(of part: WallPart) -> String {
    switch part {
    case .send: row.isDownload ? "it received its bytes" : "it sent its bytes"
    case .server: "it waited for the server's answers"
    case .connect: "it was making connections"
    case .verify: "the server was queried about the content"
    case .backoff: "it waited after failures before retrying"
    case .throttled: throttle
    case .paused: "it waited for a person"
    case .queued: "it was queued behind other files"
    case .down: absence
    }
  }

  /// A machine that was asleep had an engine: to run it more often would not help.
  private var absence: String {
    let down = result.parts[.down]
    if result.asleepMs >= down { return "the machine was asleep" }
    return result.asleepMs > down / 2 ? "the machine was asleep or no engine ran" : "no engine ran"
  }

  /// A wait that the server requested of another file delays all files of its host.
  private var throttle: String {
    let isAsked = tally.failures.contains { $0.asked > 0 }
    if Self.isHeldByRate(limits, result.parts) {
      return isAsked ? "a rate limit delayed it, and the server had requested a wait" : "a rate limit delayed it"
    }
    return isAsked || limits.heldMs > 0 || limits.rateBps == nil
      ? "the server had requested a wait" : "a rate limit delayed it, or the server had requested a wait"
  }

  /// The current state, if the parts do not show it.
  private var standing: [String] {
    var out: [String] = []
    if isRunning { out.append("It has not ended: the time is counted until now.") }
    if let now = tally.inFlight {
      let rate = Quantity.bytesPerSecond(now.bytesPerSecond)
      out.append("\(Quantity.bytes(now.bytes)) are in flight, at \(rate) over the last seconds.")
    }
    if row.state == "crashed" {
      out.append("It crashed: its time ends with its last heartbeat, which is recorded every few seconds.")
    }
    if row.state == "unknown" {
      out.append("Its outcome is unknown: the time is counted to the end of its last request.")
    }
    if tally.attempts == 0, wallMs ?? 0 > 0, row.files != 0 { out.append("No request was made for it.") }
    if result.asleepMs > 0 {
      out.append("The machine was asleep for \(time(result.asleepMs)) while an engine ran; that counts as down.")
    }
    if result.restedMs > 0 {
      out.append(
        "It was failed or cancelled for \(time(result.restedMs)) until somebody retried it; that counts as paused.")
    }
    return out
  }

  private var clock: [String] {
    var out: [String] = []
    if clockSetBackMs >= 1_000, wallMs != nil {
      out.append(
        "The clock was set back by at least \(time(clockSetBackMs)) in that time: activity around that moment may "
          + "be in the wrong part, and the wall time follows the clock.")
    }
    if clockMovedMs.magnitude >= 1_000 {
      out.append(
        "The clock was moved by \(time(clockMovedMs)) during a run; the times of a run follow the clock at its start.")
    }
    return out
  }

  /// The three most expensive kinds of failures.
  private var waits: [String] {
    tally.failures.prefix(3).map { failure in
      var text = "Failed requests: \(failure.count) × \(failure.code)"
      if let address = failure.remoteIP { text += " from \(printable(address))" }
      if failure.backoffMs > 0 { text += ", with \(time(failure.backoffMs)) of backoff in all" }
      if failure.asked > 0 {
        let often = failure.asked == 1 ? "once" : "\(failure.asked) times"
        text += "; the server asked for a wait \(often), of up to \(time(failure.longestAskedMs))"
      }
      return text + "."
    }
  }

  private var limit: String? {
    guard let limit = limits.limit else { return nil }
    switch limit {
    case .rate:
      let rate = limits.rateBps.map { " (now \(Quantity.bytesPerSecond($0)))" } ?? ""
      return "The bottleneck is your rate limit\(rate): it delayed bodies for \(time(limits.heldMs)) in all."
    case .processor:
      let share = Int(nearest: (limits.processorShare ?? 0) * 100)
      return "The bottleneck may be this machine: the engine used \(share) % of a processor while it ran."
    case .roundTrip:
      return "Short requests are the bottleneck: \(shape), \(pace)on any network; longer chunks or more "
        + "connections help."
    case .server:
      return "The server is the bottleneck: on average no body moved for \(time(limits.turnaroundMs ?? 0)) of a "
        + "request (\(shape))."
    case .network:
      let rate = limits.sendBps.map { ": \(Quantity.bytesPerSecond($0)) while bodies were being transferred" } ?? ""
      return "The bottleneck is the network, or how fast the other side "
        + "\(row.isDownload ? "sends" : "accepts") bytes\(rate)."
    }
  }

  /// `64.0 KiB × 10 connections / 50 ms`
  private var shape: String {
    let chunk = limits.chunkBytes.map { Quantity.bytes($0) } ?? "-"
    let trip = limits.turnaroundMs.map { time($0) } ?? "-"
    return "\(chunk) × \(Quantity.count(limits.connections, "connection")) / \(trip)"
  }

  private var pace: String { limits.boundBps.map { "at most \(Quantity.bytesPerSecond($0)) " } ?? "" }

  private var others: String? {
    guard let host, host.others > 0 else { return nil }
    let kinds = [(host.tooMany, "429"), (host.unavailable, "503")].filter { $0.0 > 0 }.map { "\($0.0) × \($0.1)" }
    let what = kinds.isEmpty ? "" : " (\(kinds.joined(separator: ", ")))"
    let remark =
      host.failed * 2 > host.others
      ? ": it is the server or the network path to it, not \(row.files == nil ? "this file" : "this batch")" : ""
    return
      "Others at \(printable(host.host)) in that time: \(count(host.others, "attempt")), \(host.failed) failed\(what)\(remark)."
  }

  private func count(_ number: Int64, _ noun: String) -> String { Quantity.count(Int(clamping: number), noun) }
  private func time(_ ms: Int64) -> String { Quantity.duration(ms) }
}
