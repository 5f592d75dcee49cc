package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/core/work/updates"
	"ollimbot/discord"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/routines/zones"
	"ollimbot/tui"
	panes "ollimbot/tui/action"
	"ollimbot/tui/widget/query"
)

// statusNext is how many of the next fires the status shows.
const statusNext = 3

type statusCmd struct {
	console.AsJSON
}

// standing is how things are: the program, and what scripts get of the snapshot.
type standing struct {
	Version   string       `json:"version"`
	DataDir   string       `json:"data_dir"`
	Timezone  string       `json:"timezone"`
	ZoneData  zones.Report `json:"zone_data"`
	Running   bool         `json:"running"`
	PID       int          `json:"pid"`
	Routines  int          `json:"routines"`
	Reminders int          `json:"reminders"`
	// Problems is what is wrong with the user's files, as check lists it.
	Problems []routines.Problem `json:"problems"`
	Waiting  int                `json:"waiting"`
	Budget   core.BudgetView    `json:"budget"`
	Muted    time.Time          `json:"muted_until"`
	Updates  int                `json:"updates"`
	Forks    int                `json:"forks_running"`
	core.Glance
	Money  money.State      `json:"money"`
	Unseen int              `json:"failed_unseen"` // failed runs
	Next   []schedule.Entry `json:"next"`
	// Held are the next fires on hold because of a spending cap, with their expected costs.
	Held []schedule.Entry `json:"held_for_money"`
	// Paused are the tasks that do not fire until they are resumed or their snooze ends, with their states.
	Paused []heldTask `json:"paused"`
	// Unreached is why the bot could not message its user in Discord, or empty.
	Unreached string `json:"discord_unreached,omitempty"`
	// Discord is the state of the running bot's connection.
	Discord *discord.Standing `json:"discord,omitempty"`
	Google  string            `json:"google_trouble,omitempty"` // the problem with the Google login
}

// heldTask is a task that is paused or snoozed.
type heldTask struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	State string `json:"state"` // "paused", "snoozed until Mon 10:05"
}

// Run shows the state of the data directory, with or without a running bot.
func (c *statusCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	s := bot.SnapshotAt(at.Now)
	if _, running := at.Dir.Running(); !running {
		s.Forks = nil // runs without an end were interrupted
	} else if now, known := discord.Recorded(at.Dir); known {
		s.Surface = now.SurfaceStatus
	}
	a := standingOf(at, s)
	a.ZoneData = bot.ZoneData(at.Now)
	return p.Answer(c.JSON, a, a.lines(at, s))
}

func standingOf(at console.DataDir, s core.Snapshot) standing {
	pid, running := at.Dir.Running()
	a := standing{
		Version: version, DataDir: at.Dir.Root(), Timezone: at.Env.ZoneName, Running: running, PID: pid,
		Routines: s.Routines, Reminders: s.Reminders, Problems: append([]routines.Problem{}, s.Schedule.Problems...), Waiting: s.Waiting(),
		Budget: s.Budget, Muted: s.Budget.Muted, Updates: len(s.Updates), Glance: s.Glance(), Money: s.Money, Unseen: len(s.Failures),
		Next: []schedule.Entry{}, Held: []schedule.Entry{}, Paused: []heldTask{}, Unreached: discord.ShutOut(at.Dir), Google: s.Google,
	}
	if now, known := discord.Recorded(at.Dir); known && running {
		a.Discord = &now
	}
	for _, t := range s.Schedule.Tasks {
		if t.Waits == "" && (t.Paused || !t.Snoozed.IsZero()) { // as in every list: approval comes first
			a.Paused = append(a.Paused, heldTask{t.ID, t.Title, t.Held})
		}
	}
	a.Forks, _ = fork.Count(s.Forks)
	for _, e := range s.Schedule.Entries {
		if e.Money {
			a.Held = append(a.Held, e)
		}
		if !e.Held && e.FireTime.After(at.Now) && len(a.Next) < statusNext {
			a.Next = append(a.Next, e)
		}
	}
	return a
}

func (a standing) lines(at console.DataDir, s core.Snapshot) []string {
	lines := []string{s.Headline().Text(), "ollim-bot " + a.Version + ", " + at.Running()}
	tell := func(name, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("%-10s %s", name+":", text))
		}
	}
	tell("data", at.Dir.Display())
	tell("time", at.Now.Format(console.MomentLayout)+" ("+a.Timezone+")")
	for _, warning := range a.ZoneData.Warnings {
		tell("zone data", warning)
	}
	if a.Unreached != "" {
		tell("discord", "cannot write to you: "+a.Unreached)
	} else if a.Discord != nil {
		tell("discord", a.Discord.Text(at.Env.Zone))
	}
	for _, f := range s.Facts() {
		if f.Name == "problems" {
			f.Text += ": ollim-bot check says where and how to mend them"
		}
		tell(f.Name, f.Text)
	}
	for _, t := range a.Paused {
		tell(t.State, t.Title+" ("+t.ID+")")
	}
	for _, e := range a.Next {
		lines = append(lines, entryLine(e, at.Now))
	}
	return lines
}

type updatesCmd struct {
	ofFilter
	console.AsJSON
}

// Run lists the pending updates, oldest first, without taking them.
func (c *updatesCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	s := bot.SnapshotAt(at.Now)
	list := kept(c.ofFilter, s.Updates, func(u updates.Update) query.Facts {
		return query.Facts{Text: s.UpdateText(u), At: s.Local(u.At), Now: at.Now}
	})
	lines := console.Each(list, func(u updates.Update) string {
		p.Reads(u.Label)
		text := strings.ReplaceAll(s.UpdateText(u), "\n", "\n                  ")
		return fmt.Sprintf("%16s  %s", words.Ago(at.Now.Sub(u.At)), text)
	})
	return p.Answer(c.JSON, list, console.OrNone(lines, c.none("no pending updates")))
}

// ofFilter is what a list keeps, as in the dashboard.
type ofFilter struct {
	Filter []string `arg:"" optional:"" help:"Words, a day such as yesterday, or a state such as is:failed."`
}

// none returns the text for an empty list.
func (f ofFilter) none(text string) string {
	if len(f.Filter) == 0 {
		return text
	}
	return fmt.Sprintf(textNoneMatches, strings.Join(f.Filter, " "))
}

// kept returns the values that a filter keeps. The result is never nil, because JSON distinguishes null from [].
func kept[T any](f ofFilter, list []T, facts func(T) query.Facts) []T {
	q := query.Parse(strings.Join(f.Filter, " "))
	return slices.DeleteFunc(append([]T{}, list...), func(v T) bool { return !q.Keeps(facts(v)) })
}

type snapshotCmd struct {
	Width  int    `default:"120" help:"Columns of the frame."`
	Height int    `default:"40" help:"Rows of the frame."`
	Page   string `enum:"all,budget,schedule,updates,runs,chat,logs,task,costs,away,week,settings" default:"all" help:"A page instead of all: ${enum}."`
	At     string `placeholder:"TIME" help:"The dashboard at this moment instead of now. Nothing is written."`
}

// The largest frame that can be asked for: beyond any terminal.
const (
	maxWidth  = 1000
	maxHeight = 500
)

// Run prints one frame of the dashboard as plain text.
func (c *snapshotCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	if c.Width < 1 || c.Width > maxWidth || c.Height < 1 || c.Height > maxHeight {
		return console.Usagef("a frame is 1 to %d columns wide and 1 to %d rows high", maxWidth, maxHeight)
	}
	now, err := at.Moment("--at", c.At)
	if err != nil {
		return err
	}
	o := tui.FrameOptions{Width: c.Width, Height: c.Height, Env: p.Environ()}
	if c.Page != "all" {
		o.Focus, o.Zoom = panes.Pane(c.Page), true
	}
	if c.Page == "runs" {
		o.Focus = panes.Forks
	}
	then := bot.SnapshotAt(now)
	if _, running := at.Dir.Running(); running {
		then.Engine.Offline = false // this command has no model; the bot may have one
	}
	return p.Lines(tui.Frame(moment{bot.Viewer(true), then}, o)...)
}

// moment is a viewer with a fixed snapshot.
type moment struct {
	*core.Viewer
	then core.Snapshot
}

func (m moment) Snapshot() core.Snapshot { return m.then }
