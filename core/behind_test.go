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

// foreground writes a foreground reminder that is due in d and runs a script.
func (h home) foreground(id string, d time.Duration, lines ...string) {
	h.write("reminders/"+id+".md", fmt.Sprintf("---\nid: %q\nrun-at: %q\nbackground: false\ndescription: \"Task %s\"\nmax-chain: 2\n---\nDo it.\n\n```script\n%s\n```\n",
		id, time.Now().In(h.zone).Add(d).Format(time.RFC3339Nano), id, strings.Join(lines, "\n")))
}

// forkID returns the session of the newest interactive fork.
func forkID(t *testing.T, b *Bot) string {
	t.Helper()
	data, err := b.dir.Read("state/session_history.jsonl")
	testkit.Must(t, err)
	id := ""
	for line := range strings.Lines(string(data)) {
		var e struct {
			ID    string `json:"session_id"`
			Event string `json:"event"`
		}
		testkit.Must(t, json.Unmarshal([]byte(line), &e))
		if e.Event == session.InteractiveFork {
			id = e.ID
		}
	}
	return id
}

// L5: it counted as done wherever "done" is shown.
func TestAForegroundTaskCutOffByTheNextMessageIsInterruptedEverywhere(t *testing.T) {
	running(t, func(h home) {
		h.foreground("aaaa0001", 10*time.Minute, "say First.", "wait 1h", "say Last.")
	}, func(h home, b *Bot) {
		time.Sleep(11 * time.Minute)
		tell(t, b, "hello")
		time.Sleep(time.Minute)
		past, err := dueTimes(b.dir, nil, time.Time{}, b.now())
		testkit.Must(t, err)
		if len(past.Rows) != 1 || past.Rows[0].Fate != duetimes.Interrupted || past.Rows[0].Why != duetimes.ByUser {
			t.Errorf("the account: %+v", past.Rows)
		}
		away, err := absence.Sum(b.dir, b.audit, absence.Span{From: b.now().Add(-time.Hour), To: b.now()})
		testkit.Must(t, err)
		if len(away.Front) != 1 || !strings.Contains(away.Front[0].Detail, "interrupted by you") {
			t.Errorf("the page of an absence: %+v", away.Front)
		}
		if h.has("reminders/aaaa0001.md") || len(b.Snapshot().Notices) != 0 {
			t.Errorf("it is kept, or a notice says what the user did: %+v", b.Snapshot().Notices)
		}
	})
}

func TestAForegroundTaskRunsInTheMainSessionBehindAFork(t *testing.T) {
	e := &recorder{Engine: offline()}
	liveWith(t, e, func(h home) {
		h.foreground("aaaa0001", 10*time.Minute, "say The laundry is done.", `call follow_up_chain {"minutes_from_now":20}`)
	}, func(h home, b *Bot) {
		tell(t, b, "hello")
		type_(t, b, "/fork the garden")
		main, fork := b.sessions.Main(), forkID(t, b)
		if main == "" || fork == "" || main == fork {
			t.Fatalf("main is %q, the fork %q", main, fork)
		}
		time.Sleep(8*time.Minute + 30*time.Second)
		if strings.Contains(e.to(fork), "aaaa0001") || strings.Count(e.to(main), "[reminder:aaaa0001]") != 1 {
			t.Fatalf("the fork was sent\n%s\nand main\n%s", e.to(fork), e.to(main))
		}
		_, prompt, _ := strings.Cut(e.to(main), "\n---\n")
		if n := strings.Count(prompt, "[2000-01-01 "); n != 1 {
			t.Errorf("%d timestamps in\n%s", n, prompt)
		}
		s := b.Snapshot()
		told, answered := -1, -1
		for i, entry := range s.Chat {
			switch {
			case entry.Role == transcript.Notice && strings.Contains(entry.Text, "Task aaaa0001") && strings.Contains(entry.Text, "runs in the main session"):
				told = i
			case entry.Role == transcript.Bot && strings.Contains(entry.Text, "The laundry is done."):
				answered = i
			}
		}
		if told < 0 || answered < told || s.Fork == nil {
			t.Errorf("told at %d, answered at %d, fork %+v", told, answered, s.Fork)
		}
		if h.has("reminders/aaaa0001.md") || len(b.index.Set().Reminders) != 1 {
			t.Errorf("the reminder is done, and its chain goes on: %d", len(b.index.Set().Reminders))
		}
		tell(t, b, "and roses?")
		if !strings.Contains(e.to(fork), "and roses?") || strings.Contains(e.to(main), "and roses?") {
			t.Error("words of the user go to the fork")
		}
	})
}
