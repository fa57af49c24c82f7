import TransferModel
import TransferReports

/// Every document that a command prints with `--json`.
enum DocumentCatalog {
  static let shapes: [ReportShape] = (reports + lists).sorted { $0.schema < $1.schema }

  private static let reports: [ReportShape] = [
    AddOutput.form.shape, BagOutput.form.shape, BatchesReport.form.shape, ChunksReport.form.shape,
    CallbackDocument.form.shape, CallbackCount.form.shape, CheckOutput.form.shape, CompareReport.form.shape,
    CompletionsOutput.form.shape, ConfigCheckOutput.form.shape,
    ConfigExampleOutput.form.shape, ControlOutput.form.shape, DestOutput.form.shape, DestTestOutput.form.shape,
    DoctorOutput.form.shape,
    FacetsReport.form.shape, FailuresReport.form.shape, HelpOutput.form.shape, HistoryView.form.shape,
    HostsReport.form.shape, IntegrityReport.form.shape, JobStatus.form.shape, JobUnitOutput.form.shape,
    LatencyReport.form.shape, LiveNow.form.shape, LossProofFigures.form.shape, ManifestAnalysisOutput.form.shape,
    ManifestShardsOutput.form.shape, PeriodsReport.form.shape, ProfileCheckOutput.form.shape,
    ProfileShowOutput.form.shape, ProfileTryOutput.form.shape, RetriesReport.form.shape, RunOutput.form.shape,
    RunsReport.form.shape, SealOutput.form.shape, ServeOutput.form.shape, SetOutput.form.shape,
    ShardSubmitOutput.form.shape,
    ShownAttempt.form.shape, ShownBatch.form.shape, ShownChunk.form.shape, ShownFile.form.shape,
    ShownRequest.form.shape, SlowReport.form.shape, SpansReport.form.shape, StatusOutput.form.shape,
    StoreCheckOutput.form.shape, StoreCopyOutput.form.shape, StorePathOutput.form.shape, StorePruneOutput.form.shape,
    StoreSchemaOutput.form.shape,
    StoreStatusOutput.form.shape, SummaryOutput.form.shape, ThroughputReport.form.shape, WaitOutput.form.shape,
    WasteReport.form.shape, WhyFigures.form.shape,
  ]

  private static let lists: [ReportShape] = [
    ReportShape(list: "transfers.callbacks.list/1", CallbacksListCommand.columns),
    ReportShape(list: "transfers.config.path/1", ConfigPathCommand.columns),
    ReportShape(list: "transfers.config.show/1", ConfigShowCommand.columns),
    ReportShape(list: "transfers.dest.list/1", DestListCommand.columns),
    ReportShape(list: "transfers.follow/1", FollowFigures.columns),
    ReportShape(list: "transfers.gc/1", AbandonedSessionFigures.columns),
    ReportShape(list: "transfers.job.list/1", JobListCommand.columns),
    ReportShape(list: "transfers.list.attempts/1", AttemptFigures.columns),
    ReportShape(list: "transfers.list.batches/1", BatchFigures.columns),
    ReportShape(list: "transfers.list.chunks/1", ChunkFigures.columns),
    ReportShape(list: "transfers.list.events/1", EventFigures.columns),
    ReportShape(list: "transfers.list.files/1", FileFigures.columns),
    ReportShape(list: "transfers.manifest.check/1", ManifestCheckCommand.columns),
    ReportShape(list: "transfers.plan/1", PlanPrinter.columns),
    ReportShape(list: "transfers.profile.list/1", ProfileListCommand.columns),
    ReportShape(list: "transfers.report.attempts/1", AttemptFigures.columns),
    ReportShape(list: "transfers.report.events/1", EventFigures.columns),
    ReportShape(list: "transfers.report.files/1", FileFigures.columns),
    ReportShape(list: "transfers.report.receipts/1", ReceiptFigures.columns),
    ReportShape(list: "transfers.store.receipts/1", ReceiptFigures.proven),
    ReportShape(list: "transfers.verify/1", VerifyCommand.columns),
  ]
}
