import TransferModel

extension FormProtocol {
  static let definition = ProtocolDefinition(
    web: "form+",
    rules: WebRules(
      isEndpoint: true,
      wayToTellPaths: "send their paths along: --field key={path}, with the name that the server expects"),
    ProtocolDescription(
      name: "form", destination: "form+http(s)://", usage: "form+http(s)://host/path",
      about: "POST of a form with the file (multipart/form-data), --field, --file-field", digest: "none",
      exactlyOnce: "no: unknown"),
    options: [
      .field, .fileField, .contentType, .accept202,
    ],
    tellsPaths: { $0.fields?.contains { $0.contains("{path}") } ?? false },
    make: { settings, place throws(TransferError) in try FormProtocol(place: place, settings) })
}
