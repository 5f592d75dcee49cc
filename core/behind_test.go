package core

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/talk/session"
	"ollimbot/core/talk/transcript"
)

// sessions is the offline engine with somebody who notes which session was sent what.
type sessions struct {
	agent.Engine

	mu   sync.Mutex
	sent []string // "session: text"
}

func (e *sessions) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	s, err := e.Engine.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &noted{s, e}, nil
}

type noted struct {
	agent.Session
	e *sessions
}

func (s *noted) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		id := ""
		for ev, err := range s.Session.Send(ctx, m) {
			if id == "" {
				id = s.ID() // known once the first event is there
				s.e.mu.Lock()
				s.e.sent = append(s.e.sent, id+": "+m.Text)
				s.e.mu.Unlock()
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// to is what a session was sent.
func (e *sessions) to(id string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []string
	for _, text := range e.sent {
		if rest, ok := strings.CutPrefix(text, id+": "); ok {
			list = append(list, rest)
		}
	}
	return strings.Join(list, "\n---\n")
}

// foreground writes a foreground reminder that is due in d and plays a script.
func (h home) foreground(id string, d time.Duration, lines ...string) {
	h.write("reminders/"+id+".md", fmt.Sprintf("---\nid: %q\nrun-at: %q\nbackground: false\ndescription: \"Task %s\"\nmax-chain: 2\n---\nDo it.\n\n```script\n%s\n```\n",
		id, time.Now().In(h.zone).Add(d).Format(time.RFC3339Nano), id, strings.Join(lines, "\n")))
}

// forkID is the session of the newest interactive fork.
func forkID(t *testing.T, b *Bot) string {
	t.Helper()
	data, err := b.dir.Read("state/session_history.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	for line := range strings.Lines(string(data)) {
		var e struct {
			ID    string `json:"session_id"`
			Event string `json:"event"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Event == session.InteractiveFork {
			id = e.ID
		}
	}
	return id
}

func behindFork(t *testing.T, lines []string, story func(h home, b *Bot, e *sessions, main, fork string)) {
	t.Helper()
	e := &sessions{}
	liveWith(t, func() agent.Engine {
		e.Engine = script.New(script.Options{Pace: 1})
		return e
	}, func(h home) { h.foreground("aaaa0001", 10*time.Minute, lines...) }, func(h home, b *Bot) {
		tell(t, b, "hello")
		type_(t, b, "/fork the garden")
		main, fork := b.sessions.Main(), forkID(t, b)
		if main == "" || fork == "" || main == fork {
			t.Fatalf("main is %q, the fork %q", main, fork)
		}
		story(h, b, e, main, fork)
	})
}

func TestAForegroundTaskRunsInTheMainSessionBehindAFork(t *testing.T) {
	behindFork(t, []string{"say The laundry is done.", `call follow_up_chain {"minutes_from_now":20}`}, func(h home, b *Bot, e *sessions, main, fork string) {
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

func TestWordsForTheForkDoNotCutATaskBehindItShort(t *testing.T) {
	behindFork(t, []string{"say I begin.", "wait 40s", "say The end."}, func(_ home, b *Bot, e *sessions, main, fork string) {
		time.Sleep(8*time.Minute - 2*time.Minute + 10*time.Second)
		for busy, _ := b.chat.Busy(); !busy; busy, _ = b.chat.Busy() {
			time.Sleep(time.Second)
		}
		tell(t, b, "what about roses?")
		time.Sleep(time.Minute)
		if !strings.Contains(e.to(fork), "what about roses?") {
			t.Errorf("the fork was sent\n%s", e.to(fork))
		}
		whole := false
		for _, entry := range b.Snapshot().Chat {
			whole = whole || strings.Contains(entry.Text, "The end.")
		}
		if !whole {
			t.Error("the task was cut short")
		}
	})
}

func TestATaskBehindAForkIsNotInIt(t *testing.T) {
	behindFork(t, []string{
		`call exit_fork {}`, `call save_context {}`, `call report_updates {"message":"not a fork's"}`, `call enter_fork {"topic":"another"}`, "say Still here.",
	}, func(_ home, b *Bot, _ *sessions, main, fork string) {
		time.Sleep(8*time.Minute + 30*time.Second)
		s := b.Snapshot()
		if s.Fork == nil || s.Fork.Asks || forkID(t, b) != fork || len(s.Updates) != 0 || b.sessions.Main() != main {
			t.Errorf("fork %+v, updates %+v, main %q", s.Fork, s.Updates, b.sessions.Main())
		}
	})
}

func TestASavedForkLearnsWhatRanBehindIt(t *testing.T) {
	behindFork(t, []string{"say The laundry is done."}, func(_ home, b *Bot, _ *sessions, _, fork string) {
		time.Sleep(8*time.Minute + 30*time.Second)
		if _, err := b.Do(context.Background(), command.ExitFork{How: command.ExitSave}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		s := b.Snapshot()
		if b.sessions.Main() != fork || len(s.Updates) != 1 || !strings.Contains(s.Updates[0].Message, "Task aaaa0001") {
			t.Errorf("main is %q, updates %+v", b.sessions.Main(), s.Updates)
		}
	})
}
