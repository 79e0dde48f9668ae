package ctxinspect

import (
	"testing"

	"adze/internal/tool/tooltest"
)

func TestContract(t *testing.T) {
	tooltest.Run(t, New(func() string { return "Nothing is folded." }), tooltest.Cases{
		Input: Input{}, Dir: t.TempDir(), Good: map[string]string{"look": `{}`},
	})
}
