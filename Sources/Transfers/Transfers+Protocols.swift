public import TransferModel
import TransferProtocols

extension Transfers {
  /// What each upload protocol can do, in the order in which they are shown.
  public static var protocols: [ProtocolDescription] { AllProtocols.descriptions + AllProtocols.profiles }
}
