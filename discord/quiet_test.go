package discord

import (
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// A quiet message arrives and does not ring, and costs no token; what was not asked to be
// quiet rings.
func TestAQuietMessageDoesNotRing(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.reminder("dddd0001", 100*time.Millisecond, `call ping_user {"message":"The parcel has arrived.","quiet":true}`)
	st.reminder("dddd0002", 2*time.Second, `call ping_user {"message":"Leave now."}`)
	st.live()
	st.up()
	quiet, loud := st.says("The parcel has arrived."), st.says("Leave now.")
	if quiet.Flags&discordgo.MessageFlagsSuppressNotifications == 0 || loud.Flags&discordgo.MessageFlagsSuppressNotifications != 0 {
		t.Errorf("flags %d and %d", quiet.Flags, loud.Flags)
	}
	for _, m := range st.s.State().Rang(st.s.Bot()) {
		if m.ID == quiet.ID {
			t.Error("the quiet message rang")
		}
	}
	b := st.bot.Snapshot().Budget
	if b.State.Whole() != 4 || b.Beside.Quiet != 1 {
		t.Errorf("%d tokens, %+v", b.State.Whole(), b.Beside)
	}
}
