package core

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
)

// witness is an engine that remembers what sessions were opened with and told.
type witness struct {
	agent.Engine

	mu      sync.Mutex
	allowed [][]string
	sent    []string
}

type witnessed struct {
	agent.Session
	w *witness
}

func (w *witness) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	w.mu.Lock()
	w.allowed = append(w.allowed, o.Allowed)
	w.mu.Unlock()
	s, err := w.Engine.Open(ctx, o)
	return witnessed{s, w}, err
}

func (s witnessed) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	s.w.mu.Lock()
	s.w.sent = append(s.w.sent, m.Text)
	s.w.mu.Unlock()
	return s.Session.Send(ctx, m)
}

// last is what the newest session was allowed, and what was sent last.
func (w *witness) last(t *testing.T) (allowed []string, text string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sent) == 0 || len(w.allowed) == 0 {
		t.Fatal("the engine was told nothing")
	}
	return w.allowed[len(w.allowed)-1], w.sent[len(w.sent)-1]
}

func skills(h home) {
	h.write("skills/triage/SKILL.md", "---\nname: triage\ndescription: Sort it.\nallowed-tools:\n  - \"Bash(ollim-bot history *)\"\n  - \"Bash(*)\"\n---\nSort by !`echo urgency`.\n")
	h.write("skills/coach/SKILL.md", "---\nname: coach\ndescription: One thing.\n---\nOne thing at a time.\n")
}

// skillBlock is how the skills of these stories stand in a prompt.
const skillBlock = "SKILL INSTRUCTIONS:\n\n### coach\nOne thing at a time.\n\n### triage\nSort by urgency.\n\n"

func TestARoutineTakesItsSkillsAndTheirToolsAlong(t *testing.T) {
	w := &witness{}
	liveWith(t, func() agent.Engine {
		w.Engine = script.New(script.Options{Pace: 1})
		return w
	}, func(h home) {
		skills(h)
		h.write("routines/r.md", "---\nid: \"bbbb0001\"\ncron: \"0 3 1 1 *\"\nbackground: true\nupdate-main-session: freely\n"+
			"skills: [coach, missing, triage]\n---\nLook at the mail.\n\n```script\nsay looked\n```\n")
	}, func(h home, b *Bot) {
		if _, err := b.Do(h.t.Context(), command.FireNow{ID: "bbbb0001"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if f := b.Snapshot().Forks; len(f) != 1 || f[0].State != fork.Done {
			t.Fatalf("forks are %+v", f)
		}
		allowed, text := w.last(t)
		if !strings.Contains(text, "\n\n"+skillBlock+"Look at the mail.") {
			t.Errorf("the prompt lacks its skills:\n%s", text)
		}
		if !strings.Contains(text, "  - Bash(ollim-bot history *)\n") || strings.Contains(text, "Bash(*)") {
			t.Errorf("the prompt lists other tools than the run has:\n%s", text)
		}
		if !slices.Contains(allowed, "Bash(ollim-bot history *)") || slices.Contains(allowed, "Bash(*)") {
			t.Errorf("the run may use %q", allowed)
		}
		preview, err := b.dispatch.Preview(h.t.Context(), "bbbb0001", time.Time{}, false)
		if err != nil || !strings.Contains(preview, skillBlock) {
			t.Errorf("the preview is another text: %v\n%s", err, preview)
		}
	})
}

func TestAForegroundTaskHasItsSkillsInTheConversation(t *testing.T) {
	w := &witness{}
	liveWith(t, func() agent.Engine {
		w.Engine = script.New(script.Options{Pace: 1})
		return w
	}, func(h home) {
		skills(h)
		h.write("routines/r.md", "---\nid: \"bbbb0002\"\ncron: \"0 3 1 1 *\"\nskills: [coach, triage]\n---\nGood morning.\n\n```script\nsay hello\n```\n")
	}, func(h home, b *Bot) {
		if _, err := b.Do(h.t.Context(), command.FireNow{ID: "bbbb0002"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, text := w.last(t); !strings.Contains(text, "[routine:bbbb0002] "+skillBlock+"Good morning.") {
			t.Errorf("the message is:\n%s", text)
		}
		if preview, err := b.dispatch.Preview(h.t.Context(), "bbbb0002", time.Time{}, false); err != nil || !strings.Contains(preview, skillBlock) {
			t.Errorf("the preview is another text: %v\n%s", err, preview)
		}
	})
}

func TestTheCommandsOfSkillsEndWithTheirContext(t *testing.T) {
	h := newHome(t)
	h.write("skills/slow/SKILL.md", "---\nname: slow\ndescription: Slow.\n---\n!`sleep 600` !`echo never`\n")
	h.write("routines/r.md", "---\nid: \"bbbb0003\"\ncron: \"0 3 1 1 *\"\nbackground: true\nskills: [slow]\n---\nGo.\n")
	b := h.bot(script.New(script.Options{}))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	text, err := b.dispatch.Preview(ctx, "bbbb0003", time.Time{}, false)
	if err != nil || !strings.Contains(text, "[command timed out: sleep 600] [command skipped (total timeout): echo never]") {
		t.Errorf("%v\n%s", err, text)
	}
	if took := time.Since(begin); took > 8*time.Second {
		t.Errorf("it took %v", took)
	}
}
