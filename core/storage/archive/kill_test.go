package archive

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// importVar marks the process that does an import and is killed. It contains the home of its
// machine and the export.
const importVar = "OLLIM_TEST_IMPORT"

func TestMain(m *testing.M) {
	binarytest.Answer(nil)
	if home, file, ok := strings.Cut(os.Getenv(importVar), "\n"); ok {
		t := &testing.T{}
		o := (&machine{t, home, storetest.At(t, filepath.Join(home, "bot")), filepath.Join(home, "sessions")}).options(file, "")
		o.Replace = true
		if _, err := Import(o); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAKillLeavesTheOldOrTheNew(t *testing.T) {
	testkit.Alone(t)
	if testing.Short() {
		t.Skip("kills imports")
	}
	old := furnished(t)
	for i := range 100 {
		old.put(fmt.Sprintf("bot/routines/%d.md", i), strings.Repeat(strconv.Itoa(i), 100))
	}
	file := old.export("")
	first := newMachine(t)
	_, err := Import(first.options(file, ""))
	must(t, err)
	is := files(t, first.dir.Root())
	const kills = 16
	var before, after int
	var whole time.Duration // the duration of the first import, which is not killed
	for i := range kills + 1 {
		m := newMachine(t)
		m.put("bot/state/config.json", "{\"mine\":1}")
		was := files(t, m.dir.Root())
		cmd := exec.Command(binarytest.Path())
		cmd.Env = append(os.Environ(), importVar+"="+m.home+"\n"+file)
		must(t, cmd.Start())
		began, at := time.Now(), time.Hour
		if i > 0 {
			at = whole * time.Duration(i-1) * 5 / 4 / kills
		}
		timer := time.AfterFunc(at, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed, or finished
		timer.Stop()
		if i == 0 {
			whole = time.Since(began)
		}
		got := files(t, m.dir.Root())
		for name := range got { // of the lock that keeps bots from starting
			if name == "state/bot.pid" || name == "state/bot.lock" || store.IsTemp(filepath.Base(name)) {
				delete(got, name)
			}
		}
		switch {
		case cmp.Equal(got, is):
			after++
			if kept, _ := filepath.Glob(m.dir.Root() + ".*/state/config.json"); len(kept) == 0 {
				t.Error("what was there before is lost")
			}
		case cmp.Equal(got, was):
			before++
		default:
			t.Errorf("neither the old nor the new: %s", cmp.Diff(was, got))
		}
		if _, err := os.Stat(m.dir.Path("state")); err != nil {
			t.Error(err)
		}
	}
	t.Logf("an import takes %s; killed, %d left the old and %d the new", whole, before, after)
	if before == 0 || after == 0 {
		t.Errorf("%d were the old and %d the new", before, after)
	}
}

func TestAFullDiskHarmsNothing(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	old := furnished(t)
	file := old.export("")
	before := files(t, old.home)
	err := storetest.FullDisk(t, func() error {
		_, err := Export(ExportOptions{Dir: old.dir, Sessions: old.sessions, File: filepath.Join(old.home, "x"), Now: time.Now()})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("an export says %v", err)
	}
	if diff := cmp.Diff(before, files(t, old.home)); diff != "" {
		t.Error(diff)
	}
	m := newMachine(t)
	m.put("bot/state/config.json", "{\"mine\":1}")
	before = files(t, m.home)
	o := m.options(file, "")
	o.Replace = true
	err = storetest.FullDisk(t, func() error { _, err := Import(o); return err })
	if err == nil || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("an import says %v", err)
	}
	after := files(t, m.home)
	delete(after, "bot/state/bot.lock")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

// A bot writes a and then b, each atomically. A snapshot in which b is newer than a, or more than
// one step behind, never existed on disk.
func TestAnExportBesideABotThatWritesIsOfOneMoment(t *testing.T) {
	m := furnished(t)
	storetest.Put(t, m.dir, "state/a.json", "1000000")
	storetest.Put(t, m.dir, "state/b.json", "1000000")
	stop := make(chan struct{})
	var g sync.WaitGroup
	g.Go(func() {
		for i := 1_000_000; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			for _, name := range []string{"state/a.json", "state/b.json"} {
				if err := m.dir.Write(name, []byte(strconv.Itoa(i))); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Duration(i%4) * time.Millisecond) // a bot does other things too
		}
	})
	for range 10 {
		to := newMachine(t)
		_, err := Import(to.options(m.export(""), ""))
		must(t, err)
		a, err := strconv.Atoi(storetest.Text(t, to.dir, "state/a.json"))
		must(t, err)
		b, err := strconv.Atoi(storetest.Text(t, to.dir, "state/b.json"))
		must(t, err)
		if a-b != 0 && a-b != 1 {
			t.Errorf("a is %d and b is %d", a, b)
		}
	}
	close(stop)
	g.Wait()
}
