package core

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
)

func skills(h home) {
	h.write("skills/triage/SKILL.md", "---\nname: triage\ndescription: Sort it.\nallowed-tools:\n  - \"Bash(ollim-bot history *)\"\n  - \"Bash(*)\"\n---\nSort by !`echo urgency`.\n")
	h.write("skills/coach/SKILL.md", "---\nname: coach\ndescription: One thing.\n---\nOne thing at a time.\n")
}

// skillBlock is the text of these stories' skills in a prompt.
const skillBlock = "SKILL INSTRUCTIONS:\n\n### coach\nOne thing at a time.\n\n### triage\nSort by urgency.\n\n"

func TestARoutineTakesItsSkillsAndTheirToolsAlong(t *testing.T) {
	testkit.Alone(t)
	w := &recorder{Engine: offline()}
	liveWith(t, w, func(h home) {
		skills(h)
		h.write("routines/r.md", "---\nid: \"bbbb0001\"\ncron: \"0 3 1 1 *\"\nbackground: true\nupdate-main-session: freely\n"+
			"skills: [coach, missing, triage]\n---\nLook at the mail.\n\n```script\nsay looked\n```\n")
	}, func(h home, b *Bot) {
		do(t, b, command.FireNow{ID: "bbbb0001"})
		time.Sleep(time.Minute)
		if f := b.Snapshot().Forks; len(f) != 1 || f[0].State != fork.Done {
			t.Fatalf("forks are %+v", f)
		}
		allowed, text := w.last().Allowed, w.lastSent()
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
	testkit.Alone(t)
	w := &recorder{Engine: offline()}
	liveWith(t, w, func(h home) {
		skills(h)
		h.write("routines/r.md", "---\nid: \"bbbb0002\"\ncron: \"0 3 1 1 *\"\nskills: [coach, triage]\n---\nGood morning.\n\n```script\nsay hello\n```\n")
	}, func(h home, b *Bot) {
		do(t, b, command.FireNow{ID: "bbbb0002"})
		time.Sleep(time.Minute)
		if text := w.lastSent(); !strings.Contains(text, "[routine:bbbb0002] "+skillBlock+"Good morning.") {
			t.Errorf("the message is:\n%s", text)
		}
		if preview, err := b.dispatch.Preview(h.t.Context(), "bbbb0002", time.Time{}, false); err != nil || !strings.Contains(preview, skillBlock) {
			t.Errorf("the preview is another text: %v\n%s", err, preview)
		}
	})
}

func TestTheCommandsOfSkillsEndWithTheirContext(t *testing.T) {
	testkit.Alone(t)
	h := newHome(t)
	h.write("skills/slow/SKILL.md", "---\nname: slow\ndescription: Slow.\n---\n!`sleep 100000` !`echo never`\n")
	h.write("routines/r.md", "---\nid: \"bbbb0003\"\ncron: \"0 3 1 1 *\"\nbackground: true\nskills: [slow]\n---\nGo.\n")
	b := h.bot(script.New(script.Options{}))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	text, err := b.dispatch.Preview(ctx, "bbbb0003", time.Time{}, false)
	if err != nil || !strings.Contains(text, "[command timed out: sleep 100000] [command skipped (total timeout): echo never]") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestCommandsOfSkillsDoNotRunWhereOthersCouldHaveWrittenThem(t *testing.T) {
	testkit.Alone(t)
	h := newHome(t)
	skills(h)
	h.write("routines/r.md", "---\nid: \"bbbb0004\"\ncron: \"0 3 1 1 *\"\nbackground: true\nskills: [triage]\n---\nGo.\n")
	b := h.bot(script.New(script.Options{}))
	for _, c := range []struct {
		mode os.FileMode
		want string
	}{{0o700, "Sort by urgency."}, {0o777, "Sort by !`echo urgency`."}} {
		testkit.Must(t, os.Chmod(h.root, c.mode)) // open on purpose
		if text, err := b.dispatch.Preview(t.Context(), "bbbb0004", time.Time{}, false); err != nil || !strings.Contains(text, c.want) {
			t.Errorf("mode %v: %v\n%s", c.mode, err, text)
		}
	}
}
