package google

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/base/clean"
	"ollimbot/core/safety/label"
	"ollimbot/core/work/google"
	times "ollimbot/routines/when"
)

// maxDaysAhead is how far ahead a list of events may look.
const maxDaysAhead = 366

// CalendarCmd is the commands of the calendar.
type CalendarCmd struct {
	Today    calTodayCmd    `cmd:""`
	Upcoming calUpcomingCmd `cmd:""`
	Show     calShowCmd     `cmd:""`
	Add      calAddCmd      `cmd:""`
	Update   calUpdateCmd   `cmd:""`
	Delete   calDeleteCmd   `cmd:""`
}

// inCalendar are the flags of all calendar commands.
type inCalendar struct {
	Calendar []string `placeholder:"ID" help:"Use this calendar instead of the setting google_calendars."`
}

// in are the calendars to use.
func (c inCalendar) in(g *At) []string {
	if len(c.Calendar) > 0 {
		return c.Calendar
	}
	return g.calendars
}

// when is the day and the times of an event.
func when(e google.Event, zone *time.Location) string {
	start, ok := e.Start.Time(zone)
	if !ok {
		return "????-??-??  (no time)   "
	}
	if e.AllDay() {
		return start.Format(time.DateOnly) + "  (all-day)   "
	}
	end, ok := e.End.Time(zone)
	if !ok {
		end = start
	}
	return start.Format(time.DateOnly+"  15:04") + end.Format("-15:04")
}

type calTodayCmd struct {
	inCalendar
	console.AsJSON
}

// Run lists the events from midnight to midnight.
func (c *calTodayCmd) Run(p *console.Process, g *At) error { return c.events(p, g, 1, c.JSON) }

type calUpcomingCmd struct {
	inCalendar
	Days int `default:"7" placeholder:"N" help:"Number of days, including today."`
	console.AsJSON
}

// Run lists the events of some days from this midnight on.
func (c *calUpcomingCmd) Run(p *console.Process, g *At) error {
	if c.Days < 1 || c.Days > maxDaysAhead {
		return console.Usagef(textOutOf, "--days", c.Days, maxDaysAhead)
	}
	return c.events(p, g, c.Days, c.JSON)
}

func (c inCalendar) events(p *console.Process, g *At, days int, asJSON bool) error {
	zone, calendars := g.Env.Zone, c.in(g)
	from := time.Date(g.Now.Year(), g.Now.Month(), g.Now.Day(), 0, 0, 0, 0, zone)
	if err := warned(p, TextEventsAreNot); err != nil {
		return err
	}
	err := streamed(p, asJSON, "no events", g.Calendar.Events(g, calendars, from, from.AddDate(0, 0, days)), func(e google.Event) (string, any) {
		strangers(p, e)
		line := fmt.Sprintf("  %s  %s  %s", clean.Line(e.ID), when(e, zone), oneLine(e.Summary, "(no title)"))
		if len(calendars) > 1 {
			line += "  [" + clean.Line(e.Calendar) + "]"
		}
		return line, e.In(zone)
	})
	return named(err, textNoCalendar, strings.Join(calendars, ", or "))
}

// labelInvitation is the label of events that others have put into the user's calendar.
const labelInvitation = "calendar invitation"

// strangers records that a model is about to read another person's text.
func strangers(p *console.Process, e google.Event) {
	if e.Foreign() {
		p.Reads(label.From(labelInvitation))
	}
}

type calShowCmd struct {
	inCalendar
	ofID
}

// Run shows one event.
func (c *calShowCmd) Run(p *console.Process, g *At) error {
	e, err := g.Calendar.Get(g, c.in(g), c.ID)
	if err != nil {
		return named(err, textNoEvent, c.ID)
	}
	strangers(p, e)
	if err := warned(p, TextEventsAreNot); err != nil {
		return err
	}
	calendar := ""
	if len(c.in(g)) > 1 {
		calendar = e.Calendar
	}
	return p.Answer(c.JSON, e.In(g.Env.Zone), labelled(13,
		"title", oneLine(e.Summary, "(no title)"), "when", when(e, g.Env.Zone), "location", oneLine(e.Location, ""),
		"description", e.Text(), "link", oneLine(e.Link, ""), "attendees", oneLine(guests(e.Attendees), ""),
		"calendar", calendar, "status", oneLine(e.Status, "unknown"), "id", oneLine(e.ID, c.ID)))
}

// guests lists the guests of an event with their answers.
func guests(list []google.Attendee) string {
	answers := map[string]string{"accepted": "comes", "declined": "does not come", "tentative": "may come", "needsAction": "no answer yet"}
	return strings.Join(console.Each(list, func(a google.Attendee) string {
		if answer := answers[a.Response]; answer != "" {
			return a.Email + " (" + answer + ")"
		}
		return a.Email
	}), ", ")
}

// eventTime reads --start or --end, by default in the configured zone. A local time that a
// change of the clocks skips is refused.
func eventTime(flag, value string, at console.DataDir) (time.Time, error) {
	t, err := given(flag, value, at)
	if err != nil {
		return t, err
	}
	written := strings.Replace(value, "T", " ", 1)
	if _, naive, err := times.Written(value, t.Location()); err == nil && naive && !strings.Contains(written, t.Format("2006-01-02 15:04")) {
		return time.Time{}, console.Usagef(textSkippedTime, flag, value, t.Location())
	}
	return t, nil
}

// ordered checks that an event ends after it starts.
func ordered(start, end time.Time) error {
	if !end.After(start) {
		return console.Usagef(textEndsFirst, start.Format("2006-01-02T15:04"), end.Format("2006-01-02T15:04"))
	}
	return nil
}

type calAddCmd struct {
	inCalendar
	Summary     string `arg:"" help:"Title of the event."`
	Start       string `required:"" placeholder:"TIME" help:"YYYY-MM-DDTHH:MM, in the bot's zone."`
	End         string `required:"" placeholder:"TIME" help:"YYYY-MM-DDTHH:MM, in the bot's zone."`
	Description string `placeholder:"TEXT" help:"Description."`
	console.AsJSON
}

// Run adds an event to the first of the calendars.
func (c *calAddCmd) Run(p *console.Process, g *At) error {
	summary := clean.Line(c.Summary)
	if summary == "" {
		return console.Usagef(textNoTitle)
	}
	start, err := eventTime("--start", c.Start, g.DataDir)
	if err != nil {
		return err
	}
	end, err := eventTime("--end", c.End, g.DataDir)
	if err == nil {
		err = ordered(start, end)
	}
	if err != nil {
		return err
	}
	calendar := c.in(g)[0]
	e, err := g.Calendar.Add(g, calendar, google.Event{
		Summary: summary, Description: clean.Text(c.Description), Start: google.At(start), End: google.At(end),
	})
	if err != nil {
		return named(err, textNoCalendar, calendar)
	}
	e.Calendar = calendar
	return p.Answer(c.JSON, e.In(g.Env.Zone), []string{"created " + clean.Line(e.ID) + ": " + summary})
}

type calUpdateCmd struct {
	inCalendar
	ofID
	Summary     *string `placeholder:"TEXT" help:"New title."`
	Start       *string `placeholder:"TIME" help:"New start, YYYY-MM-DDTHH:MM; without --end the length stays."`
	End         *string `placeholder:"TIME" help:"New end, YYYY-MM-DDTHH:MM."`
	Description *string `placeholder:"TEXT" help:"New description."`
}

// Run changes the given fields.
func (c *calUpdateCmd) Run(p *console.Process, g *At) error {
	fields := changes{}
	if err := fields.title("summary", c.Summary); err != nil {
		return err
	}
	fields.text("description", c.Description)
	var start, end time.Time
	for _, f := range []struct {
		name  string
		value *string
		to    *time.Time
	}{{"start", c.Start, &start}, {"end", c.End, &end}} {
		if f.value == nil {
			continue
		}
		var err error
		if *f.to, err = eventTime("--"+f.name, *f.value, g.DataDir); err != nil {
			return err
		}
		fields[f.name] = google.Change(*f.to)
	}
	if len(fields) == 0 {
		return console.Usagef(textOneOf, "--summary, --start, --end, --description")
	}
	e, err := g.Calendar.Get(g, c.in(g), c.ID) // to find its calendar
	if err != nil {
		return named(err, textNoEvent, c.ID)
	}
	if c.Start != nil || c.End != nil {
		if e.AllDay() && (c.Start == nil || c.End == nil) {
			return console.Usagef(textBothEnds)
		}
		if c.Start == nil {
			start, _ = e.Start.Time(g.Env.Zone)
		}
		if c.End == nil {
			end = start.Add(e.Length())
			fields["end"] = google.Change(end)
		}
		if err := ordered(start, end); err != nil {
			return err
		}
	}
	_, err = g.Calendar.Update(g, e.Calendar, c.ID, fields)
	return c.changed(p, "updated", textNoEvent, err)
}

type calDeleteCmd struct {
	inCalendar
	ofID
}

// Run removes an event.
func (c *calDeleteCmd) Run(p *console.Process, g *At) error {
	return c.changed(p, "deleted", textNoEvent, g.Calendar.Delete(g, c.in(g), c.ID))
}
