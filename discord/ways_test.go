package discord

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
)

// D11: a refused form opens again with what was typed, and what a button did is undone from its reply.
func TestARefusedFormOpensAgainAndWhatWasDoneIsUndone(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	card := st.status()
	had := st.bot.Snapshot().Budget.State.Capacity
	press := st.press(card, "Ping budget…")
	if m := st.opened(press); m.Rows[0].Fields[0].Value != "5" || m.Rows[1].Fields[0].Value != "90" {
		t.Errorf("the form begins with %+v", m)
	}
	me.Submit(press.ID, discordtest.Field{Name: "capacity", Value: "many"}, discordtest.Field{Name: "refill", Value: "45"})
	refusal := st.says("write a whole number")
	correct := button(refusal, "Correct it…")
	again := me.Click(refusal.ID, correct)
	if m := st.opened(again); m.Rows[0].Fields[0].Value != "many" || m.Rows[1].Fields[0].Value != "45" {
		t.Errorf("what was typed is lost: %+v", m)
	}
	me.Submit(again.ID, discordtest.Field{Name: "capacity", Value: "8"})
	done := st.says("capacity 5 → 8, refill 90 → 45 min")
	if now := st.bot.Snapshot().Budget.State; now.Capacity != 8 || now.RefillRateMinutes != 45 {
		t.Errorf("%+v", now)
	}
	st.again()
	if m := st.opened(me.Forge(refusal.ID, correct)); m.Rows[0].Fields[0].Value != "many" {
		t.Errorf("what was typed is lost with a restart: %+v", m)
	}
	st.press(done, "Undo")
	st.says("capacity 8 → 5")
	if now := st.bot.Snapshot().Budget.State.Capacity; now != had {
		t.Errorf("capacity %d, had %d", now, had)
	}
	me.Forge(done.ID, "act:undo:1")
	st.says("/status and /config show how things are now")
	me.Forge(done.ID, "act:form_again:1")
	st.says("open it again, with /setup")
}

// The form of a new reminder makes one, however often it is submitted; the next opening makes another. 4,000 characters
// are kept, and a late form is answered by a message.
func TestTheFormOfANewReminderMakesOneAReminder(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	card := st.status()
	long := "letters to write " + strings.Repeat("and post them, ", 265)
	for range 2 {
		press := st.press(card, "New reminder…")
		st.opened(press)
		for range 2 {
			me.Submit(press.ID, discordtest.Field{Name: "when", Value: "3 hours"}, discordtest.Field{Name: "what", Value: long})
		}
	}
	st.s.Wait(t, "four replies", func(f discordtest.State) bool {
		n := 0
		for _, m := range f.Sent(st.s.Bot()) {
			if strings.Contains(m.Content, "you will be reminded") || strings.Contains(m.Content, "exists already") {
				n++
			}
		}
		return n == 4
	})
	list := st.made("letters")
	if len(list) != 2 || !strings.Contains(storetest.Text(t, st.dir, list[0]), strings.TrimSpace(long)) {
		t.Errorf("made %q", list)
	}
	press := st.press(card, "New reminder…")
	st.opened(press)
	me.Submit(press.ID, discordtest.Field{Name: "what", Value: " "})
	st.says("there are no words to be reminded of")
}

// D11: /setup said "done." when it began. It is a form, whose answers count and reach the agent, once.
func TestSetupIsAFormAndThenATalk(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	press := me.Slash("setup")
	if m := st.opened(press); m.Title != "Setup" || len(m.Rows) != 4 || m.Rows[1].Fields[0].Value != "olli" {
		t.Fatalf("%+v", m)
	}
	me.Submit(press.ID, discordtest.Field{Name: "quiet", Value: "at night"})
	refusal := st.says("quiet_hours")
	again := st.press(refusal, "Correct it…")
	st.opened(again)
	about := "I lose my keys. " + strings.Repeat("And more. ", 398)
	fields := []discordtest.Field{{Name: "user", Value: "Sam"}, {Name: "what", Value: about}, {Name: "quiet", Value: "22:00-07:30"}}
	me.Submit(again.ID, fields...)
	st.says("I continue here")
	me.Submit(again.ID, fields...)
	st.says("that form was sent already")
	if env := storetest.Text(t, st.dir, ".env"); !strings.Contains(env, "Sam") || !strings.Contains(env, "olli") {
		t.Errorf(".env is %q", env)
	}
	if q, err := config.ShowOne(st.bot.Runtime(), "quiet_hours"); err != nil || q.Text != "22:00-07:30" {
		t.Errorf("quiet hours %+v, %v", q, err)
	}
	await(t, st, "the talk", func(s core.Snapshot) bool { return !s.Busy && len(s.Chat) > 0 && s.Chat[len(s.Chat)-1].Role == "bot" })
}

// D12: the button of an earlier answer ended the new one.
func TestTheStopOfAnEarlierAnswerDoesNotEndTheNewOne(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.liveWith(script.New(script.Options{Pace: 0.5}))
	st.up()
	me := st.s.User()
	stop := func(begin string) (message, id string) {
		m := st.s.Wait(t, "the offer to stop "+begin, func(f discordtest.State) bool {
			m := st.find(f, begin)
			return m != nil && len(m.Buttons) == 1
		})
		found := st.find(m, begin)
		return found.ID, found.Buttons[0].CustomID
	}
	me.Say(play("say The first one begins, and it takes its time to do so.", "wait 3s", "say It continues.", "wait 1h"))
	message, old := stop("The first one")
	me.Click(message, old)
	st.s.Wait(t, "its end", func(f discordtest.State) bool { return strings.Contains(f.Message(message).Content, "(interrupted)") })
	me.Say(play("say The second one begins, and it takes its time to do so.", "wait 3s", "say It continues, too.", "wait 2s", "say It has come to its end."))
	_, newer := stop("The second one")
	if old == newer {
		t.Error("both have the same button")
	}
	me.Forge(message, old)
	st.says("that answer has ended already")
	st.says("It has come to its end.")
}

// S39: a message whose answer Discord refuses is not done.
func TestAMessageWhoseAnswerIsRefusedIsMarkedAsFailed(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	var d *Discord
	b := newStub(func(_ context.Context, _ command.Value) (command.Outcome, error) {
		done := make(chan error)
		a := d.Answer(chat.AnswerOptions{})
		a.Append("Hello there.")
		a.End(false, func([]post.MessageID) {})
		close(done)
		return command.Outcome{Done: done}, nil
	})
	st.alone(b)
	st.up()
	d = st.d
	st.s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages", Times: -1}, discordtest.Refused(403, 50001))
	asked := st.s.User().Say("hello")
	st.s.Wait(t, "the mark", func(f discordtest.State) bool { return strings.Contains(f.Message(asked.ID).Marks(), markFailed) })
}

// D4: with Discord's REST interface away, the status says so, answers arrive in order, and both messages are marked,
// with few requests.
func TestWithoutRESTTheStatusSaysSoAndNothingIsLost(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{NoContract: true})
	st.live()
	st.up()
	me := st.s.User()
	me.Say(play("say Ready."))
	st.says("Ready.")
	await(t, st, "rest", func(s core.Snapshot) bool { return !s.Busy })
	lift := st.s.Fault(discordtest.Match{PathPrefix: "/channels", Times: -1}, discordtest.Lost())
	before := len(st.s.State().Requests)
	first := me.Say(play("say This is the first answer."))
	await(t, st, "the first turn", func(s core.Snapshot) bool {
		last := s.Chat[len(s.Chat)-1]
		return !s.Busy && last.Role == "bot" && strings.Contains(last.Text, "first answer")
	})
	second := me.Say(play("say This is the second answer."))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); st.d.Status().OK; <-tick.C {
		if time.Now().After(end) {
			t.Fatal("the status says that all is well")
		}
	}
	if s := st.d.Status(); !strings.HasPrefix(s.State, "down since ") {
		t.Errorf("%+v", s)
	}
	reactions := 0
	for _, r := range st.s.State().Requests[before:] {
		if strings.Contains(r.Path, "/reactions/") {
			reactions++
		}
	}
	if reactions > 12 {
		t.Errorf("%d reactions were tried", reactions)
	}
	lift()
	one, two := st.says("first answer"), st.says("second answer")
	if len(one.ID) > len(two.ID) || len(one.ID) == len(two.ID) && one.ID > two.ID {
		t.Error("the second answer is above the first")
	}
	st.s.Wait(t, "the marks", func(f discordtest.State) bool {
		return f.Message(first.ID).Marks() == markDone && f.Message(second.ID).Marks() == markDone
	})
	if !st.d.Status().OK {
		t.Errorf("%+v", st.d.Status())
	}
}

// D4: a start without Discord wrote no line in 75 seconds.
func TestAStartWithoutDiscordIsInTheLog(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.s.Down()
	st.alone(newStub(nil))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !strings.Contains(st.log.String(), "discord cannot be reached"); <-tick.C {
		if time.Now().After(end) {
			t.Fatal("nothing is in the log")
		}
	}
	st.s.Up()
	st.up()
	if !strings.Contains(st.log.String(), "discord can be reached again") {
		t.Error("the log does not say that it can be reached")
	}
}

// D5: a transcriber that hangs kept what the user wrote waiting for 63 seconds.
func TestAHangingTranscriberDoesNotHoldUpWhatTheUserWrites(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	free := make(chan string, 1)
	o := st.options()
	o.Transcribe = func(ctx context.Context, _ []byte) (string, error) {
		select {
		case words := <-free:
			return words, nil
		case <-ctx.Done():
			return "", errors.New("it was ended")
		}
	}
	bot := newStub(nil)
	st.aloneWith(o, bot)
	st.up()
	spoken := st.s.User().Speak(recording(t), 1)
	st.s.Wait(t, "the voice message", func(f discordtest.State) bool { return f.Message(spoken.ID) != nil })
	st.s.User().Say("and buy milk")
	all := bot.wait(t, 2)
	if in := all[0].(command.Receive); !strings.Contains(in.Text, "its words are still being transcribed") || len(in.Files) != 1 {
		t.Errorf("%+v", in)
	}
	if in := all[1].(command.Receive); in.Text != "and buy milk" {
		t.Errorf("%+v", in)
	}
	free <- "water the plants"
	late := bot.wait(t, 3)[2].(command.Receive)
	if late.Text != "[the words of the earlier voice message]\nwater the plants" || late.From != name {
		t.Errorf("%+v", late)
	}
	if reply := st.replyTo(spoken); reply.Content != "> water the plants" {
		t.Errorf("the user reads %q", reply.Content)
	}
}

// reply waits for the reply that only the user sees.
func (st *stage) reply(i discordtest.Interaction) *discordtest.Message {
	st.t.Helper()
	var found *discordtest.Message
	st.s.Wait(st.t, "the reply", func(f discordtest.State) bool {
		found = nil
		for _, m := range f.Messages {
			if m.Interaction == i.ID && !m.Loading() {
				found = m
			}
		}
		return found != nil
	})
	return found
}

// Each form takes 4,000 characters in each of its fields, twice: it is carried out or refused in a few words, and a
// refused one opens again with what was typed.
func TestEveryFormTakesFourThousandCharactersTwice(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	card := st.status()
	press := func(action string) func() discordtest.Interaction {
		return func() discordtest.Interaction { return me.Forge(card.ID, "act:"+action) }
	}
	for name, open := range map[string]func() discordtest.Interaction{
		"new reminder": press("remind_new:_"), "budget": press("budget_type:5.90"), "setting": press("config_type:quiet_hours"), "model": press("model_type:_"),
		"later": press("ping_later:gone-1"), "reminder later": press("remind_later:aaaa0009"), "proposal": press("propose_when:gone other"),
		"setup":              func() discordtest.Interaction { return me.Slash("setup") },
		"remind":             func() discordtest.Interaction { return me.Slash("remind") },
		"message's reminder": func() discordtest.Interaction { return me.Menu(command.RemindAboutThis, card.ID) },
	} {
		opened := open()
		var fields []discordtest.Field
		for _, row := range st.opened(opened).Rows {
			if most := row.Fields[0].Most; most == 0 || most > 4000 {
				t.Errorf("%s: a field takes %d characters", name, most)
			}
			fields = append(fields, discordtest.Field{Name: row.Fields[0].CustomID, Value: strings.Repeat("nüx ", 1000)})
		}
		for range 2 {
			reply := st.reply(me.Submit(opened.ID, fields...))
			if len(reply.Content) > 1000 || strings.Contains(reply.Content, textOdd) || reply.Content == "" {
				t.Errorf("%s: %q", name, reply.Content)
			}
			again := button(reply, "Correct it…")
			if again == "" {
				t.Errorf("%s: %q has no way back", name, reply.Content)
				continue
			}
			m := st.opened(me.Click(reply.ID, again))
			if first := m.Rows[0].Fields[0]; !strings.HasPrefix(first.Value, "nüx nüx") {
				t.Errorf("%s: what was typed is lost: %.40q", name, first.Value)
			}
		}
	}
}

// A form may be filled in after a restart; one whose submission comes too late for Discord, or whose reply does, is
// answered by a message with the way back.
func TestALateFormIsAnsweredWithAWayBack(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	press := me.Slash("remind", discordtest.Option{Name: "what", Value: "letters"})
	if m := st.opened(press); m.Rows[1].Fields[0].Value != "letters" || m.Rows[0].Fields[0].Value != "1 hour" {
		t.Errorf("/remind opens %+v", m)
	}
	st.again()
	refusal := st.reply(me.Submit(press.ID, discordtest.Field{Name: "when", Value: "some day"}))
	if m := st.opened(st.press(refusal, "Correct it…")); m.Rows[0].Fields[0].Value != "some day" {
		t.Errorf("%+v", m)
	}
	st.s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/interactions"}, discordtest.Refused(404, 10062))
	me.Submit(press.ID, discordtest.Field{Name: "when", Value: "2 hours"})
	late := st.says("that form did not arrive in time and was not carried out")
	if len(st.made("letters")) != 0 {
		t.Error("it was carried out all the same")
	}
	again := st.press(late, "Correct it…")
	if m := st.opened(again); m.Rows[0].Fields[0].Value != "2 hours" || m.Rows[1].Fields[0].Value != "letters" {
		t.Errorf("%+v", m)
	}
	st.s.Fault(discordtest.Match{PathPrefix: "/webhooks", Times: -1}, discordtest.Refused(401, 50027))
	me.Submit(again.ID)
	if reply := st.says("you will be reminded at"); reply.Interaction != "" {
		t.Errorf("the reply is %+v", reply)
	}
	if list := st.made("letters"); len(list) != 1 {
		t.Errorf("made %q", list)
	}
}

// loggedOut is an engine without a login.
type loggedOut struct {
	agent.Engine
	code chan string
}

func (loggedOut) Open(context.Context, agent.SessionOptions) (agent.Session, error) {
	return nil, errors.New("not logged in")
}

func (loggedOut) Status() agent.Status {
	return agent.Status{LoginNeeded: true, Problem: "not logged in"}
}
func (loggedOut) OnChange(func()) {}
func (loggedOut) Login(context.Context) (url string, err error) {
	return "https://login.example/1", nil
}
func (l loggedOut) Finish(_ context.Context, code string) error { l.code <- code; return nil }

// D11: a bot whose engine is logged out could be logged in at its own computer only.
func TestALoginBeginsAndEndsOnThePhone(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	o, engine := st.options(), loggedOut{script.New(script.Options{}), make(chan string, 1)}
	o.LoginPending = func() bool { return true }
	st.liveOn(o, engine)
	st.up()
	me := st.s.User()
	me.Say("good morning")
	card := st.says("could not answer")
	if strings.Contains(card.Content, "ollim-bot ") || !card.Rang() {
		t.Errorf("%q, rings: %v", card.Content, card.Rang())
	}
	st.press(card, "Log in")
	st.says("https://login.example/1")
	me.Say("abc#def")
	if code := <-engine.code; code != "abc#def" {
		t.Errorf("the code is %q", code)
	}
	st.says("is logged in")
}
