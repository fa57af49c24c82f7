import TransferEngine
public import TransferModel

/// What one `add` is to record, beside its sources.
public struct UploadOptions: Sendable {
  public var settings: BatchSettings
  public var name: String?
  public var labels: [String: String]
  public var priority: Int
  /// The configured job that records it.
  public var job: String?
  /// Takes exactly these of what is found; one that is another one now, or is gone, is recorded as failed.
  package var plan: PlannedFiles?
  /// Include and exclude rules in the order given; the first that matches decides.
  public var rules: [PathRule]
  public var followSymlinks: Bool
  /// A list of files instead of named sources.
  public var list: FileList?
  /// The folder that keys are relative to; nil takes the one that all named sources share, or for a list the working
  /// directory.
  public var base: NameBytes?
  /// How long a source that is new or has changed must stay as it is before it is sent, in milliseconds; nil for no
  /// time. It is recorded at once as `settling`.
  public var settleMs: Int64?
  /// Which file shows that a source is complete: `{path}.done`, `{dir}/{stem}.ready`, `{dir}/.done`. Sources without it
  /// are not recorded; it is not sent, and goes with its source.
  public var readyFile: String?
  /// What is done with sources when their files are done.
  public var fate = SourceFate.keep
  /// What a receipt has to prove before that is done.
  public var fateProof = SourceRemoval.Proof.size

  public init(
    settings: BatchSettings, name: String? = nil, labels: [String: String] = [:],
    priority: Int = 0, rules: [PathRule] = [], followSymlinks: Bool = false, list: FileList? = nil,
    base: NameBytes? = nil
  ) {
    self.list = list
    self.base = base
    self.settings = settings
    self.name = name
    self.labels = labels
    self.priority = priority
    self.rules = rules
    self.followSymlinks = followSymlinks
  }
}

extension UploadOptions {
  func selection(_ sources: [NameBytes]) -> SourceSelection {
    SourceSelection(sources, list: list, base: base, rules: PathRules(rules), followsSymlinks: followSymlinks)
  }

  /// - Throws: `.usage` for a pattern that is invalid.
  var objectRules: ObjectRules {
    get throws(TransferError) {
      let rules = ObjectRules(settings.rules ?? [])
      guard let (rule, cause) = rules.problem else { return rules }
      throw TransferError(.usage, "read --rule", NameBytes(rule.text), cause: cause, remedy: "correct the pattern")
    }
  }
}
