package webhook

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheLedgerOutlivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		l := newPipes()
		stop := r.start(t, l)
		l.post(t, "github-ci", `{"repo":"hush","status":"success"}`)
		l.post(t, "github-ci", `{"repo":"hush"}`)
		waitFor(time.Second)
		l.post(t, "none", `{}`)
		stop()
		before := r.Deliveries()
		if len(before) != 3 {
			t.Fatalf("%+v", before)
		}
		again := rigOn(t, r.dir, nil)
		if diff := cmp.Diff(before, again.Deliveries()); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
		outside, err := Ledger(r.dir, 2)
		if err != nil || len(outside) != 2 || outside[0].ID != before[0].ID || outside[0].Webhook != "none" {
			t.Errorf("%+v, %v", outside, err)
		}
		assertNothingLeaked(t, r)
	})
}

func TestWhatACrashCutOffIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDir(t)
		at := time.Now().UTC().Format(time.RFC3339)
		put := func(id, outcome string) string {
			return fmt.Sprintf(`{"id":%q,"webhook":"github-ci","at":%q,"size":3,"remote":"x","outcome":"%s","status":202}`, id, at, outcome)
		}
		lines := []string{
			put("aaaaaaaa", Accepted), put("bbbbbbbb", Accepted), put("bbbbbbbb", Running), put("cccccccc", Accepted), put("cccccccc", Done),
			"", "no json", `{"id":"../../x","outcome":"done"}`, put("dddddddd", `do\u001b[31mne\u0007`), `{"id":"eeee`,
		}
		if err := d.Write(LedgerFile, []byte(strings.Join(lines, "\n"))); err != nil {
			t.Fatal(err)
		}
		for round := range 2 {
			r := rigOn(t, d, nil)
			stop := r.start(t, newPipes())
			synctest.Wait()
			stop()
			got := map[string]string{}
			for _, d := range r.Deliveries() {
				got[d.ID] = d.Outcome
			}
			want := map[string]string{"aaaaaaaa": Interrupted, "bbbbbbbb": Interrupted, "cccccccc": Done, "dddddddd": "done"}
			if diff := cmp.Diff(want, got); diff != "" && round == 1 {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n := len(r.noted()); n != 1-round {
				t.Errorf("round %d: notes %q", round, r.noted())
			}
		}
	})
}

func TestAFloodOfRefusalsIsOneEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		l := newPipes()
		stop := r.start(t, l)
		l.post(t, "fixed", `{"status":"up"}`)
		synctest.Wait()
		for range 500 {
			r.ask("POST", "/hook/github-ci", "Bearer wrong", "{}")
			r.ask("POST", "/hook/unknown-to-us", "Bearer wrong", "{}")
		}
		list := r.Deliveries()
		if len(list) != 3 || list[0].Count != 500 || list[1].Count != 500 || list[2].Outcome != Done {
			t.Errorf("%+v", list)
		}
		if list[0].Webhook != "" || list[1].Webhook != "github-ci" {
			t.Errorf("a stranger's name stands in the ledger: %+v", list)
		}
		waitFor(2 * alike)
		r.ask("POST", "/hook/github-ci", "Bearer wrong", "{}")
		if list = r.Deliveries(); len(list) != 4 || list[0].Count != 1 {
			t.Errorf("later ones are entries of their own: %+v", list)
		}
		stop()
		data, err := os.ReadFile(r.dir.Path(LedgerFile))
		if err != nil || strings.Count(string(data), "\n") > 20 {
			t.Errorf("%d lines for 1,002 refusals, %v", strings.Count(string(data), "\n"), err)
		}
	})
}

func TestMemoryAndFileStayBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDir(t)
		var b strings.Builder
		for i := range 8000 {
			fmt.Fprintf(&b, `{"id":"%08x","webhook":"github-ci","at":%q,"remote":"x","outcome":"done","status":202,"count":1,"pad":%q}`+"\n",
				i, time.Now().Add(time.Duration(i)*time.Second).Format(time.RFC3339), strings.Repeat("x", 60))
		}
		if err := d.Write(LedgerFile, []byte(b.String())); err != nil {
			t.Fatal(err)
		}
		r := rigOn(t, d, nil)
		stop := r.start(t, newPipes())
		for i := range 3 * kept {
			r.ask("POST", fmt.Sprintf("/hook/w%d", i), "Bearer "+secret, "{}")
		}
		stop()
		if n := len(r.Deliveries()); n != kept {
			t.Errorf("%d in memory", n)
		}
		list, err := Ledger(d, 1<<20)
		if err != nil || len(list) != ledgerKept+3*kept {
			t.Errorf("%d in the file, %v", len(list), err)
		}
	})
}

func TestALedgerThatCannotBeWrittenStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		if err := os.MkdirAll(r.dir.Path(LedgerFile), 0o700); err != nil {
			t.Fatal(err)
		}
		l := newPipes()
		stop := r.start(t, l)
		if status, _ := l.post(t, "fixed", `{"status":"up"}`); status != 202 {
			t.Errorf("%d", status)
		}
		waitFor(time.Second)
		if err := os.Remove(r.dir.Path(LedgerFile)); err != nil {
			t.Fatal(err)
		}
		l.post(t, "fixed", `{"status":"down"}`)
		synctest.Wait()
		stop()
		list, err := Ledger(r.dir, 9)
		if err != nil || len(list) != 2 || list[0].Outcome != Done || list[1].Outcome != Done {
			t.Errorf("%+v, %v", list, err)
		}
		if !strings.Contains(r.log.String(), "could not be written") {
			t.Error("the trouble was not told")
		}
	})
}
