package discord

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/discord/discordtest"
)

// killed ends the bot as a power failure does: Discord hears nothing of it.
func (st *stage) killed() {
	st.t.Helper()
	var before file
	_, err := st.dir.PeekJSON(stateFile, &before)
	testkit.Must(st.t, err)
	lift := st.s.Fault(discordtest.Match{PathPrefix: "/channels", Times: -1}, discordtest.Plan{Status: 403, Body: `{"message":"x","code":50001}`})
	st.stop()
	lift()
	testkit.Must(st.t, st.dir.WriteJSON(stateFile, before))
}

// What was asked before a restart is not asked any more after it, and its buttons and reactions go.
// Those that still work stay.
func TestButtonsFromBeforeARestartThatDoNothingGo(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.write(tidyFile, tidy("Tidy up."))
	engine := pen{script.New(script.Options{}), st}
	st.liveWith(engine)
	st.up()
	me := st.s.User()
	edit := strings.ReplaceAll(strings.ReplaceAll(tidy("Delete it all."), "\n", `\n`), `"`, `\"`)
	me.Say(play(`ask Write {"file_path":"`+tidyFile+`","content":"`+edit+`"}`, "say written"))
	still := st.says("Edit of Tidy")
	var err error
	for _, line := range []string{"/fork holidays", "/permissions default"} {
		st.do(command.Slash{Line: line})
	}
	fork := st.says("Topic: holidays")
	me.Say(play(`ask Bash {"command":"rm a"}`, "say done"))
	await(t, st, "the question", func(s core.Snapshot) bool { return len(s.Approvals) == 1 })
	asked := st.says("Run this command?")
	st.s.Wait(t, "the reactions", func(f discordtest.State) bool { return len(f.Message(asked.ID).Reactions) == 3 })
	st.killed()
	requests := len(st.s.State().Requests)
	st.liveWith(engine)
	now := st.s.Wait(t, "the dead buttons to go", func(f discordtest.State) bool {
		return len(f.Message(asked.ID).Buttons)+len(f.Message(fork.ID).Buttons)+len(f.Message(asked.ID).Reactions) == 0
	})
	if text := now.Message(asked.ID).Content; !strings.Contains(text, "Run this command?") || !strings.HasSuffix(text, textNotAsked) {
		t.Errorf("the question reads\n%s", text)
	}
	if e := now.Message(fork.ID).Embeds; len(e) != 1 || !strings.Contains(e[0].Description, "holidays") {
		t.Errorf("the card of the fork is %+v", e)
	}
	edits := 0
	for _, r := range now.Requests[requests:] {
		if r.Method == http.MethodPatch && slices.Contains([]string{asked.ID, fork.ID, still.ID}, r.Path[strings.LastIndex(r.Path, "/")+1:]) {
			edits++
		}
	}
	if edits != 2 {
		t.Errorf("%d edits of three cards, two of which are dead", edits)
	}
	for _, e := range st.bot.Snapshot().Chat {
		if e.Embed != nil && strings.Contains(e.Embed.Description, "holidays") && len(e.Embed.Buttons) > 0 {
			t.Errorf("the dashboard still has %+v", e.Embed.Buttons)
		}
	}
	st.press(still, "Allow")
	st.settled(still)
	st.stop()
	var left file
	_, err = st.dir.PeekJSON(stateFile, &left)
	if err != nil || len(left.Asked)+len(left.Fleeting) > 0 {
		t.Errorf("left %+v, %v", left, err)
	}
}

// A message that could not be answered is sent again with its button; after a restart the bot no
// longer has it.
func TestTryAgainGoesWithARestart(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	me.Say(play("fail no network"))
	failed := st.says("no network")
	if len(failed.Buttons) != 1 {
		t.Fatalf("its buttons are %+v", failed.Buttons)
	}
	me.Say(play("say I am back."))
	st.says("I am back.") // messages are sent one after another, so the notice has arrived
	st.stop()
	st.live()
	now := st.settled(failed)
	if text := now.Message(failed.ID).Content; text != failed.Content {
		t.Errorf("it reads %q", text)
	}
}
