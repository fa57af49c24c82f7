// The room Transfers.
