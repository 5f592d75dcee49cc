package discord

import (
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// P13
func TestStopEndsAGrowingAnswerWhichIsNeitherDoneNorFailed(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.liveWith(script.New(script.Options{Pace: 0.5}))
	st.up()
	asked := st.s.User().Say(play("say Once upon a time, in a land that is far away.", "wait 3s", "say There was a king.", "wait 1h", "say The end."))
	state := st.s.Wait(t, "the offer to stop", func(f discordtest.State) bool {
		m := st.find(f, "Once upon")
		return m != nil && len(m.Buttons) == 1 && strings.Contains(f.Message(asked.ID).Marks(), eyes)
	})
	growing := st.find(state, "Once upon")
	st.s.User().Click(growing.ID, growing.Buttons[0].CustomID)
	state = st.s.Wait(t, "the end", func(f discordtest.State) bool {
		m := f.Message(growing.ID)
		return strings.Contains(m.Content, "(interrupted)") && len(m.Buttons) == 0 && !strings.Contains(f.Message(asked.ID).Marks(), eyes)
	})
	if m := state.Message(asked.ID); strings.Contains(m.Marks(), markDone) || strings.Contains(m.Marks(), markFailed) {
		t.Errorf("the message has the marks %+v", m.Reactions)
	}
	if strings.Contains(state.Message(growing.ID).Content, "The end.") {
		t.Error("the answer went on")
	}
}

// P13
func TestAFailedAnswerIsTriedAgainByItsButton(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	asked := me.Say(play("fail the model is overloaded"))
	notice := st.says("the model is overloaded")
	if len(notice.Buttons) != 1 || notice.Buttons[0].Label != "Try again" {
		t.Fatalf("its buttons are %+v", notice.Buttons)
	}
	st.s.Wait(t, "the mark", func(f discordtest.State) bool { return strings.Contains(f.Message(asked.ID).Marks(), markFailed) })
	me.Click(notice.ID, notice.Buttons[0].CustomID)
	st.s.Wait(t, "the second failure, and the end of the button", func(f discordtest.State) bool {
		failures := 0
		for _, m := range f.Sent(st.s.Bot()) {
			if strings.Contains(m.Content, "the model is overloaded") {
				failures++
			}
		}
		return failures == 2 && f.Message(notice.ID).Buttons[0].Disabled
	})
	me.Forge(notice.ID, notice.Buttons[0].CustomID)
	st.says("expired or was already used")
}

// P13
func TestInterruptSaysWhenNothingRuns(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	await(t, st, "rest", func(s core.Snapshot) bool { return !s.Busy })
	me.Slash("interrupt")
	st.says("there is nothing to interrupt")
}
