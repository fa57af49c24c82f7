import TransferModel

/// `transfers help config`: what a configuration can say, from the schema that reads it.
enum ConfigHelp {
  static var text: String {
    """
    A configuration names places and recurring jobs. It is YAML, and optional:

      --config FILE, else TRANSFERS_CONFIG   the only one that is read, else
      $XDG_CONFIG_HOME/transfers/config.yaml (or ~/.config/…)   of the user, and
      /etc/transfers/config.yaml                                 of the system

    A place or job of the user's file takes that of the system's as a whole. What is typed wins over TRANSFERS_<FLAG>, that
    over a job, that over the place that a command names, that over defaults. Files that others may write are refused, and
    unknown keys are errors. No secret stands in it: auth names where one is. "transfers config example" has everything.

      destinations:   push DIR NAME, push DIR NAME:sub/path
      sources:        pull NAME:path DIR
      jobs:           job run NAME; keys of push or, with direction: download, of pull
      defaults:       options of push, pull and run for when nothing else says them

    Keys of a destination
    \(list(ConfigSchema.current.destination))
    Keys of a source
    \(list(ConfigSchema.current.source))
    Keys of a job
    \(list(ConfigSchema.current.upload.merging(ConfigSchema.current.download) { own, _ in own }))
    """
  }

  private static func list(_ keys: [String: ConfigKey]) -> String {
    let rows = keys.sorted { $0.key < $1.key }.map { (name: $0.key, text: $0.value.about) }
    return TwoColumns.text(rows, indent: 2, columns: 118)
  }
}
