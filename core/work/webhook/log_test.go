package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// A4: what the ledger of runs says about a delivery decides: a run that had begun is not repeated, and one that ended is not reported, even if the
// log of deliveries lacks its end. What had not begun runs, however old it is, and what cannot run or was cut off is reported, once.
func TestAfterARestartEachOpenDeliveryRunsOnceOrIsReportedOnce(t *testing.T) {
	const up, gone, cut = `{"status":"up"}`, "its webhook is gone or has other fields now", "may not have finished"
	stories := []struct {
		states, webhook, payload string // the last state counts
		age                      time.Duration
		begun                    string // the outcome of its run in the ledger of runs
		outcome, note            string // after the start
		ran                      bool
	}{
		0: {states: "accepted", payload: up, age: time.Hour, outcome: Done, ran: true},
		1: {states: "accepted", payload: up, age: 24 * time.Hour, outcome: Done, ran: true},
		2: {states: "accepted running", payload: up, outcome: Done, ran: true},
		3: {states: "accepted running", payload: up, begun: Interrupted, outcome: Interrupted, note: cut},
		4: {states: "accepted", payload: up, begun: Done, outcome: Done},
		5: {states: "running", payload: up, begun: Failed, outcome: Failed},
		6: {states: "accepted running", outcome: Interrupted, note: cut}, // of an earlier version, which kept no payload
		7: {states: "accepted done", outcome: Done},
		8: {states: "accepted", webhook: "gone", payload: `{}`, outcome: Held, note: gone},
		9: {states: "accepted", payload: `{"status":"other"}`, outcome: Held, note: gone},
	}
	for name, c := range map[string]struct{ unnoted, unknown error }{
		"all is well":              {},
		"nothing can be reported":  {unnoted: errors.New("no space left")},
		"the runs cannot be found": {unknown: errors.New("no ledger")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := storetest.Dir(t)
				put(t, d, "fixed.md", fixedSpec)
				text, begun := "no json\n"+`{"id":"../../x","outcome":"done"}`+"\n\n", map[string]string{}
				for i, s := range stories {
					for state := range strings.FieldsSeq(s.states) {
						payload := ""
						if s.payload != "" {
							payload = `,"payload":` + s.payload
						}
						text += fmt.Sprintf(`{"id":"aaaaaaa%d","webhook":%q,"at":%q,"remote":"x","outcome":%q,"status":202%s}`+"\n",
							i, cmp.Or(s.webhook, "fixed"), time.Now().Add(-s.age).Format(time.RFC3339), state, payload)
					}
					begun[fmt.Sprintf("aaaaaaa%d-1", i)] = s.begun
				}
				text += fmt.Sprintf(`{"id":"bbbbbbbb","webhook":"fixed","at":%q,"outcome":"do\u001b[31mne\u0007","verdict":"un\u001b[31mclear","remote":"x\ny",`+
					`"flagged":["a\tb",%q],"size":7,"status":202}`, time.Now().Format(time.RFC3339), strings.Repeat("z", 101))
				storetest.Put(t, d, LogFile, text+"\n"+`{"id":"torn`)
				ran, noted := map[string]int{}, ""
				for round := range 3 {
					r := rigOn(t, d, func(o *Options) { o.Begun = func() (map[string]string, error) { return begun, c.unknown } })
					if round == 0 { // the first time it may fail
						r.refuse = c.unnoted
					} else {
						c.unknown = nil
					}
					r.Recover()
					r.Recover()
					r.refuse = nil
					stop := r.start(t, newPipes())
					synctest.Wait()
					stop()
					for _, j := range r.ran() {
						if ran[j.Delivery.ID]++; j.Payload.Data[0].Value != "up" {
							t.Errorf("ran %+v", j)
						}
					}
					if noted += strings.Join(r.noted(), "\n") + "\n"; len(r.noted()) > 0 != (round == 0 && c.unnoted == nil || round == 1 && c.unnoted != nil) {
						t.Errorf("round %d: noted %q", round, r.noted())
					}
				}
				last := rigOn(t, d, nil)
				if list := last.Deliveries(); len(last.deliveryLog().open()) != 0 || len(list) != len(stories)+1 {
					t.Errorf("still open, or unreadable: %+v", list)
				}
				for _, one := range last.Deliveries() {
					i := int(one.ID[7] - '0')
					if one.ID == "bbbbbbbb" {
						want := Delivery{
							ID: "bbbbbbbb", Webhook: "fixed", At: one.At, Outcome: Done, Verdict: "unclear", Remote: "x y",
							Flagged: []string{"a    b", strings.Repeat("z", 99) + "…"}, Size: 7, Status: 202, Count: 1,
						}
						if diff := gocmp.Diff(want, one); diff != "" {
							t.Errorf("not cleaned: %s", diff)
						}
						continue
					}
					s := stories[i]
					if name == "the runs cannot be found" && s.begun == "" && s.states != "accepted done" { // a run that may have begun is not repeated
						s.outcome, s.note, s.ran = Interrupted, cut, false
					}
					runs, notes := map[bool]int{true: 1}[s.ran], map[bool]int{true: 1}[s.note != ""]
					if one.Outcome != s.outcome || ran[one.ID] != runs || strings.Count(noted, "Delivery "+one.ID) != notes ||
						notes > 0 && !strings.Contains(noted, s.note+". Delivery "+one.ID) {
						t.Errorf("delivery %d is %s, ran %d times, noted %q", i, one.Outcome, ran[one.ID], noted)
					}
				}
			})
		})
	}
}

// A crash at any moment of a hold leaves a log from which the next start sends the same
// note, before the main session can claim anything, without screening again.
func TestAHeldDeliveryCutOffByACrashIsReportedInTheSameWordsAndNotScreenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flag := func(context.Context, map[string]string) (bool, []string, error) {
			return false, []string{"branch"}, nil
		}
		var crashed []byte
		var first *rig
		first = newRig(t, func(o *Options) {
			o.Screen = flag
			note := o.Note
			o.Note = func(text string, kept func()) error {
				crashed, _ = first.dir.Read(LogFile) // the disk's state when the note has just been saved
				return note(text, kept)
			}
		})
		l := newPipes()
		stop := first.start(t, l)
		l.to(t, with(httptest.NewRequest(http.MethodPost, "/hook/github-ci", strings.NewReader(held1)), "Authorization", "Bearer "+secret, "Idempotency-Key", "a"))
		synctest.Wait()
		stop()
		const begin = `{"id":"ID","webhook":"github-ci","at":"2000-01-01T00:00:00Z","size":74,"remote":"pipe",`
		const middle, end = `"outcome":"accepted","status":202,"count":1,"payload":` + held1, `,"key":"619fc9d47e0f2e68a6a5d64b04f60aa3"}` + "\n"
		const note = `,"note":"Webhook github-ci: a delivery was held and not run, because the screening found instructions in the field branch. Delivery ID."`
		const want = begin + middle + end + begin + `"verdict":"held","flagged":["branch"],` + middle + note + end
		if got := strings.ReplaceAll(string(crashed), first.Deliveries()[0].ID, "ID"); got != want {
			t.Errorf("the log says\n%s", got)
		}
		testkit.Must(t, first.dir.Write(LogFile, crashed))
		again := rigOn(t, first.dir, func(o *Options) {
			o.Screen = func(context.Context, map[string]string) (bool, []string, error) {
				t.Error("it is screened again")
				return true, nil, nil
			}
		})
		again.Recover()
		if diff := gocmp.Diff(first.noted(), again.noted()); diff != "" || len(again.noted()) != 1 {
			t.Errorf("noted before and after the crash: %s", diff)
		}
		if d := again.Deliveries()[0]; d.Outcome != Held || d.Verdict != verdictHeld || strings.Contains(onDisk(t, first.dir), "note") {
			t.Errorf("%+v", d)
		}
	})
}

func TestMemoryAndFileStayBounded(t *testing.T) {
	if got := LimitsText(); got != "keeps the newest 500, for 30 days" {
		t.Error(got)
	}
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
		if n, kept := len(r.Deliveries()), len(r.deliveryLog().list); n != shown || kept != keptMost {
			t.Errorf("%d are shown of %d", n, kept)
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

func onDisk(t testing.TB, d *store.Dir) string {
	t.Helper()
	data, err := d.Read(LogFile)
	testkit.Must(t, err)
	return string(data)
}

// No other delivery with its id is answered as if it were stored.
func TestADeliveryThatCannotBeStoredIsRefusedFreesItsSlotAndCanBeSentAgain(t *testing.T) {
	serving(t, nil, func(t *testing.T, r *rig, l *pipes) {
		testkit.Must(t, os.MkdirAll(r.dir.Path(LogFile), 0o700)) // makes appending fail
		var g errgroup.Group
		for range 5 {
			g.Go(func() error {
				if answer, _ := l.to(t, fixed("fixed", "Idempotency-Key", "a")); answer.StatusCode != statusNotStored || answer.Header.Get("Retry-After") == "" {
					return fmt.Errorf("answered %d, %v", answer.StatusCode, answer.Header)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
		for range underWay + 1 {
			if refusal := r.accept(&task{record: &record{}}); refusal == nil || refusal.Status != statusNotStored {
				t.Fatalf("a delivery that is not on the disk: %+v", refusal)
			}
		}
		if r.active != 0 {
			t.Errorf("%d slots are still taken", r.active)
		}
		waitFor(time.Second)
		testkit.Must(t, os.Remove(r.dir.Path(LogFile)))
		if answer, _ := l.to(t, fixed("fixed", "Idempotency-Key", "a")); answer.StatusCode != http.StatusAccepted {
			t.Errorf("once it can be written: %d", answer.StatusCode)
		}
		waitFor(time.Minute)
		list, err := Log(r.dir, 9)
		for i, d := range list {
			if want := map[bool]string{true: Done, false: "refused 503"}[i == 0]; d.Outcome != want {
				t.Errorf("delivery %d is %s", i, d.Outcome)
			}
		}
		if err != nil || len(list) != 6 || len(r.ran()) != 1 || !strings.Contains(r.logged(), textNotWritten) {
			t.Errorf("%d deliveries, %v, ran %d, the log says %s", len(list), err, len(r.ran()), r.logged())
		}
	})
}
