import TransferModel

/// One cost in time, with advice on how to reduce it.
public struct CostRow: Sendable, Hashable {
  public enum Cause: String, Sendable, CaseIterable {
    /// No engine ran, or the machine slept, while files waited for one; a person had paused some files.
    case down, paused
    /// Waiting after failures, for answers, for connections; bodies that do not count.
    case backoff, server, connect, resent

    /// Each moment counts once; otherwise the times of all requests and waits are added, even concurrent ones.
    public var isWall: Bool { self == .down || self == .paused }
  }

  public let cause: Cause
  /// nil for costs on this machine.
  public var host: String?
  public var errorCode: String?
  public var ms: Int64
  /// Repeated attempts, and bytes that do not count.
  public var attempts: Int64?
  public var bytes: Int64?
  /// The advice for the error.
  public var advice: String?

  package init(_ cause: Cause, host: String? = nil, ms: Int64) { (self.cause, self.host, self.ms) = (cause, host, ms) }

  /// All costs, largest first. A pause is last, however long it was, because a person requested it.
  package static func all(
    _ sums: CostSums, running: [TimeSpan], asleep: [TimeSpan], window: TimeSpan = TimeSpan(.min, .max)
  ) -> [CostRow] {
    let lost = LostTime(sums, running: running, asleep: asleep, window)
    var rows = [CostRow(.down, ms: lost.downMs), CostRow(.paused, ms: lost.pausedMs)]
    for (host, costs) in sums.hosts {
      rows += [CostRow(.server, host: host, ms: costs.serverMs), CostRow(.connect, host: host, ms: costs.connectMs)]
      var resent = CostRow(.resent, host: host, ms: costs.resentMs)
      resent.bytes = costs.bytesUnacked
      rows.append(resent)
    }
    for (place, backoff) in sums.backoff {
      var row = CostRow(.backoff, host: place.host, ms: backoff.ms)
      (row.attempts, row.advice) = (backoff.attempts, sums.hints[place.code])
      row.errorCode = place.code.isEmpty ? nil : place.code
      rows.append(row)
    }
    return rows.filter { $0.ms > 0 }.sorted { $0.order < $1.order }
  }

  private var order: (Int, Int64, Int, String, String) {
    (cause == .paused ? 1 : 0, -ms, Cause.allCases.firstIndex(of: cause) ?? 0, host ?? "", errorCode ?? "")
  }
}

/// The columns of the costs.
package enum CostFigures {
  package static let columns: [Column<CostRow>] = [
    .duration("cost_ms", "Cost") { $0.ms },
    .text("counted", "Counted as") { $0.cause.isWall ? "wall" : "requests" }.label(),
    .text("cause") { $0.cause.rawValue }.label(),
    .text("error_code") { $0.errorCode }.label(),
    .integer("attempts") { $0.attempts },
    .bytes("bytes") { $0.bytes },
    .text("what", "What") { $0.what },
    .text("host", "Host") { $0.cause.isWall ? nil : $0.host }.label(),
    .text("hint", "What would change it") { $0.hint },
  ]
}

extension CostRow {
  /// ` (data.example)`, for costs at a server.
  var place: String { host.map { " (\(printable($0)))" } ?? "" }

  var what: String {
    switch cause {
    case .down: "no engine ran while files waited"
    case .paused: "files were paused by a person"
    case .backoff:
      "waiting after " + (errorCode ?? "failures") + (attempts.map { ", " + Quantity.count(Int($0), "time") } ?? "")
    case .server: "waiting for the server's answer"
    case .connect: "making connections"
    case .resent: "\(Quantity.bytes(bytes ?? 0)) transferred that do not count"
    }
  }

  var hint: String {
    switch cause {
    case .down: "let the engine run more often: transfers run, from cron or a service"
    case .paused: "transfers resume"
    case .backoff: advice.flatMap { $0.isEmpty ? nil : $0 } ?? "transfers report failures"
    case .server: "more requests at a time (--workers), longer chunks, or a faster server: transfers report hosts"
    case .connect:
      "if they fail, check the network (transfers report failures); else larger parts, if the protocol has them "
        + "(--part-size)"
    case .resent: "shorter chunks, or a protocol that resumes: transfers report waste"
    }
  }
}
