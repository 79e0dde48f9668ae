//go:build !amd64 && !arm64

package find

const vectorMin = 1

func hasVector() bool { return false }

func indexPair(*byte, int, *pair) int { panic("find: no vector instructions") }

func indexShuffle(*byte, int, *shuffle) int { panic("find: no vector instructions") }
