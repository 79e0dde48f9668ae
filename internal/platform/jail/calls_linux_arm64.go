package jail

// oldCalls are the calls to be refused that newer processors never had.
var oldCalls [0]uint32
