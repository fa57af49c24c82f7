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

  @Flag(
    name: .customLong("accept-html"),
    help: "PUT and WebDAV: a web page as the answer (200, text/html) counts as stored; else the file fails.")
  var acceptsHTML = false

  @Flag(
    name: .customLong("accept-202"),
    help: "202 (taken, to be worked on later) counts as stored; else the file is unknown.")
  var accepts202 = false

  @Option(
    help: ArgumentHelp(
      "Digest that goes ahead of bodies: sha-256, for tus also sha-1, md5, crc32 and none (default: in tus what the server announces, else none).",
      valueName: "name"))
  var digest: String?

  @Flag(
    name: .customLong("parallel"),
    help: "tus: a large file as several uploads side by side that the server joins, where it can.")
  var isParallel = false

  @Flag(name: .customLong("method-override"), help: "tus: PATCH and DELETE as POST with X-HTTP-Method-Override.")
  var overridesMethod = false

  @Option(
    help: ArgumentHelp(
      "Version of resumable uploads: 9, 8, 6, 5, 4, 3 or final (default: 9, then 8).", valueName: "version"))
  var interop: String?

  @Option(
    help: ArgumentHelp("How resumable uploads are made: put or post (default: put).", valueName: "method"))
  var method: String?

  var settings: WebSettings {
    WebSettings(
      fields: fields.isEmpty ? nil : fields, fileField: fileField, contentType: contentType, digest: digest,
      isParallel: isParallel ? true : nil, overridesMethod: overridesMethod ? true : nil, interop: interop,
      method: method, acceptsHTML: acceptsHTML ? true : nil, accepts202: accepts202 ? true : nil)
  }
}
