package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

func TestTheLogOutlivesARestart(t *testing.T) {
	serving(t, nil, func(t *testing.T, r *rig, l *pipes) {
		l.post(t, "github-ci", `{"repo":"hush","status":"success"}`)
		l.post(t, "github-ci", `{"repo":"hush"}`)
		waitFor(time.Second)
		l.post(t, "none", `{}`)
		r.stop()
		before := r.Deliveries()
		if len(before) != 3 {
			t.Fatalf("%+v", before)
		}
		again := rigOn(t, r.dir, nil)
		if diff := cmp.Diff(before, again.Deliveries()); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
		outside, err := Log(r.dir, 2)
		if err != nil || len(outside) != 2 || outside[0].ID != before[0].ID || outside[0].Webhook != "none" {
			t.Errorf("%+v, %v", outside, err)
		}
		assertNothingLeaked(t, r)
	})
}

func TestWhatACrashCutOffIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := storetest.Dir(t)
		at := time.Now().UTC().Format(time.RFC3339)
		put := func(id, outcome string) string {
			return fmt.Sprintf(`{"id":%q,"webhook":"github-ci","at":%q,"size":3,"remote":"x","outcome":"%s","status":202}`, id, at, outcome)
		}
		lines := []string{
			put("aaaaaaaa", Accepted), put("bbbbbbbb", Accepted), put("bbbbbbbb", Running), put("cccccccc", Accepted), put("cccccccc", Done),
			"", "no json", `{"id":"../../x","outcome":"done"}`, put("dddddddd", `do\u001b[31mne\u0007`), `{"id":"eeee`,
		}
		storetest.Put(t, d, LogFile, strings.Join(lines, "\n"))
		for round := range 2 {
			r := rigOn(t, d, nil)
			stop := r.start(t, newPipes())
			synctest.Wait()
			stop()
			got := map[string]string{}
			for _, d := range r.Deliveries() {
				got[d.ID] = d.Outcome
			}
			want := map[string]string{"aaaaaaaa": Held, "bbbbbbbb": Interrupted, "cccccccc": Done, "dddddddd": "done"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			notes := strings.Join(r.noted(), "\n")
			if round == 0 && (!strings.Contains(notes, "its webhook is gone or has other fields now. Delivery aaaaaaaa") ||
				!strings.Contains(notes, "may not have finished. Delivery bbbbbbbb")) || len(r.noted()) != 2-2*round {
				t.Errorf("round %d: notes %q", round, r.noted())
			}
		}
	})
}

// A crash at any moment of a hold leaves a log from which the next start sends the same
// note, before the main session can claim anything, without screening again.
func TestAHeldDeliveryThatACrashCutOffIsToldInTheSameWordsAndNotScreenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flag := func(context.Context, map[string]string) (bool, []string, error) {
			return false, []string{"branch"}, nil
		}
		var crashed []byte
		var first *rig
		first = newRig(t, func(o *Options) {
			o.Screen = flag
			told := o.Note
			o.Note = func(text string, kept func()) error {
				crashed, _ = first.dir.Read(LogFile) // the disk's state when the note has just been saved
				return told(text, kept)
			}
		})
		l := newPipes()
		stop := first.start(t, l)
		l.post(t, "github-ci", held1)
		synctest.Wait()
		stop()
		testkit.Must(t, first.dir.Write(LogFile, crashed))
		again := rigOn(t, first.dir, func(o *Options) {
			o.Screen = func(context.Context, map[string]string) (bool, []string, error) {
				t.Error("it is screened again")
				return true, nil, nil
			}
		})
		again.Recover()
		if diff := cmp.Diff(first.noted(), again.noted()); diff != "" || len(again.noted()) != 1 {
			t.Errorf("told before and after the crash: %s", diff)
		}
		if d := again.Deliveries()[0]; d.Outcome != Held || d.Verdict != verdictHeld || strings.Contains(onDisk(t, first.dir), "note") {
			t.Errorf("%+v", d)
		}
	})
}

func TestAFloodOfRefusalsIsOneEntry(t *testing.T) {
	serving(t, nil, func(t *testing.T, r *rig, l *pipes) {
		l.post(t, "fixed", `{"status":"up"}`)
		synctest.Wait()
		for range 500 {
			r.ask("POST", "/hook/github-ci", "Bearer wrong", "{}")
			r.ask("POST", "/hook/unknown-to-us", "Bearer wrong", "{}")
		}
		list := r.Deliveries()
		const each = guesses / 2 // of the 500 for each name that count as guesses
		if len(list) != 5 || list[0].Count != 500-each || list[1].Count != 500-each || list[2].Count != each || list[3].Count != each || list[4].Outcome != Done {
			t.Errorf("%+v", list)
		}
		if list[0].Webhook != "" || list[1].Webhook != "github-ci" {
			t.Errorf("a stranger's name stands in the ledger: %+v", list)
		}
		waitFor(2 * alike)
		r.ask("POST", "/hook/github-ci", "Bearer wrong", "{}")
		if list = r.Deliveries(); len(list) != 6 || list[0].Count != 1 {
			t.Errorf("later ones are entries of their own: %+v", list)
		}
		r.stop()
		data, err := os.ReadFile(r.dir.Path(LogFile))
		if err != nil || strings.Count(string(data), "\n") > 20 {
			t.Errorf("%d lines for 1,002 refusals, %v", strings.Count(string(data), "\n"), err)
		}
	})
}

func TestMemoryAndFileStayBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := storetest.Dir(t)
		var b strings.Builder
		for i := range 8000 {
			fmt.Fprintf(&b, `{"id":"%08x","webhook":"github-ci","at":%q,"remote":"x","outcome":"done","status":202,"count":1,"pad":%q}`+"\n",
				i, time.Now().Add(time.Duration(i)*time.Second).Format(time.RFC3339), strings.Repeat("x", 60))
		}
		storetest.Put(t, d, LogFile, b.String())
		r := rigOn(t, d, nil)
		stop := r.start(t, newPipes())
		for i := range 2 * keptMost {
			r.ask("POST", fmt.Sprintf("/hook/w%d", i), "Bearer "+secret, "{}")
		}
		stop()
		if n := len(r.Deliveries()); n != shown {
			t.Errorf("%d are shown", n)
		}
		rigOn(t, d, nil).Recover()
		list, err := Log(d, 1<<20)
		if info, serr := os.Stat(d.Path(LogFile)); err != nil || serr != nil || len(list) != keptMost || info.Size() > logMax/2 {
			t.Errorf("%d in the file, %v, %v", len(list), err, info)
		}
	})
}

// The largest payloads of all possible pending deliveries fit into what is read at the
// start, and do not make each write a rewrite.
func TestAsManyLargePayloadsAsMayWaitSurviveARestart(t *testing.T) {
	r := newRig(t, nil)
	l := r.deliveryLog()
	payload := fmt.Appendf(nil, `{"note":%q}`, strings.Repeat("<", MaxBody-20))
	add := func(i int, d Delivery, p []byte) {
		d.ID, d.At = fmt.Sprintf("%08x", i), time.Now()
		testkit.Must(t, l.add(&record{Delivery: d, Payload: p}))
	}
	for i := range underWay {
		add(i, Delivery{Webhook: "open", Outcome: Accepted}, payload)
	}
	var was int64
	for i := range keptMost {
		if i == keptMost/2 {
			was = l.size // after the one expected rewrite
		}
		add(underWay+i, Delivery{Webhook: "open", Outcome: Done}, nil)
	}
	if l.size != was || was < int64(underWay*MaxBody)/2 {
		t.Errorf("rewritten at %d bytes, then at %d", was, l.size)
	}
	l.tidy(time.Now())
	list, err := readLog(r.dir)
	waiting := 0
	for _, r := range list {
		if r.open() && string(r.Payload) == string(payload) {
			waiting++
		}
	}
	if err != nil || waiting != underWay {
		t.Errorf("%d wait after a restart: %v", waiting, err)
	}
}

func TestOldDeliveriesAndPayloadsLeaveTheFile(t *testing.T) {
	serving(t, nil, func(t *testing.T, r *rig, l *pipes) {
		l.post(t, "open", `{"note":"hush hush"}`)
		synctest.Wait()
		if text := onDisk(t, r.dir); !strings.Contains(text, "hush hush") || !strings.Contains(text, Done) {
			t.Errorf("the file says %s", text)
		}
		waitFor(tidyEvery + time.Minute)
		if text := onDisk(t, r.dir); strings.Contains(text, "hush") || !strings.Contains(text, Done) {
			t.Errorf("after an hour the file says %s", text)
		}
		waitFor(keptFor + tidyEvery)
		if text := onDisk(t, r.dir); text != "" || len(r.Deliveries()) != 0 {
			t.Errorf("after a month the file says %s", text)
		}
	})
}

func onDisk(t testing.TB, d *store.Dir) string {
	t.Helper()
	data, err := d.Read(LogFile)
	testkit.Must(t, err)
	return string(data)
}

func TestADeliveryThatCannotBeWrittenDownIsNotAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		testkit.Must(t, os.MkdirAll(r.dir.Path(LogFile), 0o700))
		l := newPipes()
		stop := r.start(t, l)
		synctest.Wait()
		w := r.post("fixed", `{"status":"up"}`)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		waitFor(time.Second)
		testkit.Must(t, os.Remove(r.dir.Path(LogFile)))
		if status, _ := l.post(t, "fixed", `{"status":"down"}`); status != http.StatusAccepted {
			t.Errorf("once it can be written: %d", status)
		}
		synctest.Wait()
		waitFor(time.Minute)
		if list, err := Log(r.dir, 9); err != nil || len(list) != 2 || list[0].Outcome != Done || list[1].Outcome != "refused 503" || len(r.ran()) != 1 {
			t.Errorf("%+v, %v, ran %d", list, err, len(r.ran()))
		}
		stop()
		if !strings.Contains(r.logged(), textNotWritten) {
			t.Error("the trouble was not told")
		}
	})
}

// A4: what the ledger of runs says about a delivery decides: a run that had begun is not repeated, and one that ended is
// not reported, even if the log of deliveries lacks its end.
func TestAfterARestartTheLedgerOfRunsDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := storetest.Dir(t)
		put(t, d, "fixed.md", fixedSpec)
		text := ""
		for i, outcome := range []string{Accepted, Running, Running, Accepted} {
			text += fmt.Sprintf(`{"id":"aaaaaaa%d","webhook":"fixed","at":%q,"remote":"x","outcome":%q,"status":202,"payload":{"status":"up"}}`+"\n",
				i, time.Now().Format(time.RFC3339), outcome)
		}
		storetest.Put(t, d, LogFile, text)
		r := rigOn(t, d, nil)
		r.begun = map[string]string{"aaaaaaa2-1": Interrupted, "aaaaaaa3-1": Done}
		stop := r.start(t, newPipes())
		synctest.Wait()
		stop()
		var ran []string
		for _, j := range r.ran() {
			ran = append(ran, j.Delivery.ID)
		}
		slices.Sort(ran)
		if want := []string{"aaaaaaa0", "aaaaaaa1"}; !slices.Equal(ran, want) {
			t.Errorf("ran %q, not %q", ran, want)
		}
		if notes := r.noted(); len(notes) != 1 || !strings.Contains(notes[0], "may not have finished. Delivery aaaaaaa2") {
			t.Errorf("notes %q", notes)
		}
		for _, one := range r.Deliveries() {
			if want := map[bool]string{true: Interrupted, false: Done}[one.ID == "aaaaaaa2"]; one.Outcome != want {
				t.Errorf("%s is %s, not %s", one.ID, one.Outcome, want)
			}
		}
	})
}

// What the run says about its end decides what becomes of the delivery, and none is repeated while the bot runs.
func TestADeliveryWhoseRunHasNotBegunWhenTheBotStopsIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		err           error
		outcome, note string
	}{
		"not begun": {ErrNotBegun, Accepted, ""},
		"cut off":   {ErrCutOff, Interrupted, "may not have finished"},
		"waits":     {&WaitsError{Why: "it runs ls"}, Held, "the webhook was changed: it runs ls."},
		"failed":    {errors.New("no"), Failed, ""},
	} {
		var began atomic.Int32
		serving(t, func(o *Options) { o.Run = func(context.Context, Job) error { began.Add(1); return c.err } }, func(t *testing.T, r *rig, l *pipes) {
			l.post(t, "fixed", `{"status":"up"}`)
			waitFor(time.Hour)
			r.stop()
			notes := strings.Join(r.noted(), "\n")
			if got := r.outcome(t); got != c.outcome || !strings.Contains(notes, c.note) || (c.note == "") != (notes == "") || began.Load() != 1 {
				t.Errorf("%s: it is %s after %d runs, notes %q", name, got, began.Load(), notes)
			}
		})
	}
}

func TestWhatWasAcceptedBeforeTheStartIsRunOnceOrReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := storetest.Dir(t)
		put(t, d, "fixed.md", fixedSpec)
		line := func(id, webhook string, age time.Duration, payload string) string {
			return fmt.Sprintf(`{"id":%q,"webhook":%q,"at":%q,"remote":"x","outcome":"accepted","status":202,"payload":%s}`+"\n",
				id, webhook, time.Now().Add(-age).Format(time.RFC3339), payload)
		}
		text := line("aaaaaaaa", "fixed", time.Hour, `{"status":"up"}`) + line("bbbbbbbb", "fixed", 24*time.Hour, `{"status":"up"}`) +
			line("cccccccc", "gone", time.Hour, `{}`) + line("dddddddd", "fixed", time.Hour, `{"status":"other"}`)
		storetest.Put(t, d, LogFile, text+`{"id":"torn`)
		for round := range 2 {
			r := rigOn(t, d, nil)
			if round == 0 { // the first time nothing can be reported
				r.refuse = errors.New("no space left")
			}
			r.Recover()
			r.Recover()
			r.refuse = nil
			stop := r.start(t, newPipes())
			synctest.Wait()
			stop()
			ran := r.ran()
			if len(ran) != 2-2*round {
				t.Errorf("round %d: ran %+v", round, ran)
			}
			for _, j := range ran { // however old they are
				if !slices.Contains([]string{"aaaaaaaa", "bbbbbbbb"}, j.Delivery.ID) || j.Payload.Data[0].Value != "up" {
					t.Errorf("ran %+v", j)
				}
			}
			if len(r.noted()) != 2*round {
				t.Errorf("round %d: noted %q", round, r.noted())
			}
		}
		if r := rigOn(t, d, nil); len(r.deliveryLog().open()) != 0 {
			t.Errorf("still open: %+v", r.Deliveries())
		}
	})
}

// outcome returns the outcome of the only delivery, as seen by a dashboard and a command.
func (r *rig) outcome(t *testing.T) string {
	t.Helper()
	list, err := Log(r.dir, 10)
	if err != nil || len(list) != 1 || len(r.Deliveries()) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if now := r.Deliveries()[0].Outcome; now != list[0].Outcome {
		t.Errorf("it is %s, and %s on the disk", now, list[0].Outcome)
	}
	return list[0].Outcome
}

func TestADeliveryThatCannotBeStoredFreesItsSlot(t *testing.T) {
	d := storetest.Prepared(t)
	r := rigOn(t, d, nil)
	testkit.Must(t, os.RemoveAll(d.Path(LogFile)))
	testkit.Must(t, os.Mkdir(d.Path(LogFile), 0o700)) // makes appending fail
	for range underWay + 1 {
		refusal := r.accept(&task{record: &record{}})
		if refusal == nil || refusal.Status != statusNotStored {
			t.Fatalf("a delivery that is not on the disk: %+v", refusal)
		}
	}
	if r.active != 0 {
		t.Errorf("%d slots are still taken", r.active)
	}
}
