package discord

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/discord/discordtest"
)

var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")

func TestAConversationWithAnImage(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	m := me.Upload(play("say I see it."), discordtest.File{Name: "cat.png", Type: "text/plain", Data: png},
		discordtest.File{Name: "notes.txt", Type: "image/png", Data: []byte("just words")})
	st.says("I see it.")
	st.s.Wait(t, "the mark at the end", func(f discordtest.State) bool { return f.Message(m.ID).Marks() == "✅" }) // P2
	chat := st.bot.Snapshot().Chat
	found := false
	for _, e := range chat {
		found = found || e.Where == name && strings.Contains(e.Text, "[1 image]") && strings.Contains(e.Text, "downloads/notes.txt")
	}
	if !found {
		t.Errorf("the chat shows %+v", chat)
	}
	if data, err := st.dir.Read("downloads/notes.txt"); err != nil || string(data) != "just words" {
		t.Errorf("%q, %v", data, err)
	}
	before := len(st.s.State().Messages)
	st.stop()
	state := st.s.Wait(t, "the farewell", func(f discordtest.State) bool { return f.Said(st.s.Bot(), "going offline") })
	if n := len(state.Messages); n != before { // P12
		t.Errorf("%d messages at the end, want the %d of before", n, before)
	}
}

// The reply comes an hour later: the ids that lead back to the run are on disk,
// and the bot has been started anew meanwhile.
func TestAPingThatIsAnsweredAnHourLaterGoesOnInItsRun(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.reminder("dddd0001", 100*time.Millisecond, `call ping_user {"message":"Water the plants?"}`, `call report_updates {"message":"asked"}`)
	st.live()
	ping := st.says("Water the plants?")
	await(t, st, "the run to end", func(s core.Snapshot) bool {
		return len(s.Forks) == 1 && !s.Forks[0].Live() && s.Reminders == 0
	})
	st.stop()

	age(t, st, time.Hour)
	st.live()
	st.s.User().Reply(ping.ID, "not yet")
	st.says("Forked Session")
	await(t, st, "the run to go on", func(s core.Snapshot) bool { return s.Fork != nil && s.Fork.Resumed })
}

// age makes what the bot remembers of its messages older.
func age(t *testing.T, st *stage, d time.Duration) {
	t.Helper()
	var list []map[string]json.RawMessage // ids are larger than a float holds
	if found, err := st.dir.ReadJSON("state/fork_messages.json", &list); err != nil || !found || len(list) == 0 {
		t.Fatalf("%v, %v, %v", list, found, err)
	}
	for _, m := range list {
		ts, err := strconv.ParseFloat(string(m["ts"]), 64)
		testkit.Must(t, err)
		m["ts"] = json.RawMessage(strconv.FormatFloat(ts-d.Seconds(), 'f', 6, 64))
	}
	testkit.Must(t, st.dir.WriteJSON("state/fork_messages.json", list))
}

func await(t testing.TB, st *stage, what string, ok func(core.Snapshot) bool) core.Snapshot {
	t.Helper()
	over := time.NewTimer(20 * time.Second)
	defer over.Stop()
	v := st.bot.Viewer(true)
	defer v.Close()
	for {
		if s := st.bot.Snapshot(); ok(s) {
			return s
		}
		select {
		case <-v.Changed():
		case <-over.C:
			t.Fatalf("waited too long for %s", what)
		}
	}
}

func TestAnAgentsButtonWorksAfterARestart(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	me.Say(play(`call discord_embed {"title":"Mail","buttons":[{"label":"Draft","action":"agent:draft the reply"},{"label":"Away","action":"dismiss:"}]}`, "say there"))
	card := st.says("Mail")
	st.says("there")
	if len(card.Buttons) != 2 || !strings.HasPrefix(card.Buttons[0].CustomID, "act:agent:") {
		t.Fatalf("%+v", card.Buttons)
	}
	st.stop()
	st.live()
	st.up()
	before := len(st.s.State().Sent(st.s.Bot()))
	me.Click(card.ID, card.Buttons[0].CustomID)
	state := st.s.Wait(t, "an answer to the button", func(f discordtest.State) bool { return len(f.Sent(st.s.Bot())) > before })
	if i := state.Interactions[0]; i.Callback != 6 || i.Followups != 0 {
		t.Errorf("%+v", i)
	}
	st.s.Wait(t, "the used button to be disabled", func(f discordtest.State) bool {
		b := f.Message(card.ID).Buttons
		return len(b) == 2 && b[0].Disabled && !b[1].Disabled && f.Message(card.ID).Embeds[0].Title == "Mail"
	})
	me.Forge(card.ID, card.Buttons[0].CustomID)
	st.says("expired or was already used")
	me.Click(card.ID, card.Buttons[1].CustomID)
	state = st.s.Wait(t, "the card to go", func(f discordtest.State) bool { return !f.Message(card.ID).Deleted.IsZero() })
	if state.Interactions[2].Followups != 0 {
		t.Error("a card that goes says so too")
	}
	me.Forge(st.says("No model is connected").ID, "act:nonsense:1")
	st.says("this version does not know this button")
	if n := st.s.State().CommandPuts; n != 1 {
		t.Errorf("the commands were registered %d times", n)
	}
}

func TestAForkIsEnteredReportedAndLeft(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	me.Slash("fork", discordtest.Option{Name: "topic", Value: "the garden"})
	card := st.says("Topic: the garden")
	await(t, st, "the fork's first turn", func(s core.Snapshot) bool { return s.Fork != nil && !s.Busy })
	state := st.s.Wait(t, "the promise to be taken back", func(f discordtest.State) bool {
		return len(f.Interactions) == 1 && f.Interactions[0].Callback == 5 && f.Count("DELETE", "/webhooks/*/*/messages/@original") == 1
	})
	if m := state.Message(state.Interactions[0].Original); m == nil || !m.Ephemeral() {
		t.Errorf("%+v", m)
	}
	me.Say(play("say deep in the garden"))
	st.says("deep in the garden")
	me.Slash("model", discordtest.Option{Name: "name", Value: "opus"})
	st.says("exit fork first")
	me.Say(play(`call report_updates {"message":"The garden is planned."}`))
	st.says("Fork Ended — summary queued")
	st.s.Wait(t, "the exits to go", func(f discordtest.State) bool {
		m := f.Message(card.ID)
		return len(m.Buttons) == 0 && m.Embeds[0].Description == "Topic: the garden"
	})
	me.Forge(card.ID, "act:fork_exit:_")
	st.says("no active fork")
	if n := len(st.bot.Snapshot().Updates); n != 1 {
		t.Errorf("%d updates", n)
	}
}

// asks makes the bot ask for a permission, and gives the card.
func asks(st *stage, call string) *discordtest.Message {
	st.s.User().Say(play(`ask Bash {"command":"`+call+`"}`, "say after "+call))
	return st.says("Run this command?**\n```\n" + call)
}

// cameTo reports whether the card of a permission says what came of it. Whether a label stands
// before the question depends on the moment: the user's words clear what the last turn has read
// only if it had ended by then.
func cameTo(card *discordtest.Message, call, what string) bool {
	return strings.HasSuffix(card.Content, "Run this command? `"+call+"` — "+what)
}

func TestAPermissionIsAskedAndAnsweredFromEitherSide(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	me.Slash("permissions", discordtest.Option{Name: "mode", Value: "default"})
	st.says("permissions: default.")

	card := asks(st, "rm one")
	st.s.Wait(t, "the three answers", func(f discordtest.State) bool {
		list := f.Message(card.ID).Reactions
		return len(list) == 3 && list[0].Emoji == "✅" && list[1].Emoji == "❌" && list[2].Emoji == "🔓"
	})
	st.s.Stranger().React(card.ID, "✅")
	st.s.OtherBot().React(card.ID, "✅")
	if n := len(st.bot.Snapshot().Approvals); n != 1 {
		t.Fatalf("%d approvals wait", n)
	}
	me.React(card.ID, "❌")
	st.s.Wait(t, "the outcome", func(f discordtest.State) bool { return cameTo(f.Message(card.ID), "rm one", "denied") })
	st.says("after rm one")

	card = asks(st, "rm two")
	s := await(t, st, "the question", func(s core.Snapshot) bool { return len(s.Approvals) == 1 })
	st.do(command.Answer{ID: s.Approvals[0].ID, Verdict: policy.Allow})
	st.s.Wait(t, "the outcome of the dashboard", func(f discordtest.State) bool { return cameTo(f.Message(card.ID), "rm two", "allowed") })
	me.React(card.ID, "❌") // too late: it changes nothing
	st.says("after rm two")

	card = asks(st, "rm button")
	st.s.Stranger().Forge(card.ID, card.Buttons[0].CustomID)
	st.says("not authorized.")
	me.Click(card.ID, card.Buttons[0].CustomID)
	st.s.Wait(t, "the outcome of the button", func(f discordtest.State) bool {
		m := f.Message(card.ID)
		return cameTo(m, "rm button", "allowed") && len(m.Buttons) == 0
	})
	st.says("after rm button")
	me.Forge(card.ID, button(card, "Deny")) // too late, and told so
	st.says("already answered")

	card = asks(st, "rm words")
	me.Say("yes")
	st.s.Wait(t, "the outcome of the words", func(f discordtest.State) bool { return cameTo(f.Message(card.ID), "rm words", "allowed") })
	st.says("after rm words")

	card = asks(st, "rm three")
	me.Slash("interrupt")
	st.s.Wait(t, "the question to be taken back", func(f discordtest.State) bool { return !f.Message(card.ID).Deleted.IsZero() })
}

func TestTheNetworkIsGoneWhileAReplyStreams(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	var lines []string
	for i := range 6 {
		lines = append(lines, fmt.Sprintf("say Line %d of the story.", i), "wait 300ms")
	}
	me.Say(play(lines...))
	st.says("Line 0")
	lift := st.s.Fault(discordtest.Match{PathPrefix: "/channels", Times: -1}, discordtest.Lost())
	st.s.Down()
	await(t, st, "the turn to end", func(s core.Snapshot) bool { return !s.Busy })
	await(t, st, "the loss to be seen", func(s core.Snapshot) bool { return strings.HasPrefix(s.Surface.State, "down since") && !s.Surface.OK })
	lift()
	st.s.Up()
	m := st.says("Line 5")
	if want := "Line 0"; !strings.Contains(m.Content, want) {
		t.Errorf("%q", m.Content)
	}
	for i := range 6 {
		if n := strings.Count(said(st), fmt.Sprintf("Line %d", i)); n != 1 {
			t.Errorf("line %d was said %d times", i, n)
		}
	}
	me.Say(play("say and on it goes"))
	st.says("and on it goes")
	await(t, st, "the connection", func(s core.Snapshot) bool { return strings.HasPrefix(s.Surface.State, "up") && s.Surface.OK })
}

// said is all that stands there of the bot.
func said(st *stage) string {
	var all []string
	for _, m := range st.s.State().Sent(st.s.Bot()) {
		all = append(all, m.Content)
	}
	return strings.Join(all, "\n")
}

func TestMessagesOfTheTimeBetweenAreCaughtUpWithOnce(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.s.User().Say(play("say from before the first start"))
	st.live()
	st.up()
	st.s.User().Say(play("say while I was there"))
	st.says("while I was there")
	st.stop()
	st.s.User().Say(play("say one of the night"))
	st.s.User().Say(play("say two of the night"))
	st.live()
	st.says("two of the night")
	st.s.EndSessions()
	st.s.DropSocket()
	st.s.Wait(t, "a new session", func(f discordtest.State) bool { return f.Up() && len(f.Identifies) >= 3 })
	st.s.Again("MESSAGE_CREATE")
	st.s.User().Say(play("say last"))
	st.says("last")
	all := said(st)
	for text, want := range map[string]int{"from before": 0, "while I was there": 1, "two of the night": 1, "last": 1} {
		if n := strings.Count(all, text); n != want {
			t.Errorf("%q was said %d times, want %d", text, n, want)
		}
	}
	if n := strings.Count(all, "is here"); n != 1 { // P12
		t.Errorf("%d greetings at a time", n)
	}
}
