package fork

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines"
)

func TestALedgerHasALineForTheStartAndOneForTheEndOfARun(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		v := h.done(playing(titled("Email sweep"), `call ping_user {"message":"hi"}`, `call report_updates {"message":"pinged"}`))
		views, err := Ledger(h.dir, 20)
		if err != nil || len(views) != 1 || v.Usage.OutputTokens == 0 || strings.Count(storetest.Text(t, h.dir, ledgerName), "\n") != 2 {
			t.Fatalf("%+v, %v", views, err)
		}
		want := v
		want.Usage.Free, want.Timeout, want.Activity, want.Lines = false, 0, "", 0 // irrelevant afterwards
		if diff := cmp.Diff(want, views[0]); diff != "" {
			t.Errorf("a run reads back differently:\n%s", diff)
		}
	})
	h, at := newHarness(t), time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	v := View{
		ID: "0badc0de", Kind: routines.KindReminder, TaskID: "a1", Title: "Sweep", State: Failed, Queued: at, Started: at.Add(time.Second), Ended: at.Add(time.Minute),
		Due: at.Add(-time.Second), Delivery: "d-1", Late: true, Model: "haiku", Session: "s-1", Parent: "s-0", Error: "it broke", Tools: 1, Pings: 2, Critical: 3,
		Essential: 4, Quiet: 5, Refused: 6, Label: "mail", Trusted: true, Reports: 7, Stopped: "paused itself", NoModel: true,
		Usage: agent.Usage{InputTokens: 8, OutputTokens: 9, CacheRead: 10, CacheWrite: 11, CostUSD: 1.5}, Position: 12, Timeout: 13, Activity: "x", Lines: 14, Aside: true,
	}
	testkit.Must(t, appendStart(h.dir, v))
	testkit.Must(t, appendLedger(h.dir, v))
	testkit.Must(t, appendLedger(h.dir, View{ID: "0badc0df", State: Stopped}))
	const who, of = `{"id":"0badc0de","kind":"reminder","task":"a1","title":"Sweep","state":`, `"due":"2026-11-23T08:59:59Z","delivery":"d-1","late":true,` +
		`"model":"haiku","session":"s-1","parent":"s-0","error":`
	const began, ended = `"queued":"2026-11-23T09:00:00Z","started":"2026-11-23T09:00:01Z",`, `"ended":"2026-11-23T09:01:00Z",`
	const counts, label = `,"tools":1,"pings":2,"critical":3,"essential":4,"quiet":5,"refused":6,`, `"tainted":"mail","trusted":true`
	const did, cost = `"reports":7,"stopped_routine":"paused itself","no_model":true,`, `"tokens":38,"cost_usd":1.5`
	const usage = `,"usage":{"input_tokens":8,"output_tokens":9,"cache_read_tokens":10,"cache_write_tokens":11,"cost_usd":1.5}}` + "\n"
	const nothing = `"late":false,"model":"","session":"","parent":"","error":"","tools":0,"pings":0,"critical":0,"refused":0,"reports":0,`
	const empty, none = `{"id":"0badc0df","kind":"","task":"","title":"","state":"waiting",`, `"tokens":0,"cost_usd":0`
	ledger := who + `"running",` + began + of + `""` + counts + label + "," + did + cost + usage + who + `"failed",` + began + ended + of + `"it broke"` + counts +
		label + "," + did + cost + usage + strings.Replace(empty, "waiting", "stopped", 1) + nothing + none + "}\n"
	if diff := cmp.Diff(ledger, storetest.Text(t, h.dir, ledgerName)); diff != "" {
		t.Errorf("the ledger (-want +got)\n%s", diff)
	}
	data, err := json.Marshal([]View{v, {ID: "0badc0df", State: Waiting}})
	const never = `"queued":"0001-01-01T00:00:00Z","started":"0001-01-01T00:00:00Z","ended":"0001-01-01T00:00:00Z",`
	scripts := "[" + who + `"failed",` + of + `"it broke"` + counts + did + began + ended + cost + "," + label + "}," + empty + nothing + never + none + `,"tainted":"","trusted":false}]`
	if diff := cmp.Diff(scripts, string(data)); diff != "" || err != nil {
		t.Errorf("for scripts (-want +got)\n%s%v", diff, err)
	}
	v.Position, v.Timeout, v.Activity, v.Lines, v.Aside = 0, 0, "", 0, false
	if got, _, err := Find(h.dir, v.ID); err != nil || cmp.Diff(v, got) != "" {
		t.Errorf("it is read as %+v, %v", got, err)
	}
}

func TestARunWithoutAnEndLineIsInterruptedOnTheNextStartOnceHoweverManyCameAfterIt(t *testing.T) {
	for _, later := range []int{0, 3 * keptRuns} {
		synctest.Test(t, func(t *testing.T) {
			east := time.FixedZone("east", 2*3600)
			h := newHarness(t, func(o *Options) { o.Zone = east })
			testkit.Must(t, appendLedger(h.dir, View{ID: "0badc0de", Title: "Email sweep", State: Running, Started: time.Now().UTC()}))
			for i := range later {
				testkit.Must(t, appendLedger(h.dir, View{ID: fmt.Sprintf("%08x", i), State: Done}))
			}
			before := storetest.Text(t, h.dir, ledgerName)
			for round := range 3 {
				h.m = h.manager()
				views, after := h.m.Views(), storetest.Text(t, h.dir, ledgerName)
				if round == 0 && (later == 0 && (len(views) != 1 || views[0].State != Running) || after != before) {
					t.Errorf("a manager that does not serve has written, or shows %+v", views)
				}
				h.serve()()
				if v := h.m.Views(); later == 0 && (len(v) != 1 || v[0].State != Interrupted || v[0].Error != textProgramEnded ||
					v[0].Started.Location() != east || !v[0].Ended.Equal(time.Now())) {
					t.Errorf("after the start: %+v", v)
				}
			}
			if n := strings.Count(storetest.Text(t, h.dir, ledgerName), "interrupted"); n != 1 {
				t.Errorf("%d end lines, want one", n)
			}
			if v, ok, err := Find(h.dir, "0badc0de"); v.State != Interrupted || !ok || err != nil {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

func TestALedgerOfGarbageKeepsItsGoodLines(t *testing.T) {
	h := newHarness(t)
	for _, line := range []string{
		"not json", `{"id":"../../etc","state":"done"}`, `{"id":"0badc0df","state":"dancing"}`, `{"id":"0badc0d/","state":"done"}`, `{"id":"0badc0d:","state":"done"}`,
		"{\"id\":\"0badc0d`\",\"state\":\"done\"}", `{"id":"0badc0dg","state":"done"}`, `{"id":"0badc0de0","state":"done"}`, `{"id":"0badc0da","title":"e\u001b[31mvil","state":"failed"}`,
	} {
		testkit.Must(t, h.dir.Append(ledgerName, []byte(line)))
	}
	testkit.Must(t, appendLedger(h.dir, View{ID: "0badc0de", Title: "Fine", State: Done}))
	if views, err := Ledger(h.dir, 20); err != nil || len(views) != 2 || views[0].Title != "Fine" || views[1].Title != "evil" {
		t.Errorf("%+v, %v", views, err)
	}
}

func TestALedgerThatCannotBeReadIsAnError(t *testing.T) {
	h := newHarness(t)
	testkit.Must(t, os.MkdirAll(h.dir.Path(ledgerName), 0o700))
	_, listed := Ledger(h.dir, 20)
	_, past := Past(h.dir, jsonl.Cursor{}, 20)
	_, _, found := Find(h.dir, "0badc0de")
	_, deliveries := Deliveries(h.dir)
	_, history := h.m.Past("a1b2c3d4", 1)
	_, manager := NewManager(h.o)
	for i, err := range []error{listed, past, found, deliveries, history, manager} {
		if err == nil || !strings.Contains(err.Error(), "read the ledger of runs") {
			t.Errorf("%d: %v", i, err)
		}
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
	served(t, func(t *testing.T, h *harness) {
		end := h.start(playing(task(), "say early", "wait 5m", "say late"))
		time.Sleep(2 * time.Second)
		id := h.m.Views()[0].ID
		page, err := DiskTail(h.dir, id, 0)
		if got := texts(page.Lines); err != nil || !slices.Equal(got, []string{"text early"}) {
			t.Errorf("while it runs: %q, %v", got, err)
		}
		_, _ = end()
		page, err = DiskTail(h.dir, id, page.Next)
		if got := texts(page.Lines); err != nil || !slices.Equal(got, []string{"text late", "note done"}) {
			t.Errorf("the rest: %q, %v", got, err)
		}
		// Another process reads the same lines from disk.
		if disk, ok := h.manager().Tail(id, 0); !ok || !slices.Equal(texts(disk.Lines), h.lines(id)) {
			t.Errorf("on the disk %q, in memory %q", texts(disk.Lines), h.lines(id))
		}
	})
}

func TestAnUnknownOrForgedRunHasNoTail(t *testing.T) {
	h := newHarness(t)
	testkit.Must(t, h.dir.Append(tailName("0badc0de"), []byte(`{"text":"e\u001b[31mvil"}`)))
	if page, err := DiskTail(h.dir, "0badc0de", 0); err != nil || len(page.Lines) != 1 || page.Lines[0].Text != "evil" {
		t.Errorf("what others have written: %+v, %v", page, err)
	}
	for _, id := range []string{"00000000", "", "../../secret", "state", "0BADC0DE"} {
		if _, err := DiskTail(h.dir, id, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", id, err)
		}
		if _, ok := h.m.Tail(id, 0); ok {
			t.Errorf("%q has a tail", id)
		}
	}
}

// A file instead of the folder makes all writes fail.
func TestAFullDiskIsNotedOnceAndTheTailIsWrittenOnceThereIsRoom(t *testing.T) {
	for said, mended := range map[int]time.Duration{19: 0, 20: 30 * time.Second, 1: 2 * time.Second} { // the last run ends before the next try
		served(t, func(t *testing.T, h *harness) {
			h.troubles = []string{"tail is not saved"}
			storetest.Put(t, h.dir, tailFolder, "in the way")
			end := h.start(playing(task(), fmt.Sprint("repeat ", said), "say line %d", "wait 3s", "end"))
			id := h.m.Views()[0].ID
			if time.Sleep(mended); mended > 0 {
				testkit.Must(t, h.dir.Remove(tailFolder))
			}
			time.Sleep(tryAgain)
			if page, err := DiskTail(h.dir, id, 0); mended == 30*time.Second && (err != nil || len(page.Lines) < 10) {
				t.Errorf("while it runs are written %q, %v", texts(page.Lines), err)
			}
			v, err := end()
			lines, notes := h.lines(v.ID), 0
			for _, l := range lines {
				if l == "note "+textTailNotSaved {
					notes++
				}
			}
			if err != nil || v.State != Done || len(lines) != said+2 || notes != 1 {
				t.Errorf("%s, %v; the tail is %q", v.State, err, lines)
			}
			if page, err := DiskTail(h.dir, v.ID, 0); (mended > 0) != (err == nil) || err == nil && !slices.Equal(texts(page.Lines), lines) {
				t.Errorf("on the disk are %q, %v", texts(page.Lines), err)
			}
		})
	}
}

func TestTheOldestTailsAreRemovedBeyond200OrABoundedRoom(t *testing.T) {
	for _, c := range []struct {
		files int
		size  int64 // of each; it takes no space
		left  int
	}{{keptTails + 5, 3, keptTails}, {6, maxTailFile, maxTails / maxTailFile}, {3, 3, 3}} {
		h := newHarness(t)
		at := time.Now().Add(-time.Hour)
		put := func(name string, at time.Time) {
			storetest.Put(t, h.dir, name, "{}\n")
			testkit.Must(t, errors.Join(os.Truncate(h.dir.Path(name), c.size), os.Chtimes(h.dir.Path(name), at, at)))
		}
		for i := range c.files {
			put(tailName(fmt.Sprintf("%08x", i)), at.Add(time.Duration(i)*time.Second))
		}
		own := []string{tailFolder + "/notes.txt", tailFolder + "/diary.jsonl", tailFolder + "/0badc0de"}
		for _, name := range own { // the user's own, which is no tail
			put(name, at.Add(-time.Hour))
		}
		prune(h.dir, h.o.Log)
		left, err := filepath.Glob(h.dir.Path(tailFolder) + "/0*.jsonl")
		if first := fmt.Sprintf("%08x.jsonl", c.files-c.left); err != nil || len(left) != c.left || filepath.Base(left[0]) != first {
			t.Errorf("%d of %d files are left, the oldest is %s, %v", len(left), c.files, left[0], err)
		}
		for _, name := range own {
			if _, err := os.Stat(h.dir.Path(name)); err != nil {
				t.Errorf("%s was removed", name)
			}
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

// stormy gives a harness an engine that emits n lines as fast as they are consumed.
func stormy(n int) func(*Options) {
	events := make([]agent.Event, n, n+1)
	for i := range events {
		events[i] = agent.Text{Delta: fmt.Sprintf("line %d of a busy run with some words in it\n", i)}
	}
	return emits(append(events, agent.Result{SessionID: "s-1"})...)
}

func TestAReaderLosesNoLineWithinTheRing(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		v := h.done(playing(task()))
		page, _ := h.m.Tail(v.ID, 0)
		disk, err := DiskTail(h.dir, v.ID, 0)
		if err != nil || page.Lost != 0 || len(page.Lines) != ringLines || len(disk.Lines) != ringLines || v.Lines != ringLines {
			t.Errorf("memory %d (%d lost), disk %d, %v", len(page.Lines), page.Lost, len(disk.Lines), err)
		}
	}, stormy(ringLines-1))
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
	served(t, func(t *testing.T, h *harness) {
		lock := h.dir.Path("state/.pending_updates.lock") // blocks the queue's lock
		testkit.Must(t, os.MkdirAll(lock, 0o700))
		job := playing(titled("Email sweep"), `call report_updates {"message":"two mails"}`)
		v, err := h.m.Do(t.Context(), job)
		if v.State != Failed || !strings.Contains(v.Error, "report could not be saved") || errors.Is(err, routines.ErrUnrecorded) {
			t.Errorf("%s %q, %v", v.State, v.Error, err)
		}
		if lines := h.lines(v.ID); len(h.sent()) != 1 || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "error report could not be saved: ") }) {
			t.Errorf("sent: %+v, lines %q", h.sent(), lines)
		}
		testkit.Must(t, os.Remove(lock))
		h.done(job)
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

// forDelivery is a job for a delivery.
func forDelivery(name string, lines ...string) Job {
	j := playing(task(), lines...)
	j.Delivery = name
	return j
}

// begun checks the runs for deliveries in the ledger.
func (h *harness) begun(when string, want map[string]State) {
	h.t.Helper()
	if runs, err := Deliveries(h.dir); err != nil || !maps.Equal(runs, want) {
		h.t.Errorf("%s: %v, %v", when, runs, err)
	}
}

// A4: a run for a delivery is in the ledger exactly from the moment before the model is asked.
func TestARunForADeliveryIsInTheLedgerOnceItHasBegun(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		h.limits.MaxRunning = 1
		j := forDelivery("aaaa0001-1", "wait 10m", "say hello")
		prompt := j.Prompt
		j.Prompt = func(ctx context.Context) string { time.Sleep(time.Minute); return prompt(ctx) }
		first, second := h.start(j), h.start(forDelivery("aaaa0002-1", "say hello"))
		time.Sleep(time.Minute - 1)
		h.begun("while its prompt is built, and in the queue", nil)
		time.Sleep(time.Minute)
		h.begun("while it runs", map[string]State{"aaaa0001-1": Running})
		_, err := first()
		_, other := second()
		testkit.Must(t, errors.Join(err, other))
		h.begun("in the end", map[string]State{"aaaa0001-1": Done, "aaaa0002-1": Done})
	})
}

// A run that has not begun when the bot stops will be another run: the ledger does not have it.
func TestAStopBeforeARunForADeliveryBeginsLeavesNoTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t)
		stop := h.serve()
		j := forDelivery("aaaa0001-1", "say hello")
		j.Prompt = func(ctx context.Context) string { <-ctx.Done(); return "" }
		end := h.start(j)
		stop()
		if v, err := end(); !errors.Is(err, ErrStopping) || v.Delivery != "" {
			t.Errorf("it counts as begun: %+v, %v", v, err)
		}
		if runs, err := Ledger(h.dir, 9); err != nil || len(runs) != 0 {
			t.Errorf("the ledger has %+v, %v", runs, err)
		}
	})
}

// While the start cannot be written, the model is not asked.
func TestARunForADeliveryWaitsForTheDisk(t *testing.T) {
	for _, room := range []bool{true, false} {
		served(t, func(t *testing.T, h *harness) {
			h.troubles = []string{"ledger line was not written"}
			h.limits.Timeout = time.Hour
			testkit.Must(t, os.MkdirAll(h.dir.Path(ledgerName), 0o700))
			begin, end := time.Now(), h.start(forDelivery("aaaa0001-1", "say hello"))
			time.Sleep(10*time.Minute + time.Second)
			if v := h.m.Views()[0]; v.State != Running || v.Delivery != "" || v.Lines > 0 {
				t.Errorf("it has begun: %+v", v)
			}
			if !room {
				if v, err := end(); v.State != TimedOut || err != nil || v.Delivery != "" || time.Since(begin) != time.Hour {
					t.Errorf("after %s it is %+v, %v", time.Since(begin), v, err)
				}
				return
			}
			testkit.Must(t, os.Remove(h.dir.Path(ledgerName)))
			if _, err := end(); err != nil || time.Since(begin) > 10*time.Minute+2*tryAgain {
				t.Errorf("after %s %v", time.Since(begin), err)
			}
			h.begun("in the end", map[string]State{"aaaa0001-1": Done})
		})
	}
}
