// The room Receiver.
