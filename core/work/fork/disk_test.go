package fork

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func TestALedgerLineAtTheStartAndOneAtTheEnd(t *testing.T) {
	serving(t, func(t *testing.T, h *harness) {
		v := h.does(playing(titled("Email sweep"), `call ping_user {"message":"hi"}`, `call report_updates {"message":"pinged"}`))
		data, err := h.dir.Read(ledgerName)
		testkit.Must(t, err)
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], `"state":"running"`) || !strings.Contains(lines[1], `"state":"done"`) {
			t.Fatalf("ledger:\n%s", data)
		}
		for _, key := range []string{
			"id", "task", "kind", "title", "state", "queued", "started", "ended", "late", "model", "session", "parent",
			"tools", "pings", "critical", "refused", "reports", "tokens", "cost_usd", "error",
		} {
			if !strings.Contains(lines[1], `"`+key+`":`) {
				t.Errorf("the end line lacks %s", key)
			}
		}
		views, err := Ledger(h.dir, 20)
		if err != nil || len(views) != 1 {
			t.Fatalf("%d views, %v", len(views), err)
		}
		got := views[0]
		want := v
		want.Usage.Free = false // irrelevant afterwards
		if want.Usage.OutputTokens == 0 {
			t.Errorf("the run has used %+v", v.Usage)
		}
		want.Timeout, want.Activity, want.Lines = 0, "", 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a run reads back differently:\n%s", diff)
		}
	})
}

func TestACutOffRunIsClosedHoweverManyCameAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		testkit.Must(t, appendLedger(h.dir, View{ID: "0badc0de", Title: "Email sweep", State: Running, Started: time.Now().UTC()}))
		for i := range 3 * keptRuns {
			testkit.Must(t, appendLedger(h.dir, View{ID: fmt.Sprintf("%08x", i), State: Done}))
		}
		h.m = h.manager()
		h.serve()()
		list, err := Ledger(h.dir, 10*keptRuns)
		if err != nil || len(list) != 3*keptRuns+1 {
			t.Fatalf("%d runs, %v", len(list), err)
		}
		for _, v := range list {
			if v.Live() {
				t.Errorf("%s still stands as %s", v.ID, v.State)
			}
		}
	})
}

func TestARunWithoutAnEndLineIsInterruptedOnTheNextStartOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		killed := View{ID: "0badc0de", Title: "Email sweep", State: Running, Started: time.Now().UTC()}
		testkit.Must(t, appendLedger(h.dir, killed))
		h.m = h.manager()
		before, _ := h.dir.Read(ledgerName)
		if got := h.m.Views(); len(got) != 1 || got[0].State != Running {
			t.Fatalf("a manager that does not serve cannot know better: %+v", got)
		}
		if after, _ := h.dir.Read(ledgerName); !bytes.Equal(before, after) {
			t.Error("a manager that does not serve has written")
		}
		for range 2 {
			stop := h.serve()
			got := h.m.Views()
			if len(got) != 1 || got[0].State != Interrupted || got[0].Error == "" || got[0].Ended.IsZero() {
				t.Errorf("after the start: %+v", got)
			}
			stop()
			h.m = h.manager()
		}
		data, _ := h.dir.Read(ledgerName)
		if n := strings.Count(string(data), "interrupted"); n != 1 {
			t.Errorf("%d end lines, want one:\n%s", n, data)
		}
	})
}

func TestALedgerOfGarbageKeepsItsGoodLines(t *testing.T) {
	h := newHarness(t)
	good := View{ID: "0badc0de", Title: "Fine", State: Done}
	for _, line := range []string{
		"not json", `{"id":"../../etc","state":"done"}`, `{"id":"0badc0df","state":"dancing"}`, `{"id":"0badc0da","title":"e\u001b[31mvil","state":"failed"}`,
	} {
		testkit.Must(t, h.dir.Append(ledgerName, []byte(line)))
	}
	testkit.Must(t, appendLedger(h.dir, good))
	views, err := Ledger(h.dir, 20)
	testkit.Must(t, err)
	var got []string
	for _, v := range views {
		got = append(got, v.Title)
	}
	if diff := cmp.Diff([]string{"Fine", "evil"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestALargeLedgerIsReadFromItsEndAndShortenedByTheNextLine(t *testing.T) {
	h := newHarness(t)
	var b bytes.Buffer
	for i := range 12_000 {
		fmt.Fprintf(&b, `{"id":"%08x","title":"run %d","state":"done","error":"%s"}`+"\n", i, i, strings.Repeat("x", 1800))
	}
	testkit.Must(t, os.WriteFile(h.dir.Path(ledgerName), b.Bytes(), 0o600))
	views, err := Ledger(h.dir, 3)
	if err != nil || len(views) != 3 || views[0].Title != "run 11999" {
		t.Fatalf("%+v, %v", views, err)
	}
	testkit.Must(t, appendLedger(h.dir, views[0]))
	info, err := os.Stat(h.dir.Path(ledgerName))
	if err != nil || info.Size() > ledgerKept+4096 {
		t.Errorf("size %d, %v", info.Size(), err)
	}
	if views, err = Ledger(h.dir, 1); err != nil || views[0].Title != "run 11999" {
		t.Errorf("after shortening: %+v, %v", views, err)
	}
}

func TestALedgerOfOneEndlessLineCostsAStartLittle(t *testing.T) {
	h := newHarness(t)
	good := View{ID: "0badc0de", Title: "Email sweep", State: Running, Started: time.Now().UTC()}
	f, err := os.Create(h.dir.Path(ledgerName))
	testkit.Must(t, err)
	testkit.Must(t, f.Truncate(1<<30)) // a sparse file, which takes no space
	testkit.Must(t, f.Close())

	read := func() (cut, listed []View) {
		cut, err := cutOff(h.dir)
		testkit.Must(t, err)
		listed, err = Ledger(h.dir, 10)
		testkit.Must(t, err)
		return cut, listed
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cut, listed := read()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 200<<20 || len(cut)+len(listed) > 0 {
		t.Errorf("%d MB were allocated to read %v and %v", got>>20, cut, listed)
	}
	testkit.Must(t, appendLedger(h.dir, good)) // which trims it
	if cut, listed = read(); len(cut) != 1 || len(listed) != 1 || listed[0].ID != good.ID {
		t.Errorf("after a line: cut off are %v, listed %v", cut, listed)
	}
}

func TestATailIsOnDiskWhileTheRunLivesAndAfterIt(t *testing.T) {
	serving(t, func(t *testing.T, h *harness) {
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = h.m.Do(t.Context(), playing(task(), "say early", "wait 5m", "say late")) })
		time.Sleep(2 * time.Second)
		id := h.m.Views()[0].ID
		page, err := DiskTail(h.dir, id, 0)
		if err != nil || len(page.Lines) != 1 || page.Lines[0].Text != "early" {
			t.Errorf("while it runs: %+v, %v", page, err)
		}
		wg.Wait()
		page, err = DiskTail(h.dir, id, page.Next)
		if err != nil || len(page.Lines) != 2 || page.Lines[0].Text != "late" || page.Lines[1].Text != "done" {
			t.Errorf("the rest: %+v, %v", page, err)
		}
		// Another process reads the same lines from disk.
		memory, _ := h.m.Tail(id, 0)
		disk, ok := h.manager().Tail(id, 0)
		if !ok || len(disk.Lines) != len(memory.Lines) {
			t.Errorf("disk %d lines, memory %d", len(disk.Lines), len(memory.Lines))
		}
	})
}

func TestAnUnknownOrForgedRunHasNoTail(t *testing.T) {
	h := newHarness(t)
	for _, id := range []string{"00000000", "", "../../secret", "state", "0BADC0DE"} {
		if _, err := DiskTail(h.dir, id, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
		if _, ok := h.m.Tail(id, 0); ok {
			t.Errorf("%q has a tail", id)
		}
	}
}

func TestAFullDiskIsNotedOnceAndTheTailGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.troubles = []string{"tail is not saved"}
		// A file instead of the folder makes all writes fail.
		storetest.Put(t, h.dir, tailFolder, "in the way")
		defer h.serve()()
		v, err := h.m.Do(t.Context(), playing(task(), "repeat 20", "say line %d", "wait 3s", "end"))
		if err != nil || v.State != Done {
			t.Fatalf("%s, %v", v.State, err)
		}
		page, _ := h.m.Tail(v.ID, 0)
		var said, notes int
		for _, l := range page.Lines {
			switch {
			case l.Kind == tail.Text:
				said++
			case l.Text == textTailNotSaved:
				notes++
			}
		}
		if said != 20 || notes != 1 {
			t.Errorf("%d lines said, %d notes", said, notes)
		}
	})
}

func TestWhatTheDiskMissedIsWrittenOnceItCanBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		h.troubles = []string{"tail is not saved"}
		storetest.Put(t, h.dir, tailFolder, "in the way")
		defer h.serve()()
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = h.m.Do(t.Context(), playing(task(), "say first", "wait 1m", "say second")) })
		time.Sleep(2 * time.Second)
		testkit.Must(t, h.dir.Remove(tailFolder))
		wg.Wait()
		page, err := DiskTail(h.dir, h.m.Views()[0].ID, 0)
		if err != nil || len(page.Lines) < 3 || page.Lines[0].Text != "first" {
			t.Errorf("%+v, %v", page, err)
		}
	})
}

func TestOnlyTheNewest200TailsAreKept(t *testing.T) {
	h := newHarness(t)
	at := time.Now().Add(-time.Hour)
	for i := range keptTails + 5 {
		name := tailName(fmt.Sprintf("%08x", i))
		storetest.Put(t, h.dir, name, "{}\n")
		testkit.Must(t, os.Chtimes(h.dir.Path(name), at, at.Add(time.Duration(i)*time.Second)))
	}
	own := []string{tailFolder + "/notes.txt", tailFolder + "/diary.jsonl", tailFolder + "/0badc0de"}
	for _, name := range own {
		storetest.Put(t, h.dir, name, "the user's own")
		testkit.Must(t, os.Chtimes(h.dir.Path(name), at, at.Add(-time.Hour)))
	}
	prune(h.dir, h.o.Log)
	left, err := filepath.Glob(h.dir.Path(tailFolder) + "/0*.jsonl")
	if err != nil || len(left) != keptTails || strings.HasSuffix(left[0], "00000004.jsonl") {
		t.Errorf("%d files left, the oldest %s, %v", len(left), left[0], err)
	}
	for _, name := range own {
		if _, err := h.dir.Read(name); err != nil {
			t.Errorf("%s, which is no tail, was removed", name)
		}
	}
}

func TestDeltasBecomeWholeCleanLines(t *testing.T) {
	var got []string
	l := lines{add: func(k tail.Kind, s string) { got = append(got, string(k)+" "+s) }}
	l.take(tail.Think, "one")
	l.take(tail.Text, "two ")
	l.take(tail.Text, "words\nthr")
	l.take(tail.Text, "ee\n\n  \nfour")
	l.flush()
	l.take(tail.Text, strings.Repeat("é", maxLine))
	l.flush()
	want := []string{"think one", "text two words", "text three", "text four"}
	if diff := cmp.Diff(want, got[:4]); diff != "" {
		t.Error(diff)
	}
	if rest := strings.Join(got[4:], ""); strings.Count(rest, "é") != maxLine || strings.ContainsRune(rest, '\uFFFD') || len(got) != 6 {
		t.Errorf("a long line was broken inside a character: %d parts", len(got)-4)
	}
}

// storm is an engine that emits n lines as fast as they are consumed.
type storm struct {
	rude
	n int
}

func (s *storm) Send(context.Context, agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for i := range s.n {
			if !yield(agent.Text{Delta: fmt.Sprintf("line %d of a busy run with some words in it\n", i)}, nil) {
				return
			}
		}
		yield(agent.Result{SessionID: s.ID()}, nil)
	}
}

func stormy(n int) func(*Options) {
	return func(o *Options) {
		o.Engine = engineFunc(func(context.Context, agent.SessionOptions) (agent.Session, error) {
			return &storm{rude{closed: make(chan struct{})}, n}, nil
		})
	}
}

func TestAReaderLosesNoLineWithinTheRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, stormy(ringLines-1))
		defer h.serve()()
		v := h.does(playing(task()))
		page, _ := h.m.Tail(v.ID, 0)
		disk, err := DiskTail(h.dir, v.ID, 0)
		testkit.Must(t, err)
		if page.Lost != 0 || len(page.Lines) != ringLines || len(disk.Lines) != ringLines || v.Lines != ringLines {
			t.Errorf("memory %d (%d lost), disk %d", len(page.Lines), page.Lost, len(disk.Lines))
		}
	})
}

// BenchmarkTailAbsorbs measures the path of a run's events to the ring and the file; the
// requirement is 10,000 lines a second.
func BenchmarkTailAbsorbs(b *testing.B) {
	m := newHarness(b, stormy(b.N)).m
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = m.Run(ctx) })
	b.ResetTimer()
	if _, err := m.Do(ctx, playing(task())); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
	b.StopTimer()
	cancel()
	wg.Wait()
}

func TestARunWhoseReportCouldNotBeStoredHasFailed(t *testing.T) {
	serving(t, func(t *testing.T, h *harness) {
		lock := h.dir.Path("state/.pending_updates.lock") // blocks the queue's lock
		testkit.Must(t, os.MkdirAll(lock, 0o700))
		job := playing(titled("Email sweep"), `call report_updates {"message":"two mails"}`)
		v, err := h.m.Do(t.Context(), job)
		if v.State != Failed || !strings.Contains(v.Error, "report could not be saved") || errors.Is(err, routines.ErrUnrecorded) {
			t.Errorf("%s %q, %v", v.State, v.Error, err)
		}
		if len(h.sent()) != 1 {
			t.Errorf("told: %+v", h.sent())
		}
		testkit.Must(t, os.Remove(lock))
		if v, err := h.m.Do(t.Context(), job); v.State != Done || err != nil {
			t.Errorf("%s, %v", v.State, err)
		}
	})
}

func TestAFailedRunOnAFullDiskIsUnrecorded(t *testing.T) {
	testkit.Alone(t)
	if !storetest.Alone(t) {
		return
	}
	h := newHarness(t)
	defer h.log.Reset() // its content depends on when the disk is full
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.m.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	err := storetest.FullDisk(t, func() error {
		_, err := h.m.Do(t.Context(), playing(titled("Email sweep"), `call report_updates {"message":"two mails"}`))
		return err
	})
	if !errors.Is(err, routines.ErrUnrecorded) {
		t.Error(err)
	}
}

func TestTheOutputOfRunsTakesABoundedRoom(t *testing.T) {
	h := newHarness(t)
	for i := range 6 {
		name := h.dir.Path(tailName(fmt.Sprintf("%08x", i)))
		testkit.Must(t, os.MkdirAll(filepath.Dir(name), 0o700))
		testkit.Must(t, os.WriteFile(name, nil, 0o600))
		if err := os.Truncate(name, maxTailFile); err != nil { // takes no space
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i) * time.Minute)
		testkit.Must(t, os.Chtimes(name, at, at))
	}
	prune(h.dir, h.o.Log)
	left, err := h.dir.Entries(tailFolder)
	if err != nil || len(left) != maxTails/maxTailFile || left[0].Name() != "00000002.jsonl" {
		t.Errorf("%v, %v", left, err)
	}
}
