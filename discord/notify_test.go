package discord

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// day is a day with the bot: three answers, one of them longer than a message, a ping, and
// two restarts. It returns the texts with which the phone rang.
func day(t *testing.T, statusLine bool) []string {
	st := newStage(t, discordtest.Options{NoContract: true})
	o := st.options()
	o.StatusLine = func() bool { return statusLine }
	begin := func() {
		st.liveAs(o)
		st.up()
	}
	me := st.s.User()
	begin()
	me.Say(play("wait 500ms", "say Good morning. It is going to rain."))
	st.says("going to rain")
	st.stop()
	st.reminder("dddd0001", 100*time.Millisecond, `call ping_user {"message":"Water the plants?"}`)
	begin()
	st.says("Water the plants?")
	me.Say(play("wait 500ms", "say "+strings.Repeat("The long story goes on and on. ", 150)+"The end."))
	st.says("The end.")
	st.stop()
	me.Say("one of the night")
	me.Say(play("wait 500ms", "say I have read both."))
	begin()
	st.says("I have read both.")
	st.stop()
	var rang []string
	for _, m := range st.s.State().Rang(st.s.Bot()) {
		rang = append(rang, fmt.Sprintf("%.40s", m.Content))
	}
	return rang
}

// P2
func TestADayRingsOncePerAnswerAndPing(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	for _, statusLine := range []bool{true, false} {
		rang := day(t, statusLine)
		t.Logf("status line %v: %q", statusLine, rang)
		if len(rang) != 4 {
			t.Errorf("status line %v: it rang %d times for three answers and a ping: %q", statusLine, len(rang), rang)
		}
	}
}

// P2: the first thing that the phone shows of an answer are its words.
func TestTheNotificationHasTheWordsOfTheAnswer(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	me.Say(play("wait 500ms", "say Good morning."))
	state := st.s.Wait(t, "the answer", func(f discordtest.State) bool { return st.find(f, "Good morning.") != nil })
	for _, r := range state.Requests {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/messages") && !strings.Contains(string(r.Body), `"flags":4096`) &&
			!strings.Contains(string(r.Body), "Good morning.") {
			t.Errorf("it rang with %s", r.Body)
		}
	}
	if state.Count("POST", "/channels/*/typing") == 0 {
		t.Error("it did not type")
	}
}
