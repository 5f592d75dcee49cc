package discord

import (
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/discord/discordtest"
)

// P14: a setting with a consequence is asked about, in the words of the dashboard, and changes
// only after the second yes.
func TestASettingWithAConsequenceIsSetAfterASecondYes(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	out, err := st.bot.Do(t.Context(), command.SetConfig{Key: "daily_cap", Value: "0"})
	testkit.Must(t, err)
	if out.Follows == "" {
		t.Fatal("a cap of nothing has no consequence")
	}
	capped := func(s core.Snapshot) bool { return s.Money.Today.Capped() }
	shows := func(m *discordtest.Message, text string) *discordtest.Message {
		return st.s.Wait(t, "the card "+text, func(f discordtest.State) bool {
			now := f.Message(m.ID)
			return len(now.Embeds) > 0 && strings.Contains(now.Embeds[0].Title+now.Embeds[0].Description, text)
		}).Message(m.ID)
	}
	me.Slash("config")
	card := st.says("Settings")
	sure := func() *discordtest.Message {
		me.Choose(card.ID, menu(card, "Money"), "Money")
		card = shows(card, "Money")
		me.Choose(card.ID, menu(card, "daily_cap"), "daily_cap")
		card = shows(card, "Daily limit: off")
		press := st.press(card, "Another value…")
		st.opened(press)
		me.Submit(press.ID, discordtest.Field{Name: "value", Value: "0"})
		return shows(card, out.Follows)
	}
	card = sure()
	if title := card.Embeds[0].Title; title != "Daily limit: 0" || labels(card) != "Set it anyway, All settings" {
		t.Errorf("the card is %q with %s", title, labels(card))
	}
	if capped(st.bot.Snapshot()) {
		t.Fatal("it is set before the second yes")
	}
	st.press(card, "All settings")
	card = shows(card, "Settings")
	if capped(st.bot.Snapshot()) {
		t.Fatal("going back has set it")
	}
	card = sure()
	st.press(card, "Set it anyway")
	await(t, st, "the cap", capped)
}
