package osproc

import (
	"bytes"
	"strings"
	"testing"
)

func TestProgramLeadsItsOwnSession(t *testing.T) {
	var out bytes.Buffer
	if _, err := runner(t).Run(t.Context(), sh(`read pid comm state parent group session rest </proc/$$/stat; echo $$ $group $session`, &out)); err != nil {
		t.Fatal(err)
	}
	ids := strings.Fields(out.String())
	if len(ids) != 3 || ids[0] != ids[1] || ids[0] != ids[2] {
		t.Errorf("process, group and session are %q", ids)
	}
}
