package discord

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store/storetest"
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
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.write("routines/tea.md", "---\nid: \"aaaa0001\"\ncron: \"0 4 * * *\"\nbackground: true\ndescription: \"Tea\"\n---\nMake tea.\n\n"+
		play(`call ping_user {"message":"the tea is ready"}`))
	st.live()
	st.up()
	me := st.s.User()
	card := st.status()
	if len(card.Menus) != 1 || card.Menus[0].Options[0].Label != "Tea" {
		t.Fatalf("menus: %+v", card.Menus)
	}
	id := card.Menus[0].CustomID
	me.Choose(card.ID, id, "aaaa0001")
	st.says("the tea is ready")
	st.stop() // the menu outlives the bot, and the task
	testkit.Must(t, st.dir.Remove("routines/tea.md"))
	st.again()
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
	testkit.Alone(t)
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
	testkit.Alone(t)
	t.Parallel()
	st, ping := pinged(t)
	me := st.s.User()
	press := st.press(ping, "Later…")
	if m := st.opened(press); m.Title != "Later" || m.Rows[0].Fields[0].Value != "1 hour" {
		t.Errorf("%+v", m)
	}
	me.Submit(press.ID, discordtest.Field{Name: "when", Value: "some time"})
	st.says(`I do not understand "some"`)
	st.again()
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

// made are the reminders whose file name contains a word.
func (st *stage) made(word string) (paths []string) {
	for _, r := range st.bot.Index().Set().RemindersByTime() {
		if strings.Contains(r.Path, word) {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// P10
func TestAMessagesMenuMakesOneReminderOfItHoweverOftenItIsUsed(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	mine := me.Say("buy the <b>milk</b>\nand bread")
	for range 2 {
		i := me.Menu(command.RemindAboutThis, mine.ID)
		if m := st.opened(i); m.Rows[1].Fields[0].Value != mine.Content {
			t.Errorf("%+v", m)
		}
		me.Submit(i.ID, discordtest.Field{Name: "when", Value: "3 hours"})
	}
	st.says("you will be reminded at")
	st.says("that reminder exists already")
	if list := st.made("milk"); len(list) != 1 || !strings.Contains(storetest.Text(t, st.dir, list[0]), mine.Content) {
		t.Errorf("made %q", list)
	}
	theirs := st.s.Stranger().Say("sell everything")
	i := me.Menu(command.RemindAboutThis, theirs.ID)
	st.opened(i)
	me.Submit(i.ID)
	st.s.Wait(t, "the third reminder", func(discordtest.State) bool { return len(st.made("sell")) == 1 })
	var who struct {
		Writers map[string]struct{ Label string }
		Written map[string]struct{ Path, Writer string }
	}
	testkit.Must(t, json.Unmarshal([]byte(storetest.Text(t, st.dir, "state/provenance.json")), &who))
	for _, w := range who.Written {
		if labelled := who.Writers[w.Writer].Label == "Discord message"; labelled != strings.Contains(w.Path, "sell") {
			t.Errorf("%s is labelled %q", w.Path, who.Writers[w.Writer].Label)
		}
	}
}

// P10
func TestWhatIsTypedIsAnsweredOnlyWhereItIsTheNewest(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	hold := make(chan struct{})
	st := newStage(t, discordtest.Options{})
	bot := newStub(nil)
	bot.suggest = func(typed string) []string {
		<-hold
		return []string{typed}
	}
	st.alone(bot)
	st.up()
	me := st.s.User()
	var typed []discordtest.Interaction
	for i := range 50 {
		typed = append(typed, me.Type("remind", "what", strings.Repeat("m", i+1)))
	}
	me.Slash("version") // what came before it has been taken
	bot.wait(t, 1)
	close(hold)
	answered := func(f discordtest.State) (list []string) {
		for _, i := range f.Interactions {
			if i.Choices != nil {
				list = append(list, i.ID)
			}
		}
		return list
	}
	state := st.s.Wait(t, "the newest to be answered", func(f discordtest.State) bool { return slices.Contains(answered(f), typed[49].ID) })
	if n := len(answered(state)); n > 3 { // two were being answered meanwhile
		t.Errorf("%d of 50 were answered", n)
	}
	me.Type("remind", "what", "")
	st.s.Wait(t, "an empty field to be answered", func(f discordtest.State) bool { return len(answered(f)) == len(answered(state))+1 })
}

// P10
func TestRemindMakesAnOrdinaryReminderAndSuggestsTimesAndTitles(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	st.write("routines/tea.md", "---\nid: \"aaaa0001\"\ncron: \"0 4 * * *\"\nbackground: true\ndescription: \"Tea time\"\n---\nMake tea.\n")
	st.live()
	st.up()
	me := st.s.User()
	choices := func(option, text string) []string {
		i := me.Type("remind", option, text)
		var list []string
		st.s.Wait(t, "the choices", func(f discordtest.State) bool {
			for _, k := range f.Interactions {
				if k.ID == i.ID {
					list = k.Choices
				}
			}
			return list != nil
		})
		return list
	}
	if list := choices("what", "tea"); !slices.Equal(list, []string{"tea", "Tea time"}) {
		t.Errorf("%q", list)
	}
	if list := choices("when", "tomorrow"); len(list) < 2 || list[0] != "tomorrow" {
		t.Errorf("%q", list)
	}
	me.Slash("remind", discordtest.Option{Name: "what", Value: "milk, bread for friday"}, discordtest.Option{Name: "when", Value: "9am"})
	st.says("milk, bread for friday added, next ")
	if list := st.made("milk"); len(list) != 1 || !strings.Contains(storetest.Text(t, st.dir, list[0]), "Remind the user of this:\n\nmilk, bread for friday\n") {
		t.Errorf("made %q", list)
	}
	me.Slash("remind", discordtest.Option{Name: "what", Value: "bread"}, discordtest.Option{Name: "when", Value: "some time"})
	st.says(`I do not understand "some"`)
	me.Slash("remind", discordtest.Option{Name: "what", Value: "bread"}, discordtest.Option{Name: "when", Value: "2020-01-01 08:00"})
	st.says("1 Jan 2020 08:00 has passed")
}

// menu is the ID of the message's menu with a choice.
func menu(m *discordtest.Message, value string) string {
	for _, s := range m.Menus {
		for _, o := range s.Options {
			if o.Value == value {
				return s.CustomID
			}
		}
	}
	return ""
}

// P13
func TestConfigIsChosenFromMenusAndWhatIsNoChoiceIsTyped(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	shows := func(m *discordtest.Message, title string) *discordtest.Message {
		return st.s.Wait(t, "the card "+title, func(f discordtest.State) bool {
			now := f.Message(m.ID)
			return len(now.Embeds) > 0 && now.Embeds[0].Title == title
		}).Message(m.ID)
	}
	me.Slash("config")
	card := st.says("Settings")
	if fields := card.Embeds[0].Fields; len(fields) != 5 || fields[0].Name != "When it may speak" || !strings.HasPrefix(fields[0].Value, "Quiet hours: off\n") {
		t.Fatalf("%+v", fields)
	}
	me.Choose(card.ID, menu(card, "Money"), "Money")
	card = shows(card, "Money")
	me.Choose(card.ID, menu(card, "daily_cap"), "daily_cap")
	card = shows(card, "Daily limit: off")
	press := st.press(card, "Another value…")
	if m := st.opened(press); m.Title != "Daily limit" {
		t.Errorf("%+v", m)
	}
	me.Submit(press.ID, discordtest.Field{Name: "value", Value: "lots"})
	st.says("daily_cap: must be an amount in dollars")
	me.Submit(press.ID, discordtest.Field{Name: "value", Value: "7.50"})
	card = shows(card, "Daily limit: $7.50 a day")
	st.says("daily_cap: off → $7.50")
	st.press(card, "All settings")
	card = shows(card, "Settings")
	me.Choose(card.ID, menu(card, "Appearance"), "Appearance")
	card = shows(card, "Appearance")
	me.Choose(card.ID, menu(card, "status_line"), "status_line")
	card = shows(card, "Status line: off")
	me.Choose(card.ID, menu(card, "on"), "on")
	shows(card, "Status line: on")
	if r := st.bot.Runtime(); r.DailyCap != 7.5 || !r.StatusLine {
		t.Errorf("%+v", r)
	}
	me.Forge(card.ID, "act:config_key:_")
	st.says("this version does not know that button")
}

// P13
func TestModelIsSwitchedFromAMenuOrTyped(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st := newStage(t, discordtest.Options{})
	server := dialecttest.Start(t, dialecttest.Options{Models: []dialecttest.Model{{Name: "qwen3:8b", Can: []string{"completion", "tools"}, Window: 40_960, Size: 5 << 30}}})
	st.write("providers.yaml", "local:\n  base-url: "+server.URL+"\n  api: ollama\n  models: [{name: \"qwen3:8b\", window: 16384}]\n")
	st.live()
	st.up()
	me := st.s.User()
	me.Slash("config", discordtest.Option{Name: "key", Value: "model_fork"})
	st.says("local/qwen3:8b: 8.2B, 5.0 GB, up to 40,960 tokens, runs with 16,384 now, calls tools")
	me.Slash("model")
	card := st.says("Model: (default)")
	if o := card.Menus[0].Options; len(o) != 4 || o[3].Value != "local/qwen3:8b" || !strings.HasPrefix(o[3].Description, "8.2B, 5.0 GB") {
		t.Errorf("%+v", o)
	}
	me.Choose(card.ID, menu(card, "haiku"), "haiku")
	st.says("Model: haiku")
	press := st.press(card, "Another model…")
	st.opened(press)
	me.Submit(press.ID, discordtest.Field{Name: "value", Value: "chatty"})
	st.says("model must be one of")
	me.Slash("model", discordtest.Option{Name: "name", Value: "opus"})
	st.says("switched to opus.")
	me.Slash("model", discordtest.Option{Name: "name", Value: "local/qwen3:8b"})
	st.says("switched to local/qwen3:8b. local/qwen3:8b will run with 16,384 tokens of context")
}

// P13
func TestHelpIsACardOfAllCommandsInAFewWordsEach(t *testing.T) {
	testkit.Alone(t)
	st, me := atHome(t)
	me.Slash("help")
	card := st.says("Commands").Embeds[0]
	listed := map[string]int{}
	for _, f := range card.Fields {
		for line := range strings.Lines(f.Value) {
			name, about, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "`/"), "` ")
			if n := len(strings.Fields(about)); n < 2 || n > 4 {
				t.Errorf("%s: %q", name, about)
			}
			listed[name]++
		}
	}
	for _, c := range command.List(command.InDiscord) {
		if listed[c.Name] != 1 {
			t.Errorf("%s is listed %d times", c.Name, listed[c.Name])
		}
	}
}
