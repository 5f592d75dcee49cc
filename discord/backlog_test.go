package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/post"
	"ollimbot/discord/discordtest"
)

// reactions is the path of the bot's reactions.
const reactions = "/channels/*/messages/*/reactions/*/@me"

func TestABacklogIsOneTurnWithAllOfItInOrder(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{NoContract: true})
	st.live()
	st.up()
	st.s.User().Say(play("say hello"))
	st.says("hello")
	st.stop()
	var ids []string
	var want []string
	for i := range 12 {
		text := fmt.Sprintf("part %d of the night", i)
		if i == 11 {
			text = play("say I have read all of it.")
		}
		ids, want = append(ids, st.s.User().Say(text).ID), append(want, text)
	}
	before := len(st.s.State().Sent(st.s.Bot()))
	reacted := st.s.State().Count("PUT", reactions)
	st.live()
	st.says("I have read all of it.")
	state := st.s.Wait(t, "the eyes to go", func(f discordtest.State) bool {
		return f.Message(ids[11]).Marks() == "✅" // P11: one mark for all of them
	})
	if n := state.Count("PUT", reactions) - reacted; n != 2 {
		t.Errorf("%d reactions were added", n)
	}
	for _, m := range state.Sent(st.s.Bot())[before:] {
		if !strings.Contains(m.Content, "is here") && !strings.Contains(m.Content, "I have read") {
			t.Errorf("it also said %q", m.Content)
		}
	}
	var got []string
	for _, e := range st.bot.Snapshot().Chat {
		if e.Role == "you" {
			got = append(got, e.Text)
		}
	}
	if len(got) < 12 || !slices.Equal(got[len(got)-12:], want) {
		t.Errorf("%q", got)
	}
}

func TestForwardedMessagesStickersPollsAndVoiceAreHeardAndNoticesCostNoTurn(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{NoContract: true}) // the description knows no forwarded messages
	b := newStub(nil)
	st.alone(b)
	st.up()
	me := st.s.User()
	type extra = map[string]any
	me.Send(discordtest.Message{Extra: extra{
		"message_reference": extra{"type": 1, "channel_id": "5", "message_id": "6"},
		"message_snapshots": []extra{{"message": extra{
			"type": 0, "content": "The train leaves at nine.", "embeds": []any{}, "attachments": []any{}, "components": []any{},
			"timestamp": "2026-01-01T00:00:00Z", "edited_timestamp": nil, "flags": 0, "mentions": []any{}, "mention_roles": []any{},
		}}},
	}})
	me.Send(discordtest.Message{Type: 6}) // pinned a message
	me.Send(discordtest.Message{Type: 3, Extra: extra{"call": extra{"participants": []string{}, "ended_timestamp": nil}}})
	me.Send(discordtest.Message{Extra: extra{"sticker_items": []extra{{"id": "7", "name": "Wave", "format_type": 1}}}})
	b.wait(t, 2)
	// The catch-up reads the same of the history.
	st.stop()
	me.Send(discordtest.Message{Type: 6})
	me.Send(discordtest.Message{Extra: extra{"sticker_items": []extra{{"id": "7", "name": "Nod", "format_type": 1}}}})
	again := newStub(nil)
	again.heard = b.LastReceived("")
	st.alone(again)
	again.wait(t, 1)
	st.stop()
	var got []string
	for _, c := range append(b.all(), again.all()...) {
		got = append(got, c.(command.Receive).Text)
	}
	if want := []string{"[forwarded message]\nThe train leaves at nine.", "[sticker: Wave]", "[sticker: Nod]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEditsAndDeletionsOfTheUserReachTheBot(t *testing.T) {
	testkit.Alone(t)
	release := make(chan struct{})
	st, b := hears(t, func(_ context.Context, c command.Value) (command.Outcome, error) {
		if h, ok := c.(command.Receive); ok && h.Text == "first" {
			<-release // meanwhile the others wait in the surface
		}
		return command.Outcome{}, nil
	})
	me := st.s.User()
	one := me.Say("first")
	b.wait(t, 1)
	two, three := me.Say("secnd"), me.Say("my password")
	me.Edit(two.ID, "second")
	me.Delete(three.ID)
	me.Edit(one.ID, "the very first")
	me.Say("last")
	me.Slash("cost") // what came before it waits in the surface by now
	b.wait(t, 2)
	close(release)
	all := b.wait(t, 5)
	var got []string
	for _, c := range all {
		switch c := c.(type) {
		case command.Receive:
			got = append(got, fmt.Sprintf("heard %s %v", c.Text, c.More))
		case command.Reword:
			got = append(got, fmt.Sprintf("reworded %s %s %v", c.Key, c.Text, c.Gone))
		}
	}
	want := []string{"heard first false", "reworded " + one.ID + " the very first false", "heard second true", "heard last false"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	me.Delete(two.ID)
	if r, ok := b.wait(t, 6)[5].(command.Reword); !ok || !r.Gone || r.Key != two.ID {
		t.Errorf("%+v", r)
	}
}

func TestTheUserSeesBelowItsNameThatTheBotIsBusyOrMuted(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	b := newStub(nil)
	b.shown.Budget.Quiet = time.Date(2026, 3, 1, 7, 30, 0, 0, time.UTC)
	st.alone(b)
	st.up()
	st.s.Wait(t, "the mute", func(f discordtest.State) bool {
		all := strings.Join(f.Presences, "") + string(f.Identifies[0].Presence)
		return strings.Contains(all, "pings are muted until 07:30") && strings.Contains(all, `"status":"idle"`)
	})
	b.mu.Lock()
	b.shown.Busy = true
	b.mu.Unlock()
	over := make(chan struct{})
	a := st.d.Answer(chat.AnswerOptions{})
	a.Append("It is done.")
	a.End(false, func([]post.MessageID) { close(over) })
	st.says("It is done.")
	<-over
	st.s.Wait(t, "the work", func(f discordtest.State) bool { return strings.Contains(strings.Join(f.Presences, ""), textBusy) })
}

// P9: a number that Discord wrote as text cost a message, and nobody was told.
func TestAnOddAuthorCostsNoMessageAndAnUnreadableMessageIsTold(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{NoContract: true}) // the description knows no such messages
	b := newStub(nil)
	st.alone(b)
	st.up()
	me := st.s.User()
	say := func(text string, author map[string]any) *discordtest.Message {
		return me.Send(discordtest.Message{Content: text, Extra: map[string]any{"author": author}})
	}
	odd := map[string]any{"id": st.s.Owner().ID, "public_flags": "0"}
	say("live", odd)
	b.wait(t, 1)
	lost := []*discordtest.Message{say("lost", map[string]any{"id": 42})}
	st.says("cannot read")
	st.stop()
	say("missed", odd)
	lost = append(lost, say("lost too", map[string]any{"id": st.s.Owner().ID, "bot": "no"}))
	again := newStub(nil)
	again.heard = b.LastReceived("")
	st.alone(again)
	again.wait(t, 1)
	st.s.Wait(t, "both being told", func(f discordtest.State) bool {
		told := 0
		for _, m := range f.Sent(st.s.Bot()) {
			if strings.Contains(m.Content, "cannot read") {
				told++
			}
		}
		return told >= 2
	})
	st.stop()
	var got []string
	for _, c := range append(b.all(), again.all()...) {
		got = append(got, c.(command.Receive).Text)
	}
	if want := []string{"live", "missed"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, m := range lost {
		if !strings.Contains(st.log.String(), "message="+m.ID) {
			t.Errorf("the log does not name %s", m.ID)
		}
	}
}

// P9: a page of history without a readable message ended the catch-up.
func TestAMessageBehindAPageOfUnreadableOnesIsReceived(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{NoContract: true}) // the description knows no such messages
	b := newStub(nil)
	st.alone(b)
	st.up()
	me := st.s.User()
	me.Say("before")
	b.wait(t, 1)
	st.stop()
	for range page + 1 {
		me.Send(discordtest.Message{Content: "lost", Extra: map[string]any{"author": map[string]any{"id": 42}}})
	}
	last := me.Say("behind them")
	again := newStub(nil)
	again.heard = b.LastReceived("")
	st.alone(again)
	if got, ok := again.wait(t, 1)[0].(command.Receive); !ok || got.Key != last.ID {
		t.Errorf("%+v", got)
	}
}

// BenchmarkABacklogOf1000Messages is P11: from the start of the program to the answer, with a
// Discord and an engine that answer at once, and without Discord's pace.
func BenchmarkABacklogOf1000Messages(b *testing.B) {
	var took time.Duration
	for b.Loop() {
		b.StopTimer()
		st := newStage(b, discordtest.Options{NoContract: true})
		st.live()
		st.up()
		st.s.User().Say(play("say hello"))
		st.says("hello")
		st.stop()
		for i := range 999 {
			st.s.User().Say(fmt.Sprintf("part %d of the night, which had many parts of about this length", i))
		}
		st.s.User().Say(play("say I have read all of it."))
		b.StartTimer()
		begun := time.Now()
		st.live()
		st.says("I have read all of it.")
		took += time.Since(begun)
		b.StopTimer()
		st.stop()
		b.StartTimer()
	}
	b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "ms/backlog")
}
