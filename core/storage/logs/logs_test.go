package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"ollimbot/core/base/fault"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// fixture is a log with all of its outputs.
type fixture struct {
	*slog.Logger
	book *Sink
	dir  *store.Dir
	out  *bytes.Buffer
}

func newLog(t *testing.T, level slog.Leveler) fixture {
	t.Helper()
	d := storetest.Dir(t)
	var out bytes.Buffer
	log, book := New(Options{Dir: d, Level: level, Stdout: &out, Zone: time.FixedZone("X", -8*3600)})
	t.Cleanup(func() {
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	})
	return fixture{log, book, d, &out}
}

// say logs a message that was built at run time, which the program's own code never does.
func (f fixture) say(t interface{ Fatal(...any) }, message string, args ...any) {
	r := slog.NewRecord(time.Now(), slog.LevelInfo, message, 0)
	r.Add(args...)
	if err := f.Handler().Handle(context.Background(), r); err != nil {
		t.Fatal(err)
	}
}

func (f fixture) texts() []string {
	var out []string
	for _, l := range f.book.Tail(0).Lines {
		out = append(out, l.Text)
	}
	return out
}

func (f fixture) file(t *testing.T) string {
	t.Helper()
	data, err := f.dir.Read(File)
	testkit.Must(t, err)
	return string(data)
}

// everywhere returns everything printed: ring, file and standard output.
func (f fixture) everywhere(t *testing.T) string {
	return strings.Join(f.texts(), "\n") + f.file(t) + f.out.String()
}

func TestALineReachesRingFileAndOutput(t *testing.T) {
	f := newLog(t, nil)
	r := slog.NewRecord(time.Date(2026, 11, 23, 17, 40, 0, 0, time.UTC), slog.LevelWarn, "ping refused", 0)
	r.AddAttrs(slog.String("task", "Email sweep"), slog.Int("left", 0), slog.Duration("in", 90*time.Second), slog.Time("until", time.Date(2026, 11, 24, 1, 30, 0, 0, time.UTC)),
		slog.Group("run", "id", "r1", "took", 2), slog.String("empty", ""))
	testkit.Must(t, f.Handler().Handle(t.Context(), r))
	const text = `ping refused task="Email sweep" left=0 in=1m30s until=2026-11-23T17:30:00-08:00 run.id=r1 run.took=2 empty=""`
	want := []tail.Line{{At: r.Time, Kind: tail.Warn, Text: text}}
	if diff := cmp.Diff(want, f.book.Tail(0).Lines); diff != "" {
		t.Error(diff)
	}
	const line = "2026-11-23T09:40:00-08:00 WARN  " + text + "\n"
	if f.file(t) != line || f.out.String() != line {
		t.Errorf("file %q, output %q, want %q", f.file(t), f.out, line)
	}
	info, err := os.Stat(f.dir.Path(File))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestLevelsBecomeKindsAndMayChangeWhileTheBotRuns(t *testing.T) {
	var level slog.LevelVar
	f := newLog(t, &level)
	f.Debug("before")
	level.Set(slog.LevelDebug)
	log := f.With("a", 1).WithGroup("g").With("b", 2)
	log.Debug("d", "c", 3)
	f.Info("i", "d", 4)
	f.Warn("w")
	f.Error("e")
	var lines []string
	for _, l := range f.book.Tail(0).Lines {
		lines = append(lines, fmt.Sprint(l.Kind, " ", l.Text))
	}
	want := []string{fmt.Sprint(tail.Debug, " d a=1 g.b=2 g.c=3"), fmt.Sprint(tail.Info, " i d=4"), fmt.Sprint(tail.Warn, " w"), fmt.Sprint(tail.Error, " e")}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// stubborn prints its secret in every format.
type stubborn struct{ Word string }

func (s stubborn) Error() string { return "cannot use " + s.Word }

func TestSecretsNeverReachAnyOutlet(t *testing.T) {
	secrets := []string{"hunter2", "a b\"c", "tok=en/+x", "multi\nline"}
	for _, secret := range secrets {
		t.Run(secret, func(t *testing.T) {
			f := newLog(t, nil)
			f.book.Hide(secret)
			f.say(t, "connect with "+secret, "url", "https://x/?q="+secret, "error", stubborn{secret}, "any", []string{secret})
			f.say(t, "broken up "+secret[:2]+"\x1b[31m"+secret[2:], secret, "as a key")
			f.With("value", secret).WithGroup(secret).Error("x", "wrapped", fmt.Errorf("dial: %w", errors.New(secret)))
			f.Info("quoted", "text", fmt.Sprintf("%q", secret))
			all := f.everywhere(t)
			for _, form := range spellings(secret) {
				if form != "multi line" && strings.Contains(all, form) {
					t.Errorf("%q shows in %s", form, all)
				}
			}
			if !strings.Contains(all, "connect with [hidden]") {
				t.Errorf("nothing was hidden in %s", all)
			}
		})
	}
}

func TestAttributesWithSecretNamesAreHidden(t *testing.T) {
	shows := func(t *testing.T, log func(f fixture)) string {
		t.Helper()
		f := newLog(t, nil)
		log(f)
		return f.everywhere(t)
	}
	for i, key := range append([]string{
		"token", "discord_token", "DISCORD_TOKEN", "accessToken", "client-secret", "password", "Authorization", "api_key", "apiKey", "key", "cookie", "passwd",
	}, "tokens", "input_tokens", "task", "error", "keyboard", "author", "") {
		text := shows(t, func(f fixture) {
			f.Info("x", key, "hunter2")
			f.With(key, "hunter2").Info("y")
			f.WithGroup("g").Info("z", slog.Group("h", key, "hunter2"))
		})
		if secret := i < 12; strings.Contains(text, "hunter2") == secret {
			t.Errorf("%q: it shows %q", key, text)
		}
	}
	text := shows(t, func(f fixture) {
		f.WithGroup("token").Info("x", "a", "hunter2", slog.Group("b", "c", "hunter2"))
		f.Info("y", slog.Group("secret", "a", "hunter2"), "n", slog.IntValue(7))
	})
	if strings.Contains(text, "hunter2") || !strings.Contains(text, "n=7") {
		t.Errorf("groups with secret names show %q", text)
	}
}

func TestNothingThatControlsATerminalIsPrinted(t *testing.T) {
	f := newLog(t, nil)
	testkit.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text") + "\x1b]0;x\a\r\n"
		f.say(t, text, text, text)
	})
	for i, line := range strings.Split(strings.TrimSuffix(f.everywhere(t), "\n"), "\n") {
		if strings.ContainsFunc(line, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e }) {
			t.Errorf("line %d: %q", i, line)
		}
	}
}

// panicker cannot be printed.
type panicker struct{}

func (*panicker) Error() string       { panic("no words") }
func (panicker) LogValue() slog.Value { panic("no value") }

func TestValuesThatPanicDoNotStopTheLog(t *testing.T) {
	f := newLog(t, nil)
	var none *panicker
	f.Info("x", "error", error(none), "value", panicker{}, "nil", nil)
	if got := f.texts(); len(got) != 1 || !strings.HasPrefix(got[0], "x error=") {
		t.Errorf("lines are %q", got)
	}
}

func TestAFaultBringsItsPlaceWhereverItIsWrapped(t *testing.T) {
	f := newLog(t, nil)
	broken := fault.Guard("the test", func() error { panic("with hunter2") })()
	f.book.Hide("hunter2")
	f.Error("it broke", "error", fmt.Errorf("run: %w", broken), "n", 1)
	got := f.texts()[0]
	if !strings.HasPrefix(got, `it broke error="run: internal fault in the test: with [hidden]" stack="logs.TestAFault`) || !strings.HasSuffix(got, " n=1") {
		t.Errorf("%s", got)
	}
}

func TestALongLineIsCut(t *testing.T) {
	f := newLog(t, nil)
	f.say(t, strings.Repeat("x", 5<<20), "tail", "gone")
	if got := f.texts()[0]; len([]rune(got)) != lineLimit || !strings.HasSuffix(got, "…") {
		t.Errorf("%d runes, ends in %q", len([]rune(got)), got[len(got)-10:])
	}
}

func TestTheFileIsRotatedAtOneMegabyte(t *testing.T) {
	f := newLog(t, nil)
	word := strings.Repeat("x", 1000)
	for i := range 1500 {
		f.say(t, word, "n", i)
	}
	for name, last := range map[string]string{File: " n=1499\n", File + ".1": " n=1008\n"} {
		data, err := f.dir.Read(name)
		testkit.Must(t, err)
		if len(data) > fileLimit || !strings.HasPrefix(string(data), "20") || !strings.HasSuffix(string(data), word+last) {
			t.Errorf("%s has %d bytes, from %.40q to %q", name, len(data), data, data[max(0, len(data)-20):])
		}
	}
	f.Info("to be moved")
	testkit.Must(t, os.Rename(f.dir.Path(File), f.dir.Path("state/moved.log")))
	f.Info("after it")
	if got := f.file(t); !strings.HasSuffix(got, "INFO  after it\n") || strings.Contains(got, "moved") {
		t.Errorf("once the file was moved, there is %q", got)
	}
}

func TestABrokenFileIsNotedOnceAndTheRingStillFills(t *testing.T) {
	f := newLog(t, nil)
	// A file where the state folder must be: every write fails.
	testkit.Must(t, os.WriteFile(f.dir.Path(store.StateDir), nil, 0o600))
	f.Info("one")
	f.Info("two")
	got := f.texts()
	why := msgFileBroken + "write bot.log: not a directory: a file is where a directory should be; move it away, or choose another data directory with --data-dir"
	if diff := cmp.Diff([]string{"one", why, "two"}, got); diff != "" {
		t.Fatal(diff)
	}
	testkit.Must(t, os.Remove(f.dir.Path(store.StateDir)))
	f.Info("three")
	if got := f.texts()[3:]; len(got) != 2 || got[0] != "three" || got[1] != msgFileWorks {
		t.Errorf("lines are %q", got)
	}
	if !strings.HasSuffix(f.file(t), "three\n") {
		t.Errorf("the file holds %q", f.file(t))
	}
}

func TestChangedIsCalledAfterEachLineIsThere(t *testing.T) {
	f := newLog(t, nil)
	var seen []uint64
	f.book.Changed(func() { seen = append(seen, f.book.Lines()) })
	f.book.Changed(func() { f.book.Changed(func() {}) }) // registering from inside must not deadlock
	f.Info("a")
	f.Debug("not printed")
	f.Info("b")
	if diff := cmp.Diff([]uint64{1, 2}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestManyGoroutinesLogWholeLines(t *testing.T) {
	f := newLog(t, nil)
	var mu sync.Mutex
	calls := 0
	f.book.Changed(func() { mu.Lock(); calls++; mu.Unlock() })
	var g errgroup.Group
	for n := range 8 {
		g.Go(func() error {
			for i := range 200 {
				f.book.Hide(fmt.Sprintf("secret%d.%d", n, i%3))
				f.Info("line", "from", n, "i", i)
			}
			return nil
		})
	}
	testkit.Must(t, g.Wait())
	if f.book.Lines() != 1600 || calls != 1600 {
		t.Errorf("%d lines, %d calls", f.book.Lines(), calls)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(f.file(t), "\n"), "\n") {
		if !strings.HasPrefix(line, "20") || strings.Count(line, "line from=") != 1 {
			t.Fatalf("torn: %q", line)
		}
	}
}

func TestALogWithoutDirectoryKeepsToTheRing(t *testing.T) {
	t.Chdir(t.TempDir())
	log, book := New(Options{})
	log.Info("x")
	log.Debug("y")
	if book.Lines() != 1 || book.Close() != nil {
		t.Errorf("%d lines", book.Lines())
	}
	book.Hide(" ")
	if got, none := book.Redact("a b"), (*Sink)(nil).Redact("a b"); got != "a b" || none != "a b" {
		t.Errorf("without a secret it shows %q and %q", got, none)
	}
	if names, err := filepath.Glob("*"); err != nil || len(names) > 0 {
		t.Errorf("files appeared: %q, %v", names, err)
	}
}

func BenchmarkLog(b *testing.B) {
	d := storetest.Dir(b)
	log, book := New(Options{Dir: d})
	book.Hide("some secret of the usual length")
	for b.Loop() {
		log.Info("fork ended", "task", "Email sweep", "pings", 1, "took", time.Second)
	}
	testkit.Must(b, book.Close())
}
