package dialog

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/webhook"
	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/tuitest"
	"ollimbot/tui/widget"
)

// S15: the welcome has no key, so the words say how it is found again.
func TestTheHelpIsReadAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"it has the groups in two columns, the focused pane first", focused(action.Schedule), `
			help => top: Schedule (2) Everywhere | f Fire task now ctrl+r Redo last undo`, nil},
		{"it has the words, and says where the welcome is", nil, `
			@78x400 help => welcome What to do first. The palette opens it again under its name | wheel Scroll what is under the pointer`, nil},
		{"it is filtered", nil, `
			help / "snooze" => s Snooze or wake task | !Fire task now | top: /snooze 1 action
			esc             => gives nothing | x Stop selected run u Undo last change
			esc             => gives closes`, nil},
		{"on a wide screen it leaves the panes visible", nil, `@140x30 help => painted: ‹strong  Runs (4)›  ‹strong  Everywhere›
			@122x30      => painted: ‹strong  Runs (4)›  ‹strong  Everywhere›`, nil},
		{"every key of a page moves it", func(d *desk) { d.h = 5 }, `
			lines             => top: line 1
			down j            => top: line 3
			up k k            => top: line 1
			pgdown ctrl+f space => top: line 10
			pgup ctrl+b       => top: line 4
			end               => top: line 27
			home G            => top: line 27
			g /               => top: line 1
			"2" enter         => top: line 1 | hints: esc close, / find, n/N next, previous, PgUp/PgDn scroll, c copy
			n                 => line 11
			N                 => line 1
			esc               => gives nothing
			esc               => gives closes`, nil},
		{"it scrolls to its end and back", nil, `
			help end => wheel Scroll what is under the pointer
			j j home => top: Runs (4) Everywhere`, nil},
		{"it has the user's keys, which an ASCII terminal can draw", func(d *desk) {
			d.Keys, _ = d.Keys.Change([]action.Change{{ID: action.ForksStop, Keys: []string{"f9"}}})
		}, `
			help          => f9 Stop selected run u Undo last change | ↑ k Previous run 3 Go to updates
			(in ASCII)    => f9 Stop selected run u Undo last change | !↑`, map[string]func(*desk){
			"in ASCII": func(d *desk) { d.Theme = theme.New(theme.Options{ASCII: true}) },
		}},
		{"it is left by many keys, and turned by the wheel", nil, `
			help wheeldown => !Runs (4)
			wheelup        => top: Runs (4) Everywhere
			q     => gives closes
			?     => gives closes
			!     => gives closes
			enter => gives closes`, nil},
		{"a page is copied and leads on", nil, `
			page  => one two | hints: enter open the run, esc close, / find, c copy
			c     => gives says copied, if the terminal allows it, copies one\ntwo
			enter => gives closes, goes to forks`, nil},
		{"the page of the engine lists processes where there are any", nil, `engine => state | !processes`, nil},
		{"in one column the groups come one after the other", focused(action.Schedule), `
			@40x200 help => top: Schedule (2) | !Schedule (2) Everywhere`, nil},
	})
}

func TestTheQuestionsOfTheStartAndTheEndAreAnsweredAsTheirStoriesSay(t *testing.T) {
	loggingIn := func(d *desk) { d.Snap.Engine.LoginURL = "https://example.com/\x1b[31mlogin" }
	tell(t, []story{
		{"the welcome leads to every beginning", nil, `
			welcome => ollim-bot is a personal assistant that reaches out: it runs routines | no Discord token | ▸ n write your first routine: an example is filled in, Enter saves it | hints: enter choose, esc look around
			n => gives closes, opens Your first routine: Enter saves it, goes to schedule
			welcome s => gives opens Starter routines
			welcome c => gives opens Connect a model or Discord
			welcome i => gives leaves 2
			welcome d => gives leaves 3
			welcome ? => gives runs view.help
			welcome esc => gives closes, seen
			welcome down down enter => gives opens Connect a model or Discord
			welcome up enter => gives closes, seen`, nil},
		{"a dashboard that is read-only offers nothing to write", nil, `readonly welcome => ▸ c connect a model: Claude or an API key; and Discord | !write your first`, nil},
		{"on a small screen it is short", nil, `@40x10 welcome => An assistant that reaches out. | ▸ n write your first routine | esc look around`, nil},
		{"to leave asks for a second and keeps what is written", nil, `
			leave => 1 fork still running: stopped at once. Reminders among | them fire again at the next start. Your draft was not sent. Quitting discards it. | ▸ n stay | hints: n stay, y quit and stop them, enter choose, esc stay
			y      => gives nothing
			~300ms down => ▸ y quit and stop them
			enter  => gives closes, leaves 1
			leave n => gives closes
			leave ~300ms <quit and> => gives nothing | ▸ y quit and stop them
			<quit and> => gives closes, leaves 1
			leave left => ▸ y quit and stop them
			k          => ▸ n stay
			shift+tab  => ▸ y quit and stop them
			h ctrl+c   => gives closes
			leave ~300ms ctrl+c => gives leaves 1
			quit ctrl+c => Quit? The bot stops with its dashboard. | ▸ n stay | gives closes
			~300ms y   => gives closes, leaves 1`, nil},
		{"a draft alone is asked about, and the demo as quitting", func(d *desk) { d.Snap.Forks = nil }, `
			leave => Your draft was not sent. Quitting discards it. | ▸ n stay
			~300ms y => gives closes, leaves 1`, nil},
		{"runs that end while the question is open are not counted", nil, `
			leave => 1 fork still running: stopped at once. Reminders among
			(they end) => The forks have ended, so nothing would be stopped. Your`, map[string]func(d *desk){"they end": func(d *desk) { d.Snap.Forks = nil }}},
		{"a run that waits is counted, and a viewer only detaches", func(d *desk) { d.Snap.Forks = append(d.Snap.Forks, fork.View{State: fork.Waiting}) }, `
			staying ~300ms y => 1 fork still running, 1 waiting: stopped at once. | gives closes, leaves 3
			<n stay>         => gives closes
			quit             => hints: n stay, y quit, enter choose, esc stay`, nil},
		{"another machine's dashboard is left alone", func(d *desk) { d.Remote = true }, `
			quit  => Detach? The bot keeps running.
			leave => Your draft was not sent. Quitting discards it.`, nil},
		{"a login takes the code and shows none of it", loggingIn, `
			login  => https://example.com/login | hints: ctrl+y copy the address, enter send the code, esc not now
			enter  => gives says first paste the code that the page shows
			ctrl+y => gives says copied, if the terminal allows it, copies https://example.com/login
			{a1b2#} => ▸ •••••
			enter  => gives closes, does Login Code=a1b2#
			login esc => gives closes`, nil},
		{"a login's address and code have their places", loggingIn, `
			login {a1b2#} => painted: ‹accent https://example.com/login› | painted: ‹focus  ▸ ›••••• | top: Open this address in a browser and log in there (ctrl+y copies it):`, nil},
		{"the starter routines are listed", nil, `starters => - Good night: at 22:30, every day | y install them`, nil},
		{"a login without an address waits", nil, `login => Asking for the address of the login page… | !https`, nil},
	})
}

func TestTheListsBehindTheDashboardSayWhatHappened(t *testing.T) {
	happened := func(d *desk) {
		ran := account.Row{Kind: "routine", ID: "a", Title: "Tea", Due: clockAt(9, 0), Fate: account.Ran, Late: true}
		d.due = command.DueTimes{
			Report: account.Report{Rows: []account.Row{
				{Kind: "routine", ID: "old", Due: clockAt(7, 0), Fate: account.Missed, Why: "the bot was off"},
				{Kind: "reminder", ID: "b", Title: "Oven", Due: clockAt(8, 0), Fate: account.Held, Until: clockAt(12, 0)},
				{Kind: "routine", ID: "c", Title: "Mail", Due: clockAt(8, 30), Fate: account.Failed},
				ran,
				{Kind: "routine", ID: "a", Title: "Tea", Due: clockAt(10, 0), Fate: account.Running},
			}, Damaged: 1},
			Runs: map[account.Key]fork.View{ran.Key(): {ID: "f1", State: fork.Done, Started: clockAt(9, 20), Ended: clockAt(9, 22), Pings: 1}},
		}
		d.Snap.Deliveries = []webhook.Delivery{
			{Webhook: "ci", At: clockAt(9, 0), Size: 120, Verdict: "safe", Outcome: "ran"},
			{At: clockAt(9, 1), Size: 7, Outcome: "refused", Count: 2, Flagged: []string{"title", "body"}},
		}
		d.Snap.Engine = core.EngineStatus{Name: "claude", Version: "2.0", Model: "opus", State: "ready", Warning: "old", Processes: []agent.Process{
			{PID: 42, Session: "s1", Memory: 3 << 20, Started: clockAt(13, 0)}, {PID: 43, Session: "s2", Started: clockAt(14, 0)},
		}}
	}
	tell(t, []story{
		{"due times", happened, `
			account   => 1 of 5 due times ran; 1 was missed while the bot was off; 1 failed; 1 was | 1 line of state/due_times.jsonl cannot be read | DUE BECAME TASK | painted: ‹select ‹accent ▸ ›‹select ‹dim Tue 10 Mar 10:00  ›‹select  ‹accent running  ›‹select  Tea  › | painted: ‹dim Tue 10 Mar 08:00  › ‹warn held  › Oven‹dim  until 12:00  › | painted: ‹dim Tue 10 Mar 07:00  › ‹bad missed  › old‹dim  the bot was off  › | painted: ‹dim Tue 10 Mar 08:30  › ‹bad failed  › Mail | its run is not known: it ran in the conversation, or its record has been cut | hints: esc close, enter open the run, / find, O sort, PgUp/PgDn scroll
			down      => painted: ‹select ‹accent ▸ ›‹select ‹dim Tue 10 Mar 09:00  ›‹select  done  Tea‹dim  late  ›‹select › | painted: done: late | run f1: done at 09:20:00 after 2:00, 1 ping; enter opens it
			enter     => gives closes, goes to forks f1, zooms
			account enter => gives says Tea: its run is not known: it ran in the conversation, or its record has been cut
			up        => painted: ‹select ‹accent ▸ ›‹select ‹dim Tue 10 Mar 10:00  ›‹select  ‹accent running  ›‹select  Tea  › 
			end       => painted: ‹select ‹accent ▸ ›‹select ‹dim Tue 10 Mar 07:00  ›‹select  ‹bad missed  ›‹select  old‹dim  the bot was off  ›‹select › | painted: ‹bad missed: the bot was off› | it had no run
			up        => held: until 12:00
			O         => painted: ‹select ‹accent ▸ ›‹select ‹dim Tue 10 Mar 08:00  ›‹select  ‹warn held  ›‹select  Oven‹dim  until 12:00  ›‹select › | DUE▼ BECAME TASK
			/ "mail"  => painted: ‹select ‹accent ▸ ›‹select ‹dim Tue 10 Mar 08:30  ›‹select  ‹bad failed  ›‹select  ‹match Mail›‹select  › | hints: enter keep the filter, esc show all rows
			esc       => gives nothing
			esc       => gives closes
			account <due times ran> => gives nothing
			account <Oven> => painted: ‹select ‹accent ▸ ›‹select ‹dim Tue 10 Mar 08:00  ›‹select  ‹warn held  ›‹select  Oven‹dim  until 12:00  ›‹select › | gives nothing
			<Oven>    => gives says Oven: it had no run
			account wheelup => painted: ‹select ‹accent ▸ ›‹select ‹dim Tue 10 Mar 10:00  ›‹select  ‹accent running  ›‹select  Tea  ›
			wheeldown => painted: ‹select ‹accent ▸ ›‹select ‹dim Tue 10 Mar 09:00  ›‹select  done  Tea‹dim  late  ›‹select ›
			account ctrl+c => gives closes
			@78x11 account => !its run is`, nil},
		{"no due times", nil, `account enter => nothing was due | gives nothing`, nil},
		{"deliveries", happened, `deliveries => Mar 10 09:00:00 ci 120 bytes safe ran | Mar 10 09:01:00 (unknown) 7 bytes refused | ×2 (title, body)`, nil},
		{"no deliveries", nil, `deliveries => No deliveries yet. WEBHOOK_PORT and WEBHOOK_SECRET turn webhooks on; a file`, nil},
		{"no servers", nil, `servers => No MCP servers. The page about MCP says how to add one.`, nil},
		{"the engine", happened, `engine => engine claude 2.0 | model opus | state ready | surface | warning old | today $0.00 | 42 session 3 MB 1 h s1 | 43 session ? 2 min s2 | processes: id, use, memory, age, session`, nil},
	})
}

func TestWhatIsExplainedIsReadInFull(t *testing.T) {
	tell(t, []story{
		{"the fields of a routine", nil, `
			@80x70 edit <More> => optional, such as 9:00-11:00: the bot chooses the minute | optional: fires up to this much later, such as 10m | optional: a few words for lists and the schedule | what the bot should do, in your words | whether it may send you messages | what happens when the bot was off at the time | optional: how late it may then still run, such as at most | in the background, or as a turn of the conversation that | when its report joins the conversation: on_ping means | optional: a command that decides before each fire whether | what the check prints is sent as it is, without a model | for background runs; the default is in the settings | thinks before it answers: better, but slower and dearer | starts without the conversation: cheaper, but knows | also runs when a spending limit is reached | tools to allow, separated by ; such as | tools to forbid, separated by ; | folders in skills/ to add to the prompt, separated by ; | keeps all its tools after reading web pages, mail or`, nil},
		{"the fields of a reminder", reminder, `
			@80x70 edit <More> => optional: what it says before, such as 1 day: The dentist | whether it comes back until you press Done on its ping | how many follow-ups it may schedule, 0 to 10000`, nil},
		{"the kinds of a new task", nil, `
			@80x40 new up up => Kind routine | repeats on a schedule`, nil},
		{"the words of the help", nil, `
			@118x400 help => ping A message from a background run to you. Each costs a token; critical ones are free | token The price of a ping. The budget refills over time; when it is empty, you are left alone | run, fork A task that works in the background: ◉ running, ◐ waiting, ✓ done, ✗ failed, ■ stopped | update A run's report without a ping: it joins the conversation with your next message | routine A task that repeats; a reminder fires once, or is a chain of checks | welcome What to do first. The palette opens it again under its name | signs ! needs you or is on hold, ‼ critical, ◆ ping, ◈ refused ping, ◇ likely ping, △ missed, ○ upcoming, ▪ | click Focus a pane or select a row; on the selected row, same as enter | click below On a key in the last line: same as that key | wheel Scroll what is under the pointer`, nil},
		{"how a model and Discord are connected", nil, `
			@118x60 connect => Until a model is connected, scripted replies answer, at no cost. Run these in a shell, then start | Claude, with your Claude account | 1 npm install -g @anthropic-ai/claude-code | 2 ollim-bot auth login | An API key | 1 put the line ANTHROPIC_API_KEY=sk-ant-... into the file .env of the data directory | 2 for other providers: ollim-bot help connect-a-model | Discord, so that pings reach your phone | 1 ollim-bot init | Check it | 1 ollim-bot doctor`, nil},
		{"what the palette would do", busy, `
			: "open tea"        => first: Open Tea task | enter opens its page
			: "resume landlord" => enter resumes it; u undoes
			: "pause tea"       => enter pauses it; u undoes
			: "snooze tea"      => enter asks until when
			: "preview tea"     => first: Preview the prompt of Tea task | enter shows exactly what would be sent
			: "delete tea"      => first: Delete Tea task | enter deletes its file; u undoes
			: "file of tea"     => first: Open the file of Tea task | enter opens its file in your editor
			: "parcel"          => enter shows it in full
			: "inbox failed"    => enter opens it on the runs page
			: "quiet hours"     => enter opens it on the settings page
			: "capacity 7"      => enter sets the capacity of the ping budget
			: "refill 7"        => enter sets how many minutes a token takes
			: "theme dark"      => enter changes how the dashboard looks
			: "account monday"  => enter shows what became of each due time since a day: monday, 30d, 2026-…
			: "runs failed monday" => enter lists runs: a day, a state, words
			: "acc"             => first: account DAY command`, nil},
	})
}

func TestEveryKeyOfADialogIsItsOwn(t *testing.T) {
	tell(t, []story{
		{"of a form", nil, `
			edit down down down => ▸ Pings when it has something to say
			right               => ▸ Pings never
			left                => ▸ Pings when it has something to say
			shift+tab shift+tab => ▸ Title Tea
			tab "x" shift+enter "y" ctrl+j "z" => at 9:00, every day; next Wednesday 11 March at 09:00
			ctrl+s              => gives sends EditTask ID=aaaa0001 Version=v1 Edit={Body=Make tea.x\ny\nz}
			edit up right       => ▸ Runs in the background`, nil},
		{"of a selected number, which an erasing key takes away", nil, `
			budget backspace => ▸ Capacity
			budget delete    => ▸ Capacity
			budget ctrl+h    => ▸ Capacity
			budget ctrl+d    => ▸ Capacity
			budget ctrl+w    => ▸ Capacity
			budget ctrl+k    => ▸ Capacity
			budget left      => ▸ Capacity 0`, nil},
		{"of a question", nil, `
			leave tab   => ▸ y quit and stop them
			right       => ▸ n stay
			l           => ▸ y quit and stop them
			left        => ▸ n stay
			h           => ▸ y quit and stop them
			j           => ▸ n stay
			up          => ▸ y quit and stop them
			N           => gives closes
			leave q     => gives closes
			leave ~300ms Y => gives closes, leaves 1`, nil},
		{"of a page", nil, `
			engine q     => gives closes
			engine ?     => gives closes
			engine !     => gives closes
			engine enter => gives closes
			engine C     => gives says copied, if the terminal allows it, copies engine\nstate\nsurface\ntoday      $0.00
			engine c     => gives says copied, if the terminal allows it, copies engine\nstate\nsurface\ntoday      $0.00
			engine i     => gives closes, runs chat.write
			engine <engine> => gives nothing
			engine ctrl+c => gives closes`, nil},
		{"of the palette", busy, `
			: "tea" ctrl+n => painted: ‹select  ▸ Fire ‹match Tea›‹select  ›‹select  ‹dim task ›‹select ›
			ctrl+p         => painted: ‹select  ▸ Open ‹match Tea›‹select  ›‹select  ‹dim task ›‹select ›
			shift+tab      => painted: ‹select  ▸ Open the file of ‹match Tea›‹select  ›‹select  ‹dim task ›‹select ›
			up             => painted: ‹select  ▸ Delete ‹match Tea›‹select  ›‹select  ‹dim task ›‹select ›
			<Pause Tea>    => gives closes, does Pause ID=7ea00000 Paused=true
			: "tea" </tea> => gives nothing
			wheeldown      => painted: ‹select  ▸ Fire ‹match Tea›‹select  ›‹select  ‹dim task ›‹select ›
			: esc          => gives closes
			: enter        => gives closes, runs forks.tail`, nil},
		{"of the keys", nil, `
			help / {stop} => /stop 3 actions
			ctrl+c        => gives closes
			help => hints: esc close, / filter, PgUp/PgDn scroll
			/    => hints: enter keep the filter, esc show all rows
			esc => gives nothing`, nil},
	})
}

func TestAnActionOnATaskIsCarriedOutOrOpensItsDialog(t *testing.T) {
	task := schedule.TaskView{ID: "a", Title: "Tea", Path: "routines/tea.md", Paused: true}
	for id, want := range map[action.ID]string{
		action.ScheduleDetails: "goes to task a", action.ScheduleFire: "does FireNow ID=a Stays=true", action.SchedulePause: "does Pause ID=a", action.ScheduleSnooze: "opens Snooze Tea until", action.SchedulePreview: "opens Prompt of Tea",
		action.ScheduleEdit: "opens Tea", action.ScheduleDelete: "does DeleteTask ID=a", action.ScheduleOpen: "edits routines/tea.md", action.ScheduleView: "nothing",
	} {
		if got := given(OnTask(newDesk().Context, task, id)); got != want {
			t.Errorf("%s gives %s, want %s", id, got, want)
		}
		if got := given(OnTask(newDesk().Context, schedule.TaskView{Path: "x.md"}, id)); got != "nothing" {
			t.Errorf("%s of a file that is no task gives %s", id, got)
		}
	}
}

func TestEveryKeyIsReadWholeAtEightyCells(t *testing.T) {
	d := newDesk()
	d.h, d.dialog = 400, NewHelp(action.Forks)
	all := strings.Join(d.lines(t, "help"), "\n")
	for _, p := range append([]action.Pane{action.Everywhere}, action.AllPanes...) {
		for _, a := range (action.Keys{}).Of(p) {
			if len(a.Keys) > 0 && (!strings.Contains(all, a.Title) || !strings.Contains(all, a.KeyNames(false))) {
				t.Errorf("%s (%s) is not there", a.Title, a.KeyNames(false))
			}
		}
	}
}

func TestAnEditOfTheAgentIsDecidedAsItsStoriesSay(t *testing.T) {
	long := func(d *desk) {
		d.edit = routines.Proposal{Version: "v1", Why: "it may use Bash(rm *); the agent that wrote it may not", Diff: strings.Repeat("+line\n", 100)}
	}
	tell(t, []story{
		{"a key that was pressed before the page was seen decides nothing", long, `
			review "y"      => gives nothing
			~300ms "y"      => gives closes, does AllowTask ID=a Version=v1
			review ~300ms r => gives closes, does RefuseEdit ID=a Version=v1
			review ~300ms q => gives closes`, nil},
		{"what it gains and the keys are at the top, however long the diff is", long, `
			review   => top: With the agent's edit, it may use Bash(rm *); the agent that wrote it may | top: y allows the edit, r refuses it and restores the file, esc decides later. | hints: y allow, r refuse, esc decide later, / find, PgUp/PgDn scroll
			@118x38  => top: With the agent's edit, it may use Bash(rm *); the agent that wrote it may not. The old text stays in | top: y allows the edit, r refuses it and restores the file, esc decides later.
			/ "y"    => gives nothing | /y 1 of 3`, nil},
	})
	d := newDesk()
	long(d)
	if text := ReviewText(d.edit); !strings.HasPrefix(text, "With the agent's edit, it may use Bash(rm *); the agent that wrote it may not.") || !strings.HasSuffix(text, d.edit.Diff) {
		t.Errorf("without a screen it says %q", text)
	}
}

func linesOf(p *Page, w int) []string {
	p.wrap(w)
	out := make([]string, p.view.Len())
	for i := range out {
		out[i] = p.view.Text(uint64(i))
	}
	return out
}

func TestTheRestOfALineIsBelowItsWords(t *testing.T) {
	table := NewTable("T", 10, []Row{{Text: "Heading"}, {"  k", "one two three four five six"}, {"  PgDn ctrl+f", "one two three four five"}, {}})
	if got := table.body(); got != "Heading\n  k       one two three four five six\n  PgDn ctrl+f one two three four five" {
		t.Errorf("the clipboard gets %q", got)
	}
	list := NewPage("P", "- one two three four five six seven\n  - eight nine ten eleven twelve one\n12. one two three four five six\n* one two three four five six\n• one two three four five six\n> one two three four five six\n1234. one two three four five\n    code\nplain words that run on in the next line")
	for _, c := range []struct {
		p    *Page
		w    int
		want string
	}{
		{table, 40, `
			|Heading
			|  k       one two three four five six
			|  PgDn ctrl+f
			|          one two three four five
			|`},
		{table, 28, `
			|Heading
			|  k    one two three four
			|       five six
			|  PgDn ctrl+f
			|       one two three four
			|       five
			|`},
		{table, 14, `
			|Heading
			|  k
			|   one two
			|   three four
			|   five six
			|  PgDn ctrl+f
			|   one two
			|   three four
			|   five
			|`},
		{list, 24, `
			|- one two three four
			|  five six seven
			|  - eight nine ten
			|    eleven twelve one
			|12. one two three four
			|    five six
			|* one two three four
			|  five six
			|• one two three four
			|  five six
			|> one two three four
			|  five six
			|1234. one two three four
			|five
			|    code
			|plain words that run on
			|in the next line`},
	} {
		if d := cmp.Diff(c.want, "\n\t\t\t|"+strings.Join(linesOf(c.p, c.w), "\n\t\t\t|")); d != "" {
			t.Errorf("%d cells (-want +got):\n%s", c.w, d)
		}
	}
}

func TestAPageNeverScrollsPastItsEnds(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		d := newDesk()
		p := NewPage("Title", strings.Repeat("a line of the text\n", rapid.IntRange(0, 60).Draw(t, "lines"))+"end")
		d.dialog, d.w, d.h = p, rapid.IntRange(3, 120).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		for range rapid.IntRange(1, 20).Draw(t, "keys") {
			key, _ := tuitest.Key(rapid.SampledFrom([]string{"up", "down", "pgup", "pgdown", "home", "end", "/", "n", "N", "esc", "enter", "backspace", "e"}).Draw(t, "key"))
			d.gives(key)
			lines := d.lines(t, "page")
			first, _, _ := p.view.At(0)
			if last, _, ok := p.view.At(max(0, len(lines)-2)); first > 0 && !ok {
				t.Fatalf("line %d is at the top and %d above the last of %d", first, last, p.view.Len())
			}
		}
	})
}

func TestAPageLosesNoWordHoweverNarrow(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`( {0,4}[a-z世é]{1,12}){0,6}`)
		bare := func(lines ...string) string { return strings.Join(strings.Fields(strings.Join(lines, "")), "") }
		var rows []Row
		want := ""
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			row := Row{cell.Draw(t, "head"), cell.Draw(t, "text")}
			rows, want = append(rows, row), want+bare(row.Head, row.Text)
		}
		p := NewTable("T", rapid.IntRange(2, 20).Draw(t, "column"), rows)
		if rapid.Bool().Draw(t, "text") {
			p = NewPage("T", p.body())
		}
		w := rapid.IntRange(6, 90).Draw(t, "w")
		got := linesOf(p, w)
		for _, l := range got {
			if widget.Cells(l) > w {
				t.Fatalf("a line of %d cells, width %d: %q", widget.Cells(l), w, l)
			}
		}
		if bare(got...) != want {
			t.Fatalf("%d cells: %q, want %q", w, bare(got...), want)
		}
	})
}

func TestAPageThatCouldNotBeLoadedSaysWhy(t *testing.T) {
	d := newDesk()
	a := Load("Prompt", func(context.Context, pane.Reader) (pane.Dialog, error) {
		return nil, errors.New("no task has the id \x1b[31mx")
	})
	d.dialog = a.Open
	d.expects(t, "before", d.lines(t, ""), "loading…")
	if d.gave = a.Load(t.Context(), nil)(d.Context); given(d.gave) != "nothing" || a.Open.(*Page).Loads {
		t.Errorf("it gives %s, still loading %t", given(d.gave), a.Open.(*Page).Loads)
	}
	good := Load("Prompt", func(context.Context, pane.Reader) (pane.Dialog, error) { return NewPage("Text", "x"), nil })
	if got := given(good.Load(t.Context(), nil)(d.Context)); got != "closes, opens Text" {
		t.Errorf("a page that was loaded gives %s", got)
	}
	d.expects(t, "after", d.lines(t, ""), "no task has the id x")
}
