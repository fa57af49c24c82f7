// `import Transfers` is all that a program needs: the values of the model and of the reports that this library takes
// and gives come with it.
@_exported public import TransferModel
@_exported public import TransferReports
