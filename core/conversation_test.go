package core

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/fork"
)

func TestAnApprovalIsAskedAnsweredAndExpires(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		type_(t, b, "/permissions default")
		ask := func() policy.Approval {
			do(t, b, command.Say{Text: script_(`ask Bash {"command":"rm x"}`, `say after it`)})
			time.Sleep(5 * time.Second)
			a := b.Snapshot().Approvals
			if len(a) != 1 || a[0].Tool != "Bash" {
				t.Fatalf("approvals: %+v", a)
			}
			return a[0]
		}
		first := ask()
		do(t, b, command.Answer{ID: first.ID, Verdict: policy.Allow})
		time.Sleep(30 * time.Second)
		if _, err := b.Do(context.Background(), command.Answer{ID: first.ID, Verdict: policy.Deny}); err == nil || !strings.Contains(err.Error(), "allowed") {
			t.Errorf("a second answer gets %v, want the outcome", err)
		}
		ask()
		time.Sleep(policy.Patience)
		if a := b.Snapshot().Approvals; len(a) != 0 {
			t.Errorf("still waiting after a minute: %+v", a)
		}
		third := ask()
		do(t, b, command.Interrupt{})
		time.Sleep(time.Second)
		if a := b.Snapshot().Approvals; len(a) != 0 {
			t.Errorf("an interruption left %+v", a)
		}
		if _, err := b.Do(context.Background(), command.Answer{ID: third.ID, Verdict: policy.Allow}); err == nil {
			t.Error("an approval of a turn that has ended was taken")
		}
	})
}

// A readable file of the data directory is sent without asking. Any other file needs
// approval in every mode, and the user sees its path.
func TestAFileFromElsewhereIsSentWithAYesOnly(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "plan.md")
	testkit.Must(t, os.WriteFile(outside, []byte("x"), 0o600))
	running(t, func(h home) { h.write("notes/plan.md", "x") }, func(_ home, b *Bot) {
		tell(t, b, script_(`call send_file {"file_path":"notes/plan.md"}`, `say sent it`))
		if a := b.Snapshot().Approvals; len(a) != 0 || !spoken(b.Snapshot(), "sent it") {
			t.Errorf("a note is asked about: %+v", a)
		}
		do(t, b, command.Say{Text: script_(`call send_file {"file_path":"`+outside+`"}`, `say after it`)})
		time.Sleep(5 * time.Second)
		a := b.Snapshot().Approvals
		if len(a) != 1 || !strings.Contains(a[0].Text, outside) {
			t.Fatalf("approvals: %+v", a)
		}
		do(t, b, command.Answer{ID: a[0].ID, Verdict: policy.Deny})
		time.Sleep(30 * time.Second)
		if !spoken(b.Snapshot(), "after it") {
			t.Error("the turn did not go on")
		}
	})
}

func TestAFinishedRunIsResumedAndReportsButCannotBeSaved(t *testing.T) {
	e := &recorder{Engine: offline()}
	liveWith(t, e, func(h home) {
		h.reminder("cccc0001", time.Second, "", `say looked at it`)
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		run := b.Snapshot().Forks[0]
		if run.State != fork.Done {
			t.Fatalf("the run is %s", run.State)
		}
		do(t, b, command.ResumeFork{Run: run.ID})
		time.Sleep(time.Minute)
		s := b.Snapshot()
		if s.Fork == nil || !s.Fork.Resumed || !strings.Contains(e.to(run.Session), "I would like to continue") {
			t.Fatalf("fork %+v, its session was told %q", s.Fork, e.to(run.Session))
		}
		do(t, b, command.ExitFork{How: command.ExitReport})
		time.Sleep(time.Minute)
		if b.Snapshot().Fork != nil {
			t.Error("the fork still stands after the report")
		}
		if _, err := b.Do(context.Background(), command.ResumeFork{Run: "nobody"}); err == nil {
			t.Error("an unknown run was resumed")
		}
	})
}

func TestConfigurationIsSetShownAndKept(t *testing.T) {
	running(t, func(home) {}, func(h home, b *Bot) {
		if got := type_(t, b, "/status").Message; !strings.HasPrefix(got, "No model is connected: scripted replies answer. Nothing is due within a day; ") || !strings.Contains(got, "\nbudget: ") {
			t.Errorf("/status says %q", got)
		}
		if got := type_(t, b, "/config max_background_forks 2").Message; !strings.Contains(got, "2") {
			t.Errorf("reply: %q", got)
		}
		if b.Snapshot().MaxForks != 2 || !h.has("state/settings.json") {
			t.Errorf("in force: %d", b.Snapshot().MaxForks)
		}
		if _, err := b.Do(context.Background(), command.Say{Text: "/config model.main gpt"}); err == nil || !strings.Contains(err.Error(), "haiku") {
			t.Errorf("a wrong model: %v", err)
		}
		if _, err := b.Do(context.Background(), command.Say{Text: "/config nonsense 1"}); err == nil {
			t.Error("an unknown key was taken")
		}
		if got := type_(t, b, "/config").Message; !strings.Contains(got, "bg_fork_timeout") {
			t.Errorf("all of it: %q", got)
		}
	})
}

func TestFilesGoWithTheNextMessage(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"pic.txt": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89", "notes.png": "no picture at all"} {
		testkit.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	running(t, func(home) {}, func(h home, b *Bot) {
		type_(t, b, "/attach "+filepath.Join(dir, "pic.txt"))
		type_(t, b, "/attach "+filepath.Join(dir, "notes.png"))
		if a := b.Snapshot().Attached; len(a) != 2 {
			t.Fatalf("attached: %v", a)
		}
		if !h.has("downloads/notes.png") || h.has("downloads/pic.txt") {
			t.Error("an image is told by its bytes, not by its name")
		}
		tell(t, b, "look at these")
		s := b.Snapshot()
		if len(s.Attached) != 0 {
			t.Errorf("still attached: %v", s.Attached)
		}
		found := false
		for _, e := range s.Chat {
			found = found || strings.Contains(e.Text, "downloads/notes.png") && strings.Contains(e.Text, "[1 image")
		}
		if !found {
			t.Errorf("the message does not name them: %+v", s.Chat)
		}
		for _, bad := range []string{"/attach", "/attach " + dir, "/attach " + filepath.Join(dir, "nothing")} {
			if _, err := b.Do(context.Background(), command.Say{Text: bad}); err == nil {
				t.Errorf("%s was taken", bad)
			}
		}
	})
}

func TestSetupIsATalkThatOnlyTheUserBegins(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		type_(t, b, "/setup")
		time.Sleep(time.Minute)
		if s := b.Snapshot(); s.Busy || len(s.Chat) == 0 || s.Chat[len(s.Chat)-1].Role != "bot" {
			t.Errorf("nobody answered: %+v", s.Chat)
		}
		if _, err := b.Do(context.Background(), command.Slash{Line: "/google-auth"}); err == nil || !strings.Contains(err.Error(), "create your own client") {
			t.Error(err)
		}
	})
}
