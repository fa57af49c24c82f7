import TransferModel
import TransferProtocols

/// How this program describes itself to HTCondor.
package enum CondorPlugin {
  /// The ad of `-classad`: exactly the five attributes that version 4 requires.
  package static func ad(protocolVersion: Int) -> [UInt8] {
    var known: Set<String> = []
    let schemes = Direction.allCases.flatMap(AllProtocols.schemes).filter { known.insert($0).inserted }
    return ClassAd([
      ("MultipleFileSupport", .boolean(true)), ("PluginVersion", .string(TransferClient.version)),
      ("PluginType", .string("FileTransfer")), ("ProtocolVersion", .integer(Int64(protocolVersion))),
      ("SupportedMethods", .string(schemes.map { $0.replacing("://", with: "") }.joined(separator: ","))),
    ]).longText
  }
}
