package discord

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/discord/discordtest"
)

// D1, D6, D12: a day of 8 routines, 5 reminders, 20 chats, a failing feed, a promise, a fork, a restart and an outage
// rings for the answers, the pings, and once for the feed. Nothing else does, and nothing is left of updates that were
// caught up with.
func TestAWholeDayRingsOnlyForWhatAPersonWantsToHear(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{NoContract: true})
	routine := func(id, name string, lines ...string) {
		const file = "---\nid: %q\ncron: \"0 4 1 1 *\"\nbackground: true\ndescription: %q\n---\nDo it.\n\n%s\n"
		st.write("routines/"+id+".md", fmt.Sprintf(file, id, name, play(lines...)))
	}
	for i := range 3 {
		routine(fmt.Sprintf("aaaa000%d", i), fmt.Sprintf("Ping %d", i), fmt.Sprintf(`call ping_user {"message":"Routine %d has something for you."}`, i))
	}
	for i := 3; i < 6; i++ {
		routine(fmt.Sprintf("aaaa000%d", i), fmt.Sprintf("Report %d", i), fmt.Sprintf(`call report_updates {"message":"Nothing urgent from %d."}`, i))
	}
	routine("aaaa0006", "Quiet", `call ping_user {"message":"The parcel has arrived.","quiet":true}`)
	routine("aaaa0007", "Feed", "fail the feed cannot be read")
	for i := range 5 {
		st.reminder(fmt.Sprintf("dddd000%d", i), 24*time.Hour, fmt.Sprintf(`call ping_user {"message":"Reminder %d is due."}`, i))
	}
	st.live()
	st.up()
	me := st.s.User()
	chats := 0
	chat := func(lines ...string) {
		t.Helper()
		chats++
		end := fmt.Sprintf("This is the answer number %d.", chats)
		me.Say(play(append(lines, "say "+end)...))
		st.says(end)
		await(t, st, "rest", func(s core.Snapshot) bool { return !s.Busy })
	}
	fire := func(id string, runs int) {
		t.Helper()
		await(t, st, "the start of "+id, func(core.Snapshot) bool { // the run before may still be ending
			_, err := st.bot.Do(context.Background(), command.FireNow{ID: id})
			return err == nil
		})
		await(t, st, "the run of "+id, func(s core.Snapshot) bool {
			ended := 0
			for _, v := range s.Forks {
				if v.TaskID == id && !v.Live() {
					ended++
				}
			}
			return ended == runs
		})
	}
	st.do(command.RestoreBudget{Capacity: 20, RefillMinutes: 90, Available: 20})
	for range 5 {
		chat("say Let me think about that for a moment, please. ")
	}
	for i := range 7 {
		fire(fmt.Sprintf("aaaa000%d", i), 1)
	}
	for i := range 3 {
		fire("aaaa0007", i+1) // the feed fails three times
	}
	for range 4 {
		chat() // with updates to catch up with
	}
	chats++
	me.Say("I'll write to the bank later\n\n" + play(`call propose_reminder {"words":"I'll write to the bank later"}`, "say I have asked you about the bank."))
	st.says("I have asked you about the bank.")
	st.says("When shall I remind you?")
	await(t, st, "rest", func(s core.Snapshot) bool { return !s.Busy })
	for i := range 5 {
		fire(fmt.Sprintf("dddd000%d", i), 1)
		st.says(fmt.Sprintf("Reminder %d is due.", i))
	}
	me.Slash("fork", discordtest.Option{Name: "topic", Value: "the garden"})
	card := st.says("Forked Session")
	await(t, st, "the fork", func(s core.Snapshot) bool { return !s.Busy && s.Fork != nil })
	chat()
	st.press(card, "Exit Fork")
	st.says("Fork Ended")
	st.again() // the restart
	for range 4 {
		chat()
	}
	st.s.Down() // the outage
	chats++
	me.Say(play("say This one was answered after the outage."))
	st.s.Up()
	st.says("This one was answered after the outage.")
	for chats < 20 {
		chat(`call discord_embed {"title":"The plan of the day"}`)
	}
	st.stop()

	rang := map[string]int{}
	for _, m := range st.s.State().Rang(st.s.Bot()) {
		text := m.Content
		if len(m.Embeds) > 0 {
			text += " | " + m.Embeds[0].Title
		}
		kind := "other: " + text
		for _, known := range [][2]string{
			{"answer", "answer number"},
			{"answer", "Let me think"},
			{"answer", "asked you about the bank"},
			{"answer", "after the outage"},
			{"answer", "The plan of the day"},
			{"ping", "has something for you"},
			{"ping", "is due"},
			{"failure", "the feed cannot be read"},
		} {
			if strings.Contains(text, known[1]) {
				kind = known[0]
				break
			}
		}
		rang[kind]++
		t.Logf("%s: %q", kind, text)
	}
	t.Logf("it rang %v", rang)
	want := map[string]int{"answer": 20, "ping": 8, "failure": 1}
	fork := 0 // the fork begins with words of its own, which the user asked for
	for kind, n := range rang {
		if want[kind] == 0 && strings.HasPrefix(kind, "other: ") && !strings.Contains(kind, "|") && fork == 0 {
			fork = n
			delete(rang, kind)
		}
	}
	if !maps.Equal(rang, want) {
		t.Errorf("it rang %v, want %v", rang, want)
	}
	if st.find(st.s.State(), "catching up") != nil {
		t.Error("a line about updates stays")
	}
}
