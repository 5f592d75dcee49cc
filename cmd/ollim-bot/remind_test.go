package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
)

// TestAReminderUntilDoneInDirectMessages: it comes for the second time, and is put off
// and done by its buttons, after a restart and on a message that is long past.
func TestAReminderUntilDoneInDirectMessages(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newDiscordWorld(t)
	reminder := "---\nid: \"cccc0002\"\nrun-at: \"" + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339) +
		"\"\nuntil: done\nchain-depth: 1\nmax-chain: 3\nfirst-at: \"2026-11-21T09:30:00+00:00\"\nupdate-main-session: \"freely\"\n---\nAsk.\n\n```script\n" +
		"call ping_user {\"message\":\"Call the dentist.\"}\n```\n"
	before := `{"at": "2026-11-21T09:30:05+00:00", "id": "aaaaaaaa-1", "task": "cccc0002", "title": "Ask", "kind": "ping", "run": "aaaaaaaa", "message": "1"}` + "\n"
	path := filepath.Join(w.data, "reminders", "dentist.md")
	for file, text := range map[string]string{path: reminder, filepath.Join(w.data, "state", "pings.jsonl"): before} {
		put(t, file, text)
	}
	w.start()
	card := w.sees("Call the dentist.")
	if len(card.Embeds) != 1 || !strings.Contains(card.Embeds[0].Footer.Text, "for the second time") || len(card.Buttons) != 4 {
		t.Fatalf("%+v", card)
	}
	w.holds("state/fork_runs.jsonl", func(s string) bool { return ended(s, "cccc") == 1 })
	w.holds("reminders/dentist.md", func(s string) bool { return strings.Contains(s, "chain-depth: 2") })
	w.stop()

	w.start()
	w.fake.Wait(t, "the bot is back", func(s discordtest.State) bool { return len(s.Identifies) >= 2 && s.Up() })
	for _, b := range card.Buttons {
		if b.Label == "Later…" {
			press := w.fake.User().Click(card.ID, b.CustomID)
			w.fake.Wait(t, "the question for a time", func(s discordtest.State) bool { return s.Interactions[0].Modal != nil })
			w.fake.User().Submit(press.ID, discordtest.Field{Name: "when", Value: "1 hour"})
		}
	}
	w.holds("reminders/dentist.md", func(s string) bool { return strings.Contains(s, "chain-depth: 0") })
	w.holds("state/pending_updates.json", func(s string) bool { return strings.Contains(s, "put the reminder") && strings.Contains(s, "2 times") })
	w.holds("state/pings.jsonl", func(s string) bool { return strings.Contains(s, `"how":"button"`) })
	w.fake.Wait(t, "only Done is left", func(s discordtest.State) bool {
		m := s.Message(card.ID)
		return len(m.Buttons) == 1 && m.Buttons[0].Label == "Done" && m.Content == "Call the dentist." &&
			strings.Contains(m.Embeds[0].Description, "Comes back <t:") && m.Embeds[0].Footer == nil
	})
	w.fake.User().Click(card.ID, "act:"+post.RemindDone+":cccc0002") // P8
	w.holds("state/pending_updates.json", func(s string) bool { return strings.Contains(s, "as done") && !strings.Contains(s, "put the reminder") })
	if _, err := os.Stat(path); err == nil {
		t.Error("the reminder is still there")
	}
	w.fake.User().Forge(card.ID, "act:"+post.RemindDone+":cccc0002")
	w.fake.Wait(t, "the second press is answered", func(s discordtest.State) bool {
		last := s.Interactions[len(s.Interactions)-1]
		return last.Followups == 1 && len(s.Interactions) == 4
	})
	w.stop()
}
