package google

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/updates"
)

// Files are the names of the files of the login. Other commands write them too while the
// bot runs.
var Files = []string{"token.json", "credentials.json", "google.json", "google_auth_revoked"}

// loginTime is how long a login waits for the browser. The address may be pasted even
// after that.
const loginTime = 5 * time.Minute

// AccountOptions configure an Account; all are required.
type AccountOptions struct {
	Client  *Client
	Zone    *time.Location
	Log     *slog.Logger
	Config  func() *config.Runtime
	Audit   *audit.Log
	Updates *updates.Queue
	Notices *notice.Board
	// Say writes a line in the conversation.
	Say func(text string)
	// Allowed is called after the agent's Google permissions change.
	Allowed func()
	// Changed is called after something shown in a dashboard changes.
	Changed func()
}

// Account is the user's Google account: the login, the day, and the buttons of tasks and
// events. Its methods are safe for concurrent use.
type Account struct {
	o      AccountOptions
	day    *Day
	state  atomic.Pointer[State]
	logins chan *Login

	adding sync.Mutex // held while looking for a task and then creating it, so that two presses create one
	pasted sync.Mutex // held while a pasted address is processed, so that the outcome is reported once

	mu   sync.Mutex         // orders who finds out that a login has ended, and guards:
	stop context.CancelFunc // of the pending login
	told string             // the last reported error about the day
}

// NewAccount returns an account with its current state. It does not call Google.
func NewAccount(o AccountOptions) *Account {
	a := &Account{o: o, day: o.Client.Day(), logins: make(chan *Login, 1)}
	s := o.Client.State()
	a.state.Store(&s)
	return a
}

// State returns the state of the login as last read.
func (a *Account) State() State { return *a.state.Load() }

// Refresh rereads the state of the login. It updates the agent's permissions, and tells
// the user once if Google has ended the login.
func (a *Account) Refresh() {
	s := a.o.Client.State()
	was := a.state.Swap(&s)
	if s.On() != was.On() || s.May(Mail) != was.May(Mail) {
		a.o.Allowed()
	}
	a.mu.Lock()
	why, ended := a.o.Client.Revoked()
	a.mu.Unlock()
	if ended {
		text := "google: " + why
		a.o.Notices.Add(notice.Warn, text)
		a.o.Say(text)
	}
	a.o.Changed()
}

// Run waits for logins, one at a time, until ctx ends.
func (a *Account) Run(ctx context.Context) error {
	a.Refresh()
	for {
		select {
		case <-ctx.Done():
			return nil
		case l := <-a.logins:
			waiting, stop := context.WithTimeout(ctx, loginTime)
			a.mu.Lock()
			a.stop = stop
			a.mu.Unlock()
			err := l.Wait(waiting)
			over := a.left(waiting) // an abandoned login ends silently
			a.leave()
			if !over {
				a.loggedIn(err)
			}
		}
	}
}

// loggedIn reports the outcome of a login.
func (a *Account) loggedIn(err error) {
	if err != nil {
		a.o.Say(fmt.Sprintf(textGoogleFailed, err))
		return
	}
	a.Refresh()
	a.o.Say(fmt.Sprintf(textGoogleIs, a.o.Client.State()))
}

// Connect starts a login, or reports that one exists. With "mail" it also requests
// reading mail.
func (a *Account) Connect(ctx context.Context, args []string) (string, error) {
	scopes := []Scope{Tasks, Calendar}
	if strings.Join(args, " ") == "mail" {
		scopes = append(scopes, Mail)
	}
	s := a.o.Client.State()
	if s.May(Tasks) && s.May(Calendar) && s.May(scopes[len(scopes)-1]) {
		return fmt.Sprintf(textGoogleIs, s), nil
	}
	l, err := a.o.Client.Begin(scopes...)
	if err != nil {
		a.o.Log.Info("a login at Google could not begin", "error", err)
		return "", says(textGoogleFirst)
	}
	a.leave()
	select {
	case a.logins <- l:
	default: // one is already pending; the address of this one may still be pasted
		err = l.Close()
	}
	a.o.Audit.RecordBy(ctx, a.now(), audit.Entry{Action: audit.LoginChanged, Detail: "google"})
	return fmt.Sprintf(textGoogleOpen, l.URL), err
}

// AddTask creates a task from a text whose first line is the title, unless an open one
// exists. Text written by somebody else is marked.
func (a *Account) AddTask(ctx context.Context, words string, foreign bool) (string, error) {
	s := a.o.Client.State()
	if !s.May(Tasks) {
		return "", errors.New(textTasksOff)
	}
	title, notes, _ := strings.Cut(strings.TrimSpace(words), "\n")
	t := Task{Title: clean.Cut(clean.Line(title), 200), Notes: clean.Cut(clean.Text(words), 4000)}
	switch {
	case t.Title == "":
		return "", errors.New(textNoTaskWords)
	case foreign:
		t.Notes = textForeignNotes + t.Notes
	case notes == "" && t.Title == title:
		t.Notes = ""
	}
	a.adding.Lock()
	defer a.adding.Unlock()
	list := a.o.Config().GoogleTaskList
	for have, err := range a.o.Client.Tasks.List(ctx, list, false) {
		switch {
		case err != nil:
			return "", err
		case have.Title == t.Title && have.Notes == t.Notes:
			return fmt.Sprintf(textTaskThere, t.Title), nil
		}
	}
	if _, err := a.o.Client.Tasks.Add(ctx, list, t); err != nil {
		return "", err
	}
	return fmt.Sprintf(textTaskAdded, t.Title), nil
}

// Redirected reports whether a message is the address that completes a login, and
// completes it. The address contains a secret and must not be stored.
func (a *Account) Redirected(ctx context.Context, text string) bool {
	if !a.o.Client.Redirected(text) {
		return false
	}
	a.pasted.Lock()
	defer a.pasted.Unlock()
	err := a.o.Client.Finish(ctx, text)
	if err == nil || !a.o.Client.Waits() {
		a.leave() // its outcome is reported here
	}
	a.loggedIn(err)
	return true
}

// left reports whether the login was abandoned. A pasted address being processed may have
// ended the wait, so it waits for that.
func (a *Account) left(waiting context.Context) bool {
	a.pasted.Lock()
	defer a.pasted.Unlock()
	return waiting.Err() != nil
}

// leave stops waiting for a login.
func (a *Account) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop != nil {
		a.stop()
	}
}

// Click carries out a button of a task or an event. Its data is an id, or list/id, or
// calendar/id.
func (a *Account) Click(ctx context.Context, action, data string) (done string, err error) {
	if s := a.o.Client.State(); !s.On() {
		return "", fmt.Errorf(textGoogleOff, s)
	}
	r := a.o.Config()
	list, calendars, id := r.GoogleTaskList, strings.Split(r.GoogleCalendars, ","), data
	if i := strings.LastIndexByte(data, '/'); i > 0 {
		list, calendars, id = data[:i], []string{data[:i]}, data[i+1:]
	}
	var title, update string
	switch action {
	case "task_done":
		var t Task
		t, err = a.o.Client.Tasks.Complete(ctx, list, id)
		title, done, update = t.Title, "done", textTaskDone
	case "task_del":
		var t Task
		if t, err = a.o.Client.Tasks.Get(ctx, list, id); err == nil {
			err = a.o.Client.Tasks.Delete(ctx, list, id)
		}
		title, done, update = t.Title, "deleted", textTaskDeleted
	default:
		var e Event
		if e, err = a.o.Client.Calendar.Get(ctx, calendars, id); err == nil {
			err = a.o.Client.Calendar.Delete(ctx, []string{e.Calendar}, id)
		}
		title, done, update = e.Summary, "deleted", textEventDeleted
	}
	if errors.Is(err, ErrUnknown) {
		err = errors.New(textGoogleGone)
	}
	if err != nil {
		return "", fmt.Errorf("failed: %w", err)
	}
	a.day.Forget(id)
	return done, a.o.Updates.Append(a.now(), fmt.Sprintf(update, clean.Cut(clean.Line(title), 80)))
}

// Look reads the day's appointments and tasks for DayAhead. It asks Google at most every
// five minutes; without a login it does nothing. It blocks until Google answers and
// respects ctx.
func (a *Account) Look(ctx context.Context) {
	defer fault.Rescue("a look at the day", func(err *fault.Error) { a.o.Log.Error("a look at the day broke", "error", err) })
	r := a.o.Config()
	asked, err := a.day.Read(ctx, Wanted{Calendars: strings.Split(r.GoogleCalendars, ","), List: r.GoogleTaskList, Zone: a.o.Zone})
	if !asked {
		return
	}
	text := ""
	if err != nil && ctx.Err() == nil && a.o.Client.State().Kind == Connected { // other problems are reported as the state
		text = fmt.Sprintf(textDayFailed, err)
	}
	a.mu.Lock()
	again := text == a.told
	a.told = text
	a.mu.Unlock()
	if text != "" && !again {
		a.o.Notices.Add(notice.Warn, clean.Line(text))
	}
	a.o.Changed()
}

// DaysOff reads the days of calendars, by name: those of each, or why they are not known. It blocks until Google
// answers and respects ctx.
func (a *Account) DaysOff(ctx context.Context, names []string) (days map[string]map[string]string, failed map[string]error) {
	days, failed = map[string]map[string]string{}, map[string]error{}
	ids := strings.Split(a.o.Config().GoogleCalendars, ",")
	lacks := a.o.Client.State().Lacks(Calendar)
	for _, name := range names {
		err := errors.New(lacks)
		if lacks == "" {
			days[name], err = a.o.Client.Calendar.DaysOff(ctx, name, ids, a.now())
		}
		if err != nil {
			delete(days, name)
			failed[name] = err
		}
	}
	return days, failed
}

// DayAhead returns the rest of the day, as Look has read it; empty without a login.
func (a *Account) DayAhead(now time.Time) []Item {
	if a.state.Load().Kind == NotSetUp {
		return nil
	}
	return a.day.Ahead(now)
}

// Trouble returns why the login does not work; empty if it does, or if there is none.
func (a *Account) Trouble() string {
	switch s := a.state.Load(); s.Kind {
	case Lapsed, Unreachable:
		return s.Why
	default:
		return ""
	}
}

func (a *Account) now() time.Time { return time.Now().In(a.o.Zone) }

// Logout ends the login; see Client.Logout.
func (a *Account) Logout(ctx context.Context) (string, error) { return a.o.Client.Logout(ctx) }
