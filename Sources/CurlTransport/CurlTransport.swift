// The room CurlTransport.
