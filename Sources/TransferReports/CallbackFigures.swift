import TransferModel

/// The document for receivers of callbacks: the state of a file or batch, or the result of a job run.
package struct CallbackDocument: Sendable {
  package let event: CallbackEvent
  /// The same for each delivery of the callback.
  package let id: String
  package let file: FileRow?
  package let batch: BatchRow?
  package let job: CallbackJob?

  package init(
    _ event: CallbackEvent, id: String, file: FileRow? = nil, batch: BatchRow? = nil, job: CallbackJob? = nil
  ) {
    (self.event, self.id, self.file, self.batch, self.job) = (event, id, file, batch, job)
  }

  package static let form = ReportForm<CallbackDocument>(
    "transfers.callback/1",
    [
      .facts([.text("event") { $0.event.name }, .text("id") { $0.id }]),
      .record("file", nil, FileFigures.columns) { $0.file },
      .record("batch", nil, BatchFigures.ofFiles) { $0.batch },
      .record(
        "job", nil,
        [
          .text("name") { $0.name }, .text("result") { $0.result }, .text("message") { $0.message },
          .text("summary") { $0.summary }, .text("report") { $0.report }, .time("started_at") { $0.startedMs },
          .time("ended_at") { $0.endedMs }, .integer("failed_runs") { $0.failedRuns },
        ]
      ) { $0.job },
    ])

  package func json(_ header: ReportHeader) -> [UInt8] {
    let report = Self.form.report(self)
    return JSONWriter.document(FigureTree(report), schema: report.schema, header)
  }
}

/// A job run, as reported to receivers.
package struct CallbackJob: Sendable {
  package var name: String
  /// The name of the exit code, and the message; nil at the start.
  package var result: String?
  package var message: String?
  /// The line for the system log.
  package var summary: String?
  /// The lines on standard error; nil for a successful run.
  package var report: String?
  package var startedMs: Int64
  package var endedMs: Int64?
  /// Unsuccessful runs since the last report to the receiver, including this one; nil at the start.
  package var failedRuns: Int?

  package init(name: String, startedMs: Int64) { (self.name, self.startedMs) = (name, startedMs) }
}

/// The columns of `callbacks list`.
package enum CallbackFigures {
  /// - Parameter target: the displayed form of the target of a callback.
  package static func columns(_ target: @escaping @Sendable (CallbackSetting) -> String) -> [Column<CallbackRow>] {
    [
      .integer("id", "Id") { $0.id },
      .text("event", "Event") { $0.setting.event.name },
      .text("about", "About") { row in
        row.file?.description ?? row.job.map { "job \($0)" } ?? row.batch?.description ?? ""
      },
      .text("kind", "Kind") { $0.setting.kind.rawValue },
      .text("target", "To") { target($0.setting) },
      .text("state", "State") { $0.state.rawValue }.label(),
      .integer("deliveries", "Tries") { $0.deliveries },
      .integer("failures") { $0.failures },
      .time("next_at", "Next") { $0.state == .waiting && $0.notBeforeMs > 0 ? $0.notBeforeMs : nil },
      .time("recorded_at") { $0.recordedMs },
      .time("ended_at") { $0.endedMs },
      .integer("exit_code") { $0.exitCode },
      .integer("http_status") { $0.httpStatus },
      .text("message", "Last error") { $0.message },
    ]
  }
}
