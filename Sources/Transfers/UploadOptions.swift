import TransferEngine
public import TransferModel
import TransferProtocols

/// Options of one `add`, besides its sources.
public struct UploadOptions: Sendable {
  public var settings: BatchSettings
  public var name: String?
  public var labels: [String: String]
  public var priority: Int
  /// The configured job that records it.
  public var job: String?
  /// Selects exactly these of the files found; one that has changed since or is missing is recorded as failed.
  package var plan: PlannedFiles?
  /// See ``SourceSelection/whenMissing``.
  package var whenMissing: (@Sendable (TransferError) -> Void)?
  /// Include and exclude rules in the order given; the first that matches decides.
  public var rules: [PathRule]
  public var followSymlinks: Bool
  /// A list of files instead of named sources.
  public var list: FileList?
  /// The format of the list; nil detects it.
  package var listFormat: ListFormat?
  /// The folder to which keys are relative; nil for the folder that all named sources share, or for the working
  /// directory if there is a list.
  public var base: NameBytes?
  /// How long a new or changed source must remain unchanged before it is sent, in milliseconds; nil to not wait. It is
  /// recorded immediately, as `settling`.
  public var settleMs: Int64?
  /// The file that marks a source as complete: `{path}.done`, `{dir}/{stem}.ready`, `{dir}/.done`. Sources without it
  /// are not recorded. It is not sent, and is deleted or moved together with its source.
  public var readyFile: String?
  /// Files that jobs write themselves, which are not sent.
  package var ownFiles: [String] = []
  /// The action on sources when their files are done.
  public var fate = SourceFate.keep
  /// What the destination has already, which is not sent; nil if that is not known.
  package var known: KnownList?
  /// What a receipt has to prove before that action.
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

/// A list of what a destination has: an S3 Inventory, whose keys are those of the bucket, or another manifest, whose
/// paths are relative to the destination.
package struct KnownList: Sendable, Hashable {
  package enum Evidence: String, Sendable, CaseIterable {
    /// Equal size and digest.
    case digest
    /// Equal size.
    case size
  }

  package var path: NameBytes
  package var evidence: Evidence

  package init(_ path: NameBytes, by evidence: Evidence) { (self.path, self.evidence) = (path, evidence) }
}

extension UploadOptions {
  func selection(_ sources: [NameBytes]) -> SourceSelection {
    var selection = SourceSelection(
      sources, list: list, base: base, rules: PathRules(rules), followsSymlinks: followSymlinks)
    selection.whenMissing = whenMissing
    selection.listFormat = listFormat?.manifest
    return selection
  }

  /// - Throws: `.usage` for an invalid pattern.
  var objectRules: ObjectRules {
    get throws(TransferError) {
      let rules = ObjectRules(
        settings.rules ?? [], keepsMode: settings.keepsMode, keepsOwner: settings.keepsOwner)
      guard let (rule, cause) = rules.problem else { return rules }
      throw TransferError(.usage, "read --rule", NameBytes(rule.text), cause: cause, remedy: "correct the pattern")
    }
  }
}
