package logs

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func TestARotatingFileKeepsTheNewestLinesWhole(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		d := storetest.Dir(t)
		r := newRotating(d, "state/bot.log", 1000)
		var all strings.Builder
		for range rapid.IntRange(1, 40).Draw(rt, "lines") {
			line := strings.Repeat("x", rapid.IntRange(0, 300).Draw(rt, "length")) + "\n"
			if _, err := r.Write([]byte(line)); err != nil {
				rt.Fatal(err)
			}
			all.WriteString(line)
			if rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
				if err := r.Close(); err != nil {
					rt.Fatal(err)
				}
				r = newRotating(d, "state/bot.log", 1000)
			}
		}
		if err := r.Close(); err != nil {
			rt.Fatal(err)
		}
		newest, err := os.ReadFile(d.Path("state/bot.log"))
		if err != nil {
			rt.Fatal(err)
		}
		older, err := os.ReadFile(d.Path("state/bot.log.1"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			rt.Fatal(err)
		}
		kept := string(older) + string(newest)
		if len(newest) > 1000 || len(older) > 1000 || !strings.HasSuffix(all.String(), kept) {
			rt.Fatalf("kept %d and %d bytes of %d", len(older), len(newest), all.Len())
		}
		if len(kept) < all.Len() && (len(older) < 700 || all.String()[all.Len()-len(kept)-1] != '\n') {
			rt.Fatalf("kept %d and %d bytes of %d, or half a line", len(older), len(newest), all.Len())
		}
	})
}

func TestAClosedRotatingFileStaysClosed(t *testing.T) {
	d := storetest.Dir(t)
	r := newRotating(d, "state/bot.log", 10)
	for range 2 {
		testkit.Must(t, r.Close())
	}
	if _, err := r.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func TestAFullDiskLeavesNoHalfLineInALog(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	d := storetest.Prepared(t)
	r := newRotating(d, "state/bot.log", 1<<20)
	err := storetest.RoomFor(t, 8192, func() error {
		_, err := r.Write(bytes.Repeat([]byte("x"), 20_000))
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("a full disk gives %v", err)
	}
	if _, err := r.Write([]byte("small\n")); err != nil || storetest.Text(t, d, "state/bot.log") != "small\n" {
		t.Errorf("%v, the log holds %.40q", err, storetest.Text(t, d, "state/bot.log"))
	}
}

func TestALogMakesNoNewDirectoryWhereTheBotsWas(t *testing.T) {
	d := storetest.Prepared(t)
	unlock, err := d.Lock()
	testkit.Must(t, err)
	r := newRotating(d, "state/bot.log", 1000)
	away := d.Root() + ".away"
	testkit.Must(t, os.Rename(d.Root(), away))
	if _, err := r.Write([]byte("one\n")); err == nil {
		t.Error("it was written")
	}
	if _, err := os.Lstat(d.Root()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made again: %v", err)
	}
	testkit.Must(t, os.Rename(away, d.Root()))
	if _, err := r.Write([]byte("two\n")); err != nil {
		t.Error(err)
	}
	testkit.Must(t, unlock())
}

func TestALogIsAnOrdinaryFile(t *testing.T) {
	d := storetest.Prepared(t)
	testkit.Must(t, syscall.Mkfifo(d.Path("state/bot.log"), 0o600))
	if _, err := newRotating(d, "state/bot.log", 1000).Write([]byte("x")); err == nil {
		t.Error("a pipe was opened")
	}
}
