// The room TransferEngine.
