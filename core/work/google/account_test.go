package google_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/google"
	"ollimbot/core/work/google/googletest"
	"ollimbot/core/work/updates"
)

// desk is an Account that records its messages.
type desk struct {
	*google.Account
	g       *googletest.Server
	dir     *store.Dir
	client  *google.Client
	config  config.Runtime
	updates *updates.Queue
	notices *notice.Board
	audit   *audit.Log

	mu      sync.Mutex
	said    []string
	heard   chan string // each line said
	allowed int
	changed int
	now     time.Time // of the viewed day
}

func deskOf(t *testing.T, scopes ...google.Scope) *desk {
	t.Helper()
	_, g, d := account(t, scopes...)
	zone := time.FixedZone("here", 2*60*60)
	a := &desk{
		g: g, dir: d, config: config.Runtime{GoogleCalendars: "primary,team", GoogleTaskList: "@default"}, heard: make(chan string, 9),
		updates: updates.NewQueue(d, zone, nil), notices: notice.NewBoard(zone, func(s string) string { return s }, func() {}),
		audit: audit.New(audit.Options{Dir: d}), now: time.Date(2026, 11, 23, 10, 0, 0, 0, zone),
	}
	g.Events["team"] = nil
	var err error
	a.client, err = google.New(google.Options{Dir: d, API: g.URL, Now: func() time.Time { return a.now }})
	testkit.Must(t, err)
	app := fmt.Sprintf(`{"installed": {"client_id": %q, "client_secret": %q}}`, googletest.ClientID, googletest.ClientSecret)
	testkit.Must(t, a.client.SetApp([]byte(app)))
	count := func(n *int) func() {
		return func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			*n++
		}
	}
	a.Account = google.NewAccount(google.AccountOptions{
		Client: a.client, Zone: zone, Log: slog.New(slog.DiscardHandler), Config: func() *config.Runtime { return &a.config },
		Audit: a.audit, Updates: a.updates, Notices: a.notices, Allowed: count(&a.allowed), Changed: count(&a.changed),
		Say: func(text string) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.said = append(a.said, text)
			a.heard <- text
		},
	})
	return a
}

// take returns the lines said, and the number of changes of rights and of the view, since
// the last call.
func (a *desk) take() (said []string, allowed, changed int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	said, allowed, changed = a.said, a.allowed, a.changed
	a.said, a.allowed, a.changed = nil, 0, 0
	return said, allowed, changed
}

func (a *desk) shown() (list []string) {
	for _, n := range a.notices.All() {
		list = append(list, n.Text)
	}
	return list
}

func (a *desk) pending() (list []string) {
	for _, u := range a.updates.Peek() {
		list = append(list, u.Message)
	}
	return list
}

// run runs the account until the test ends.
func (a *desk) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		testkit.Must(t, <-done)
	})
}

var address = regexp.MustCompile(`http://\S+`)

// browser opens the address in a text and returns the address of Google's redirect.
func (a *desk) browser(t *testing.T, text string) (redirect string) {
	t.Helper()
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Get(address.FindString(text))
	testkit.Must(t, err)
	defer res.Body.Close()
	return res.Header.Get("Location")
}

// loggedOut returns a running account without a login.
func loggedOut(t *testing.T) *desk {
	t.Helper()
	a := deskOf(t)
	testkit.Must(t, a.dir.Remove(google.TokenFile))
	a.run(t)
	return a
}

// connect starts a login and returns the address to which Google redirects its browser, once the account waits for it.
func (a *desk) connect(t *testing.T, more ...string) (redirect string) {
	t.Helper()
	text, err := a.Connect(t.Context(), more)
	testkit.Must(t, err)
	redirect = a.browser(t, text)
	visit(t, page(redirect)) // it is answered once the account waits
	return redirect
}

func visit(t *testing.T, address string) {
	t.Helper()
	res, err := http.Get(address)
	testkit.Must(t, err)
	testkit.Must(t, res.Body.Close())
}

// connected checks the next line said: about a login that may read mail, too.
func (a *desk) connected(t *testing.T) {
	t.Helper()
	if said := <-a.heard; !strings.Contains(said, "connected") || !a.State().May(google.Mail) {
		t.Errorf("said %q, state %v", said, a.State())
	}
}

func TestAButtonChangesItsTaskOrEventAndTellsTheAgent(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t, google.Tasks, google.Calendar)
	a.g.AddEvent("team", map[string]any{"id": "e1", "summary": "Standup"})
	a.g.AddEvent("primary", map[string]any{"id": "e2", "summary": "Dentist"})
	for _, c := range []struct{ action, data, done, update string }{
		{"task_done", a.g.AddTask("@default", map[string]any{"title": "Milk"}), "done", `Button: the user completed the task "Milk".`},
		{"task_del", a.g.AddTask("@default", map[string]any{"title": "Bread"}), "deleted", `Button: the user deleted the task "Bread".`},
		{"task_done", "s/" + a.g.AddTask("s", map[string]any{"title": "Eggs"}), "done", `Button: the user completed the task "Eggs".`},
		{"event_del", "e1", "deleted", `Button: the user deleted the event "Standup".`},
		{"event_del", "primary/e2", "deleted", `Button: the user deleted the event "Dentist".`},
	} {
		done, err := a.Click(t.Context(), c.action, c.data)
		list := a.pending()
		if err != nil || done != c.done || len(list) == 0 || list[len(list)-1] != c.update {
			t.Errorf("%s %s: %q, %v; pending %q", c.action, c.data, done, err, list)
		}
		if done == "deleted" { // at Google too
			if _, err := a.Click(t.Context(), c.action, c.data); err == nil || !strings.Contains(err.Error(), "no longer exists") {
				t.Errorf("%s %s a second time: %v", c.action, c.data, err)
			}
		} else if list, id, ok := strings.Cut("@default/"+c.data, "/"); ok {
			if in, rest, ok := strings.Cut(id, "/"); ok {
				list, id = in, rest
			}
			if task, err := a.client.Tasks.Get(t.Context(), list, id); err != nil || !task.Done() {
				t.Errorf("%s is not done at Google: %+v, %v", c.data, task, err)
			}
		}
	}
	a.g.Fail("tasks.tasks.delete", googletest.Fault{Status: 403, Reason: "forbidden"})
	a.g.Fail("calendar.events.delete", googletest.Fault{Status: 403, Reason: "forbidden"})
	a.g.AddEvent("primary", map[string]any{"id": "e3", "summary": "Lunch"})
	for action, data := range map[string]string{"task_del": a.g.AddTask("@default", map[string]any{"title": "Salt"}), "event_del": "e3"} {
		before := len(a.pending())
		if done, err := a.Click(t.Context(), action, data); err == nil || done != "" || len(a.pending()) != before {
			t.Errorf("%s that Google refuses: %q, %v", action, done, err)
		}
	}
	before := len(a.pending())
	for _, action := range []string{"task_done", "task_del", "event_del"} {
		if done, err := a.Click(t.Context(), action, "gone"); err == nil || done != "" || !strings.Contains(err.Error(), "no longer exists") {
			t.Errorf("%s of what is gone: %q, %v", action, done, err)
		}
	}
	testkit.Must(t, a.dir.Remove(google.TokenFile))
	if _, err := a.Click(t.Context(), "task_done", "x"); err == nil || !strings.Contains(err.Error(), "not connected") || len(a.pending()) != before {
		t.Errorf("without a login: %v, pending %q", err, a.pending())
	}
}

func TestADeletedEventIsNoLongerAhead(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t, google.Tasks, google.Calendar)
	at := func(hour int) map[string]any {
		return map[string]any{"dateTime": time.Date(2026, 11, 23, hour, 0, 0, 0, a.now.Location()).Format(time.RFC3339)}
	}
	a.g.AddEvent("team", map[string]any{"id": "e1", "summary": "Standup", "start": at(11), "end": at(12)})
	a.Look(t.Context())
	if list := a.DayAhead(a.now); len(list) != 1 {
		t.Fatalf("ahead: %v", list)
	}
	token := read(t, a.dir)
	testkit.Must(t, a.dir.Remove(google.TokenFile))
	if a.Refresh(); len(a.DayAhead(a.now)) != 0 {
		t.Errorf("without a login, ahead: %v", a.DayAhead(a.now))
	}
	login(t, a.dir, token)
	a.Refresh()
	_, err := a.Click(t.Context(), "event_del", "team/e1")
	if testkit.Must(t, err); len(a.DayAhead(a.now)) != 0 {
		t.Errorf("ahead: %v", a.DayAhead(a.now))
	}
}

func TestALookThatFailsIsShownOnceUntilItSucceeds(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t, google.Tasks, google.Calendar)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for i, c := range []struct {
		what           string
		after          time.Duration
		fails          bool
		ctx            context.Context
		changed, shown int
	}{
		{"it fails", 0, true, t.Context(), 1, 1},
		{"within five minutes Google is not asked", 0, false, t.Context(), 0, 1},
		{"it fails again", time.Hour, true, t.Context(), 1, 1},
		{"it succeeds", time.Hour, false, t.Context(), 1, 1},
		{"it fails after that", time.Hour, true, t.Context(), 1, 2},
		{"it succeeds once more", time.Hour, false, t.Context(), 1, 2},
		{"the bot ends, which is no error of the day", time.Hour, false, ended, -1, 2},
		{"Google has ended the login, which is none either", time.Hour, false, t.Context(), -1, 2},
	} {
		if i == 7 {
			a.g.Revoke()
		}
		a.now = a.now.Add(c.after)
		if refused := (googletest.Fault{Status: 403, Reason: "forbidden"}); c.fails {
			a.g.Fail("calendar.events.list", refused, refused)
		}
		a.take()
		a.Look(c.ctx)
		_, _, changed := a.take()
		if shown := a.shown(); c.changed >= 0 && changed != c.changed || len(shown) != c.shown || !strings.Contains(shown[0], "the day at Google") {
			t.Errorf("%s: %d changes, shown %q", c.what, changed, shown)
		}
	}
}

func TestALoginThatGoogleEndedIsReportedOnceAndTakesTheRightsAway(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t, google.Tasks)
	a.Refresh()
	if said, allowed, changed := a.take(); len(said) != 0 || allowed != 0 || changed != 1 || a.Trouble() != "" {
		t.Errorf("a login that works: said %q, rights %d, changed %d", said, allowed, changed)
	}
	a.g.Revoke()
	for _, err := range a.client.Tasks.List(t.Context(), "@default", false) {
		if err == nil {
			t.Error("a revoked login lists tasks")
		}
	}
	a.Refresh()
	said, allowed, changed := a.take()
	if len(said) != 1 || !strings.HasPrefix(said[0], "google: ") || allowed != 1 || changed != 1 || !slices.Equal(a.shown(), said) {
		t.Errorf("said %q, shown %q, rights %d, changed %d", said, a.shown(), allowed, changed)
	}
	if a.State().Kind != google.Lapsed || a.Trouble() == "" {
		t.Errorf("%v, trouble %q", a.State(), a.Trouble())
	}
	a.Refresh()
	if said, allowed, _ := a.take(); len(said) != 0 || allowed != 0 {
		t.Errorf("again: said %q, rights %d", said, allowed)
	}
	if a.Look(t.Context()); a.g.Count("calendar.events.list") != 0 {
		t.Error("the day is looked at without a login")
	}
}

func TestReadingMailIsARightOfItsOwn(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t, google.Tasks)
	m := read(t, a.dir)
	m["scopes"] = []string{string(google.Tasks), string(google.Mail)}
	login(t, a.dir, m)
	if a.Refresh(); a.State().May(google.Mail) != true {
		t.Fatal("the state was not read again")
	}
	if _, allowed, _ := a.take(); allowed != 1 {
		t.Errorf("the rights changed %d times", allowed)
	}
}

func TestALoginEndsInTheBrowserOrByItsAddress(t *testing.T) {
	testkit.Alone(t)
	for name, end := range map[string]func(t *testing.T, a *desk, redirect string){
		"browser": func(t *testing.T, _ *desk, redirect string) {
			visit(t, redirect)
		},
		"pasted": func(t *testing.T, a *desk, redirect string) {
			if !a.Redirected(t.Context(), redirect) {
				t.Error("the address is not taken for one")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := loggedOut(t)
			text, err := a.Connect(t.Context(), nil)
			testkit.Must(t, err)
			if list, _, err := a.audit.Read(9); err != nil || len(list) != 1 || list[0].Action != audit.LoginChanged || list[0].Detail != "google" {
				t.Errorf("recorded %+v, %v", list, err)
			}
			end(t, a, a.browser(t, text))
			if said := <-a.heard; !strings.Contains(said, "connected") || !a.State().May(google.Calendar) || a.State().May(google.Mail) {
				t.Errorf("said %q, state %v", said, a.State())
			}
			if text, err := a.Connect(t.Context(), nil); err != nil || strings.Contains(text, "http") {
				t.Errorf("a second login: %q, %v", text, err)
			}
			text, err = a.Connect(t.Context(), []string{"mail"})
			if err != nil || !strings.Contains(text, "gmail") {
				t.Errorf("mail too: %q, %v", text, err)
			}
		})
	}
}

// page returns the page of a login that redirects to an address.
func page(redirect string) string { return redirect[:strings.Index(redirect, "?")] }

// left returns once the account no longer waits for a login.
func left(redirect string) {
	for {
		res, err := http.Get(page(redirect))
		if err != nil {
			return
		}
		_ = res.Body.Close() // the answer does not matter
	}
}

func TestTheEndOfALoginIsReportedOnce(t *testing.T) {
	testkit.Alone(t)
	for name, says := range map[string]string{"refused": "access_denied", "granted": "connected"} {
		t.Run(name, func(t *testing.T) {
			a := loggedOut(t)
			a.g.SaysNo = name == "refused"
			redirect := a.connect(t)
			wrong := strings.Replace(redirect, "state=", "state=x", 1)
			if !a.Redirected(t.Context(), wrong) || !strings.Contains(<-a.heard, "not the address") {
				t.Error("the wrong address is not refused")
			}
			visit(t, page(redirect)) // it still waits
			if !a.Redirected(t.Context(), redirect) || !strings.Contains(<-a.heard, says) || a.State().On() != (name == "granted") {
				t.Errorf("it is %v", a.State())
			}
			left(redirect)
			// The next login is reported after everything about this one.
			a.g.SaysNo = false
			visit(t, a.connect(t, "mail"))
			a.connected(t)
		})
	}
}

func TestALoginThatTakesLongToFinishIsReportedOnce(t *testing.T) {
	testkit.Alone(t)
	a := loggedOut(t)
	redirect := a.connect(t)
	a.g.Before = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			testkit.Must(t, a.dir.Remove("state/google_login.json")) // nothing is pending from here on
			left(redirect)                                           // and the waiting goroutine has noticed
		}
	}
	if !a.Redirected(t.Context(), redirect) || !strings.Contains(<-a.heard, "connected") {
		t.Errorf("it is %v", a.State())
	}
	a.g.Before = nil
	a.connect(t, "mail") // everything about the first one has been said by then
	select {
	case said := <-a.heard:
		t.Errorf("it was said again: %q", said)
	default:
	}
}

func TestASecondLoginTakesThePlaceOfTheFirst(t *testing.T) {
	testkit.Alone(t)
	a := loggedOut(t)
	a.connect(t)
	visit(t, a.connect(t, "mail"))
	a.connected(t)
}

func TestALoginThatNothingWaitsForCanBePasted(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t)
	testkit.Must(t, a.dir.Remove(google.TokenFile))
	var text string
	for range 2 { // the first becomes the pending one, the second does not
		var err error
		text, err = a.Connect(t.Context(), nil)
		testkit.Must(t, err)
	}
	redirect := a.browser(t, text)
	left(redirect)
	if !a.Redirected(t.Context(), redirect) || !strings.Contains(<-a.heard, "connected") || !a.State().On() {
		t.Errorf("it is %v", a.State())
	}
}

func TestOtherWordsAreNoAddressOfALogin(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t)
	for _, text := range []string{"hello", "http://127.0.0.1:1/", "http://example.com/?state=a&code=b"} {
		if a.Redirected(t.Context(), text) || len(a.heard) != 0 {
			t.Errorf("%s is taken for one", text)
		}
	}
}

func TestALoginWithoutAClientFileOrAnEndedOne(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t, google.Tasks)
	if note, err := a.Logout(t.Context()); err != nil || note != "" || a.g.Logins() != 0 {
		t.Errorf("%q, %v, %d logins", note, err, a.g.Logins())
	}
	testkit.Must(t, a.dir.Remove(store.StateDir+"/credentials.json"))
	if text, err := a.Connect(t.Context(), nil); err == nil || text != "" || !strings.HasPrefix(err.Error(), "Google is not set up yet: create your own client there once, on the computer of the bot") { // P13
		t.Errorf("without a client: %q, %v", text, err)
	}
	if list, _, _ := a.audit.Read(9); len(list) != 0 {
		t.Errorf("recorded %+v", list)
	}
}
