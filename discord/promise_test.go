package discord

import (
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// Item 32: the card of a promise asks for a time in a form, also after a restart, and is answered once.
func TestAPromiseIsAnsweredByItsCardAlsoAfterARestart(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.live()
	st.up()
	me := st.s.User()
	me.Say("I'll write to the bank later\n\n" + play(`call propose_reminder {"words":"I'll write to the bank later"}`))
	card := st.says("When shall I remind you?")
	press := me.Click(card.ID, button(card, "Other time…"))
	if m := st.opened(press); m.Title != "Other time" {
		t.Errorf("%+v", m)
	}
	me.Submit(press.ID, discordtest.Field{Name: "when", Value: "some time"})
	st.says(`I do not understand "some"`)
	st.stop()
	st.live()
	st.s.Wait(t, "the second session", func(f discordtest.State) bool { return len(f.Identifies) == 2 })
	me.Submit(press.ID, discordtest.Field{Name: "when", Value: "3 hours"})
	st.says("you will be reminded at")
	me.Forge(card.ID, button(card, "No"))
	st.says("answered that already")
	if n := st.bot.Snapshot().Reminders; n != 1 {
		t.Errorf("%d reminders", n)
	}
}
