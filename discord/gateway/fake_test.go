package gateway

import (
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/message"
)

// The fake is another author's reading of Discord's documents than the server of
// the other tests.
func TestTheFakesDayIsTheLinksDay(t *testing.T) {
	testkit.Alone(t)
	f := discordtest.Start(t, discordtest.Options{Token: testToken, Heartbeat: 200 * time.Millisecond, NoContract: true})
	w := begin(t, new(server), Options{Token: testToken, Hurry: 500, Find: found("ws" + strings.TrimPrefix(f.URL(), "http"))})
	defer w.leave()

	w.next(Ready)
	user := f.User()
	said := user.Say("hello")
	m := w.next(Message).Data.(*discordgo.MessageCreate)
	if m.ID != said.ID || m.Content != "hello" || m.Author.ID != f.Owner().ID || m.GuildID != "" || m.Author.Bot {
		t.Errorf("message = %+v", m.Message)
	}
	user.Edit(said.ID, "hello again")
	if m := w.next("MessageUpdate").Data.(*discordgo.MessageUpdate); m.ID != said.ID || m.Content != "hello again" {
		t.Errorf("edit = %+v", m.Message)
	}
	user.Reply(said.ID, "and")
	if id, text := message.Answered(w.next(Message).Data.(*discordgo.MessageCreate).Message); id != said.ID || text != "hello again" {
		t.Errorf("reply to %s, %q", id, text)
	}
	user.React(said.ID, "✅")
	if r := w.next("MessageReactionAdd").Data.(*discordgo.MessageReactionAdd); r.MessageID != said.ID || r.Emoji.Name != "✅" || r.UserID != f.Owner().ID {
		t.Errorf("reaction = %+v", r.MessageReaction)
	}
	click := user.Forge(said.ID, "act:dismiss:_")
	i := w.next("InteractionCreate").Data.(*discordgo.InteractionCreate)
	if i.ID != click.ID || i.Token != click.Token || i.MessageComponentData().CustomID != "act:dismiss:_" || i.Message.ID != said.ID {
		t.Errorf("click = %+v", i.Interaction)
	}
	user.Delete(said.ID)
	if id := w.deleted(); id != said.ID {
		t.Errorf("deleted %s", id)
	}

	f.Down()
	user.Say("missed")
	f.Up()
	if got := w.text(); got != "missed" {
		t.Errorf("message %q", got)
	}
	w.next(Resumed)
	f.SendOp7()
	w.next(Resumed)
	f.Op7First()
	f.DropSocket()
	w.next(Resumed)
	f.Op9(true)
	w.next(Resumed)
	f.Op9(false)
	w.next(Ready)
	f.CloseWith(4009)
	w.next(Ready)
	f.CloseWith(4000)
	w.next(Resumed)
	f.ResetToken("another")
	f.CloseWith(4004)
	if e, ok := <-w.events; ok {
		t.Errorf("event %v after the end", e)
	}
	if err := <-w.result; err == nil || !strings.Contains(err.Error(), "4004") {
		t.Errorf("Run = %v", err)
	}
}
