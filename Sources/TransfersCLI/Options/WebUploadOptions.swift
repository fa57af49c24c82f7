import ArgumentParser
import TransferModel

/// What is told to web destinations of some kinds only; the library refuses what the destination does not know.
struct WebUploadOptions: ParsableArguments {
  @Option(
    name: .customLong("field"),
    help: ArgumentHelp(
      "A field of a form, before the file; repeatable. {path} and {name} stand for the file's. It is stored: no secrets.",
      valueName: "name=value"))
  var fields: [String] = []

  @Option(help: ArgumentHelp("The field of a form that holds the file (default: file).", valueName: "name"))
  var fileField: String?

  @Option(
    help: ArgumentHelp(
      "Media type of what is sent: auto (by the extension of the name) or a type (default: auto in forms, else application/octet-stream).",
      valueName: "type"))
  var contentType: String?

  var settings: WebSettings {
    WebSettings(fields: fields.isEmpty ? nil : fields, fileField: fileField, contentType: contentType)
  }
}
