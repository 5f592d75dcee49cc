package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/talk/notice"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// dayAhead is busyDay with the fires of 24 hours.
func dayAhead(at time.Time) core.Snapshot {
	s := busyDay(at)
	s.Schedule.Day = append(s.Schedule.Day, s.Schedule.Entries...)
	for h := 3; h < 24; h++ {
		s.Schedule.Day = append(s.Schedule.Day, schedule.Entry{ID: "aaaa1111", Description: "Email sweep", FireTime: at.Add(time.Duration(h) * time.Hour)})
	}
	s.Schedule.Tasks = []schedule.TaskView{
		{ID: "aaaa1111", Title: "Email sweep", Kind: routines.KindRoutine, Next: s.Schedule.Entries[0].FireTime},
		{ID: "cccc3333", Title: "Check the oven", Kind: routines.KindReminder, Next: s.Schedule.Entries[2].FireTime},
	}
	return s
}

func mutedForAnHour(s *core.Snapshot) { s.Budget.Muted = s.At.Add(time.Hour) }

func TestNumbersAndTimesAreEnteredAsTheirStoriesSay(t *testing.T) {
	ahead := setup{snap: dayAhead}
	tell(t, []story{
		{"exact numbers show their consequence before they are set", setup{}, `
			1 e       => Ping budget, exactly | Capacity      5 | Refill (min) | 90 | enter set
			8 tab 4 5 => "Capacity      8 " | "Refill (min)  45 " | full at
			enter     => 3.2 / 8 | !Ping budget, exactly | did SetBudget Capacity=8 RefillMinutes=45`},
		{"numbers that are refused stay to be mended", setup{}, `
			1 e "999999" => capacity 999999 is out of range: choose 0 to 1000 | !full at
			enter        => Ping budget, exactly | 999999 | did nothing
			backspace backspace backspace enter => !Ping budget, exactly | / 999`},
		{"a refusal of the bot is in the entry until it changes", setup{}, `
			1 e (the disk is full) enter => Ping budget, exactly | once: the disk is full
			6 => Capacity      6 | !the disk is full`},
		{"a dot in a number is refused", setup{}, `
			1 e "1.5" => Capacity      1.5 | whole number
			enter     => did nothing
			backspace backspace enter => did SetBudget Capacity=1 …`},
		{"the entry fits on a small screen", sized(40, 10), `
			1 e "999999"   => ▸ Capacity | Refill (min) | range: choose 0 to 1000 | critical pings)
			<Refill (min)> => ▸ Refill (min)`},
		{"muting says what would go silent before it is done", ahead, `
			1 m       => Mute pings that are not critical until | ▸ 30 minutes | 1 fire without pings | Email sweep
			down down => did nothing
			enter     => did MuteUntil Until=01 18:00:00 | !Mute pings that are not critical until`},
		{"a time can be typed at once", ahead, `
			1 m 2 5 enter => there is no 25; a day goes from 0:00 to 23:59
			backspace backspace 2 3 : 4 5 enter => did MuteUntil Until=01 23:45:00`},
		{"what is no time is refused, and never the marked moment", ahead, `
			1 m "soon" => at a time     soon | I do not understand "soon"; say a time such as 18:30
			enter      => Mute pings that are not critical until | soon | did nothing
			backspace backspace backspace backspace "jk" => at a time     jk`},
		{"on a small screen that is said whole", setup{w: 40, h: 10, snap: dayAhead}, `
			1 m "99" => there is no 99; a day goes | from 0:00 to 23:59 | at a time     99`},
		{"an end is offered where something holds", setup{snap: dayAhead, change: mutedForAnHour}, `
			1 m   => end it now    active until
			up up => pings are delivered again at once
			enter => did MuteUntil`},
		{"a second click on a choice takes it", ahead, `
			1 m ~1s <1 hour> => did nothing | ▸ 1 hour
			<1 hour>         => did MuteUntil Until=01 01:0…`},
		{"but not half of the double click that opened it", ahead, `1 m <30 minutes> => did nothing`},
		{"choices of a small screen are clicked where they stand", setup{w: 40, h: 10, snap: dayAhead, change: mutedForAnHour}, `
			1 m up      => !30 minutes
			<at a time> => ▸ at a time
			<tomorrow>  => ▸ tomorrow`},
		{"a click goes to a field and submits nothing", ahead, `
			1 e <Refill (min)> "45" => Refill (min)  45
			<Capacity  > "8"        => "Capacity      8 " | Refill (min)  45
			esc m <tomorrow>        => ▸ tomorrow
			<at a time> "2345"      => did nothing
			<30 minutes> <30 minutes> => did nothing
			<enter set>             => did MuteUntil Until=…`},
	})
}

func TestATaskIsWrittenInItsFormAsItsStoriesSay(t *testing.T) {
	const stand = `"0 9 * * 1-5" tab "Stand-up" tab "Ask what I plan." `
	const made = `Cron=0 9 * * 1-5 Description=Stand-up Message=Ask what I plan.`
	at := time.Date(2000, 1, 1, 2, 30, 0, 0, time.UTC)
	adds := setup{rings: func(b *bot) { b.adds = true }, happen: happening{"it is edited": becomes(func(c *core.Snapshot) {
		c.Schedule.Tasks = slices.Clone(c.Schedule.Tasks)
		c.Schedule.Tasks[len(c.Schedule.Tasks)-1].Version = "v2"
	})}}
	tell(t, []story{
		{"it reads its cron, and stays with what was typed where it is refused", setup{}, `
			2 n           => A new routine or reminder | routine | every weekday at 9, daily 8:15, or cron: 0 9 * * 1-5 | esc cancel
			"0 9 * * 1-5" => esc leave | !cancel | 9:00, Monday to Friday; next
			tab "Stand-up" tab "Ask what I plan." tab space enter => did AddTask Cron=0 9 * * 1-5 Description=Stand-up Message=Ask what I plan. Silent=true
			              => A new routine or reminder | Ask what I plan. | ✗ write budget: the disk is full`},
		{"what was just made is selected", adds, `
			2 n ` + stand + `enter tab tab enter => ▸ 09:00   Stand-up`},
		{"the undo of a file that the user wrote asks first", adds, `
			2 n ` + stand + `enter tab tab enter u => which you wrote | routines/made.md
			~1s y => did AddTask ` + made + `; RemoveTask ID=made0001 …`},
		{"what was edited since is deleted as by hand", adds, `
			2 n ` + stand + `enter tab tab enter (it is edited) u => was edited since | routines/made.md
			~1s y => did AddTask ` + made + `; DeleteTask ID=made0001`},
		{"a file is deleted once its user has said so", setup{}, `
			2 D   => Delete Email sweep? | did nothing
			~1s y => did DeleteTask ID=aaaa1111`},
		{"a reminder is a time", setup{}, `
			2 n up space down => fires once | 18:30, tonight, next monday 9am
			"2h30m"            => (in 2h30)
			enter "Look into the oven" enter => did AddTask At=` + at.Format("02 15:04:05") + ` Message=Look into the oven`},
		{"or waits until it is done", setup{}, `
			2 n up space space down => reminder until it is done | repeats until you press Done
			"2h30m"                   => (in 2h30)
			enter "Look into the oven" enter => did AddTask At=` + at.Format("02 15:04:05") + ` Message=Look into the oven UntilDone=true`},
		{"what is wrong is below its field", setup{}, `
			2 n enter    => "! needed: every weekday at 9, daily 8:15, or cron" | "! needed: what the bot should do"
			"61 9 * * *" => "! minute 61 does not exist"
			enter        => "! minute 61 does not exist" | did nothing`},
		{"what is wrong with a cron line is said whole", setup{}, `
			2 n "0 0 9 * * 1-5" => "! a cron expression has five fields" | delete the extra field`},
		{"one key never loses what was typed", setup{}, `
			2 n "0 9" esc => Esc again discards | 0 9
			" *"          => !Esc again discards
			esc esc       => !A new routine or reminder`},
		{"a refusal is in it on a small screen, until something is typed", sized(40, 10), `
			2 n "0 9 * * *" <Title> tab "Ask." enter ~1m => ✗ write budget: the disk is | full; free some space and try | again | ▸ Prompt         Ask.
			"!" => !the disk is`},
		{"a click goes to a field and submits nothing", setup{snap: dayAhead}, `
			2 n <Prompt> "Ask."   => ▸ Prompt         Ask.
			<More options…> <in the background  > <Runs> => ▸ Runs
			<space change>        => in the main conversation | did nothing`},
		{"a second click on a choice changes it", setup{snap: dayAhead}, `
			2 n <Runs> => in the background
			<Runs>     => in the main conversation
			<Kind>     => ▸ Kind | routine
			<Kind>     => "reminder  "
			<When> <When> => did nothing`},
	})
}

func TestTheHelpAndToastsAreAsTheirStoriesSay(t *testing.T) {
	notices := happening{
		"a notice": func(s *stage) { s.hears(notice.Warn, "routines/a.md:3:7: day 8 does not exist") },
		"seven notices": func(s *stage) {
			texts := make([]string, 7)
			for i := range texts {
				texts[i] = fmt.Sprintf("notice number %d", i)
			}
			s.hears(notice.Info, texts...)
		},
		"a reason": func(s *stage) {
			s.hears(notice.Alert, "script line 3: say needs a text "+strings.Repeat("and more of it ", 20))
		},
	}
	tell(t, []story{
		{"help lists every key and finds", setup{}, `
			2 ?               => Keys | Fire task now | Everywhere
			/ "stop selected" => /stop selected | Stop selected run
			enter             => 1 action | !Fire task now
			esc esc           => !Everywhere`},
		{"a failed command is a toast that says what to do", setup{}, `
			3 x => write budget: the disk is full; free some space and try | again
			~9s => !the disk is full
			!   => Notices, newest first | error | the disk is full`},
		{"a command that panics is an error, too", setup{}, `
			2 f => internal fault in command.FireNow: a command that panics | stays`},
		{"a notice of the bot is a toast once", setup{happen: notices}, `
			(a notice)        => routines/a.md:3:7: day 8 does not exist
			~10s              => !day 8 does not exist
			(the bot changes) => !day 8 does not exist`},
		{"a notice at the start, too", setup{options: Options{Notice: "no Discord token: the chat pane is the surface"}}, `
			    => no Discord token: the chat pane is the | surface
			esc => !no Discord token`},
		{"what was read goes with the next key", setup{}, `
			1 +   => u undoes
			+     => capacity 6
			~2s 2 => !u undoes
			!     => capacity 6 → 7`},
		{"a burst of notices is counted", setup{w: 160, h: 50, happen: notices}, `
			4 (seven notices) => notice number 6 (6 more: ! lists them) | !notice number 5
			!                 => notice number 0`},
		{"a long reason says what shows the rest", setup{w: 80, h: 24, happen: notices}, `
			(a reason) => ✗ script line 3: say needs | … (! shows all)`},
	})
	for _, keys := range []string{"1 e", "1 m", "?", "5 i"} {
		tell(t, []story{{"but no key that would mean something else there: " + keys, sized(44, 30), keys + ` (a long reason) => a long reason
			=> !shows all`}})
	}
}
