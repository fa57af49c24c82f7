// `import Transfers` is all that a program needs: it includes the model and report types that this library accepts and
// returns.
@_exported public import TransferModel
@_exported public import TransferReports
