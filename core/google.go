package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/google"
)

// googleFiles are those that tell how things stand with Google; commands beside the
// running bot write them too.
var googleFiles = []string{"token.json", "credentials.json", "google.json", "google_auth_revoked"}

// loginTime is how long a login that was begun here waits for the browser. After it the
// address may still be sent.
const loginTime = 5 * time.Minute

// account is the user's Google, as the bot sees it.
type account struct {
	*google.Client
	day    *google.Day
	state  atomic.Pointer[google.State]
	logins chan *google.Login

	mu   sync.Mutex         // orders who finds out that a login has ended, and guards:
	stop context.CancelFunc // of the login that waits
	told string             // what was wrong with the day, so that it is told once
}

func (b *Bot) openGoogle() error {
	c, err := google.New(google.Options{Dir: b.dir, API: b.o.Env.GoogleAPI})
	if err != nil {
		return err
	}
	b.google = &account{Client: c, day: c.Day(), logins: make(chan *google.Login, 1)}
	s := c.State()
	b.google.state.Store(&s)
	return nil
}

// googleChanged looks anew how things stand: what the agent reads follows, and the user
// is told once when a login has ended by itself.
func (b *Bot) googleChanged() {
	s := b.google.State()
	was := b.google.state.Swap(&s)
	if s.On() != was.On() || s.May(google.Mail) != was.May(google.Mail) {
		b.install()
	}
	b.google.mu.Lock()
	why, ended := b.google.Revoked()
	b.google.mu.Unlock()
	if ended {
		text := "google: " + why
		b.notices.Add(notice.Warn, text)
		b.chat.SystemNote(text)
	}
	b.notify()
}

// runGoogle waits for those who log in, one at a time.
func (b *Bot) runGoogle(ctx context.Context) error {
	b.googleChanged()
	for {
		select {
		case <-ctx.Done():
			return nil
		case l := <-b.google.logins:
			waiting, stop := context.WithTimeout(ctx, loginTime)
			b.google.mu.Lock()
			b.google.stop = stop
			b.google.mu.Unlock()
			err := l.Wait(waiting)
			over := waiting.Err() != nil // a login that nobody ends is silent
			b.google.leave()
			if !over {
				b.loggedIn(err)
			}
		}
	}
}

// loggedIn tells how a login has ended.
func (b *Bot) loggedIn(err error) {
	if err != nil {
		b.chat.SystemNote(fmt.Sprintf(textGoogleFailed, err))
		return
	}
	b.googleChanged()
	b.chat.SystemNote(fmt.Sprintf(textGoogleIs, b.google.State()))
}

// slashGoogle begins a login, or says that there is one. With "mail" it asks for
// reading mail too.
func (b *Bot) slashGoogle(ctx context.Context, args []string) (string, error) {
	scopes := []google.Scope{google.Tasks, google.Calendar}
	if strings.Join(args, " ") == "mail" {
		scopes = append(scopes, google.Mail)
	}
	s := b.google.State()
	if s.May(google.Tasks) && s.May(google.Calendar) && s.May(scopes[len(scopes)-1]) {
		return fmt.Sprintf(textGoogleIs, s), nil
	}
	l, err := b.google.Begin(scopes...)
	if err != nil {
		return "", err
	}
	b.google.leave()
	select {
	case b.google.logins <- l:
	default: // one is about to be waited for; the address of this one may be sent
		err = l.Close()
	}
	b.audit.RecordBy(ctx, b.now(), audit.Entry{Action: audit.LoginChanged, Detail: "google"})
	return fmt.Sprintf(textGoogleOpen, l.URL), err
}

// redirected takes the address of a login that was sent as a message. It holds a secret:
// it goes to nobody else, and into no history.
func (b *Bot) redirected(ctx context.Context, text string) bool {
	if !b.google.Redirected(text) {
		return false
	}
	err := b.google.Finish(ctx, text)
	if err == nil || !b.google.Waits() {
		b.google.leave() // its end is told here
	}
	b.loggedIn(err)
	return true
}

// leave ends the waiting for a login.
func (a *account) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop != nil {
		a.stop()
	}
	a.stop = nil
}

// clickGoogle carries out a button of a task or an event. Its data is an id, or
// list/id, or calendar/id.
func (b *Bot) clickGoogle(ctx context.Context, action, data string) (done string, err error) {
	if s := b.google.State(); !s.On() {
		return "", fmt.Errorf(textGoogleOff, s)
	}
	r := b.runtime.Load()
	list, calendars, id := r.GoogleTaskList, strings.Split(r.GoogleCalendars, ","), data
	if i := strings.LastIndexByte(data, '/'); i > 0 {
		list, calendars, id = data[:i], []string{data[:i]}, data[i+1:]
	}
	var title, update string
	switch action {
	case "task_done":
		var t google.Task
		t, err = b.google.Tasks.Complete(ctx, list, id)
		title, done, update = t.Title, "done", textTaskDone
	case "task_del":
		var t google.Task
		if t, err = b.google.Tasks.Get(ctx, list, id); err == nil {
			err = b.google.Tasks.Delete(ctx, list, id)
		}
		title, done, update = t.Title, "deleted", textTaskDeleted
	default:
		var e google.Event
		if e, err = b.google.Calendar.Get(ctx, calendars, id); err == nil {
			err = b.google.Calendar.Delete(ctx, []string{e.Calendar}, id)
		}
		title, done, update = e.Summary, "deleted", textEventDeleted
	}
	if errors.Is(err, google.ErrUnknown) {
		err = errors.New(textGoogleGone)
	}
	if err != nil {
		return "", fmt.Errorf("failed: %w", err)
	}
	b.google.day.Forget(id)
	return done, b.updates.Append(b.now(), fmt.Sprintf(update, clean.Cut(clean.Line(title), 80)))
}

// Look reads what the user's Google holds for the day, for whoever looks at it now: the
// snapshot then shows it (Day). Google is asked every five minutes at most, and never
// unless somebody calls this; without a login it does nothing. It may block for as long
// as Google takes, and respects ctx.
func (b *Bot) Look(ctx context.Context) {
	defer fault.Rescue("a look at the day", func(err *fault.Error) { b.log.Error("a look at the day broke", "error", err) })
	if !b.google.state.Load().On() {
		return
	}
	r := b.runtime.Load()
	asked, err := b.google.day.Read(ctx, google.Wanted{Calendars: strings.Split(r.GoogleCalendars, ","), List: r.GoogleTaskList, Zone: b.zone})
	if !asked {
		return
	}
	text := ""
	if err != nil && ctx.Err() == nil && b.google.State().Kind == google.Connected { // all else is told as the state
		text = fmt.Sprintf(textDayFailed, err)
	}
	b.google.mu.Lock()
	again := text == b.google.told
	b.google.told = text
	b.google.mu.Unlock()
	if text != "" && !again {
		b.notices.Add(notice.Warn, clean.Line(text))
	}
	b.notify()
}

// dayAhead is what is left of the day, as far as it was read. It goes with the login.
func (b *Bot) dayAhead(now time.Time) []google.Item {
	if b.google.state.Load().Kind == google.NotSetUp {
		return nil
	}
	return b.google.day.Ahead(now)
}

// googleTrouble is what a background run is told of a login that does not work.
func (b *Bot) googleTrouble() string {
	switch s := b.google.state.Load(); s.Kind {
	case google.Lapsed, google.Unreachable:
		return s.Why
	default:
		return ""
	}
}
