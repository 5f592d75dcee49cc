package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/absence"
	"ollimbot/core/talk/session"
	"ollimbot/core/talk/transcript"
	duetimes "ollimbot/routines/account"
)

// foreground is a foreground reminder that is due so long after the story's beginning.
func foreground(id string, d time.Duration, lines ...string) file {
	return task("reminders/"+id+".md", fmt.Sprintf("id: %q\nrun-at: %q\nbackground: false\ndescription: \"Task %s\"\nmax-chain: 2\n",
		id, dayOne.Add(d).Format(time.RFC3339Nano), id), "Do it.\n\n"+plays(lines...))
}

// forkID returns the session of the newest interactive fork.
func (w *world) forkID() (id string) {
	for line := range strings.Lines(w.read("state/session_history.jsonl")) {
		var e struct {
			ID    string `json:"session_id"`
			Event string `json:"event"`
		}
		testkit.Must(w, json.Unmarshal([]byte(line), &e))
		if e.Event == session.InteractiveFork {
			id = e.ID
		}
	}
	return id
}

// L5: it counted as done wherever "done" is shown.
func TestAForegroundTaskCutOffByTheNextMessageIsInterruptedEverywhere(t *testing.T) {
	story(t, []file{foreground("aaaa0001", 10*time.Minute, "say First.", "wait 1h", "say Last.")}, func(w *world) {
		w.sleep(11 * time.Minute)
		w.say("hello")
		w.sleep(time.Minute)
		past, err := dueTimes(w.dir, nil, time.Time{}, w.now())
		testkit.Must(t, err)
		w.holds(len(past.Rows) == 1 && past.Rows[0].Fate == duetimes.Interrupted && past.Rows[0].Why == duetimes.ByUser, "the account", past.Rows)
		away, err := absence.Sum(w.dir, w.audit, absence.Span{From: w.now().Add(-time.Hour), To: w.now()})
		testkit.Must(t, err)
		w.holds(len(away.Front) == 1 && strings.Contains(away.Front[0].Detail, "interrupted by you"), "the page of an absence", away.Front)
		w.holds(!w.has("reminders/aaaa0001.md"), "its file is kept")
		w.is("notices of what the user did", len(w.Snapshot().Notices), 0)
	})
}

func TestAForegroundTaskRunsInTheMainSessionBehindAFork(t *testing.T) {
	e := &recorder{Engine: offline()}
	laundry := foreground("aaaa0001", 10*time.Minute, "say The laundry is done.", `call follow_up_chain {"minutes_from_now":20}`)
	setting{engine: e, files: []file{laundry}}.tell(t, func(w *world) {
		w.say("hello")
		w.say("/fork the garden")
		main, fork := w.sessions.Main(), w.forkID()
		w.needs(main != "" && fork != "" && main != fork, "main, and the fork", main, fork)
		w.sleep(8*time.Minute + 30*time.Second)
		w.lacks("what the fork was sent", e.to(fork), "aaaa0001")
		w.is("sent to main", strings.Count(e.to(main), "[reminder:aaaa0001]"), 1)
		_, prompt, _ := strings.Cut(e.to(main), "\n---\n")
		w.is("timestamps in the prompt", strings.Count(prompt, "[2000-01-01 "), 1)
		announced, answered := -1, -1
		for i, entry := range w.Snapshot().Chat {
			switch {
			case entry.Role == transcript.Notice && strings.Contains(entry.Text, "Task aaaa0001") && strings.Contains(entry.Text, "runs in the main session"):
				announced = i
			case entry.Role == transcript.Bot && strings.Contains(entry.Text, "The laundry is done."):
				answered = i
			}
		}
		w.holds(announced >= 0 && answered >= announced && w.Snapshot().Fork != nil, "announced, answered, and the fork", announced, answered, w.Snapshot().Fork)
		w.holds(!w.has("reminders/aaaa0001.md") && len(w.index.Set().Reminders) == 1, "the reminder is done, and its chain goes on", w.index.Set().Reminders)
		w.say("and roses?")
		w.shows("what the fork is sent", e.to(fork), "and roses?")
		w.lacks("what main is sent", e.to(main), "and roses?")
	})
}
