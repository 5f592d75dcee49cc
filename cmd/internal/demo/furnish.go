package demo

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
	"ollimbot/routines/starter"
)

// Home is the data directory of a demo, and the time at which it starts, in its user's
// zone.
type Home struct {
	Dir *store.Dir
	Now time.Time
	// Days is the length of the past, including today; 0 means eight weeks.
	Days int
}

// Furnish fills an empty data directory: the example files, a few routines for the next
// hours, and the past that these routines have had. Two directories that are furnished for
// the same moment are the same.
func Furnish(h Home) error {
	if err := h.Dir.Prepare(); err != nil {
		return err
	}
	files, err := starter.Files()
	if err != nil {
		return err
	}
	if err := h.Dir.Write("state/config.json", []byte(settings)); err != nil {
		return err
	}
	var set []routines.Routine
	for _, f := range files {
		data := []byte(withScript(string(f.Data), starterScripts[f.Path]))
		if f.Path == inboxFile { // else it would fill every list
			if data, err = frontmatter.Splice(data, []frontmatter.Entry{{Key: "cron", Value: "30 9,12,15,18 * * *"}}); err != nil {
				return err
			}
		}
		if err := h.Dir.Write(f.Path, data); err != nil {
			return err
		}
		if strings.HasPrefix(f.Path, routines.RoutineFolder+"/") {
			r, _ := routines.ParseRoutine(f.Path, data)
			set = append(set, r)
		}
	}
	for _, d := range dayAhead {
		r, err := addRoutine(h, d)
		if err != nil {
			return err
		}
		set = append(set, r)
	}
	return live(h, set).keep(h.Dir, set)
}

// settings let the conversation ask before it runs a command.
const settings = `{"permission_mode": "default"}` + "\n"

// routine is a routine that fires daily, for the first time some time after the start.
type routine struct {
	id, title, body  string
	script           string // empty: the offline engine reads the body
	from             time.Duration
	silent, speaking bool // sends no pings; runs in the foreground
}

// The routines of the demo's own.
const (
	plants  = "de300001" // which the driver edits
	tea     = "de300002"
	standUp = "de300003"
	checkIn = "de300004"
	papers  = "de300005"
)

var dayAhead = []routine{
	{id: plants, title: "Water the plants", body: "Ping me to water the plants on the balcony.", from: 55 * time.Minute, script: plantsScript},
	{id: tea, title: "Tea break", body: "Nudge me to make a cup of tea and look out of the window.", from: 25 * time.Minute, script: teaScript},
	{
		id: standUp, title: "Stand-up notes", body: "Collect what I did since yesterday and report it in three lines.",
		from: 95 * time.Minute, silent: true, script: standUpScript,
	},
	{
		id: checkIn, title: "Afternoon check-in", body: "Ask me how the afternoon goes.",
		from: 140 * time.Minute, speaking: true, script: "say How is your afternoon going?",
	},
	{id: papers, title: "Sort the papers", body: "Sort what was scanned, and say what has a date.", from: 170 * time.Minute, script: papersScript},
}

func addRoutine(h Home, d routine) (routines.Routine, error) {
	return routines.AddRoutine(h.Dir, routines.Routine{
		Task: routines.Task{
			Kind: routines.KindRoutine, ID: d.id, Description: d.title, Body: withScript(d.body, d.script),
			Background: !d.speaking, Thinking: true, Mode: routines.OnPing, AllowPing: !d.silent,
		},
		Cron: daily(h.Now.Add(d.from)),
	})
}

// withScript appends a script for the offline engine to the text of a task.
func withScript(text, script string) string {
	if script == "" {
		return text
	}
	return strings.TrimRight(text, "\n") + "\n\n```script\n" + script + "\n```\n"
}

// daily is the cron expression for a time of day, every day.
func daily(t time.Time) string { return fmt.Sprintf("%d %d * * *", t.Minute(), t.Hour()) }
