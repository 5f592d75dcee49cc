package pane_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/core/work/proposals"
	"ollimbot/core/work/updates"
	"ollimbot/core/work/week"
	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	awaypage "ollimbot/tui/pane/away"
	budgetpane "ollimbot/tui/pane/budget"
	chatpane "ollimbot/tui/pane/chat"
	costspage "ollimbot/tui/pane/costs"
	forkspane "ollimbot/tui/pane/forks"
	logspane "ollimbot/tui/pane/logs"
	schedulepane "ollimbot/tui/pane/schedule"
	settingspage "ollimbot/tui/pane/settings"
	taskpage "ollimbot/tui/pane/task"
	updatespane "ollimbot/tui/pane/updates"
	weekpage "ollimbot/tui/pane/week"
	"ollimbot/tui/theme"
	"ollimbot/tui/tuitest"
	"ollimbot/tui/widget"
)

// zone is fixed, so that no test depends on the machine.
var zone = time.FixedZone("PT", -8*3600)

// noon is the moment of the fixture.
var noon = time.Date(2026, 11, 23, 14, 2, 10, 0, zone)

// panes are fresh panes by name.
func panes() map[string]pane.Pane {
	return map[string]pane.Pane{
		"budget": &budgetpane.Pane{}, "schedule": schedulepane.New(), "updates": updatespane.New(),
		"forks": forkspane.New(), "chat": chatpane.New(commands), "logs": logspane.New(),
		"task": taskRead(), "costs": costsRead(), "away": awaypage.New(), "week": weekRead(), "settings": settingspage.New(),
	}
}

// taskRead is the page of a task that has a past.
func taskRead() *taskpage.Page {
	past := command.TaskPast{
		Rate: fork.Rate{Runs: 120, Pings: 48}, Answers: budget.Answers{Pings: 48, Answered: 40, Median: 4 * time.Minute},
		Next: []command.NextFire{
			{At: noon.Add(3 * time.Minute), Verdict: command.VerdictSure},
			{At: noon.Add(9 * time.Hour), Verdict: command.VerdictShort},
			{At: noon.Add(33 * time.Hour), Verdict: command.VerdictDry},
		},
	}
	for i := range 20 {
		v := fork.View{
			ID: string("abcdefghijklmnopqrst"[i]), State: fork.Done, Pings: i % 3 / 2, Usage: agent.Usage{CostUSD: float64(i%7) / 90},
			Started: noon.Add(time.Duration(i-20) * time.Hour), Ended: noon.Add(time.Duration(i-20)*time.Hour + time.Duration(i*i)*time.Second),
		}
		switch i {
		case 7:
			v.State, v.Error = fork.Failed, "the command ended with status 1"
		case 12:
			v.State = fork.Stopped
		}
		past.Runs = append(past.Runs, v)
	}
	p := &taskpage.Page{}
	load(p, stored{past: past, prompt: "[routine-bg:0f1e2d3c] Look through what is unread.\n\nLeave newsletters out. Ping only for what needs an answer today."})
	return p
}

// stored is what can be read.
type stored struct {
	pane.Reader
	past   command.TaskPast
	prompt string
	costs  command.CostReport
}

func (s stored) Past(context.Context, string) (command.TaskPast, error) { return s.past, nil }
func (s stored) Preview(context.Context, string) (string, error)        { return s.prompt, nil }
func (s stored) Costs(context.Context, int) (command.CostReport, error) { return s.costs, nil }

// load reads all that a page wants.
func load(p pane.Loader, from pane.Reader) {
	c := pane.Context{Zoomed: true, Snap: &core.Snapshot{At: noon, Schedule: schedule.View{Tasks: make([]schedule.TaskView, 1)}}}
	for want := p.Wants(c).Load; want != nil; want = p.Wants(c).Load {
		want(context.Background(), from)(c)
	}
}

func (s stored) Week(_ context.Context, ago int) (week.Report, error) { return everydayWeek(ago), nil }

// weekRead is the page of a week in which much has happened.
func weekRead() *weekpage.Page {
	p := &weekpage.Page{}
	load(p, stored{})
	return p
}

// everydayWeek is a week until its Friday.
func everydayWeek(ago int) week.Report {
	now := noon.AddDate(0, 0, 4)
	of := week.Sources{
		Promises: func(_, _ time.Time) proposals.Counts { return proposals.Counts{Accepted: 4, Kept: 3} },
		Open:     []proposals.Proposal{{Text: "Move Check email to 9:30? You always answer it then."}},
	}
	for i := range 30 {
		p := budget.Ping{At: now.Add(-time.Duration(i*i) * 8 * time.Minute), Title: "Check email"}
		switch {
		case i%7 == 3:
			p.Refused = "no token was left"
		case i%3 > 0:
			p.Answered = p.At.Add(time.Duration(i+1) * time.Minute)
		}
		of.Pings = append(of.Pings, p)
		row := account.Row{Kind: "routine", ID: "0f1e2d3c", Due: now.Add(-time.Duration(i) * 3 * time.Hour), Fate: account.Ran}
		if i%11 == 10 {
			row.Fate, row.Why = account.Missed, account.Asleep
		}
		of.Due = append(of.Due, row)
	}
	for i := range 7 {
		of.Costs.Days = append(of.Costs.Days, command.CostDay{Date: cron.Wall(now, i-6, 0, 0, zone), Dollars: float64(3+i*7%11) / 8, Runs: 9})
	}
	of.Costs.Tasks = []command.TaskCost{{Title: "Check email", Days: []float64{.1, .2, .3, .2, .4, .1, .2}}}
	return week.Of(now, ago, of)
}

// costsRead is the page of costs with a report.
func costsRead() *costspage.Page {
	p := costspage.New()
	load(p, stored{costs: everydayCosts()})
	return p
}

func cost(dollars float64) money.Sum {
	return money.Total(money.Row{Used: agent.Usage{CostUSD: dollars}})
}

// everydayCosts are thirty days with four tasks.
func everydayCosts() command.CostReport {
	r := command.CostReport{
		At: noon, Talk: 4.2, Expected: 0.5, Projected: 1.8,
		Money: money.State{
			Today: money.Span{Spent: cost(1.09), Cap: 2}, Month: money.Span{Spent: cost(21.3), Cap: 40}, Reserved: 0.2,
		},
		Ahead: []schedule.Entry{{ID: "e5f6a7b8", Description: "Weekly review", Held: true, Money: true, Tag: "held for money until Tue 00:00", Cost: 0.3}},
	}
	r.Advice = []command.Advice{{ID: "0f1e2d3c", Title: "Check email", Share: 0.43, Change: "check: COMMAND", Words: "a check would have saved up to $6.00, because 90 of 120 runs had no ping and no report", Saves: 6}}
	for i := range 30 {
		r.Days = append(r.Days, command.CostDay{Date: noon.AddDate(0, 0, i-29), Dollars: float64(3+i*7%11) / 8, Runs: 9})
	}
	for i, title := range []string{"Check email", "Weekly review", "Medication", "世界 in the evening"} {
		t := command.TaskCost{
			Kind: routines.KindRoutine, ID: []string{"0f1e2d3c", "e5f6a7b8", "9a8b7c6d", "aa00bb11"}[i], Title: title, Runs: 120 / (i + 1),
			Dollars: 8 / float64(i*i+1), Mean: 0.07 / float64(i+1), Trend: []float64{0.25, -0.1, 0, 0.02}[i],
		}
		for d := range 30 {
			t.Days = append(t.Days, float64((d*(i+3)+i)%5)*t.Mean)
		}
		r.Tasks = append(r.Tasks, t)
	}
	return r
}

// commands stand for those of the core.
var commands = []command.Command{
	{Name: "clear", About: "forget the conversation and start afresh"},
	{Name: "compact", Usage: "[instructions]", About: "make the conversation's history shorter"},
	{Name: "config", Usage: "[key] [value]", About: "show or set the configuration"},
	{Name: "cost", About: "what the conversation has used"},
	{Name: "fork", Usage: "[topic]", About: "branch off into a fork that stays apart"},
	{Name: "model", Usage: "[opus|sonnet|haiku]", About: "show or switch the model"},
	{Name: "permissions", Usage: "[mode]", About: "show or set the permission mode"},
	{Name: "help", About: "these commands"},
}

// plainTheme draws without any styling.
func plainTheme() *theme.Theme { return theme.New(theme.Options{Dark: true, Plain: true}) }

// everyday is a bot in the middle of an afternoon.
func everyday() *core.Snapshot {
	at := func(h, m int) time.Time { return time.Date(2026, 11, 23, h, m, 0, 0, zone) }
	s := &core.Snapshot{
		At: noon, Zone: zone, Routines: 12, Reminders: 4, MaxForks: 4, LogLines: 6,
		Budget: core.BudgetView{
			State:  budget.State{Capacity: 5, Available: 3.2, RefillRateMinutes: 90, DailyUsed: 2, CriticalUsed: 1},
			NextAt: at(15, 14), FullAt: at(16, 44), Reserved: 1,
		},
		Schedule: schedule.View{
			Window: "next 3h", Until: noon.Add(3 * time.Hour),
			Entries: []schedule.Entry{
				{ID: "9a8b7c6d", FireTime: at(13, 55), Label: "Medication", Description: "Medication", FilePath: "routines/medication.md", Tag: "just fired", Kind: routines.KindRoutine},
				{ID: "0f1e2d3c", FireTime: at(14, 5), Label: "Check email", Description: "Check email", FilePath: "routines/email-sweep.md", Silent: true, Kind: routines.KindRoutine},
				{ID: "c0ffee00", FireTime: at(14, 30), Label: "Chain reminder (2/5)", Description: "Has the landlord answered?", FilePath: "reminders/landlord.md", Kind: routines.KindReminder},
				{ID: "11aa22bb", FireTime: at(15, 15), Label: "Routine", Description: "Nudge me to stand up and move for five minutes, unless I...", FilePath: "routines/move-a-little.md", Kind: routines.KindRoutine},
				{ID: "e5f6a7b8", FireTime: at(16, 45), Label: "Weekly review", Description: "Weekly review", FilePath: "routines/weekly-review.md", Foreground: true, Kind: routines.KindRoutine},
			},
			Problems: []routines.Problem{
				{File: "routines/gym.md", Line: 3, Column: 8, Severity: routines.Error, Message: "the cron expression has four fields: minute, hour, day of month, month and day of week are needed, as in 0 9 * * 1"},
			},
		},
		Updates: []updates.Update{
			{Key: "a", At: at(8, 2), Message: "Medication: pinged at 8:00, no answer yet."},
			{Key: "b", At: at(13, 47), Message: "Email triage: 2 items need an answer today (landlord, Dana). The landlord wants to know whether Thursday works for the plumber."},
		},
		Notices: nil,
	}
	s.Schedule.Day, s.Schedule.Tasks = everydayTasks(at, s.Schedule.Entries[1:])
	everydayPings(s, at)
	s.Budget.Hours = [24]int{0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 3, 1, 1}
	s.Forks = everydayForks(at)
	s.Chat = everydayChat(at)
	return s
}

// everydayPings are those of the last day, and the fires that may cost a token.
func everydayPings(s *core.Snapshot, at func(h, m int) time.Time) {
	left := func(v float64) *float64 { return &v }
	s.Budget.State.LastRefill = noon
	s.Budget.Pings = []budget.Ping{
		{At: at(-7, 30), ID: "p1", Task: "9a8b7c6d", Title: "Medication", Text: "Time for the evening pill.", Left: left(4), Capacity: 5, Refill: 90, Answered: at(-7, 34), How: budget.Pressed},
		{At: at(8, 0), ID: "p2", Task: "9a8b7c6d", Title: "Medication", Text: "Time for the morning pill.", Left: left(4), Capacity: 5, Refill: 90, Answered: at(8, 4), How: budget.Pressed},
		{At: at(11, 15), ID: "p3", Task: "11aa22bb", Title: "Move a little", Refused: "the budget is empty"},
		{At: at(13, 5), ID: "p4", Task: "feed0001", Title: "Landlord", Text: "The plumber comes at 15:00 and not at 17:00.", Critical: true},
		{At: at(13, 47), ID: "p5", Task: "0f1e2d3c", Title: "Check email", Text: "Dana waits for the numbers.", Left: left(3.1), Capacity: 5, Refill: 90},
	}
	for _, e := range s.Schedule.Day {
		if !e.Silent && !e.Foreground && !e.Held {
			s.Budget.Fires = append(s.Budget.Fires, budget.Fire{At: e.FireTime, Task: e.ID, Title: e.Description, Rate: 0.4})
		}
	}
	s.Budget.FiresUntil = noon.Add(24 * time.Hour)
	s.Budget.QuietSpans = [][2]time.Time{{at(-2, 0), at(7, 0)}, {at(22, 0), at(31, 0)}}
}

// everydayTasks are the fires of 24 hours, the next ones among them, and every
// task; one is paused and one snoozed.
func everydayTasks(at func(h, m int) time.Time, next []schedule.Entry) ([]schedule.Entry, []schedule.TaskView) {
	fire := func(e schedule.Entry, h, m int) schedule.Entry {
		e.FireTime, e.Tag = at(h, m), ""
		return e
	}
	day := append(slices.Clone(next),
		schedule.Entry{ID: "5a5a5a5a", FireTime: at(17, 0), Description: "Water the plants", FilePath: "routines/plants.md", Tag: schedule.TagPaused, Held: true, Kind: routines.KindRoutine},
		fire(next[2], 17, 15), fire(next[2], 18, 15), fire(next[2], 19, 15),
		fire(next[0], 32, 5), fire(next[2], 33, 15),
		schedule.Entry{ID: "9a8b7c6d", FireTime: at(37, 55), Description: "Medication", FilePath: "routines/medication.md", Kind: routines.KindRoutine})
	tasks := make([]schedule.TaskView, 0, len(next)+3)
	for _, e := range next {
		tasks = append(tasks, schedule.TaskView{ID: e.ID, Title: e.Description, Path: e.FilePath, Kind: e.Kind, Next: e.FireTime, Foreground: e.Foreground, Silent: e.Silent})
		if e.Kind == routines.KindReminder {
			tasks[len(tasks)-1].Label = e.Label
		}
		if e.Kind == routines.KindRoutine {
			tasks[len(tasks)-1].When = "every hour at minute 15, Monday to Friday"
		}
	}
	return day, append(tasks,
		schedule.TaskView{ID: "5a5a5a5a", Title: "Water the plants", Path: "routines/plants.md", Kind: routines.KindRoutine, When: "17:00, every day", Next: at(17, 0), Paused: true},
		schedule.TaskView{ID: "9a8b7c6d", Title: "Medication", Path: "routines/medication.md", Kind: routines.KindRoutine, When: "13:55, every day", Next: at(37, 55), Snoozed: at(33, 0)},
		schedule.TaskView{ID: "77777777", Title: "Christmas cards", Path: "routines/cards.md", Kind: routines.KindRoutine, When: "9:00, on 1 December", Next: at(9+8*24, 0)},
		schedule.TaskView{ID: "88888888", Path: "routines/never.md", Kind: routines.KindRoutine, When: "9:00, on 30 February (never)"})
}

func everydayForks(at func(h, m int) time.Time) []fork.View {
	return []fork.View{
		{ID: "11111111", Title: "Email sweep", State: fork.Running, Started: noon.Add(-12 * time.Second), Tools: 1, Activity: "gmail unread --max 20", Usage: agent.Usage{InputTokens: 1200, CostUSD: 0.0104}, Lines: 8},
		{ID: "22222222", Title: "Move a little", State: fork.Running, Started: noon.Add(-95 * time.Second), Tools: 3, Refused: 1, Late: true, Activity: "the budget is empty", Usage: agent.Usage{InputTokens: 800}, Lines: 3},
		{ID: "33333333", Title: "Weekly review", State: fork.Waiting, Position: 1},
		{ID: "44444444", Title: "Medication", State: fork.Done, Started: at(13, 55), Ended: at(13, 56), Pings: 1, Reports: 1, Tools: 2, Usage: agent.Usage{InputTokens: 3100, CostUSD: 0.004}, Lines: 4},
		{ID: "55555555", Title: "Check the rent", State: fork.Failed, Started: at(10, 0), Ended: at(10, 1), Error: "the engine could not be reached: connection refused"},
	}
}

func everydayChat(at func(h, m int) time.Time) []transcript.Entry {
	return []transcript.Entry{
		{ID: "1", At: at(13, 55), Role: transcript.Ping, Source: "Medication", Text: "Time for the 2 pm pill. Answer when it is done."},
		{ID: "2", At: at(13, 58), Role: transcript.User, Text: "done! what's left today?"},
		{ID: "3", At: at(13, 58), Role: transcript.Bot, Text: "Two things are left:\n- answer the landlord about Thursday\n- the weekly review at 16:45", Tools: []string{"tasks list", "cal today"}},
		{ID: "4", At: at(14, 1), Role: transcript.Ping, Source: "Landlord", Critical: true, Embed: &post.Embed{
			Title: "The plumber comes at 15:00", Description: "The landlord moved it forward.", Color: "red",
			Fields: []post.Field{{Name: "Where", Value: "kitchen", Inline: true}}, Buttons: []post.Button{{Label: "Done"}, {Label: "Remind me"}},
		}},
		{ID: "5", At: at(14, 2), Role: transcript.Bot, Text: "I move the review to", Streaming: true},
	}
}

// tails are the everyday tails by run, and the log.
func tails(id string, from tail.Cursor) tail.Page {
	r := tail.New(100)
	add := func(ago int, k tail.Kind, text string) {
		r.Add(tail.Line{At: noon.Add(-time.Duration(ago) * time.Second), Kind: k, Text: text})
	}
	switch id {
	case core.LogTail:
		add(300, tail.Info, "schedule loaded routines=12 reminders=4")
		add(200, tail.Debug, "watch event file=routines/gym.md")
		add(199, tail.Warn, "routine kept at its last good version file=routines/gym.md line=3")
		add(60, tail.Info, "fork started run=22222222 task=11aa22bb")
		add(12, tail.Info, "fork started run=11111111 task=0f1e2d3c")
		add(1, tail.Error, "commit refused err=\"no git identity\"")
	case "11111111":
		add(12, tail.Note, "fires at 14:01, isolated, haiku")
		add(11, tail.Think, "I look at what is unread and leave newsletters out.")
		add(10, tail.Tool, "gmail unread --max 20")
		add(9, tail.Result, "20 threads, 14 of them newsletters")
		add(7, tail.Text, "Two need an answer today: the landlord asks about Thursday, and Dana waits for the numbers of the third quarter.")
		add(5, tail.Ping, "The plumber comes at 15:00")
		add(4, tail.Refuse, "ping: already sent 1 ping in this run")
		add(2, tail.Report, "queued for the main session")
	case "22222222":
		add(95, tail.Text, "Time to move.")
	}
	return r.Read(from)
}

// everydayContext is the fixture with a theme.
func everydayContext(t *theme.Theme) pane.Context {
	return pane.Context{Theme: t, Snap: everyday(), Tail: tails}
}

// stage is a pane with a fixture.
type stage struct {
	pane.Pane
	c    pane.Context
	name action.Pane
}

func open(name string) *stage {
	s := &stage{panes()[name], everydayContext(plainTheme()), action.Pane(name)}
	s.Sync(s.c)
	return s
}

// next gives the pane a changed copy of its snapshot.
func (s *stage) next(change func(*core.Snapshot)) {
	snap := *s.c.Snap
	change(&snap)
	s.c.Snap = &snap
	s.Sync(s.c)
}

// read is the text of the page that an answer opens; empty where it opens none.
func read(a pane.Answer) string {
	p, ok := a.Open.(*dialog.Page)
	if !ok {
		return ""
	}
	return p.Update(pane.Context{}, tea.KeyPressMsg{Code: 'c', Text: "c"}).Copy
}

// find selects the first row that a filter of the schedule leaves.
func (s *stage) find(t *testing.T, query string) {
	t.Helper()
	s.Pane.(ender).End(s.c) // the filter before it
	s.do(action.Schedule.ID("find"))
	s.keys(t, query, "enter")
	s.do(action.Schedule.ID("top"))
}

// do carries out actions; of one that is off it says why, as the frame does.
func (s *stage) do(ids ...action.ID) (a pane.Answer) {
	for _, id := range ids {
		if a.Toast = off(s.Pane, s.name, s.c, id); a.Toast == "" {
			a = s.Do(s.c, id)
		}
	}
	return a
}

// off says why an action cannot be used now.
func off(p pane.Pane, name action.Pane, c pane.Context, id action.ID) string {
	a, _ := action.Get(name, id)
	if a.Off != nil && a.Off(*c.Snap) != "" {
		return a.Off(*c.Snap)
	}
	if p, ok := p.(interface {
		Off(c pane.Context, id action.ID) string
	}); ok {
		return p.Off(c, id)
	}
	return ""
}

// drawn is what a pane draws.
func drawn(p pane.Pane, c pane.Context, w, h int, focused bool) []string {
	return textsOf(p.Draw(c, w, h, focused))
}

func textsOf(rows []widget.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Text)
	}
	return out
}

func (s *stage) screen(w, h int) string { return strings.Join(drawn(s, s.c, w, h, true), "\n") }

// keys types into a pane that captures: names of keys, or text.
func (s *stage) keys(t *testing.T, keys ...string) pane.Answer {
	t.Helper()
	var a pane.Answer
	for _, k := range keys {
		if !s.Capture() {
			t.Fatalf("%q is typed, but the pane takes no text", k)
		}
		if key, named := tuitest.Key(k); named {
			a = s.Type(s.c, key)
			continue
		}
		tuitest.Type(k, func(key tea.KeyPressMsg) { a = s.Type(s.c, key) })
	}
	return a
}

// has reports what is missing on a screen.
func has(t *testing.T, screen string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(screen, w) {
			t.Errorf("%q is missing in\n%s", w, screen)
		}
	}
}

// lacks reports what is on a screen and must not be, and what that means.
func lacks(t *testing.T, fault, screen, word string) {
	t.Helper()
	if strings.Contains(screen, word) {
		t.Errorf("%s: %q is in\n%s", fault, word, screen)
	}
}
