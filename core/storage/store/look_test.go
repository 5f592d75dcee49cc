package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ollimbot/core/base/testkit"
)

// tenant returns a directory whose bot is this process.
func tenant(t *testing.T) *Dir {
	t.Helper()
	d := prepared(t)
	unlock, err := d.Lock()
	testkit.Must(t, err)
	t.Cleanup(func() { _ = unlock() }) // the directory may be missing by then
	return d
}

func move(t *testing.T, from, to string) {
	t.Helper()
	testkit.Must(t, os.Rename(from, to))
}

func TestNothingIsWrittenWhereTheDirectoryWas(t *testing.T) {
	d := tenant(t)
	put(t, d, "state/x.json", "{}")
	away := d.Root() + ".away"
	move(t, d.Root(), away)
	var v any
	attempts := map[string]func() error{
		"create": func() error { return d.Create("state/new.txt", nil) },
		"write":  func() error { return d.Write("state/y.json", []byte("x")) },
		"append": func() error { return d.Append("state/y.jsonl", []byte("x")) },
		"remove": func() error { return d.Remove("state/x.json") },
		"rename": func() error { return d.Rename("state/x.json", "state/z.json") },
		"lock":   func() error { return d.WithLock("x", func() error { return nil }) },
		"folder": func() error { return d.MakeFolder("state/new") },
		"read":   func() error { _, err := d.ReadJSON("state/x.json", &v); return err },
	}
	refused := func(when string) {
		t.Helper()
		for name, attempt := range attempts {
			if err := attempt(); !errors.Is(err, errGone) {
				t.Errorf("%s, %s: %v", when, name, err)
			}
		}
		if _, err := d.Look(); !errors.Is(err, errGone) {
			t.Errorf("%s: found %v", when, err)
		}
	}
	refused("gone")
	if _, err := os.Lstat(d.Root()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was made in its place: %v", err)
	}
	// The folder under a disk that was unmounted.
	testkit.Must(t, os.Mkdir(d.Root(), 0o700))
	refused("an empty folder in its place")
	if names, err := os.ReadDir(d.Root()); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	testkit.Must(t, os.Remove(d.Root()))
	move(t, away, d.Root())
	if found, err := d.Look(); found != AsItWas || err != nil {
		t.Errorf("back: %v, %v", found, err)
	}
	for _, name := range []string{"write", "append", "lock", "folder", "read"} {
		if err := attempts[name](); err != nil {
			t.Errorf("back, %s: %v", name, err)
		}
	}
}

func TestARunningBotMakesTheFoldersThatAreMissing(t *testing.T) {
	d := tenant(t)
	testkit.Must(t, d.Write("a/b/c/d.md", []byte("x")))
	testkit.Must(t, d.MakeFolder("e/f"))
	testkit.Must(t, d.MakeFolder("e/f"))
	testkit.Must(t, d.MakeFolder("."))
	for _, rel := range []string{"a", "a/b", "a/b/c", "e/f"} {
		if got := mode(t, d.Path(rel)); got != 0o700 {
			t.Errorf("%s has mode %#o", rel, got)
		}
	}
	if err := d.MakeFolder("a/b/c/d.md/e"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
}

func TestADirectoryThatTakesThePlaceIsTheBotsOnceItsLockIs(t *testing.T) {
	d := tenant(t)
	testkit.Must(t, d.Write("state/mute.json", []byte("of the other")))
	away := d.Root() + ".away"
	move(t, d.Root(), away)
	testkit.Must(t, os.MkdirAll(filepath.Join(d.Root(), StateDir), 0o700))
	other, err := At(d.Root())
	testkit.Must(t, err)
	unlock, err := other.Lock()
	testkit.Must(t, err)
	var re *RunningError
	if _, err := d.Look(); !errors.As(err, &re) {
		t.Errorf("another bot lives there: %v", err)
	}
	if err := d.Write("x.md", nil); !errors.Is(err, errGone) {
		t.Error(err)
	}
	testkit.Must(t, unlock())
	if found, err := d.Look(); found != Replaced || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if err := d.Write("x.md", nil); err != nil {
		t.Error(err)
	}
	if _, err := other.Lock(); !errors.As(err, &re) || re.PID != os.Getpid() {
		t.Errorf("a second bot: %v", err)
	}
	old, err := At(away)
	testkit.Must(t, err)
	unlock, err = old.Lock()
	if err != nil {
		t.Fatalf("the old directory is still held: %v", err)
	}
	testkit.Must(t, unlock())
}

func TestWithoutItsStateFolderNothingIsWrittenAndTheDirectoryStillHasOneBot(t *testing.T) {
	for name, lose := range map[string]func(d *Dir) error{
		"removed": func(d *Dir) error { return os.RemoveAll(d.Path(StateDir)) },
		"replaced": func(d *Dir) error {
			return errors.Join(os.RemoveAll(d.Path(StateDir)), os.Mkdir(d.Path(StateDir), 0o700), os.WriteFile(d.Path(lockFile), nil, 0o600))
		},
		"without the lock": func(d *Dir) error { return os.Remove(d.Path(lockFile)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := tenant(t)
			testkit.Must(t, lose(d))
			before, _ := os.ReadDir(d.Path(StateDir))
			for what, err := range map[string]error{
				"write": d.Write("state/y.json", []byte("x")), "append": d.Append("state/y.jsonl", []byte("x")), "create": d.Create("state/new", nil),
				"folder": d.MakeFolder("state/new"), "outside": d.Write("x.md", nil), "read": second(d.Read("state/never-there.json")),
				"turn": d.WithLock("x", func() error { return nil }), "look": second(d.Look()),
			} {
				var lost *LostError
				if !errors.As(err, &lost) || !strings.Contains(err.Error(), d.Display()+"/state was removed or replaced") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if after, _ := os.ReadDir(d.Path(StateDir)); len(after) != len(before) {
				t.Errorf("state/ holds %v, was %v", after, before)
			}
			other, err := At(d.Root())
			testkit.Must(t, err)
			var re *RunningError
			if _, err := other.Lock(); !errors.As(err, &re) {
				t.Errorf("a second bot: %v", err)
			}
			if _, ok := other.Running(); !ok {
				t.Error("not running, it says")
			}
		})
	}
}

func TestAskingKeepsNoBotFromStarting(t *testing.T) {
	d := prepared(t)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				d.Running()
			}
		}
	}()
	for range 30 {
		unlock, err := d.Lock()
		testkit.Must(t, err)
		testkit.Must(t, unlock())
	}
	close(stop)
	<-done
	if pid, ok := d.Running(); ok || pid != 0 {
		t.Errorf("running: %d, %v", pid, ok)
	}
}

func TestABotIsKnownByItsLock(t *testing.T) {
	d := tenant(t)
	testkit.Must(t, os.Remove(d.Path(pidFile)))
	if _, ok := d.Running(); !ok {
		t.Error("without bot.pid it is not known")
	}
	other, err := At(d.Root())
	testkit.Must(t, err)
	// As in a container. Values that are not process IDs must not be passed to kill.
	for text, pid := range map[string]int{"1": 1, " 7\n": 7, "0": 0, "-1": 0, "99999999999999999999": 0, "what": 0} {
		put(t, other, pidFile, text)
		var re *RunningError
		if _, err := other.Lock(); !errors.As(err, &re) || re.PID != pid {
			t.Errorf("%q in %s: %v", text, pidFile, err)
		}
	}
	testkit.Must(t, os.Remove(d.Path(pidFile)))
	if _, err := other.Lock(); err == nil || !strings.Contains(err.Error(), "already running") || strings.Contains(err.Error(), "kill") {
		t.Errorf("an unknown process is to be stopped: %v", err)
	}
}

// TestWhatIsNoFileNeverHangs puts pipes, folders, links to themselves and a device in place of the
// bot's files and folders.
func TestWhatIsNoFileNeverHangs(t *testing.T) {
	kinds := map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"loop":   func(path string) error { return os.Symlink(path, path) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	}
	for kind, make := range kinds {
		d := prepared(t)
		for _, name := range []string{"x.json", "x.jsonl", "x.log", ".x.lock", "bot.lock"} {
			testkit.Must(t, make(d.Path("state/"+name)))
		}
		testkit.Must(t, make(d.Path("routines")))
		var v any
		_, err := d.ReadJSON("state/x.json", &v)
		if err == nil {
			t.Errorf("%s: read as JSON", kind)
		}
		for what, err := range map[string]error{
			"append":  d.Append("state/x.jsonl", []byte("x")),
			"read":    second(d.Read("state/x.jsonl")),
			"open":    second(d.Open("state/x.jsonl")),
			"lock":    d.WithLock("x", func() error { return nil }),
			"bot":     second(d.Lock()),
			"entries": second(d.Entries("routines")),
		} {
			if what == "entries" && kind == "folder" {
				continue
			}
			if err == nil {
				t.Errorf("%s, %s: no error", kind, what)
			} else if what != "entries" && !strings.Contains(err.Error(), "remove it") && !strings.Contains(err.Error(), "in its place") &&
				!strings.Contains(err.Error(), "move it away") {
				t.Errorf("%s, %s: no cure in %v", kind, what, err)
			}
		}
		if err := d.Prepare(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
