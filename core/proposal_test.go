package core

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/transcript"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

const (
	tidyID   = "cccc0001"
	tidyFile = "routines/tidy.md"
)

// tidy returns the user's routine, which has more rights than the conversation.
func tidy(body string) string { return everyMinute(tidyID, bash, body) }

// fired counts the runs with each of the bodies, within three minutes from the middle of
// the current one.
func fired(r *recorder, bodies ...string) (counts []int) {
	time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(90 * time.Second)))
	old := len(r.messages())
	time.Sleep(3 * time.Minute)
	counts = make([]int, len(bodies))
	for _, m := range r.messages()[old:] {
		for i, body := range bodies {
			if strings.Contains(m, "\n"+body) { // the schedule quotes it within a line
				counts[i]++
			}
		}
	}
	return counts
}

const oldText, newText = "Tidy up the desk.", "Delete everything."

func TestAnEditOfTheAgentsSuspendsTheEditAndNotTheRoutine(t *testing.T) {
	r := &recorder{Engine: offline()}
	liveWith(t, r, func(h home) { h.write(tidyFile, tidy(oldText)) }, func(h home, b *Bot) {
		if d := mainPen(h.t, h, b).write(tidyFile, tidy(newText)); !d.Allow {
			t.Fatalf("it was not written: %+v", d)
		}
		v := viewOf(t, b.Snapshot(), tidyID)
		if v.Waits != "" || v.Next.IsZero() || !strings.Contains(v.Proposed.Why, "use Bash") {
			t.Fatalf("the routine is held: %+v", v)
		}
		if want := "-" + oldText + "\n+" + newText; !strings.Contains(v.Proposed.Diff, want) {
			t.Errorf("the diff is\n%s", v.Proposed.Diff)
		}
		for _, e := range b.Snapshot().Schedule.Entries {
			if e.ID == tidyID && e.FireTime.After(b.now()) && (e.Held || e.Tag != schedule.TagProposed) {
				t.Errorf("its row says %+v", e)
			}
		}
		if !noticed(b.Snapshot(), "The agent's edit of routines/tidy.md waits for you: it may use Bash") {
			t.Errorf("notices: %+v", b.Snapshot().Notices)
		}
		if p, err := b.dispatch.Preview(t.Context(), tidyID, time.Time{}, false); err != nil || !strings.Contains(p, oldText) || strings.Contains(p, newText) {
			t.Errorf("the preview is of another text: %v", err)
		}
		if about := describe(t, b, tidyID); !strings.Contains(about, oldText+"\n\nWhat the agent's edit would change") {
			t.Errorf("described as\n%s", about)
		}
		if n := fired(r, oldText, newText); n[0] != 3 || n[1] != 0 {
			t.Errorf("while the edit waits, the old text fired %d times and the new one %d times", n[0], n[1])
		}
		refused(t, b, command.AllowTask{ID: tidyID, Version: "another"}, "has changed since you saw it")
		refused(t, b, command.EditTask{ID: tidyID, Version: v.Version}, "allow or refuse it first")

		out := do(t, b, command.AllowTask{ID: tidyID, Version: v.Proposed.Version})
		if n := fired(r, oldText, newText); n[0] != 0 || n[1] != 3 {
			t.Errorf("once allowed, the old text fired %d times and the new one %d times", n[0], n[1])
		}
		do(t, b, out.Undo)
		if n := fired(r, oldText, newText); n[0] != 3 || n[1] != 0 {
			t.Errorf("once withdrawn, the old text fired %d times and the new one %d times", n[0], n[1])
		}

		out = do(t, b, command.RefuseEdit{ID: tidyID, Version: v.Proposed.Version})
		if h.read(tidyFile) != tidy(oldText) || viewOf(t, b.Snapshot(), tidyID).Proposed.Version != "" {
			t.Error("the refused edit is still there")
		}
		trash, _ := filepath.Glob(filepath.Join(h.root, "state/trash/*refused-routines.tidy.md"))
		if len(trash) != 1 || len(routines.RemovedTasks(b.dir, b.now())) != 0 {
			t.Errorf("in the trash: %q", trash)
		}
		do(t, b, out.Undo)
		if v := viewOf(t, b.Snapshot(), tidyID); v.Proposed.Why == "" || v.Waits != "" {
			t.Errorf("undone, it does not wait again: %+v", v)
		}
		do(t, b, command.RefuseEdit{ID: tidyFile})
		if n := fired(r, oldText, newText); n[0] != 3 || n[1] != 0 {
			t.Errorf("once refused, the old text fired %d times and the new one %d times", n[0], n[1])
		}
		refused(t, b, command.RefuseEdit{ID: tidyID}, "no edit of Task cccc0001 is waiting")
		list, _, err := b.audit.Read(100)
		testkit.Must(t, err)
		var actions []string
		for _, e := range list {
			if e.Subject == tidyID || e.Subject == tidyFile {
				actions = append(actions, e.Action)
			}
		}
		want := []string{audit.TaskReleased, audit.TaskHeld, audit.TaskRefused, audit.TaskChanged, audit.TaskRefused}
		if fmt.Sprint(actions) != fmt.Sprint(want) {
			t.Errorf("recorded %q, want %q", actions, want)
		}
	})
}

// A bot that starts on a copy of the directory sees the state left by a kill at that
// moment.
func TestAKillAtAnyMomentOfAnEditLeavesTheTextInForce(t *testing.T) {
	r := &recorder{Engine: offline()}
	liveWith(t, r, func(h home) { h.write(tidyFile, tidy(oldText)) }, func(h home, b *Bot) {
		killed := func(when, file string, counts ...int) {
			t.Helper()
			left := home{t: h.t, root: filepath.Join(h.t.TempDir(), "data"), zone: h.zone}
			testkit.Must(t, os.CopyFS(left.root, os.DirFS(h.root)))
			after := &recorder{Engine: offline()}
			next := left.bot(after)
			end := begin(t, next)
			if n := fired(after, oldText, newText); fmt.Sprint(n) != fmt.Sprint(counts) {
				t.Errorf("%s: the texts fired %v times, want %v", when, n, counts)
			}
			if left.read(tidyFile) != file {
				t.Errorf("%s: the file is\n%s", when, left.read(tidyFile))
			}
			end()
		}
		p := mainPen(h.t, h, b)
		u := p.call("Write", map[string]any{"file_path": tidyFile, "content": tidy(newText)})
		if d := p.decide(u); !d.Allow {
			t.Fatalf("%+v", d)
		}
		killed("before the file is written", tidy(oldText), 3, 0)
		h.write(tidyFile, tidy(newText))
		killed("before the call has ended", tidy(newText), 3, 0)
		p.s.Hooks(nil).PostTool(t.Context(), u)
		b.schedule.Refresh(tidyFile)
		killed("while it waits", tidy(newText), 3, 0)
		if info, err := os.Stat(filepath.Join(h.root, "state/approved", routines.Digest([]byte(tidy(oldText)))+".md")); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the text in force: %v, %v", info, err)
		}
		out := do(t, b, command.AllowTask{ID: tidyID})
		killed("once it is allowed", tidy(newText), 0, 3)
		do(t, b, out.Undo)
		do(t, b, command.RefuseEdit{ID: tidyID})
		killed("once it is refused", tidy(oldText), 3, 0)
	})
}

func TestAnEditOfAnEditAndSeveralFilesWaitOverTheTextsInForce(t *testing.T) {
	r := &recorder{Engine: offline()}
	other := strings.ReplaceAll(tidy("Water the plants."), tidyID, "cccc0002")
	liveWith(t, r, func(h home) {
		h.write(tidyFile, tidy(oldText))
		h.write("routines/water.md", other)
	}, func(h home, b *Bot) {
		p := mainPen(h.t, h, b)
		p.write(tidyFile, tidy("Delete half."))
		p.write(tidyFile, tidy(newText))
		p.write("routines/water.md", strings.ReplaceAll(other, "Water", "Burn"))
		if n := fired(r, oldText, "Delete half.", newText, "Water the", "Burn the"); fmt.Sprint(n) != "[3 0 0 3 0]" {
			t.Errorf("fired %v", n)
		}
		do(t, b, command.AllowTask{ID: "cccc0002"})
		if n := fired(r, oldText, newText, "Water the", "Burn the"); fmt.Sprint(n) != "[3 0 0 3]" {
			t.Errorf("one is allowed, and %v fired", n)
		}
		// A user's change to a file with a pending edit takes precedence.
		h.userWrites(b, tidyFile, tidy("Tidy up the shelf."))
		if v := viewOf(t, b.Snapshot(), tidyID); v.Proposed.Version != "" || v.Waits != "" {
			t.Errorf("the user's text waits: %+v", v)
		}
		p.write(tidyFile, tidy(newText))
		if n := fired(r, oldText, newText, "Tidy up the shelf."); fmt.Sprint(n) != "[0 0 3]" {
			t.Errorf("after the user's own edit %v fired", n)
		}
	})
}

func TestARefusedOrAllowedTimeFiresNothingTwice(t *testing.T) {
	r := &recorder{Engine: offline()}
	at := func(cron, body string) string { return strings.ReplaceAll(tidy(body), "* * * * *", cron) }
	liveWith(t, r, func(h home) { h.write(tidyFile, at("*/10 * * * *", oldText)) }, func(h home, b *Bot) {
		mainPen(h.t, h, b).write(tidyFile, at("*/5 * * * *", newText))
		for b.now().Minute()%10 != 0 || b.now().Second() < 20 {
			time.Sleep(time.Second)
		}
		old := len(r.messages())
		do(t, b, command.AllowTask{ID: tidyID})
		time.Sleep(30 * time.Second)
		if n := len(r.messages()) - old; n != 0 {
			t.Errorf("the new text fired %d times in the minute of the old one", n)
		}
		time.Sleep(10 * time.Minute)
		n := 0
		for _, m := range r.messages()[old:] {
			if strings.Contains(m, oldText) {
				t.Error("the old text fired")
			}
			if strings.Contains(m, newText) {
				n++
			}
		}
		if n != 2 {
			t.Errorf("the new text fired %d times in ten minutes, want 2", n)
		}
	})
}

// The card appears in the chat and on the remote surface, and its buttons decide.
func TestAnEditThatWaitsIsACardWithADiffAndTwoButtons(t *testing.T) {
	for _, allow := range []bool{true, false} {
		running(t, func(h home) { h.write(tidyFile, tidy(oldText)) }, func(h home, b *Bot) {
			mainPen(h.t, h, b).write(tidyFile, tidy(newText))
			time.Sleep(time.Second)
			find := func() (e transcript.Entry) {
				for _, e := range b.Snapshot().Chat {
					if e.Embed != nil && strings.Contains(e.Embed.Title, "Edit of Task cccc0001") {
						return e
					}
				}
				t.Fatalf("no card in %+v", b.Snapshot().Chat)
				return e
			}
			e := find()
			if !strings.Contains(e.Text, "```diff\n@@") || !strings.Contains(e.Text, "-"+oldText+"\n+"+newText+"\n```") || len(e.Embed.Buttons) != 2 {
				t.Fatalf("the card is %q with %+v", e.Text, e.Embed.Buttons)
			}
			button := e.Embed.Buttons[map[bool]int{true: 0, false: 1}[allow]]
			do(t, b, command.Click{Message: e.ID, ID: button.Action})
			time.Sleep(time.Second)
			if got := h.read(tidyFile) == tidy(newText); got != allow || viewOf(t, b.Snapshot(), tidyID).Proposed.Version != "" {
				t.Errorf("allow %v: the file is\n%s", allow, h.read(tidyFile))
			}
			if e := find(); len(e.Embed.Buttons) != 0 {
				t.Errorf("its buttons are still there: %+v", e.Embed)
			}
			refused(t, b, command.Click{Message: e.ID, ID: button.Action}, "is no longer waiting")
		})
	}
}

func TestAWebhookGoesOnWhileItsEditWaits(t *testing.T) {
	hook := func(extra, body string) string {
		return "---\nid: ci\n" + extra + "fields:\n  type: object\n  properties: {repo: {type: string, maxLength: 9}}\n  additionalProperties: false\n---\n" + body + "\n"
	}
	running(t, func(h home) { h.write("webhooks/ci.md", hook("", "Look.")) }, func(h home, b *Bot) {
		if d := mainPen(h.t, h, b).write("webhooks/ci.md", hook(bash, "Delete.")); !d.Allow {
			t.Fatalf("it was not written: %+v", d)
		}
		if s, ok := b.webhooks.index.Find("ci"); !ok || s.Body != "Look." || len(s.Allowed) != 0 {
			t.Errorf("in force is %+v", s)
		}
		problems := b.Snapshot().Schedule.Problems
		if len(problems) != 1 || problems[0].File != "webhooks/ci.md" || !strings.Contains(problems[0].Proposed.Diff, "-Look.\n+Delete.") {
			t.Fatalf("its row is %+v", problems)
		}
		do(t, b, command.RefuseEdit{ID: "webhooks/ci.md", Version: problems[0].Proposed.Version})
		if h.read("webhooks/ci.md") != hook("", "Look.") || len(b.Snapshot().Schedule.Problems) != 0 {
			t.Error("the refused edit is still there")
		}
	})
}

// Z5: the agent cannot take away the proof that a sender must give.
func TestTheAgentCannotLoosenWhoMaySendAWebhook(t *testing.T) {
	hook := func(keys string) string {
		return "---\nid: ci\n" + keys + "fields: {type: object, properties: {repo: {type: string}}}\n---\nLook.\n"
	}
	const mine = "verify: github\nsecret-env: CI_SECRET\n"
	for _, keys := range []string{"", "verify: gitlab\nsecret-env: CI_SECRET\n", "verify: github\nsecret-env: OTHER_SECRET\n", mine + "delivery-header: X-Any\n"} {
		running(t, func(h home) { h.write("webhooks/ci.md", hook(mine)) }, func(h home, b *Bot) {
			mainPen(h.t, h, b).write("webhooks/ci.md", hook(keys))
			s, ok := b.webhooks.index.Find("ci")
			if !ok || s.Verify != "github" || s.SecretEnv != "CI_SECRET" || s.DeliveryHeader != "" || s.Proposed.Version == "" {
				t.Errorf("%q: in force is %+v", keys, s)
			}
		})
	}
}
