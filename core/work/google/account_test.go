package google_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
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
	if said := <-a.heard; said != "google connected as sam@example.com (tasks, calendar, mail)." || !a.State().May(google.Mail) {
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
			if _, err := a.Click(t.Context(), c.action, c.data); err == nil || err.Error() != "failed: it no longer exists" {
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
		if done, err := a.Click(t.Context(), action, data); err == nil || done != "" || len(a.pending()) != before || err.Error() != "failed: Google refused the request (403): planned: forbidden" {
			t.Errorf("%s that Google refuses: %q, %v", action, done, err)
		}
	}
	before := len(a.pending())
	for _, action := range []string{"task_done", "task_del", "event_del"} {
		if done, err := a.Click(t.Context(), action, "gone"); err == nil || done != "" || err.Error() != "failed: it no longer exists" {
			t.Errorf("%s of what is gone: %q, %v", action, done, err)
		}
	}
	testkit.Must(t, a.dir.Remove(google.TokenFile))
	if _, err := a.Click(t.Context(), "task_done", "x"); err == nil || err.Error() != "google is not connected (not set up: log in with /google-auth)" || len(a.pending()) != before {
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
	const refused = "Google refused the request (403): planned: forbidden"
	const fails = "the day at Google is not all there: calendar primary: " + refused + " calendar team: " + refused
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
		if no := (googletest.Fault{Status: 403, Reason: "forbidden"}); c.fails {
			a.g.Fail("calendar.events.list", no, no)
		}
		a.take()
		a.Look(c.ctx)
		_, _, changed := a.take()
		if shown := a.shown(); c.changed >= 0 && changed != c.changed || !slices.Equal(shown, slices.Repeat([]string{fails}, c.shown)) {
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
	if !slices.Equal(said, []string{"google: Google no longer accepts the login (it was revoked or has expired): log in again with /google-auth"}) || allowed != 1 || changed != 1 || !slices.Equal(a.shown(), said) {
		t.Errorf("said %q, shown %q, rights %d, changed %d", said, a.shown(), allowed, changed)
	}
	if a.State().Kind != google.Lapsed || "google: "+a.Trouble() != said[0] {
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
	const isConnected = "google connected as sam@example.com (tasks, calendar)."
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
			began := time.Now()
			if list, _, err := a.audit.Read(9); err != nil || len(list) != 1 || list[0].Action != audit.LoginChanged || list[0].Detail != "google" {
				t.Errorf("recorded %+v, %v", list, err)
			}
			end(t, a, a.browser(t, text))
			// The file is the one that the original would have written.
			token := read(t, a.dir)
			expiry, err := time.Parse("2006-01-02T15:04:05.000000Z", token["expiry"].(string))
			if lasts := expiry.Sub(began); err != nil || lasts < 59*time.Minute || lasts > 70*time.Minute || !strings.HasPrefix(token["token"].(string), "ya29.") || !strings.HasPrefix(token["refresh_token"].(string), "1//") {
				t.Errorf("%v, %v", token, err)
			}
			delete(token, "expiry")
			delete(token, "token")
			delete(token, "refresh_token")
			if want := map[string]any{
				"token_uri": a.g.URL + "/token", "client_id": googletest.ClientID, "client_secret": googletest.ClientSecret, "universe_domain": "googleapis.com",
				"account": "sam@example.com", "scopes": []any{string(google.Tasks), string(google.Calendar)},
			}; !reflect.DeepEqual(token, want) {
				t.Errorf("%v", token)
			}
			if a.client.Waits() {
				t.Error("it is pending still")
			}
			if said := <-a.heard; said != isConnected || a.State().May(google.Mail) {
				t.Errorf("said %q, state %v", said, a.State())
			}
			if text, err := a.Connect(t.Context(), nil); err != nil || text != isConnected {
				t.Errorf("a second login: %q, %v", text, err)
			}
			text, err = a.Connect(t.Context(), []string{"mail"})
			u, _ := url.Parse(address.FindString(text))
			if want := string(google.Tasks + " " + google.Calendar + " " + google.Mail); err != nil || u.Query().Get("scope") != want {
				t.Errorf("mail too: %q, %v", text, err)
			}
			text = strings.Replace(text, u.String(), "ADDRESS", 1)
			if text != "Open this address and say yes, within five minutes: ADDRESS\n\nIf the browser ends on a page that it cannot open, send me the address of that page." {
				t.Error(text)
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
	for name, says := range map[string]string{
		"refused": "google auth failed: the login was cancelled at Google (access_denied); nothing changed", "granted": "google connected as sam@example.com (tasks, calendar).",
	} {
		t.Run(name, func(t *testing.T) {
			a := loggedOut(t)
			a.g.SaysNo = name == "refused"
			redirect := a.connect(t)
			wrong := strings.Replace(redirect, "state=", "state=x", 1)
			if !a.Redirected(t.Context(), wrong) || <-a.heard != "google auth failed: this is not the address that Google sent the browser to: copy all of it, starting with http://127.0.0.1" {
				t.Error("the wrong address is not refused")
			}
			visit(t, page(redirect)) // it still waits
			if !a.Redirected(t.Context(), redirect) || <-a.heard != says || a.State().On() != (name == "granted") {
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
	const ours = "http://127.0.0.1:1/?state=a&code=b"
	for _, text := range []string{
		"hello", "http://127.0.0.1:1/", "http://example.com/?state=a&code=b", ours + " x", ours + "\nx", ours + "\tx", "see " + ours,
		"http://127.0.0.1:1/?code=b", "http://127.0.0.1:1/?state=a", "http://127.0.0.1:1/%?state=a&code=b",
	} {
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
	if text, err := a.Connect(t.Context(), nil); err == nil || text != "" || err.Error() != "Google is not set up yet: create your own client there once, on the computer of the bot, as its guide to Google explains "+
		"(ten minutes). Then send /google-auth again." { // P13
		t.Errorf("without a client: %q, %v", text, err)
	}
	if list, _, _ := a.audit.Read(9); len(list) != 0 {
		t.Errorf("recorded %+v", list)
	}
}

func TestWordsBecomeATaskOnce(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t, google.Tasks)
	a.config.GoogleTaskList = "s"
	a.g.Tasks["s"] = nil
	long := strings.Repeat("x", 201)
	for _, x := range []struct {
		words         string
		foreign       bool
		says, err     string
		title, notes  any // of the newest task
		tasks, before int
	}{
		{" Milk \n", false, "added to your tasks: Milk", "", "Milk", nil, 1, 0},
		{"Milk", false, "that task exists already: Milk", "", "Milk", nil, 1, 0},
		{"Milk", true, "added to your tasks: Milk", "", "Milk", "[untrusted: not the user's own words]\nMilk", 2, 0},
		{"Milk", true, "that task exists already: Milk", "", "Milk", "[untrusted: not the user's own words]\nMilk", 2, 0},
		{"Milk\nand bread", false, "added to your tasks: Milk", "", "Milk", "Milk\nand bread", 3, 0},
		{"So\x1b[31map", false, "added to your tasks: Soap", "", "Soap", "Soap", 4, 0},
		{long[1:], false, "added to your tasks: " + long[1:], "", long[1:], nil, 5, 0},
		{long, false, "added to your tasks: " + long[2:] + "…", "", long[2:] + "…", long, 6, 0},
		{" \n ", true, "", "that message has no words to make a task of", long[2:] + "…", long, 6, 0},
	} {
		says, err := a.AddTask(t.Context(), x.words, x.foreign)
		if list := a.g.Tasks["s"]; says != x.says || (err == nil) != (x.err == "") || err != nil && err.Error() != x.err || len(list) != x.tasks || list[0]["title"] != x.title || list[0]["notes"] != x.notes {
			t.Errorf("%q: %q, %v, %d tasks, the newest %v", x.words, says, err, len(list), list[0])
		}
	}
	for _, method := range []string{"tasks.tasks.list", "tasks.tasks.insert"} {
		a.g.Fail(method, googletest.Fault{Status: 403, Reason: "forbidden"})
		if says, err := a.AddTask(t.Context(), "Salt", false); says != "" || err == nil || err.Error() != "Google refused the request (403): planned: forbidden" {
			t.Errorf("%s: %q, %v", method, says, err)
		}
	}
	testkit.Must(t, a.dir.Remove(google.TokenFile))
	if says, err := a.AddTask(t.Context(), "Salt", false); says != "" || err == nil || err.Error() != "there is no connection to Google Tasks: connect it with /google-auth" {
		t.Errorf("%q, %v", says, err)
	}
}

func TestTheDaysOffOfEachCalendarOrWhyTheyAreNotKnown(t *testing.T) {
	testkit.Alone(t)
	a := deskOf(t, google.Calendar)
	day := time.Now().In(a.now.Location()).AddDate(0, 0, 3)
	a.g.AddEvent("team", map[string]any{
		"id": "fair", "summary": "Fair", "start": map[string]any{"date": day.Format(time.DateOnly)}, "end": map[string]any{"date": day.AddDate(0, 0, 1).Format(time.DateOnly)},
	})
	days, failed := a.DaysOff(t.Context(), []string{"team", "primary", "none"})
	if want := map[string]map[string]string{"team": {day.Format(time.DateOnly): "Fair"}, "primary": {}}; !reflect.DeepEqual(days, want) || len(failed) != 1 || failed["none"].Error() !=
		"is not among the calendars of the setting google_calendars (sam@example.com, sam@example.com); write one of these names, or the calendar's id" {
		t.Errorf("%v, %v", days, failed)
	}
	testkit.Must(t, a.dir.Remove(google.TokenFile))
	if days, failed := a.DaysOff(t.Context(), []string{"team"}); len(days) != 0 || len(failed) != 1 || failed["team"].Error() != "log in with /google-auth" {
		t.Errorf("%v, %v", days, failed)
	}
}

func TestALoginIsRefusedWithTheReason(t *testing.T) {
	testkit.Alone(t)
	const none = "no login is in progress, or it has expired: start one with /google-auth"
	const notOurs = "this is not the address that Google sent the browser to: copy all of it, starting with http://127.0.0.1"
	const code = "Google did not accept the code of this login (invalid_grant): start again with /google-auth"
	for name, x := range map[string]struct {
		change func(a *desk, redirect *string)
		says   string // "" if it succeeds
		waits  bool   // still
	}{
		"30 minutes later":  {func(a *desk, _ *string) { a.now = a.now.Add(30 * time.Minute) }, "", false},
		"a moment later":    {func(a *desk, _ *string) { a.now = a.now.Add(30*time.Minute + time.Second) }, none, false},
		"not begun":         {func(a *desk, _ *string) { testkit.Must(t, a.dir.Remove("state/google_login.json")) }, none, false},
		"no address":        {func(_ *desk, r *string) { *r = "http://127.0.0.1:1/%" + *r }, notOurs, true},
		"of another login":  {func(_ *desk, r *string) { *r = strings.Replace(*r, "state=", "state=x", 1) }, notOurs, true},
		"without a code":    {func(_ *desk, r *string) { *r = strings.Replace(*r, "code=", "coda=", 1) }, notOurs, true},
		"with an error":     {func(_ *desk, r *string) { *r += "&error=so+so" }, "the login was cancelled at Google (so so); nothing changed", false},
		"with a wrong code": {func(_ *desk, r *string) { *r = strings.Replace(*r, "code=", "code=x", 1) }, code, false},
		"Google is gone":    {func(a *desk, _ *string) { a.g.Fail("token", googletest.Fault{Status: 500, Reason: "x"}) }, "Google cannot be reached (", true},
		"no client":         {func(a *desk, _ *string) { testkit.Must(t, a.dir.Remove(google.ClientFile)) }, "there is no client: ", true},
		"only its spaces":   {func(_ *desk, r *string) { *r = " " + *r + "\n" }, "", false},
	} {
		a := deskOf(t)
		testkit.Must(t, a.dir.Remove(google.TokenFile))
		l, err := a.client.Begin(google.Tasks)
		testkit.Must(t, err)
		redirect := a.browser(t, l.URL)
		x.change(a, &redirect)
		says := ""
		if err := a.client.Finish(t.Context(), redirect); err != nil {
			says = err.Error()
		}
		if says != x.says && (!strings.HasSuffix(x.says, "(") && !strings.HasSuffix(x.says, ": ") || !strings.HasPrefix(says, x.says)) || a.client.Waits() != x.waits || a.client.State().On() != (x.says == "") {
			t.Errorf("%s: says %q, waits: %v, %v", name, says, a.client.Waits(), a.client.State())
		}
		testkit.Must(t, l.Close())
	}
}

func TestTheBrowserShowsHowItsLoginEnded(t *testing.T) {
	testkit.Alone(t)
	a := loggedOut(t)
	redirect := a.connect(t)
	for _, x := range []struct {
		method, address, says string
		status                int
	}{
		{http.MethodGet, page(redirect), "404 page not found\n", 404},
		{http.MethodPost, redirect, "404 page not found\n", 404},
		{http.MethodGet, strings.Replace(redirect, "state=", "state=x", 1), "Authentication failed. ollim-bot shows the reason.", 400},
		{http.MethodGet, redirect, "Authentication complete. You can close this page.", 200},
	} {
		req, err := http.NewRequest(x.method, x.address, nil)
		testkit.Must(t, err)
		res, err := http.DefaultClient.Do(req)
		testkit.Must(t, err)
		text, err := io.ReadAll(res.Body)
		testkit.Must(t, err)
		testkit.Must(t, res.Body.Close())
		if string(text) != x.says || res.StatusCode != x.status || res.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s %s: %d %q", x.method, x.address, res.StatusCode, text)
		}
	}
}

func TestALogoutRemovesAllOfTheLogin(t *testing.T) {
	testkit.Alone(t)
	for name, note := range map[string]string{
		"": "", "revoked": "", "closed": "the login was removed here, but Google could not be informed (dial tcp 127.0.0.1:", "none": "", "damaged": "",
	} {
		a := deskOf(t, google.Tasks)
		for _, file := range []string{"google.json", "google_auth_revoked", "google_login.json"} {
			testkit.Must(t, a.dir.Write("state/"+file, []byte("{}")))
		}
		switch name {
		case "revoked":
			a.g.Revoke()
		case "closed":
			a.g.Close()
		case "none":
			testkit.Must(t, a.dir.Remove(google.TokenFile))
		case "damaged":
			testkit.Must(t, a.dir.Write(google.TokenFile, []byte("{")))
		}
		got, err := a.Logout(t.Context())
		if err != nil || !strings.HasPrefix(got, note) || note == "" && got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for _, file := range []string{"token.json", "google.json", "google_auth_revoked", "google_login.json"} {
			if _, err := a.dir.Read("state/" + file); err == nil {
				t.Errorf("%s: %s is still there", name, file)
			}
		}
	}
}
