package discord

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/work/budget"
	"ollimbot/discord/discordtest"
)

// opened waits for the window that an interaction opens.
func (st *stage) opened(i discordtest.Interaction) *discordtest.Modal {
	st.t.Helper()
	find := func(f discordtest.State) *discordtest.Modal {
		for _, k := range f.Interactions {
			if k.ID == i.ID {
				return k.Modal
			}
		}
		return nil
	}
	return find(st.s.Wait(st.t, "the window", func(f discordtest.State) bool { return find(f) != nil }))
}

func TestRunOnTheCardStartsATaskOnceAlsoFromAnOldMenu(t *testing.T) {
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.write("routines/tea.md", "---\nid: \"aaaa0001\"\ncron: \"0 4 * * *\"\nbackground: true\ndescription: \"Tea\"\n---\nMake tea.\n\n"+
		play(`call ping_user {"message":"the tea is ready"}`))
	st.live()
	st.up()
	me := st.s.User()
	me.Slash("status")
	card := st.says("Status")
	if len(card.Menus) != 1 || card.Menus[0].Options[0].Label != "Tea" {
		t.Fatalf("menus: %+v", card.Menus)
	}
	id := card.Menus[0].CustomID
	me.Choose(card.ID, id, "aaaa0001")
	st.says("the tea is ready")
	st.stop() // the menu outlives the bot, and the task
	must(t, st.dir.Remove("routines/tea.md"))
	st.live()
	st.s.Wait(t, "the second session", func(f discordtest.State) bool { return len(f.Identifies) == 2 })
	me.ForgeChoice(card.ID, id, "aaaa0001")
	st.says("no routine or reminder has the ID")
}

// pinged starts a bot whose routine has pinged, and returns that message.
func pinged(t *testing.T) (*stage, *discordtest.Message) {
	st := newStage(t, discordtest.Options{})
	st.reminder("bbbb0001", time.Second, `call ping_user {"message":"look at the oven"}`,
		`call ping_user {"message":"it burns","critical":true}`)
	st.live()
	st.up()
	st.says("it burns") // then the journal has the first one
	return st, st.says("look at the oven")
}

func TestAPingIsDoneLaterOrNotUseful(t *testing.T) {
	t.Parallel()
	st, ping := pinged(t)
	me := st.s.User()
	done, later, useless := button(ping, "Done"), button(ping, "Later…"), button(ping, "Not useful")
	if done == "" || later == "" || useless == "" {
		t.Fatalf("buttons: %+v", ping.Buttons)
	}
	me.Click(ping.ID, done)
	st.says("noted.")
	me.Click(ping.ID, useless)
	st.says("were not useful")
	st.s.Wait(t, "the used button", func(f discordtest.State) bool { return f.Message(ping.ID).Buttons[2].Disabled })
	me.Forge(ping.ID, useless) // once more
	list := budget.NewJournal(st.dir, time.UTC, nil).Recent()
	if a := budget.AnswersTo(list, "bbbb0001"); a.Useless != 1 || a.Answered != 0 {
		t.Errorf("%+v of %+v", a, list)
	}
	me.Forge(ping.ID, "act:ping_useless:gone-1")
	st.says("no longer in the journal")
}

func TestLaterAsksWhenAndRemindsOnceAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	st, ping := pinged(t)
	me := st.s.User()
	press := me.Click(ping.ID, button(ping, "Later…"))
	if m := st.opened(press); m.Title != "Later" || m.Rows[0].Fields[0].Value != "1 hour" {
		t.Errorf("%+v", m)
	}
	me.Submit(press.ID, discordtest.Field{Name: "when", Value: "some time"})
	st.says(`"some time" is not a time`)
	st.stop()
	st.live()
	st.s.Wait(t, "the second session", func(f discordtest.State) bool { return len(f.Identifies) == 2 })
	me.Submit(press.ID, discordtest.Field{Name: "when", Value: "3 hours"})
	st.says("you will be reminded at")
	me.Submit(press.ID, discordtest.Field{Name: "when", Value: "3 hours"}) // a client that got no answer
	st.says("that reminder exists already")
	list := st.bot.Snapshot().Schedule.Entries
	made := 0
	for _, e := range list {
		if strings.Contains(e.FilePath, "look-at-the-oven") {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d reminders: %+v", made, list)
	}
}
