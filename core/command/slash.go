package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/budget"
	"ollimbot/routines/when"
)

// setupSkill is the bundled skill for /setup. Only the user can start it, not the model.
const setupSkill = "setup"

// Conversation is what the slash commands need of the conversation.
type Conversation interface {
	// Settings returns the settings of the main session or a fork, CurrentSettings those of
	// the session the user is in.
	Settings(inFork bool) agent.Settings
	CurrentSettings() agent.Settings
	SetModel(ctx context.Context, name string) error
	SetThinking(ctx context.Context, mode string) error
	Mode() policy.Mode
	SetMode(ctx context.Context, m policy.Mode) error
	ConfigChanged(ctx context.Context, key string) error
	// Command sends a command to the engine of the main session; tokens is the number of
	// tokens saved.
	Command(ctx context.Context, m agent.Message) (text string, r agent.Result, tokens int, err error)
	Clear(ctx context.Context) (forkToo bool, err error)
	Attach(path string) (string, error)
	EnterFork(topic string) error
	Interrupt(ctx context.Context) error
	// Busy reports whether a turn is running, and since when.
	Busy() (bool, time.Time)
}

// Host is the bot that executes a line of the conversation.
type Host struct {
	Chat     Conversation
	Engine   agent.Engine
	Budget   *budget.Bucket
	Tally    *budget.Tally
	Sessions *session.Store
	Dir      *store.Dir
	Version  string
	Program  Program
	Now      func() time.Time
	// Config returns the current configuration, SetConfig replaces it.
	Config    func() *config.Runtime
	SetConfig func(*config.Runtime)
	// Follows describes the consequences of a setting that needs a confirmation; usually "".
	Follows func(key, value string) string
	// CheckModel returns an error if the provider has no such model; nil accepts every name.
	CheckModel func(name string) error
	// Models returns the models that providers offer, and what is known of them; it may take some seconds. Nil for none.
	Models func(ctx context.Context) []ModelChoice
	// Lift suspends the spending caps for today, or restores them.
	Lift func(ctx context.Context, undo bool) (string, error)
	// Costs reports the spending of a number of days with today.
	Costs func(days int) (CostReport, error)
	// Status returns the whole status, in lines.
	Status func() []string
	// Week sums up a week, that many weeks ago, in lines.
	Week func(ctx context.Context, ago int) ([]string, error)
	// Servers describes the MCP servers, or logs in or out at one.
	Servers func(ctx context.Context, args []string) (string, error)
	// Card returns the status as a card with buttons.
	Card func() *post.Embed
	// Record writes a decision to the audit log.
	Record func(context.Context, audit.Entry)
	// Follow runs a skill in a turn of the user, with what they have filled in before.
	Follow func(ctx context.Context, s skill.Skill, filled string) error
	// Google starts a login at Google, or reports the existing one.
	Google func(ctx context.Context, args []string) (string, error)
	// Add makes a task.
	Add func(context.Context, AddTask) (Outcome, error)
	// Line carries out a line of the command line; nil if there is no command line.
	Line func(ctx context.Context, l Line) (Outcome, error)
	// ZoneFixed is the flag or variable that sets the time zone, so that no command can; usually empty.
	ZoneFixed string
	// Restart restarts the program; nil if that is impossible.
	Restart func()
}

const helpName = "help"

// CarryOut executes the line; Outcome.Message is the reply. Errors are for the user.
func (c Slash) CarryOut(ctx context.Context, h Host) (out Outcome, err error) {
	l := Line{strings.TrimPrefix(strings.TrimSpace(c.Line), "/"), c.Sure}
	line := strings.Fields(l.Text)
	if len(line) == 0 {
		return out, errors.New("a command needs a name: " + slashNames())
	}
	switch row, ok := Find(InSlash, strings.ToLower(line[0])); {
	case ok && row.Name == helpName: // the table cannot contain the function that lists it
		return Outcome{Message: slashHelp()}, nil
	case ok && row.slash != nil:
		out.Message, err = row.slash(h, ctx, line[1:])
		return out, err
	}
	if _, _, err := l.Row(); err != nil || h.Line == nil {
		return out, &NoLineError{noSlash(line[0])}
	}
	out, err = h.Line(ctx, l)
	out.Message = out.Printed
	return out, err
}

// Picture returns the name of the picture for the reply to the line, or "".
func (c Slash) Picture() string {
	line := strings.Fields(strings.TrimPrefix(strings.TrimSpace(c.Line), "/"))
	if len(line) == 0 {
		return ""
	}
	if row, ok := Find(InSlash, strings.ToLower(line[0])); ok && row.picture != nil {
		return row.picture(line[1:])
	}
	return ""
}

// Card returns the reply to the line as a card, or nil if there is none.
func (c Slash) Card(h Host) *post.Embed {
	name, args, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(c.Line), "/"), " ")
	row, ok := Find(InSlash, strings.ToLower(name))
	switch {
	case !ok || args != "":
		return nil
	case row.Name == helpName:
		return helpCard()
	case row.card == nil:
		return nil
	}
	return row.card(h)
}

func slashNames() string {
	var names []string
	for _, c := range List(InSlash) {
		names = append(names, "/"+c.Name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// noSlash reports an unknown command, and suggests one.
func noSlash(name string) string {
	text := fmt.Sprintf("there is no command /%s", clean.Cut(clean.Line(name), 40))
	if there := Elsewhere(name); there != "" {
		return text + "; " + there
	}
	if near := words.Nearest("/"+name, strings.Fields(slashNames())); near != "" {
		return text + ", did you mean " + near + "?"
	}
	return text + "; there are " + slashNames()
}

func slashHelp() string {
	var out strings.Builder
	for _, c := range List(InSlash) {
		fmt.Fprintf(&out, "%-42s %s\n", c.Line(), strings.TrimSuffix(c.About, "."))
	}
	return strings.TrimRight(out.String(), "\n")
}

func (h Host) status(context.Context, []string) (string, error) {
	return strings.Join(h.Status(), "\n"), nil
}

// week sums up this week or the last one.
func (h Host) week(ctx context.Context, args []string) (string, error) {
	ago, ok := WeeksAgo(strings.Join(args, " "))
	if !ok {
		return "", fmt.Errorf(textWhichWeek, clean.Cut(clean.Line(strings.Join(args, " ")), 40))
	}
	lines, err := h.Week(ctx, ago)
	return strings.Join(lines, "\n"), err
}

// WeeksAgo parses a week: "", "last", or the number of weeks ago.
func WeeksAgo(text string) (ago int, ok bool) {
	switch strings.ToLower(text) {
	case "", "this":
		return 0, true
	case "last":
		return 1, true
	}
	ago, err := strconv.Atoi(text)
	return ago, err == nil && ago >= 0
}

// weekPicture returns the picture for the requested week.
func weekPicture(args []string) string {
	ago, ok := WeeksAgo(strings.Join(args, " "))
	switch {
	case ok && ago == 0:
		return post.PictureWeek
	case ok && ago == 1:
		return post.PictureLastWeek
	}
	return ""
}

func (h Host) servers(ctx context.Context, args []string) (string, error) {
	return h.Servers(ctx, args)
}

// clear clears the conversation.
func (h Host) clear(ctx context.Context, args []string) (string, error) {
	if len(args) > 0 { // "not really" is a second thought
		return "", &NoLineError{fmt.Sprintf(textNoClear, strings.Join(args, " "))}
	}
	forkToo, err := h.Chat.Clear(ctx)
	switch {
	case err != nil:
		return "", err
	case forkToo:
		return "conversation cleared; the fork was discarded too.", nil
	}
	return "conversation cleared.", nil
}

// attach attaches a file to the next message.
func (h Host) attach(_ context.Context, args []string) (string, error) {
	if len(args) == 0 {
		return "", errors.New("which file? /attach PATH")
	}
	return h.Chat.Attach(strings.Join(args, " "))
}

// fork enters a fork; the card it posts is the reply.
func (h Host) fork(_ context.Context, args []string) (string, error) {
	return "", h.Chat.EnterFork(strings.Join(args, " "))
}

// compact shortens the main session's history and reports the result.
func (h Host) compact(ctx context.Context, args []string) (string, error) {
	_, r, tokens, err := h.Chat.Command(ctx, agent.Message{Command: agent.Compact, Text: strings.Join(args, " ")})
	if err != nil {
		return "", err
	}
	var stats []string
	if r.Turns > 0 {
		stats = append(stats, fmt.Sprintf("%d turns", r.Turns))
	}
	if at, ok := h.Sessions.Created(); ok {
		stats = append(stats, cmp.Or(words.Span(h.Now().Sub(at)), "< 1m"))
	}
	if tokens > 0 {
		stats = append(stats, words.Big(tokens)+" tokens compacted")
	}
	return strings.Join(stats, " · "), nil
}

// cost shows today's and this month's spending, and what today's was for.
func (h Host) cost(context.Context, []string) (string, error) {
	r, err := h.Costs(1)
	if err != nil {
		return "", err
	}
	return strings.Join(append(MoneyLines(r.Money), r.PartLines()...), "\n"), nil
}

// remind creates a reminder: "buy milk, tomorrow 9:00", with or without the comma.
func (h Host) remind(ctx context.Context, args []string) (string, error) {
	line, ahead, err := when.LastAhead(strings.Join(args, " "))
	switch {
	case err != nil:
		return "", err
	case line == "":
		return "", errors.New(textRemindUsage)
	}
	what, said := line, ""
	if i := strings.LastIndex(line, ","); i >= 0 {
		what, said = line[:i], strings.TrimSpace(line[i+1:])
	}
	read := when.Reader{Now: h.Now(), Day: h.Config().Day()}
	at, err := read.Moment(said)
	if said == "" || err != nil && !when.Meant(err) { // a time that cannot be is not half a time
		rest, last, bad := read.Last(line)
		switch {
		case bad == nil:
			at, err, what = last, nil, strings.TrimRight(rest, ", ")
		case said == "":
			err = bad
		}
	}
	what = strings.TrimSpace(what)
	switch {
	case err != nil:
		return "", err
	case what == "":
		return "", errors.New(textRemindUsage)
	}
	out, err := h.Add(ctx, AddTask{At: at, Ahead: when.AheadLine(ahead), Description: clean.Cut(clean.Line(what), 60), Message: fmt.Sprintf(TextRemindOf, what)})
	return noted(out.Message, read.Note(line)), err
}

// noted is a message with a note, if there is one.
func noted(message, note string) string {
	if note == "" {
		return message
	}
	return message + " (" + note + ")"
}

func (h Host) interrupt(ctx context.Context, _ []string) (string, error) {
	if busy, _ := h.Chat.Busy(); !busy {
		return textNothingRuns, nil
	}
	return "", h.Chat.Interrupt(ctx)
}

func (h Host) version(context.Context, []string) (string, error) {
	return "ollim-bot " + h.Version, nil
}

func (h Host) restart(context.Context, []string) (string, error) {
	if h.Restart == nil {
		return "", errors.New("this program cannot restart itself; quit and start it again")
	}
	if id := h.Sessions.Main(); id != "" {
		if err := h.Sessions.Log(h.Now(), session.Event{SessionID: id, Event: session.Restarting}); err != nil {
			return "", err
		}
	}
	h.Restart()
	return "restarting...", nil
}

// setup lets the agent guide the user through names, profile and routines.
func (h Host) setup(ctx context.Context, _ []string) (string, error) {
	return "", h.BeginSetup(ctx, "")
}

// BeginSetup is setup with what the user has filled in before.
func (h Host) BeginSetup(ctx context.Context, filled string) error {
	s, ok := skill.Read(h.Dir, setupSkill)
	if !ok {
		return errors.New(textNoSetup)
	}
	return h.Follow(ctx, s, filled)
}

// google starts a login at Google, or reports the existing one.
func (h Host) google(ctx context.Context, args []string) (string, error) { return h.Google(ctx, args) }
