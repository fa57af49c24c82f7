import TransferModel

/// `transfers help config`: the keys of a configuration, from the schema that reads it.
enum ConfigHelp {
  static var text: String {
    """
    A configuration defines named places and recurring jobs. It is YAML, and optional:

      --config FILE, else TRANSFERS_CONFIG   the only file to read, else
      $XDG_CONFIG_HOME/transfers/config.yaml (or ~/.config/…)   of the user, and
      /etc/transfers/config.yaml                                 of the system

    A place or job in the user's file replaces one of the same name in the system's file completely. Precedence: command
    line, TRANSFERS_<FLAG>, job, the place that a command names, defaults. Files that other users may write to are refused,
    and unknown keys are errors. The file contains no secrets: auth refers to them. "transfers config example" shows all keys.

      destinations:   push DIR NAME, push DIR NAME:sub/path
      sources:        pull NAME:path DIR
      jobs:           job run NAME; keys of push or, with direction: download, of pull
      defaults:       default options of push, pull and run

    Keys of a destination
    \(list(ConfigSchema.current.destination))
    Keys of a source
    \(list(ConfigSchema.current.source))
    Keys of a job
    \(list(ConfigSchema.current.upload.merging(ConfigSchema.current.download) { own, _ in own }))
    """
  }

  private static func list(_ keys: [String: ConfigKey]) -> String {
    let rows = keys.sorted { $0.key < $1.key }.map { (name: $0.key, text: sentence($0.value.about)) }
    return TwoColumns.text(rows, indent: 2, columns: 118)
  }

  /// The texts of options are sentences, those of keys that are none begin in lower case and have no full stop.
  static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") || text.isEmpty ? "" : ".")
  }
}
