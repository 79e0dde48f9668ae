package task

import "testing"

// TestFind checks that a running task is found from the table of the main conversation, and no
// longer once its own conversation is over.
//
// Proves TASK-05.
func TestFind(t *testing.T) {
	top, middle, bottom := New(t.TempDir(), nil), New(t.TempDir(), nil), New(t.TempDir(), nil)
	leave := top.Join(middle)
	middle.Join(bottom)
	waited, behind, deep := begin(t, top), begin(t, middle), begin(t, bottom)
	if err := behind.ToBackground(); err != nil {
		t.Fatal(err)
	}
	for _, task := range []*Task{waited, behind, deep} {
		if got, err := top.Find(task.ID); got != task || err != nil {
			t.Errorf("%v, %v", got, err)
		}
		if _, err := bottom.Find(task.ID); (err == nil) != (task == deep) {
			t.Errorf("from below: %v", err)
		}
	}
	behind.End(Completed, "")
	deep.End(Completed, "")
	if got := top.Everything(); len(got) != 2 || got[0] != waited || got[1] != behind {
		t.Errorf("when some have ended: %v", got)
	}
	leave()
	if _, err := top.Find(behind.ID); err == nil || len(top.Everything()) != 1 {
		t.Error("it is found when its conversation is over")
	}
}
