package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
)

// discordWorld is the real bot, without a screen, in its user's direct messages
// on a Discord of ours.
type discordWorld struct {
	*program // once it has been started
	t        *testing.T
	fake     *discordtest.Server
	data     string
}

const fakeToken = "MTAw.fake.token"

func newDiscordWorld(t *testing.T) *discordWorld {
	t.Helper()
	w := &discordWorld{t: t, data: filepath.Join(t.TempDir(), "data")}
	testkit.Must(t, os.MkdirAll(filepath.Join(w.data, "reminders"), 0o700))
	w.fake = discordtest.Start(t, discordtest.Options{Token: fakeToken})
	return w
}

func (w *discordWorld) start() {
	w.t.Helper()
	lives := len(w.fake.State().Identifies)
	w.program = launch(w.t, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.t.TempDir(), "TMPDIR=" + w.t.TempDir(), "OLLIM_DATA_DIR=" + w.data, "OLLIM_TIMEZONE=UTC",
		"DISCORD_TOKEN=" + fakeToken, "OLLIM_DISCORD_API=" + w.fake.URL() + "/api/v10", "OLLIM_USER_NAME=Sam", "OLLIM_BOT_NAME=Ollie",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}, "run", "--headless", "--engine", "script", "--pace", "0.2")
	w.fake.Wait(w.t, "the bot is there", func(s discordtest.State) bool {
		return len(s.Identifies) > lives && s.Up() && len(s.Commands) >= len(command.List(command.InDiscord)) // and the menus of a message
	})
}

func (w *discordWorld) stop() {
	w.t.Helper()
	w.stops()
	if strings.Contains(w.out.String(), fakeToken) {
		w.t.Error("the token is in the log")
	}
}

// holds waits until a file of the data directory is as expected.
func (w *discordWorld) holds(file string, expected func(string) bool) {
	w.t.Helper()
	w.until(file+" as expected", func() bool { return expected(stored(w.data, file)) })
}

// sees waits until the user can read something of the bot's.
func (w *discordWorld) sees(text string) discordtest.Message {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.t.Context(), patience)
	defer stop()
	var found discordtest.Message
	_, err := w.fake.WaitContext(ctx, text, func(s discordtest.State) bool {
		for _, m := range s.Messages {
			whole := m.Content
			for _, e := range m.Embeds {
				whole += e.Title + e.Description
			}
			if m.Author.Bot && m.Deleted.IsZero() && strings.Contains(whole, text) {
				found = *m
				return true
			}
		}
		return false
	})
	if err != nil {
		w.t.Fatalf("%q was never seen: %v", text, err)
	}
	return found
}

const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"

// TestABotInDirectMessages: a conversation with an image, a ping that is
// answered by a reply, and a button after a restart, all in the built program.
func TestABotInDirectMessages(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newDiscordWorld(t)
	w.start()
	user := w.fake.User()
	user.Say("hello\n\n```script\nsay Good to see you.\n```")
	w.sees("Good to see you.")
	user.Upload("look\n\n```script\nsay What a small picture.\n```", discordtest.File{Name: "p.png", Type: "image/png", Data: []byte(pixel)})
	w.sees("What a small picture.")
	w.fake.Stranger().Say("```script\nsay I obey strangers.\n```")

	reminder := "---\nid: \"cccc0001\"\nrun-at: \"" + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339) +
		"\"\nbackground: true\nupdate-main-session: \"freely\"\n---\nAsk.\n\n```script\ncall discord_embed " +
		`{"title":"Plants","description":"Water them?","buttons":[{"label":"Done","style":"success","action":"agent:the plants are done"}]}` +
		"\nsay asked\n```\n"
	put(t, filepath.Join(w.data, "reminders", "plants.md"), reminder)
	card := w.sees("Water them?")
	w.holds("state/fork_runs.jsonl", func(s string) bool { return ended(s, "cccc") == 1 })
	w.stop()

	w.start()
	if len(card.Buttons) != 3 || card.Buttons[0].Label != "Done" || card.Buttons[1].Label == "Done" {
		t.Fatalf("buttons: %+v", card)
	}
	user.Click(card.ID, card.Buttons[0].CustomID)
	w.sees("Forked Session")
	w.stop()
	for _, m := range w.fake.State().Messages {
		if strings.Contains(m.Content, "I obey strangers") && m.Author.Bot {
			t.Error("a stranger was answered")
		}
	}
}

// TestABotThatIsKilledInTheMiddleOfAnAnswer: the half answer says that it will
// not go on, no eyes stay, and what was written in the night is one answer.
func TestABotThatIsKilledInTheMiddleOfAnAnswer(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newDiscordWorld(t)
	w.start()
	user := w.fake.User()
	asked := user.Say("a long story\n\n```script\nsay Once upon a time\nwait 60s\nsay there was an end.\n```")
	half := w.sees("Once upon a time")
	w.holds("state/discord.json", func(s string) bool { return strings.Contains(s, half.ID) && strings.Contains(s, asked.ID) })
	w.kill()

	var night []string
	for _, text := range []string{"are you there?", "never mind the story", "good morning\n\n```script\nsay Good morning to all three.\n```"} {
		night = append(night, user.Say(text).ID)
	}
	w.start()
	w.sees("Good morning to all three.")
	state := w.fake.Wait(t, "everything tidy", func(s discordtest.State) bool {
		for _, id := range append(night, asked.ID) {
			if slices.ContainsFunc(s.Message(id).Reactions, func(r discordtest.Reaction) bool { return r.Emoji == "👀" }) {
				return false
			}
		}
		return strings.Contains(s.Message(half.ID).Content, "cut short")
	})
	w.stop()
	answers := 0
	for _, m := range state.Sent(w.fake.Bot()) {
		if m.ID != half.ID && m.Deleted.IsZero() && !strings.HasPrefix(m.Content, "-# ") {
			answers++
		}
	}
	if text := state.Message(half.ID).Content; answers != 1 || !strings.HasPrefix(text, "Once upon a time") {
		t.Errorf("%d answers to the night; the half one says %q", answers, text)
	}
}

func TestTheDoctorFindsATokenThatDiscordNoLongerKnowsAndAUserWhoCannotBeReached(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := discordtest.Start(t, discordtest.Options{Token: "another"})
	root := filepath.Join(t.TempDir(), "data")
	const token = "MTIzNDU2Nzg5.Gabcde.secret-of_the-test"
	put(t, filepath.Join(root, ".env"), "DISCORD_TOKEN="+token+"\n")
	doctor := func(args ...string) string {
		var out bytes.Buffer
		env := map[string]string{"OLLIM_DATA_DIR": root, "OLLIM_DISCORD_API": s.URL() + "/api/v10", "TZ": "UTC"}
		run(args, inProcess(env, "", &out, &out)) // it fails for other reasons too
		return out.String()
	}
	if out := doctor("doctor"); !strings.Contains(out, "FAIL  discord: Discord does not know this token: Developer Portal") {
		t.Error(out)
	}
	s.ResetToken(token)
	if out := doctor("doctor"); !strings.Contains(out, "PASS  discord: the bot is") || len(s.State().Messages) != 0 {
		t.Error(out)
	}
	put(t, filepath.Join(root, "state/discord.json"), `{"shut_out":"unblock the bot"}`)
	for _, args := range [][]string{{"doctor"}, {"status"}, {"status", "--json"}} {
		if out := doctor(args...); !strings.Contains(out, "unblock the bot") {
			t.Error(out)
		}
	}

	// P7: a running bot's connection, with its start and the cure.
	unlock, err := storetest.At(t, root).Lock()
	testkit.Must(t, err)
	defer func() { testkit.Must(t, unlock()) }()
	state := `{"connection":{"name":"Discord","state":"down since 09:12: Discord cannot be reached (it does not answer)","ok":false,"since":"2026-11-27T09:12:00Z"}}`
	put(t, filepath.Join(root, "state/discord.json"), state)
	const down = "down since 09:12: Discord cannot be reached (it does not answer); the bot keeps trying"
	if out := doctor("status"); !strings.Contains(out, "discord:   "+down) || !strings.HasPrefix(out, "Discord is not connected: down since 09:12") {
		t.Error(out)
	}
	if out := doctor("doctor"); !strings.Contains(out, "FAIL  connection: "+down) {
		t.Error(out)
	}
	// P7: a Discord that does not answer is told in words.
	defer s.Fault(discordtest.Match{PathPrefix: "/users/@me", Times: -1}, discordtest.Broken(503))()
	if out := doctor("doctor"); strings.Contains(out, "context deadline exceeded") || !strings.Contains(out, "check the network and try again") {
		t.Error(out)
	}
}

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
	put(t, path, reminder)
	put(t, filepath.Join(w.data, "state", "pings.jsonl"), before)
	w.start()
	card := w.sees("Call the dentist.")
	if len(card.Embeds) != 1 || !strings.Contains(card.Embeds[0].Footer.Text, "for the second time") || len(card.Buttons) != 4 {
		t.Fatalf("%+v", card)
	}
	w.holds("state/fork_runs.jsonl", func(s string) bool { return ended(s, "cccc") == 1 })
	w.holds("reminders/dentist.md", func(s string) bool { return strings.Contains(s, "chain-depth: 2") })
	w.stop()

	w.start()
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
