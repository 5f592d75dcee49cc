package discord

import (
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/discord/discordtest"
)

// button is the ID of a card's button.
func button(m *discordtest.Message, label string) string {
	i := slices.IndexFunc(m.Buttons, func(b discordgo.Button) bool { return b.Label == label })
	if i < 0 {
		return ""
	}
	return m.Buttons[i].CustomID
}

func TestTheCardOfStatusMutesAndAddsPingsOnceAlsoAfterARestart(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	card := st.status()
	look := st.bot.Snapshot()
	if !card.Ephemeral() || len(card.Embeds) != 1 || card.Embeds[0].Description != look.Headline().Text() {
		t.Fatalf("%+v", card)
	}
	var pings string
	for _, f := range card.Embeds[0].Fields {
		if f.Name == "Pings" {
			pings = f.Value
		}
	}
	if !strings.HasPrefix(pings, look.Budget.State.Left()) {
		t.Errorf("pings: %q", pings)
	}
	mute, more, had := button(card, "Mute 1 h"), button(card, "+1 ping"), look.Budget.State.Capacity

	me.Click(card.ID, mute)
	st.s.Wait(t, "the mute on the card", func(f discordtest.State) bool { return button(f.Message(card.ID), "End the mute") != "" })
	until := st.bot.Snapshot().Budget.Muted
	me.Forge(card.ID, mute) // pressed again before the new card was there
	st.says("only critical pings come through until")
	if now := st.bot.Snapshot().Budget.Muted; until.IsZero() || !now.Equal(until) {
		t.Errorf("muted until %v, then %v", until, now)
	}

	st.again() // the buttons outlive the bot
	me.Click(card.ID, more)
	st.s.Wait(t, "the new card", func(f discordtest.State) bool {
		now := button(f.Message(card.ID), "+1 ping")
		return now != "" && now != more
	})
	me.Forge(card.ID, more)
	st.says("the capacity is already")
	if now := st.bot.Snapshot().Budget.State.Capacity; now != had+1 {
		t.Errorf("capacity %d, had %d", now, had)
	}
	five := 5 + had
	st.do(command.SetBudget{Capacity: &five})
	me.Forge(card.ID, more)
	st.says("the capacity has changed to")
	me.Forge(card.ID, "act:card_mute:never")
	st.says("does not know that button")
	if now := st.bot.Snapshot().Budget.State.Capacity; now != five {
		t.Errorf("capacity %d, want %d", now, five)
	}
}
