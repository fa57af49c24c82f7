/// The names of documents and records.
package enum SchemaName {
  /// `report.summary` of `transfers.report.summary/1`.
  package static func short(_ schema: String) -> String {
    let name = schema.prefix { $0 != "/" }
    return String(name.hasPrefix("transfers.") ? name.dropFirst("transfers.".count) : name)
  }

  /// `file` of `transfers.list.files/1`, `batch` of `transfers.list.batches/1`.
  package static func singular(_ schema: String) -> String {
    let name = String(short(schema).split(separator: ".").last ?? "row")
    if name.hasSuffix("ches") { return String(name.dropLast(2)) }
    return name.hasSuffix("s") ? String(name.dropLast()) : name
  }
}
