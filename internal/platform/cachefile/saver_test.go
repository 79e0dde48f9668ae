package cachefile

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// What is saved in the background is there when the saver was closed, unless it takes too long.
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

// What is saved last stays, also if what was saved before is late.
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
			t.Error("what was saved before has taken its place")
		}
	})
}

// Nothing is written while a session begins, and what is to be saved several times is written once, as it was last.
func TestSaverWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "cache")
	synctest.Test(t, func(t *testing.T) {
		var s Saver
		for _, text := range []string{"one", "two"} {
			s.Save(format, path, func() *Writer {
				if text == "one" {
					t.Error("what was replaced is written")
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
