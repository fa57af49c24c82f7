// The room TransfersCLI.
