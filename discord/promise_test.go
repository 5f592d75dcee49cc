package discord

import (
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// Item 32: the card of a promise asks for a time in a form, also after a restart, and is answered once.
func TestAPromiseIsAnsweredByItsCardAlsoAfterARestart(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	me.Say("I'll write to the bank later\n\n" + play(`call propose_reminder {"words":"I'll write to the bank later"}`))
	card := st.says("When shall I remind you?")
	press := st.press(card, "Other time…")
	if m := st.opened(press); m.Title != "Other time" {
		t.Errorf("%+v", m)
	}
	me.Submit(press.ID, discordtest.Field{Name: "when", Value: "some time"})
	st.says(`I do not understand "some"`)
	st.again()
	me.Submit(press.ID, discordtest.Field{Name: "when", Value: "3 hours"})
	st.says("you will be reminded at")
	me.Forge(card.ID, button(card, "No"))
	st.says("answered that already")
	if n := st.bot.Snapshot().Reminders; n != 1 {
		t.Errorf("%d reminders", n)
	}
}
