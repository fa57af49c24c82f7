import ArgumentParser
import TransferModel
import Transfers

enum MissingChoice: String, ExpressibleByArgument, CaseIterable, Sendable { case fail, skip }

/// The formats of a list of local files. The other ones of ``ListFormat`` describe files to fetch.
enum SourceListFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case list, csv, jsonl, sums

  var format: ListFormat {
    switch self {
    case .list: .list
    case .csv: .csv
    case .jsonl: .jsonl
    case .sums: .sums
    }
  }
}

/// The sources of a batch.
struct SourceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Take the files in this list, one per line; - is standard input.", valueName: "file"),
    completion: .file())
  var filesFrom: NameBytes?

  @Option(
    name: .customLong("files-from0"),
    help: ArgumentHelp("The same with a NUL after each name, as written by find -print0.", valueName: "file"),
    completion: .file())
  var filesFromNUL: NameBytes?

  @Option(
    help: ArgumentHelp(
      "Format of the list (default: list, unless its name or first record says otherwise). A table or JSON lines can have key, size, digest, content_type, storage_class, header.NAME and tag.KEY for each path.",
      valueName: "form"))
  var listFormat: SourceListFormat?

  @Option(
    help: ArgumentHelp(
      "Listed files that do not exist: fail (the whole command) or skip (only these files).",
      valueName: "what"))
  var missing = MissingChoice.fail

  @Option(
    help: ArgumentHelp(
      "The folder that the paths of files are relative to (default: the common folder of all sources).",
      valueName: "folder"), completion: .directory)
  var base: NameBytes?

  @Option(
    help: ArgumentHelp(
      "Take only paths that match; * ? [] and ** for folders. The first matching rule decides.", valueName: "glob"))
  var include: [String] = []

  @Option(help: ArgumentHelp("Leave out paths that match.", valueName: "glob"))
  var exclude: [String] = []

  @Flag(help: "Follow symbolic links instead of skipping them.")
  var followSymlinks = false

  /// - Parameter sources: the arguments before the destination.
  func check(_ sources: [NameBytes], hasDestination: Bool) throws {
    if filesFrom != nil && filesFromNUL != nil {
      throw ValidationError("--files-from and --files-from0 contradict each other; give one of them")
    }
    let isListed = filesFrom != nil || filesFromNUL != nil
    guard hasDestination, isListed || !sources.isEmpty else {
      throw ValidationError("give at least one source and a destination")
    }
    if isListed && !sources.isEmpty {
      throw ValidationError("give a list or sources, not both")
    }
    if listFormat != nil, filesFromNUL != nil {
      throw ValidationError("--list-format and --files-from0 contradict each other; give one of them")
    }
    if sources.contains(Self.dash) && sources.count > 1 {
      throw ValidationError(
        "- is a list on standard input and cannot be combined with sources; a file of this name is ./-")
    }
  }

  /// Options for lists need a list.
  func checkMissing(_ sources: [NameBytes]) throws(CommandFailure) {
    guard list(sources) == nil, missing == .skip || listFormat != nil else { return }
    throw .usage(
      "\(missing == .skip ? "--missing" : "--list-format") is for lists",
      remedy: "give --files-from, --files-from0 or -, or leave it out")
  }

  /// nil when the sources are named on the command line.
  func list(_ sources: [NameBytes]) -> FileList? {
    guard let path = filesFromNUL ?? filesFrom ?? (sources == [Self.dash] ? Self.dash : nil) else { return nil }
    return FileList(
      path: path == Self.dash ? nil : path, separator: filesFromNUL == nil ? .newline : .nul,
      skipsMissing: missing == .skip)
  }

  private static let dash = NameBytes("-")
}
