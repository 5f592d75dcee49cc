package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
)

const fakeToken = "MTAw.fake.token"

// onDiscord is the environment of a bot in the direct messages of its user on a Discord of ours.
func onDiscord(home, data string, fake *discordtest.Server) []string {
	return []string{
		"HOME=" + home, "TMPDIR=" + home, "OLLIM_DATA_DIR=" + data, "OLLIM_TIMEZONE=UTC", "DISCORD_TOKEN=" + fakeToken,
		"OLLIM_DISCORD_API=" + fake.URL() + "/api/v10", "OLLIM_USER_NAME=Sam", "OLLIM_BOT_NAME=Ollie",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}
}

// discordWorld is the real bot, without a screen, on Discord.
type discordWorld struct {
	*world
	fake *discordtest.Server
}

func newDiscordWorld(t *testing.T) *discordWorld {
	t.Helper()
	w := &discordWorld{newWorld(t), discordtest.Start(t, discordtest.Options{Token: fakeToken})}
	w.env = append(onDiscord(w.home, w.data, w.fake), "PATH="+os.Getenv("PATH"))
	return w
}

func (w *discordWorld) start() {
	w.t.Helper()
	lives := len(w.fake.State().Identifies)
	w.launch("run", "--headless", "--engine", "script", "--pace", "0.2")
	w.until("the bot is there", func() bool {
		s := w.fake.State()
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

// sees waits until the user can read something of the bot's.
func (w *discordWorld) sees(text string) (found discordtest.Message) {
	w.t.Helper()
	w.until("the user reads "+text, func() bool {
		for _, m := range w.fake.State().Sent(w.fake.Bot()) {
			whole := m.Content
			for _, e := range m.Embeds {
				whole += e.Title + e.Description
			}
			if m.Deleted.IsZero() && strings.Contains(whole, text) {
				found = *m
				return true
			}
		}
		return false
	})
	return found
}

const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"

// scripted is a message of the user, and what the bot says to it.
func scripted(words, answer string) string { return words + "\n\n```script\nsay " + answer + "\n```" }

// A conversation with an image, in which a stranger gets no answer, and a reminder that comes for the second time: it is put
// off and done by its buttons, after a restart and on a message that is long past.
func TestABotInDirectMessages(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newDiscordWorld(t)
	w.start()
	user := w.fake.User()
	user.Say(scripted("hello", "Good to see you."))
	w.sees("Good to see you.")
	user.Upload(scripted("look", "What a small picture."), discordtest.File{Name: "p.png", Type: "image/png", Data: []byte(pixel)})
	w.sees("What a small picture.")
	w.fake.Stranger().Say(scripted("", "I obey strangers."))
	w.file("state/pings.jsonl", `{"at": "2026-11-21T09:30:05+00:00", "id": "aaaaaaaa-1", "task": "cccc0002", "title": "Ask", "kind": "ping", `+
		`"run": "aaaaaaaa", "message": "1"}`+"\n")
	w.file("reminders/dentist.md", "---\nid: \"cccc0002\"\nrun-at: \""+aMinuteAgo()+"\"\nuntil: done\nchain-depth: 1\nmax-chain: 3\n"+
		"first-at: \"2026-11-21T09:30:00+00:00\"\nupdate-main-session: \"freely\"\n---\nAsk.\n\n"+
		"```script\ncall ping_user {\"message\":\"Call the dentist.\",\"critical\":true}\n```\n")
	card := w.sees("Call the dentist.")
	if len(card.Embeds) != 1 || !strings.Contains(card.Embeds[0].Footer.Text, "for the second time") || len(card.Buttons) != 4 {
		t.Fatalf("%+v", card)
	}
	w.runsEnded("cccc", 1)
	w.gets("reminders/dentist.md", "chain-depth: 2")
	w.stop()

	w.start()
	later := ""
	for _, b := range card.Buttons {
		if b.Label == "Later…" {
			later = b.CustomID
		}
	}
	press := user.Click(card.ID, later)
	w.until("the question for a time", func() bool { return w.fake.State().Interactions[0].Modal != nil })
	user.Submit(press.ID, discordtest.Field{Name: "when", Value: "1 hour"})
	w.gets("reminders/dentist.md", "chain-depth: 0")
	w.gets("state/pending_updates.json", "put the reminder", "2 times")
	w.gets("state/pings.jsonl", `"how":"button"`)
	w.until("only Done is left", func() bool {
		m := w.fake.State().Message(card.ID)
		return len(m.Buttons) == 1 && m.Buttons[0].Label == "Done" && m.Content == "Call the dentist." &&
			strings.Contains(m.Embeds[0].Description, "Comes back <t:") && m.Embeds[0].Footer == nil
	})
	done := "act:" + post.RemindDone + ":cccc0002" // P8
	user.Click(card.ID, done)
	w.gets("state/pending_updates.json", "as done")
	if strings.Contains(w.read("state/pending_updates.json"), "put the reminder") || w.has("reminders/dentist.md") {
		t.Error("the reminder is still there")
	}
	user.Forge(card.ID, done)
	w.until("the second press is answered", func() bool {
		all := w.fake.State().Interactions
		return all[len(all)-1].Followups == 1 && len(all) == 4
	})
	w.stop()
	if w.fake.State().Said(w.fake.Bot(), "I obey strangers") {
		t.Error("a stranger was answered")
	}
}

// The half answer says that it will not continue, no eyes stay, and what was written in the night is one answer.
func TestABotThatIsKilledInTheMiddleOfAnAnswer(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	w := newDiscordWorld(t)
	w.start()
	user := w.fake.User()
	asked := user.Say(scripted("a long story", "Once upon a time\nwait 60s\nsay there was an end."))
	half := w.sees("Once upon a time")
	w.gets("state/discord.json", half.ID, asked.ID)
	w.kill()

	written := []string{asked.ID}
	for _, text := range []string{"are you there?", "never mind the story", scripted("good morning", "Good morning to all three.")} {
		written = append(written, user.Say(text).ID)
	}
	w.start()
	w.sees("Good morning to all three.")
	watched := func(id string) bool {
		return slices.ContainsFunc(w.fake.State().Message(id).Reactions, func(r discordtest.Reaction) bool { return r.Emoji == "👀" })
	}
	w.until("everything tidy", func() bool {
		return !slices.ContainsFunc(written, watched) && strings.Contains(w.fake.State().Message(half.ID).Content, "cut short")
	})
	w.stop()
	answers := 0
	for _, m := range w.fake.State().Sent(w.fake.Bot()) {
		if m.ID != half.ID && m.Deleted.IsZero() && !strings.HasPrefix(m.Content, "-# ") {
			answers++
		}
	}
	if text := w.fake.State().Message(half.ID).Content; answers != 1 || !strings.HasPrefix(text, "Once upon a time") {
		t.Errorf("%d answers to the night; the half one says %q", answers, text)
	}
}

func TestTheDoctorFindsATokenThatDiscordNoLongerKnowsAndAUserWhoCannotBeReached(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := discordtest.Start(t, discordtest.Options{Token: "another"})
	root := filepath.Join(t.TempDir(), "data")
	says := func(line string, words ...string) {
		t.Helper()
		var out bytes.Buffer
		env := []string{"OLLIM_DATA_DIR=" + root, "OLLIM_DISCORD_API=" + s.URL() + "/api/v10", "TZ=UTC"}
		run(strings.Fields(line), inProcess(env, "", &out, &out)) // it fails for other reasons too
		for _, word := range words {
			if !strings.Contains("\n"+out.String(), word) {
				t.Errorf("%s does not say %q:\n%s", line, word, &out)
			}
		}
		if strings.Contains(out.String(), "context deadline exceeded") {
			t.Errorf("%s says no plain words:\n%s", line, &out)
		}
	}
	put(t, filepath.Join(root, ".env"), "DISCORD_TOKEN="+fakeToken+"\n")
	says("doctor", "FAIL  discord: Discord does not know this token: Developer Portal")
	s.ResetToken(fakeToken)
	says("doctor", "PASS  discord: the bot is")
	if n := len(s.State().Messages); n != 0 {
		t.Errorf("the doctor has written %d messages", n)
	}
	put(t, filepath.Join(root, "state/discord.json"), `{"shut_out":"unblock the bot"}`)
	for _, line := range []string{"doctor", "status", "status --json"} {
		says(line, "unblock the bot")
	}

	// P7: a running bot's connection, with its start and the cure, in words.
	unlock, err := storetest.At(t, root).Lock()
	testkit.Must(t, err)
	defer func() { testkit.Must(t, unlock()) }()
	put(t, filepath.Join(root, "state/discord.json"), `{"connection":{"name":"Discord","state":"down since 09:12: Discord cannot be reached `+
		`(it does not answer)","ok":false,"since":"2026-11-27T09:12:00Z"}}`)
	const down = "down since 09:12: Discord cannot be reached (it does not answer); the bot keeps trying"
	says("status", "discord:   "+down, "\nDiscord is not connected: down since 09:12")
	says("doctor", "FAIL  connection: "+down)
	defer s.Fault(discordtest.Match{PathPrefix: "/users/@me", Times: -1}, discordtest.Broken(503))()
	says("doctor", "check the network and try again")
}
