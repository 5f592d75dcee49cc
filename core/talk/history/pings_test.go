package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
)

func TestPingsAreSetAgainstTheUsersNextMessage(t *testing.T) {
	w := family(t)
	w.session(mainID, at(301), append(talk(), headed(at(200), "Took it."), answers(at(200), "Good."),
		headed(at(210), "[routine:c0ffee00] Review the day."), answers(at(210), "Shall we?"),
		headed(at(220), "[button] Yes"), answers(at(220), "Then let's."),
		headed(at(300), "[reminder:d0d0d0d0] Tea."), answers(at(300), "Tea!"))...)
	w.state("pings.jsonl", fmt.Sprintf(`{"at": %q, "task": "9a8b7c6d", "title": "Medication", "kind": "ping", "critical": true, "run": "1a2b3c4d", "id": "1a2b3c4d-1"}
garbage
{"at": %q, "task": "9a8b7c6d", "title": "Medication", "kind": "ping", "run": "1a2b3c4d", "refused": "no token left"}
{"at": %q, "answers": "1a2b3c4d-1", "how": "reply"}
{"at": "2026-11-01T12:00:00+00:00", "task": "old", "title": "Too old", "kind": "ping", "critical": false, "run": "00000000"}
{"at": %q, "task": "9a8b7c6d", "title": "Medi\u001b[31mcation", "kind": "embed", "critical": false, "run": "ffffffff"}
`, at(181).Format(time.RFC3339), at(182).Format(time.RFC3339), at(199).Format(time.RFC3339), at(400).Format(time.RFC3339)))
	w.state("schedule.json", fmt.Sprintf(`{"routines": {
"9a8b7c6d": {"cron": "0 20 * * *", "last_fire": %q, "outcome": "done"},
"c0ffee00": {"cron": "0 21 * * *", "last_fire": %q, "outcome": "done"},
"feedfeed": {"cron": "0 21 * * *", "last_fire": %q, "outcome": "failed"},
"nothing": null}}`, stamp(at(180)), stamp(at(210).Add(-2*time.Second)), stamp(at(290))))
	w.put(w.dir.Path("routines/review.md"), "---\nid: \"c0ffee00\"\ncron: \"0 21 * * *\"\ndescription: \"Evening review\"\n---\nReview the day.\n", noon)
	w.state("transcript.jsonl", fmt.Sprintf(`{"id":"t1","at":%q,"role":"you","text":"a"}
{"id":"t2","at":%q,"role":"bot","text":"b"}
{"id":"t2","deleted":true}`, stamp(at(295)), stamp(at(299))))

	got, more, err := w.history().Pings(at(-60))
	if err != nil || more != 0 {
		t.Fatal(err, more)
	}
	after := func(minutes int) *int { return &minutes }
	want := []Event{
		{
			At: at(180), What: Fired, Task: "9a8b7c6d", Title: "Medication", Kind: "routine", Background: true,
			State: "done", Pings: 1, Session: runID,
		},
		{
			At: at(181), What: Pinged, Task: "9a8b7c6d", Title: "Medication", Kind: "routine", Background: true,
			Form: "ping", Critical: true, Session: runID, Next: at(199), How: budget.Replied, Minutes: after(18),
		},
		{At: at(210), What: Fired, Task: "c0ffee00", Title: "Evening review", Kind: "routine", Session: mainID, Next: at(220), Minutes: after(10)},
		{At: at(290), What: Fired, Task: "feedfeed", Kind: "routine", State: "failed", Next: at(295), Minutes: after(5)},
		{At: at(300), What: Fired, Task: "d0d0d0d0", Kind: "reminder", Session: mainID},
		{At: at(400), What: Pinged, Task: "9a8b7c6d", Title: "Medication", Kind: "routine", Background: true, Form: "embed"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	sums, err := w.history().Answers(at(-60))
	wantSums := []Summary{{
		Task: "9a8b7c6d", Title: "Medication", Rate: fork.Rate{Runs: 1, Pings: 1, Paid: 1},
		Answers: budget.Answers{Pings: 2, Answered: 1, Median: 18 * time.Minute},
	}}
	if diff := cmp.Diff(wantSums, sums); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if strings.Contains(w.logged.String(), "level") {
		t.Errorf("there was something to complain about: %s", &w.logged)
	}
}

func TestManyPingsAreBounded(t *testing.T) {
	w := newWorld(t)
	var lines strings.Builder
	for i := range maxEvents + 7 {
		fmt.Fprintf(&lines, `{"at": %q, "task": "t", "title": "T", "kind": "ping"}`+"\n", at(i).Format(time.RFC3339))
	}
	w.state("pings.jsonl", lines.String())
	events, more, err := w.history().Pings(time.Time{})
	if err != nil || len(events) != maxEvents || more != 7 || !events[0].At.Equal(at(7)) {
		t.Errorf("%d events, %d more, %v", len(events), more, err)
	}
}
