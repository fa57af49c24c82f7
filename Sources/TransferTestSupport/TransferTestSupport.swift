// The room TransferTestSupport.
