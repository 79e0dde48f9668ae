package jail

// oldCalls are refused calls that newer architectures never had.
var oldCalls [0]uint32
