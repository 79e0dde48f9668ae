package cachefile

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestSaver checks that Close waits for a background save, but not indefinitely.
func TestSaver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "cache")
	var s Saver
	s.Save(format, path, example.write)
	s.Close()
	if format.Load(path) == nil {
		t.Error("it was not waited for")
	}
	synctest.Test(t, func(t *testing.T) {
		var s Saver
		slow := make(chan struct{})
		began := time.Now()
		s.Save(format, path, func() *Writer {
			<-slow
			return example.write()
		})
		s.Close()
		if took := time.Since(began); took != closeWait {
			t.Errorf("it was waited for %v", took)
		}
		close(slow)
		s.saving.Wait()
	})
}

// TestSaverOrder checks that the last save wins even if an earlier one is slow.
func TestSaverOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "cache")
	synctest.Test(t, func(t *testing.T) {
		var s Saver
		late := make(chan struct{})
		s.Save(format, path, func() *Writer {
			<-late
			return &Writer{}
		})
		time.Sleep(2 * delay)
		s.Save(format, path, func() *Writer {
			defer time.AfterFunc(delay, func() { close(late) })
			return example.write()
		})
		s.Close()
		if r := format.Load(path); r == nil || readContent(r).Text != example.Text {
			t.Error("an older state has replaced it")
		}
	})
}

// TestSaverWaits checks that writing is delayed and that several saves are written once, with
// the last content.
func TestSaverWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "cache")
	synctest.Test(t, func(t *testing.T) {
		var s Saver
		for _, text := range []string{"one", "two"} {
			s.Save(format, path, func() *Writer {
				if text == "one" {
					t.Error("replaced content was written")
				}
				return content{Text: text}.write()
			})
		}
		time.Sleep(delay - 1)
		synctest.Wait()
		if format.Load(path) != nil {
			t.Error("it is written at once")
		}
		time.Sleep(time.Nanosecond)
		s.saving.Wait()
		if r := format.Load(path); r == nil || readContent(r).Text != "two" {
			t.Error("it is not written")
		}
		s.Close()
	})
}
