package keyring

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"adze/internal/platform/fs/replace"
)

// open returns a store in home.
func open(home string) *Store { return Open(home, replace.New(filepath.Join(home, "locks"))) }

// alone makes the keyring unavailable and returns a home directory.
func alone(t *testing.T) string {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	return filepath.Join(t.TempDir(), "home")
}

// Proves PROV-04.
func TestFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the keyring of this system is real; only the file is tested")
	}
	home := alone(t)
	s, ctx := open(home), t.Context()
	if list, err := s.List(); len(list) != 0 || err != nil {
		t.Errorf("nothing is stored: %v, %v", list, err)
	}
	if _, err := s.Get(ctx, "one"); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing is stored: %v", err)
	}
	for _, name := range []string{"one", "two"} {
		if e, err := s.Set(ctx, name, "api.example", "key of "+name, Auto); e.Place != File && runtime.GOOS == "linux" || err != nil {
			t.Fatalf("stored %+v, %v", e, err)
		}
	}
	if _, err := s.Set(ctx, "one", "api.example", "another", File); err != nil {
		t.Fatal(err)
	}
	if key, err := open(home).Get(ctx, "one"); key != "another" || err != nil {
		t.Errorf("one is %q, %v", key, err)
	}
	if info, err := os.Stat(s.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
	if e, err := s.Remove(ctx, "one"); e.Place != File || err != nil {
		t.Errorf("removed %+v, %v", e, err)
	}
	if _, err := s.Remove(ctx, "one"); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if key, err := s.Get(ctx, "two"); key != "key of two" || err != nil {
		t.Errorf("two is %q, %v", key, err)
	}
	if _, err := s.Set(ctx, "long", "api.example", strings.Repeat("x", maxKey+1), File); err == nil {
		t.Error("a key of any length is stored")
	}
}

// TestConcurrently checks that concurrent logins don't lose keys.
func TestConcurrently(t *testing.T) {
	home := alone(t)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			if _, err := open(home).Set(t.Context(), fmt.Sprint("provider", i), "api.example", "key", File); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if list, err := open(home).List(); len(list) != 8 || err != nil {
		t.Errorf("%d keys, %v", len(list), err)
	}
}

// TestUnusableFile checks that a file that other users could have read or written is rejected
// with instructions to fix it.
func TestUnusableFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("rights are not in the mode of a file here")
		return
	}
	for _, tt := range []struct {
		name  string
		spoil func(home, path string) error
		want  string
	}{
		{"readable by others", func(_, path string) error { return os.Chmod(path, 0o644) }, "run: chmod 600 '"},
		{"readable by the group", func(_, path string) error { return os.Chmod(path, 0o640) }, "run: chmod 600 '"},
		{"replaceable by others", func(home, _ string) error { return os.Chmod(home, 0o777) }, "run: chmod go-w '"},
		{"a link", func(home, path string) error {
			return errors.Join(os.Rename(path, filepath.Join(home, "elsewhere")), os.Symlink("elsewhere", path))
		}, "symbolic link"},
		{"a directory", func(_, path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "remove it"},
		{"damaged", func(_, path string) error {
			return os.WriteFile(path, []byte(`{"version":1,"keys":{"one":{"key":"hunter2`), 0o600)
		}, "it is damaged"},
		{"of the future", func(_, path string) error { return os.WriteFile(path, []byte(`{"version":9}`), 0o600) }, "version 9"},
	} {
		home := alone(t)
		s := open(home)
		if _, err := s.Set(t.Context(), "one", "api.example", "hunter2", File); err != nil {
			t.Fatal(err)
		}
		if err := tt.spoil(home, s.Path()); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(s.Path()) // ok: one is a directory
		_, listing := s.List()
		_, reading := s.Get(t.Context(), "one")
		_, writing := s.Set(t.Context(), "two", "api.example", "key", File)
		_, removing := s.Remove(t.Context(), "one")
		for _, err := range []error{listing, reading, writing, removing} {
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		if after, _ := os.ReadFile(s.Path()); string(after) != string(before) {
			t.Errorf("%s: the file was changed", tt.name)
		}
	}
}

// A bus is a D-Bus server with a Secret Service.
type bus struct {
	t     *testing.T
	items sync.Map // secrets ([]byte) by user name
	// unlock returns the reply to Unlock calls; nil means everything is unlocked.
	unlock func() []any
	absent bool // the service is not running
	silent bool // the service never answers
}

// item returns the secret of a user, or nil.
func (b *bus) item(user string) []byte {
	secret, _ := b.items.Load(user)
	data, _ := secret.([]byte)
	return data
}

// listen starts the bus and makes it the session bus.
func (b *bus) listen() {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "bus")
	l, err := net.Listen("unix", path)
	if err != nil {
		b.t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b.t.Cleanup(func() { c.Close() })
			conns.Go(func() { b.serve(c) })
		}
	})
	b.t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+path)
	b.t.Cleanup(func() {
		l.Close()
		if c, err := dbus.SessionBus(); !b.silent && err == nil { // the library caches its connection
			c.Close()
		}
	})
}

func (b *bus) serve(c net.Conn) {
	r := bufio.NewReader(c)
	for {
		line, err := r.ReadString('\n')
		if err != nil || b.silent {
			io.Copy(io.Discard, r)
			return
		}
		switch line = strings.TrimSpace(strings.TrimLeft(line, "\x00")); {
		case strings.HasPrefix(line, "AUTH EXTERNAL"):
			io.WriteString(c, "OK 0123456789abcdef0123456789abcdef\r\n")
			continue
		case line == "BEGIN":
		case line == "NEGOTIATE_UNIX_FD":
			io.WriteString(c, "ERROR\r\n")
			continue
		default:
			io.WriteString(c, "REJECTED EXTERNAL\r\n")
			continue
		}
		break
	}
	for {
		call, err := dbus.DecodeMessage(r)
		if err != nil {
			return
		}
		reply := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{dbus.FieldReplySerial: dbus.MakeVariant(call.Serial())}}
		if reply.Body = b.answer(call); reply.Body == nil {
			reply.Type = dbus.TypeError
			reply.Headers[dbus.FieldErrorName] = dbus.MakeVariant("org.freedesktop.DBus.Error.ServiceUnknown")
			reply.Body = []any{"The name org.freedesktop.secrets was not provided by any .service files"}
		}
		if len(reply.Body) > 0 {
			reply.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(reply.Body...))
		}
		if err := reply.EncodeTo(c, binary.LittleEndian); err != nil {
			b.t.Error(err)
			return
		}
	}
}

// answer returns the body of the reply to a call, or nil for an error.
func (b *bus) answer(call *dbus.Message) []any {
	const none = dbus.ObjectPath("/")
	path := string(call.Headers[dbus.FieldPath].Value().(dbus.ObjectPath))
	member := call.Headers[dbus.FieldMember].Value().(string)
	if member == "Hello" {
		return []any{":1.1"}
	}
	if b.absent {
		return nil
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	switch member {
	case "Get": // the Collections property
		return []any{dbus.MakeVariant([]dbus.ObjectPath{"/org/freedesktop/secrets/collection/login"})}
	case "OpenSession":
		return []any{dbus.MakeVariant(""), dbus.ObjectPath("/session")}
	case "Unlock":
		if b.unlock != nil {
			return b.unlock()
		}
		return []any{call.Body[0].([]dbus.ObjectPath), none}
	case "CreateItem":
		user := call.Body[0].(map[string]dbus.Variant)["org.freedesktop.Secret.Item.Attributes"].Value().(map[string]string)["username"]
		b.items.Store(user, call.Body[1].([]any)[2].([]byte))
		return []any{dbus.ObjectPath("/item/" + user), none}
	case "SearchItems":
		found := []dbus.ObjectPath{}
		if user := call.Body[0].(map[string]string)["username"]; b.item(user) != nil {
			found = append(found, dbus.ObjectPath("/item/"+user))
		}
		return []any{found}
	case "GetSecret":
		return []any{struct {
			Session     dbus.ObjectPath
			Parameters  []byte
			Value       []byte
			ContentType string
		}{"/session", []byte{}, b.item(name), "text/plain"}}
	case "Delete":
		b.items.Delete(name)
		return []any{none}
	}
	return []any{} // Close, AddMatch, Prompt
}

// Proves PROV-04.
func TestSecretService(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the Secret Service needs Linux")
		return
	}
	b := &bus{t: t}
	b.listen()
	home := filepath.Join(t.TempDir(), "home")
	s, ctx := open(home), t.Context()
	if e, err := s.Set(ctx, "one", "api.example", "hunter2", Auto); e.Place != System || err != nil || string(b.item("one")) != "hunter2" {
		t.Fatalf("stored %+v, %v", e, err)
	}
	if data, err := os.ReadFile(s.Path()); err != nil || strings.Contains(string(data), "hunter2") || !json.Valid(data) {
		t.Errorf("the file is %s, %v", data, err)
	}
	if key, err := s.Get(ctx, "one"); key != "hunter2" || err != nil {
		t.Errorf("one is %q, %v", key, err)
	}
	// Moving a key to the file and back removes it from the other place.
	if _, err := s.Set(ctx, "one", "api.example", "in the file", File); err != nil || b.item("one") != nil {
		t.Errorf("the keyring has %q, %v", b.item("one"), err)
	}
	if _, err := s.Set(ctx, "one", "api.example", "back", System); err != nil {
		t.Error(err)
	}
	if data, _ := os.ReadFile(s.Path()); strings.Contains(string(data), "in the file") {
		t.Errorf("the file still has the key: %s", data)
	}
	b.items.Delete("one")
	if _, err := s.Get(ctx, "one"); err == nil || !strings.Contains(err.Error(), "adze auth login one") {
		t.Errorf("a key that is gone: %v", err)
	}
	if e, err := s.Remove(ctx, "one"); e.Place != System || err != nil {
		t.Errorf("removed %+v, %v", e, err)
	}
}

// TestNoSecretService checks that keys go to the file if the keyring is missing, but that a
// keyring that fails is an error, and that a slow keyring times out.
func TestNoSecretService(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the Secret Service needs Linux")
		return
	}
	locked := func() []any { return []any{[]dbus.ObjectPath{}, dbus.ObjectPath("/prompt")} }
	for _, tt := range []struct {
		name string
		bus  *bus
		want string // substring of the error; empty means that the file is used
	}{
		{"no service", &bus{absent: true}, ""},
		{"locked", &bus{unlock: locked}, "locked"},
		{"another collection", &bus{unlock: func() []any { return []any{[]dbus.ObjectPath{"/other"}, dbus.ObjectPath("/")} }}, "could not be unlocked"},
		{"silent", &bus{silent: true}, "did not answer within"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.bus.t = t
			tt.bus.listen()
			s := open(filepath.Join(t.TempDir(), "home"))
			s.system.patience = 200 * time.Millisecond
			began := time.Now()
			e, err := s.Set(t.Context(), "one", "api.example", "hunter2", Auto)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if tt.want == "" && (e.Place != File || err != nil) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%+v, %v", e, err)
			}
			if _, err := os.Stat(s.Path()); tt.want != "" && !errors.Is(err, fs.ErrNotExist) {
				t.Error("the file was written")
			}
		})
	}
}
