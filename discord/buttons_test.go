package discord

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/discord/discordtest"
)

// A command of the user is a line of the bot, and its reply is for the user alone.
func TestACommandIsCarriedOutOnceAndAnswered(t *testing.T) {
	testkit.Alone(t)
	tell(t,
		story{"a command is registered only when it has changed", `
			stub ⇒ commands 1 ⇒ restart ⇒ count GET /applications/*/commands 2 ⇒ stop ⇒ forget commands ⇒ begin ⇒ commands 3`},
		story{"commands that cannot be registered are in the log, those of a bot that stops are not", `
			stub ⇒ fault GET /applications/*/commands all broken 503 ⇒ begin ⇒ and is here ⇒ stop ⇒ logs 0 commands were not registered
			lift ⇒ fault GET /applications/*/commands all refused 403 50001 ⇒ begin ⇒ log commands were not registered at Discord`},
		story{"its options become the words of a line, without line breaks", `
			stub ⇒ /compact instructions=keep⏎the  names ⇒ hears /compact keep the  names ⇒ /thinking mode=8000 ⇒ hears /thinking 8000
			/ping-budget capacity=6 | refill_rate=60 ⇒ hears /ping-budget capacity=6 refill_rate=60
			/ping-budget refill_rate=60 ⇒ hears /ping-budget refill_rate=60 ⇒ /config key=model_main | value=haiku ⇒ hears /config model_main haiku
			/fork topic=a b | foreign=x ⇒ hears /fork a b`},
		story{"a reply is private and has its limit, one without words ends the promise, a value needs a key", `
			stub /config: 200×(one setting = its value⏎) ⇒ /config ⇒ hears /config ⇒ bot cut here; the dashboard has the full text ⇒ private ⇒ short
			/interrupt ⇒ hears /interrupt ⇒ count DELETE /webhooks/*/*/messages/@original 1 ⇒ /restart ⇒ hears /restart ⇒ and done.
			/config value=x ⇒ and choose a key`},
		story{"a reply after fifteen minutes is a message", `
			stub /compact: hold 120k tokens compacted ⇒ /compact ⇒ hears /compact ⇒ advance 16m ⇒ release ⇒ bot /compact: 120k tokens compacted ⇒ public`},
		story{"a command that arrives too late, or twice, is not carried out", `
			stub ⇒ connected ⇒ fault * /interactions 1 refused 404 10062 ⇒ /clear ⇒ and /clear did not arrive in time and was not carried out
			fault * /interactions 1 refused 404 10062 ⇒ /setup ⇒ and /setup did not arrive in time and was not carried out
			/version ⇒ and done. ⇒ again INTERACTION_CREATE ⇒ /cost ⇒ hears /version ⇒ hears /cost`},
		story{"a command while the bot stops is answered so", `stub /cost: hold ⇒ /cost ⇒ hears /cost ⇒ stop ⇒ and the bot is stopping`},
		story{"a command that breaks is answered, and breaks nothing else", `
			stub /cost: panic ⇒ stub *: fine ⇒ /cost ⇒ and something went wrong ⇒ /version ⇒ and fine ⇒ hears /cost ⇒ hears /version`},
		// P6: it said that a command had not arrived in time, although another program had it.
		story{"a command that another program has answered is not called late", `
			stub *: fine ⇒ connected ⇒ fault POST /interactions/*/*/callback 1 refused 400 40060 ⇒ /interrupt ⇒ warned ⇒ stop ⇒ said 0 in time`},
		story{"a click is answered with what came of it, also past the limit of follow-ups", `
			stub click act:fork_exit: error no active fork ⇒ stub *: as you like ⇒ bot is here ⇒ name is-here
			forge act:fork_exit:_ ⇒ bot no active fork ⇒ private ⇒ hears click act:fork_exit:_ on is-here
			see is-here ⇒ fault POST /webhooks 1 refused 400 40094 ⇒ forge act:task_done:1 ⇒ bot as you like ⇒ public ⇒ hears click act:task_done:1 on is-here`},
		story{"with nothing to interrupt, /interrupt says so", `now busy=false ⇒ /interrupt ⇒ and there is nothing to interrupt`})
}

func TestACommandOfAnotherVersionIsNoLineAndNumbersAreNamed(t *testing.T) {
	c, _ := command.Find(command.InDiscord, "ping-budget")
	for _, o := range options(c) {
		if o.Type != discordgo.ApplicationCommandOptionInteger || o.MinValue == nil {
			t.Errorf("%+v", o)
		}
	}
	if line, why := slashLine("rm", nil); line != "" || why != "/rm is not in this version yet." {
		t.Errorf("%q, %q", line, why)
	}
	if line, why := slashLine("ping-budget", map[string]any{"capacity": int64(6), "refill_rate": int64(60)}); line != "/ping-budget capacity=6 refill_rate=60" {
		t.Errorf("%q, %q", line, why)
	}
}

// Buttons and menus do what they say once, and those that do nothing any more say so or go.
func TestAButtonWorksOnceAndAfterARestart(t *testing.T) {
	testkit.Alone(t)
	tell(t,
		story{"an agent's button is used once, and a card is put away", `
			me ▸ call discord_embed {"title":"Mail","buttons":[{"label":"Draft","action":"agent:draft the reply"},{"label":"Away","action":"dismiss:"}]} ; say there
			bot Mail ⇒ and there ⇒ buttons Draft, Away ⇒ restart ⇒ from here ⇒ press Draft ⇒ answered 6 0 ⇒ buttons (Draft), Away ⇒ titled Mail
			forge Draft ⇒ and expired or was already used ⇒ press Away ⇒ deleted ⇒ answered 6 0 ⇒ bot No model is connected
			forge act:nonsense:1 ⇒ and this version does not know this button ⇒ commands 1`},
		story{"a fork is entered, reported and left, and its exits go", `
			/fork topic=the garden ⇒ bot Topic: the garden ⇒ now fork=true | busy=false ⇒ answered 5 0 ⇒ count DELETE /webhooks/*/*/messages/@original 1
			me ▸ say deep in the garden ⇒ and deep in the garden ⇒ /model name=opus ⇒ and exit fork first
			me ▸ call report_updates {"message":"The garden is planned."} ⇒ and Fork Ended — summary queued ⇒ buttons - ⇒ has Topic: the garden
			forge act:fork_exit:_ ⇒ and no active fork ⇒ now updates=1`},
		story{"Run on the card of /status starts a task, and an old menu names one that is gone", `
			routine aaaa0001 Tea: call ping_user {"message":"the tea is ready"} ⇒ /status ⇒ bot Status ⇒ menu Tea ⇒ choose aaaa0001 ⇒ and the tea is ready
			stop ⇒ remove routines/aaaa0001.md ⇒ start ⇒ rechoose aaaa0001 ⇒ and no routine or reminder has the ID`},
		story{"the card of /status mutes and adds pings once, also after a restart", `
			/status ⇒ bot Status ⇒ private ⇒ has $headline ⇒ has Pings: $left ⇒ press Mute 1 h ⇒ offers End the mute ⇒ now muted=true
			forge Mute 1 h ⇒ and only critical pings come through until ⇒ restart ⇒ press +1 ping ⇒ renews +1 ping
			forge +1 ping ⇒ and the capacity is already ⇒ still capacity=6 ⇒ capacity 10 ⇒ forge +1 ping ⇒ and the capacity has changed to
			forge act:card_mute:never ⇒ and does not know that button ⇒ still capacity=10`},
		story{"a ping is done or not useful, which is noted once", `
			reminder bbbb0001 1s: call ping_user {"message":"look at the oven"} ; call ping_user {"message":"it burns","critical":true} ⇒ and it burns
			bot look at the oven ⇒ buttons Done, Later…, Not useful ⇒ press Done ⇒ and noted.
			press Not useful ⇒ and were not useful ⇒ buttons (Done), Later…, (Not useful)
			forge Not useful ⇒ forge act:ping_useless:gone-1 ⇒ and no longer in the journal`},
		story{"Later asks when, and reminds once, also after a restart", `
			reminder bbbb0001 1s: call ping_user {"message":"look at the oven"} ; call ping_user {"message":"it burns","critical":true} ⇒ and it burns
			bot look at the oven ⇒ press Later… ⇒ opens Later: when=1 hour ⇒ submit when=some time ⇒ and I do not understand "some"
			restart ⇒ submit when=3 hours ⇒ and you will be reminded at ⇒ submit when=3 hours ⇒ and that reminder exists already ⇒ made look-at-the-oven 1`},
		story{"a promise is answered by its card once, also after a restart", `
			me I'll write to the bank later ▸ call propose_reminder {"words":"I'll write to the bank later"} ⇒ bot When shall I remind you?
			press Other time… ⇒ opens Other time ⇒ submit when=some time ⇒ and I do not understand "some"
			restart ⇒ submit when=3 hours ⇒ and you will be reminded at ⇒ forge No ⇒ and answered that already ⇒ now reminders=1`}, // Item 32
		story{"Stop ends a growing answer, which is neither done nor failed", `
			given pace: 0.5 ⇒ me ▸ say Once upon a time, in a land that is far away. ; wait 3s ; say There was a king. ; wait 1h ; say The end. ⇒ bot Once upon
			buttons Stop ⇒ marks 👀 ⇒ press Stop ⇒ has (interrupted) ⇒ buttons - ⇒ marks - ⇒ lacks The end.`},
		// D12: the button of an earlier answer ended the new one.
		story{"the Stop of an earlier answer does not end the new one", `
			given pace: 0.5 ⇒ me ▸ say The first one begins, and it takes its time to do so. ; wait 3s ; say It continues. ; wait 1h ⇒ bot The first one
			buttons Stop ⇒ name first ⇒ press Stop ⇒ has (interrupted)
			me ▸ say The second one begins, and it takes its time to do so. ; wait 3s ; say It continues, too. ; wait 2s ; say It has come to its end.
			bot The second one ⇒ buttons Stop ⇒ see first ⇒ forge Stop ⇒ and that answer has ended already ⇒ and It has come to its end.`},
		story{"a failed answer is tried again by its button, once", `
			me ▸ fail the model is overloaded ⇒ bot the model is overloaded ⇒ buttons Try again ⇒ marks ❌
			press Try again ⇒ twice the model is overloaded ⇒ buttons (Try again) ⇒ forge Try again ⇒ and expired or was already used`},
		story{"Try again goes with a restart, and the failure stays", `
			me ▸ fail no network ⇒ bot no network ⇒ buttons Try again ⇒ me ▸ say I am back. ⇒ and I am back. ⇒ restart ⇒ buttons - ⇒ has no network`},
		story{"the day is a picture on demand, with words for those who cannot see it", `
			given pictures ⇒ /status ⇒ bot Status ⇒ name status
			press Day as a picture ⇒ replies $headline ⇒ picture day.png: of day ⇒ private ⇒ is $headline ⇒ see status ⇒ titled Status ⇒ bare
			forge act:card_picture:moon ⇒ and does not know that button`},
		story{"without a picture its words are shown, and the log says why", `
			given no font ⇒ /status ⇒ bot Status ⇒ press Day as a picture ⇒ replies $headline ⇒ is $headline ⇒ bare ⇒ log no font`},
		story{"a week is words, and a picture with the same words", `
			given pictures ⇒ /week ⇒ replies $this-week ⇒ is $this-week ⇒ private ⇒ picture week.png: of week
			/week which=last ⇒ replies $last-week ⇒ is $last-week ⇒ private ⇒ picture last-week.png: of last-week`},
		// D11: a bot whose engine is logged out could be logged in at its own computer only.
		story{"a login begins and ends on the phone", `
			given logged out ⇒ given a login ⇒ me good morning ⇒ bot could not answer ⇒ lacks ollim-bot␣ ⇒ rings
			press Log in ⇒ and https://login.example/1 ⇒ me abc#def ⇒ and is logged in ⇒ code abc#def`})
}

// What is typed into a form is checked, carried out once, and not lost.
func TestAFormIsCarriedOutOnceAndLosesNoWord(t *testing.T) {
	testkit.Alone(t)
	const long = "letters to write 264×(and post them, )and post them,"
	tell(t,
		story{"a message's menu makes one reminder of it however often it is used, and labels those of others", `
			me buy the <b>milk</b>⏎and bread ⇒ about $mine ⇒ opens Remind me about this: what=buy the <b>milk</b>⏎and bread
			submit when=3 hours ⇒ about $mine ⇒ opens Remind me about this: what=buy the <b>milk</b>⏎and bread
			submit when=3 hours ⇒ and you will be reminded at ⇒ and that reminder exists already ⇒ made milk 1 buy the <b>milk</b>⏎and bread
			stranger sell everything ⇒ see theirs ⇒ about $mine ⇒ opens Remind me about this ⇒ submit ⇒ made sell 1`},
		story{"and says whose words they are", `
			stub ⇒ me buy milk ⇒ hears buy milk ⇒ about $mine ⇒ opens Remind me about this ⇒ submit when=3 hours ⇒ hears click act:remind_about:own.$mine
			stranger sell everything ⇒ see theirs ⇒ about $mine ⇒ opens Remind me about this ⇒ submit ⇒ hears click act:remind_about:foreign.$mine`}, // P10
		story{"and makes a task of it", `stub click act:task_about: noted ⇒ me buy milk ⇒ hears buy milk ⇒ task $mine ⇒ and noted ⇒ hears click act:task_about:own.$mine`},
		story{"/remind suggests times and titles, and makes an ordinary reminder", `
			file routines/tea.md ---⏎id: "aaaa0001"⏎cron: "0 4 * * *"⏎background: true⏎description: "Tea time"⏎---⏎Make tea.⏎
			types remind what tea: tea, Tea time ⇒ types remind when tomorrow: tomorrow, …
			/remind what=milk, bread for friday | when=9am ⇒ and milk, bread for friday added, next␣
			made milk 1 Remind the user of this:⏎⏎milk, bread for friday⏎ ⇒ /remind what=bread | when=some time ⇒ and I do not understand "some"
			/remind what=bread | when=2020-01-01 08:00 ⇒ and 1 Jan 2020 08:00 has passed`}, // P10
		story{"a setting is chosen from menus, and what is no choice is typed", `
			/config ⇒ bot Settings ⇒ has When it may speak: Quiet hours: off⏎ ⇒ choose Money ⇒ titled Money
			choose daily_cap ⇒ titled Daily limit: off ⇒ press Another value… ⇒ opens Daily limit ⇒ submit value=lots ⇒ and daily_cap: must be an amount in dollars
			submit value=7.50 ⇒ titled Daily limit: $7.50 a day ⇒ and daily_cap: off → $7.50 ⇒ press All settings ⇒ titled Settings
			choose Appearance ⇒ titled Appearance ⇒ choose status_line ⇒ titled Status line: off
			choose on ⇒ titled Status line: on ⇒ now cap=7.5 | line=true ⇒ forge act:config_key:_ ⇒ and this version does not know that button`}, // P13
		story{"a setting with a consequence is set after a second yes only", `
			/config ⇒ bot Settings ⇒ choose Money ⇒ titled Money ⇒ choose daily_cap ⇒ titled Daily limit: off ⇒ press Another value… ⇒ opens Daily limit
			submit value=0 ⇒ titled Daily limit: 0 ⇒ has $follows ⇒ buttons Set it anyway, All settings ⇒ still capped=false
			press All settings ⇒ titled Settings ⇒ still capped=false ⇒ choose Money ⇒ titled Money ⇒ choose daily_cap ⇒ titled Daily limit: off
			press Another value… ⇒ opens Daily limit ⇒ submit value=0 ⇒ has $follows ⇒ press Set it anyway ⇒ now capped=true`}, // P14
		story{"a model is chosen from a menu or typed, with what is known of it", `
			ollama ⇒ /config key=model_fork ⇒ and local/qwen3:8b: 8.2B, 5.0 GB, up to 40,960 tokens, runs with 16,384 now, calls tools
			/model ⇒ bot Model: (default) ⇒ menu local/qwen3:8b 8.2B, 5.0 GB ⇒ choose haiku ⇒ has Model: haiku ⇒ press Another model… ⇒ opens Model
			submit value=chatty ⇒ and model must be one of ⇒ /model name=opus ⇒ and switched to opus.
			/model name=local/qwen3:8b ⇒ and switched to local/qwen3:8b. local/qwen3:8b will run with 16,384 tokens of context`}, // P13
		story{"a refused form opens again with what was typed, and what was done is undone once", `
			/status ⇒ bot Status ⇒ press Ping budget… ⇒ opens Ping budget: capacity=5 | refill=90
			submit capacity=many | refill=45 ⇒ bot write a whole number ⇒ name refusal ⇒ press Correct it… ⇒ opens Ping budget: capacity=many | refill=45
			submit capacity=8 ⇒ bot capacity 5 → 8, refill 90 → 45 min ⇒ name done ⇒ now capacity=8 | refill=45
			restart ⇒ see refusal ⇒ forge Correct it… ⇒ opens Ping budget: capacity=many
			see done ⇒ press Undo ⇒ and capacity 8 → 5 ⇒ now capacity=5 ⇒ forge act:undo:1 ⇒ and /status and /config show how things are now
			forge act:form_again:1 ⇒ and open it again, with /setup`}, // D11
		story{"the form of a new reminder makes one each time it opens, with 4,000 characters", `
			/status ⇒ bot Status ⇒ press New reminder… ⇒ opens New reminder
			submit when=3 hours | what=` + long + `
			submit when=3 hours | what=` + long + `
			press New reminder… ⇒ opens New reminder
			submit when=3 hours | what=` + long + `
			submit when=3 hours | what=` + long + `
			twice you will be reminded ⇒ twice exists already
			made letters 2 ` + long + `
			press New reminder… ⇒ opens New reminder ⇒ submit what=␣ ⇒ and there are no words to be reminded of`},
		// D11: /setup said "done." when it began.
		story{"/setup is a form, whose answers count and reach the agent once", `
			/setup ⇒ opens Setup: bot=olli ⇒ submit quiet=at night ⇒ bot quiet_hours ⇒ press Correct it… ⇒ opens Setup
			submit user=Sam | what=I lose my keys. 398×(And more. ) | quiet=22:00-07:30 ⇒ and I continue here
			submit user=Sam | what=I lose my keys. 398×(And more. ) | quiet=22:00-07:30 ⇒ and that form was sent already ⇒ holds .env Sam ⇒ holds .env olli
			now quiet=22:00-07:30 | busy=false | last=bot`},
		story{"a form that arrives too late, for itself or its reply, is answered with a way back", `
			/remind what=letters ⇒ opens New reminder: when=1 hour | what=letters ⇒ name first
			restart ⇒ submit when=some day ⇒ bot I do not understand ⇒ press Correct it… ⇒ opens New reminder: when=some day
			see first ⇒ fault POST /interactions 1 refused 404 10062 ⇒ submit when=2 hours ⇒ bot that form did not arrive in time and was not carried out
			made letters 0 ⇒ press Correct it… ⇒ opens New reminder: when=2 hours | what=letters
			fault * /webhooks all refused 401 50027 ⇒ submit ⇒ bot you will be reminded at ⇒ public ⇒ made letters 1`})
}

// P13
func TestHelpAndTheDocumentListTheCommandsThatAreRegistered(t *testing.T) {
	testkit.Alone(t)
	page, err := os.ReadFile("../docs/discord.md")
	testkit.Must(t, err)
	p := newPlayer(t)
	p.plays("/help\n bot Commands")
	help, registered := "", ""
	for _, f := range p.look().Embeds[0].Fields {
		help += f.Value + "\n"
	}
	for line := range strings.Lines(help) { // in a few words each
		if n := len(strings.Fields(line)); n < 3 || n > 5 {
			t.Errorf("%q", line)
		}
	}
	for _, c := range command.List(command.InDiscord) {
		registered += "`/" + c.Name + "`"
	}
	names := func(text string) string {
		list := regexp.MustCompile("`/[a-z-]+`").FindAllString(text, -1)
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	for where, text := range map[string]string{
		"/help": help, "the document": string(regexp.MustCompile("(?m)^(`/[a-z-]+`[,.]\\s)+").Find(page)),
	} {
		if names(text) != names(registered) {
			t.Errorf("%s names\n%s, registered are\n%s", where, names(text), names(registered))
		}
	}
}

// P10
func TestWhatIsTypedIsAnsweredOnlyWhereItIsTheNewest(t *testing.T) {
	testkit.Alone(t)
	hold := make(chan struct{})
	p := newPlayer(t)
	p.plays("stub")
	p.ears.suggest = func(typed string) []string {
		<-hold
		return []string{typed}
	}
	p.plays("connected")
	var newest string
	for i := range 50 {
		newest = p.s.User().Type("remind", "what", strings.Repeat("m", i+1)).ID
	}
	p.plays("/version\n hears /version") // what came before it has been taken
	close(hold)
	answered := func(f discordtest.State) int {
		return len(slices.DeleteFunc(slices.Clone(f.Interactions), func(i discordtest.Interaction) bool { return i.Choices == nil }))
	}
	n := answered(p.until(func(f discordtest.State) bool { return find(f, newest).Choices != nil }))
	if n > 3 { // two were being answered meanwhile
		t.Errorf("%d of 50 were answered", n)
	}
	p.s.User().Type("remind", "what", "")
	p.until(func(f discordtest.State) bool { return answered(f) == n+1 })
}

// Each form takes 4,000 characters in each of its fields, twice: it is carried out or refused in a few words, and a
// refused one opens again with what was typed.
func TestEveryFormTakesFourThousandCharactersTwice(t *testing.T) {
	testkit.Alone(t)
	p := newPlayer(t)
	p.plays("/status\n bot Status")
	p.names["status"] = p.place
	for _, open := range []string{
		"forge act:remind_new:_", "forge act:budget_type:5.90", "forge act:config_type:quiet_hours", "forge act:model_type:_", "forge act:ping_later:gone-1",
		"forge act:remind_later:aaaa0009", "forge act:propose_when:gone other", "/setup", "/remind", "about $card",
	} {
		p.plays("see status\n" + open)
		var fields []discordtest.Field
		for _, row := range p.opened().Rows {
			if most := row.Fields[0].Most; most == 0 || most > 4000 {
				t.Errorf("%s: a field takes %d characters", open, most)
			}
			fields = append(fields, discordtest.Field{Name: row.Fields[0].CustomID, Value: strings.Repeat("nüx ", 1000)})
		}
		window := p.window.ID
		for range 2 {
			sent := p.s.User().Submit(window, fields...)
			p.until(func(f discordtest.State) bool {
				return p.shows(first(f.Messages, func(m *discordtest.Message) bool { return m.Interaction == sent.ID && !m.Loading() }))
			})
			reply := p.look()
			if len(reply.Content) > 1000 || strings.Contains(reply.Content, textOdd) || reply.Content == "" {
				t.Errorf("%s: %q", open, reply.Content)
			}
			p.plays("press Correct it…")
			if f := p.opened().Rows[0].Fields[0]; !strings.HasPrefix(f.Value, "nüx nüx") {
				t.Errorf("%s: what was typed is lost: %.40q", open, f.Value)
			}
		}
	}
}
