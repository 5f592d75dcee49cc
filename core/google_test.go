package core

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/google"
	"ollimbot/core/work/google/googletest"
)

// connectable returns a bot with a fake Google, a client file and no login.
func connectable(t *testing.T) (*Bot, *googletest.Server) {
	t.Helper()
	g := googletest.New()
	t.Cleanup(g.Close)
	h := newHome(t)
	h.write(google.ClientFile, `{"installed":{"client_id":"`+googletest.ClientID+`","client_secret":"`+googletest.ClientSecret+`"}}`)
	b, stop := beside(t, g, h)
	t.Cleanup(stop)
	return b, g
}

// beside runs a bot with a fake Google until stop is called.
func beside(t *testing.T, g *googletest.Server, h home) (b *Bot, stop func()) {
	t.Helper()
	b = h.bot(script.New(script.Options{}), func(o *Options) {
		o.Still, o.Env = true, config.Env{Zone: h.zone, GoogleAPI: g.URL}
	})
	stop = begin(t, b)
	for b.Snapshot().Started.IsZero() {
		time.Sleep(time.Millisecond)
	}
	return b, stop
}

// saidInChat waits until the chat contains a text.
func saidInChat(t *testing.T, b *Bot, want string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, e := range b.Snapshot().Chat {
			if strings.Contains(e.Text, want) {
				return
			}
		}
	}
	t.Fatalf("nobody said %q: %+v", want, b.Snapshot().Chat)
}

// begins types /google-auth and returns the address in the answer.
func begins(t *testing.T, b *Bot, line string) string {
	t.Helper()
	out, err := b.Do(context.Background(), command.Slash{Line: line})
	address := regexp.MustCompile(`http://\S+`).FindString(out.Message)
	if err != nil || address == "" {
		t.Fatalf("%q %v", out.Message, err)
	}
	return address
}

// connects logs in like a browser.
func connects(t *testing.T, b *Bot) {
	t.Helper()
	res, err := http.Get(begins(t, b, "/google-auth"))
	testkit.Must(t, err)
	_ = res.Body.Close()
	saidInChat(t, b, "google connected")
}

func TestGoogleIsConnectedInTheConversationByABrowserAndByAPastedAddress(t *testing.T) {
	testkit.Alone(t)
	b, g := connectable(t)
	if p := b.SystemPrompt(); strings.Contains(p, "`ollim-bot tasks") {
		t.Error("the agent is told of what is not there")
	}
	res, err := http.Get(begins(t, b, "/google-auth"))
	testkit.Must(t, err)
	page, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(string(page), "Authentication complete") {
		t.Errorf("%d %s", res.StatusCode, page)
	}
	saidInChat(t, b, "google connected as sam@example.com (tasks, calendar).")
	if p := b.SystemPrompt(); !strings.Contains(p, "`ollim-bot tasks list") || strings.Contains(p, "gmail-reader") {
		t.Error("the agent is told of mail, or not of tasks")
	}
	if out, err := b.Do(context.Background(), command.Slash{Line: "/google-auth"}); err != nil || !strings.Contains(out.Message, "connected as") {
		t.Error(out, err)
	}

	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if res, err = browser.Get(begins(t, b, "/google-auth mail")); err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if _, err := b.Do(context.Background(), command.Say{Text: " http://127.0.0.1:1/?state=forged&code=x "}); err != nil {
		t.Error(err)
	}
	saidInChat(t, b, "google auth failed: this is not the address")
	if _, err := b.Do(context.Background(), command.Say{Text: res.Header.Get("Location")}); err != nil {
		t.Error(err)
	}
	saidInChat(t, b, "google connected as sam@example.com (tasks, calendar, mail).")
	for _, e := range b.Snapshot().Chat {
		if strings.Contains(e.Text, "code=") {
			t.Errorf("the address is in the chat: %s", e.Text)
		}
	}
	if p := b.SystemPrompt(); !strings.Contains(p, "gmail-reader") {
		t.Error("the agent is not told of mail")
	}

	g.Revoke()
	if _, err := b.Do(context.Background(), command.Click{Message: "t0", ID: "act:task_done:x"}); err == nil || !strings.Contains(err.Error(), "log in again") {
		t.Error(err)
	}
	b.google.Refresh() // as the file watcher would
	b.google.Refresh()
	saidInChat(t, b, "google: Google no longer accepts the login")
	if s := b.Snapshot(); s.Google == "" || strings.Contains(b.SystemPrompt(), "`ollim-bot tasks") {
		t.Error("a login that has ended is not shown, or the agent still counts on it")
	}
	n := 0
	for _, e := range b.Snapshot().Chat {
		n += strings.Count(e.Text, "no longer accepts the login")
	}
	if n != 1 {
		t.Errorf("told %d times", n)
	}
}

func TestButtonsActOnTasksAndEvents(t *testing.T) {
	testkit.Alone(t)
	b, g := connectable(t)
	click := func(id string) string {
		out, err := b.Do(context.Background(), command.Click{Message: "t0", ID: id})
		return fmt.Sprint(out.Message, "|", err)
	}
	if got := click("act:task_done:1"); !strings.Contains(got, "google is not connected (not set up") {
		t.Error(got)
	}
	connects(t, b)
	g.Tasks["other"] = nil
	milk, soap := g.AddTask("@default", map[string]any{"title": "Milk\n\x1b[31mIgnore"}), g.AddTask("other", map[string]any{"title": "Soap"})
	at := time.Date(2031, 1, 2, 3, 0, 0, 0, time.UTC)
	g.AddEvent("primary", map[string]any{
		"id": "ev1", "summary": "Fair", "start": map[string]any{"dateTime": at.Format(time.RFC3339)},
		"end": map[string]any{"dateTime": at.Add(time.Hour).Format(time.RFC3339)},
	})
	for _, c := range []struct{ id, want string }{
		{"act:task_done:" + milk, "done|<nil>"},
		{"act:task_del:other/" + soap, "deleted|<nil>"},
		{"act:event_del:ev1", "deleted|<nil>"},
		{"act:event_del:ev1", "|failed: it no longer exists"},
		{"act:task_del:_", "|failed: it no longer exists"},
		{"act:task_done:nolist/" + milk, "|failed: it no longer exists"},
	} {
		if got := click(c.id); got != c.want {
			t.Errorf("%s: %s", c.id, got)
		}
	}
	var told []string
	for _, u := range b.Snapshot().Updates {
		told = append(told, u.Message)
	}
	want := []string{`Button: the user completed the task "Milk Ignore".`, `Button: the user deleted the task "Soap".`, `Button: the user deleted the event "Fair".`}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", told)
	}
	if len(g.Refused) > 0 {
		t.Error(g.Refused)
	}
}

func TestTheDayIsReadWhileSomebodyLooksAndShownWithTheLogin(t *testing.T) {
	testkit.Alone(t)
	b, g := connectable(t)
	today := time.Now().In(b.zone)
	b.google.Look(t.Context())
	connects(t, b)
	g.AddTask("@default", map[string]any{"title": "Milk", "due": google.DueOn(today.Format(time.DateOnly))})
	milk := g.Tasks["@default"][0]["id"].(string)
	g.AddEvent("primary", map[string]any{
		"id": "fair", "summary": "Fair\x1b[31m", "start": map[string]any{"date": today.Format(time.DateOnly)},
		"end": map[string]any{"date": today.AddDate(0, 0, 2).Format(time.DateOnly)},
	})
	asked := g.Count("calendar.events.list") // the login itself makes a request
	if s := b.Snapshot(); len(s.Day) > 0 || g.Count("tasks.tasks.list") > 0 {
		t.Error("the day was read while nobody looks", s.Day)
	}
	for range 3 {
		b.google.Look(t.Context())
	}
	s := b.Snapshot()
	if len(s.Day) != 2 || s.Day[0].Title+s.Day[1].Title != "Fair" || g.Count("calendar.events.list") != asked+1 || g.Count("tasks.tasks.list") != 1 {
		t.Fatalf("%+v, asked for %q", s.Day, g.Calls)
	}
	for _, id := range []string{"act:task_done:" + milk, "act:event_del:fair"} {
		before := len(b.Snapshot().Day)
		if _, err := b.Do(context.Background(), command.Click{Message: "t0", ID: id}); err != nil || len(b.Snapshot().Day) != before-1 {
			t.Error(id, "leaves what it ended", err)
		}
	}
	if _, err := b.google.Logout(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.google.Refresh()
	b.google.Look(t.Context())
	if s := b.Snapshot(); s.Day != nil {
		t.Error("the day outlives the login", s.Day)
	}
}

func TestAGoogleButtonOutlivesTheBotThatShowedIt(t *testing.T) {
	testkit.Alone(t)
	g := googletest.New()
	t.Cleanup(g.Close)
	h := newHome(t)
	h.write(google.ClientFile, `{"installed":{"client_id":"`+googletest.ClientID+`","client_secret":"`+googletest.ClientSecret+`"}}`)
	b, stop := beside(t, g, h)
	connects(t, b)
	g.Tasks["errands"] = nil
	do(t, b, command.Slash{Line: "/config google_task_list errands"})
	milk, soap := g.AddTask("errands", map[string]any{"title": "Milk"}), g.AddTask("errands", map[string]any{"title": "Soap"})
	at := time.Now().Add(time.Hour)
	g.AddEvent("primary", map[string]any{
		"id": "fair", "summary": "Fair", "start": map[string]any{"dateTime": at.Format(time.RFC3339)}, "end": map[string]any{"dateTime": at.Add(time.Hour).Format(time.RFC3339)},
	})
	card, err := b.chat.Post(t.Context(), post.Post{Embed: &post.Embed{Title: "Today", Buttons: []post.Button{
		{Label: "Done", Action: "task_done:" + milk}, {Label: "Drop", Action: "task_del:" + soap}, {Label: "Cancel", Action: "event_del:fair"},
	}}})
	testkit.Must(t, err)
	stop()

	b, stop = beside(t, g, h)
	defer func() { stop() }()
	var buttons []post.Button
	for _, e := range b.Snapshot().Chat {
		if e.Is(card) {
			buttons = e.Embed.Buttons
		}
	}
	if len(buttons) != 3 {
		t.Fatalf("of the card is left %+v", buttons)
	}
	for _, button := range buttons {
		if _, err := b.Do(t.Context(), command.Click{Message: card, ID: button.Action}); err != nil {
			t.Errorf("%s: %v", button.Label, err)
		}
	}
	g.Lock()
	left := g.Tasks["errands"]
	if len(left) != 1 || left[0]["status"] != "completed" || g.Events["primary"][0]["status"] != "cancelled" {
		t.Error("the buttons did not do what they say", left, g.Events)
	}
	g.Unlock()

	if _, err := b.google.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.google.Refresh()
	stop()
	calls := len(g.Calls)
	b, stop = beside(t, g, h)
	for _, button := range buttons {
		_, err := b.Do(t.Context(), command.Click{Message: card, ID: button.Action})
		if err == nil || !strings.Contains(err.Error(), "google is not connected (not set up") {
			t.Errorf("%s without a login: %v", button.Label, err)
		}
	}
	if len(g.Calls) != calls {
		t.Error("Google was asked without a login", g.Calls[calls:])
	}
}

// P10
func TestAMessageMakesOneTaskAndAnothersWordsAreMarked(t *testing.T) {
	testkit.Alone(t)
	b, g := connectable(t)
	press := func(key, words string) string {
		out, err := b.Do(context.Background(), command.Click{ID: "act:task_about:" + key, Words: words})
		return fmt.Sprint(out.Message, err)
	}
	if got := press("own.1", "milk"); !strings.Contains(got, "/google-auth") {
		t.Error(got)
	}
	connects(t, b)
	first, second := press("own.1", "buy milk\nand bread"), press("own.1", "buy milk\nand bread")
	if !strings.Contains(first, "buy milk") || !strings.Contains(second, "that task exists already: buy milk") {
		t.Error(first, second)
	}
	press("foreign.2", "sell everything")
	list := g.Tasks["@default"]
	if len(list) != 2 {
		t.Fatalf("%v", list)
	}
	for _, task := range list {
		foreign := strings.HasPrefix(fmt.Sprint(task["notes"]), "[untrusted: ")
		if foreign != (task["title"] == "sell everything") {
			t.Errorf("%v", task)
		}
	}
}

// Z2: a calendar of the user's account, by its name. Without Google the task fires, and the problem says why.
func TestARoutineSkipsTheDaysOfAGoogleCalendar(t *testing.T) {
	testkit.Alone(t)
	b, g := connectable(t)
	g.Names = map[string]string{"primary": "Off days"}
	year := b.now().Year() + 1
	date := func(day int) map[string]any { return map[string]any{"date": fmt.Sprintf("%d-03-%02d", year, day)} }
	g.AddEvent("primary", map[string]any{"id": "leave", "summary": "Leave", "start": date(3), "end": date(5)})
	testkit.Must(t, b.dir.Write("routines/meds.md", []byte("---\nid: meds\ncron: \"0 9 * * *\"\nskip: calendar \"Off days\"\n---\nTake them.\n")))
	b.index.Scan()
	skipped := func() (days string) {
		r, ok := b.index.Set().RoutineByID("meds")
		if !ok {
			t.Fatal("the routine is not in force", b.index.Set().Problems)
		}
		from := time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC)
		for _, k := range r.Schedule.Skipped(from, from.AddDate(0, 0, 9), 9) {
			days += fmt.Sprintf("%d %s; ", k.At.Day(), k.Why)
		}
		return days
	}
	problem := func() string {
		for _, p := range b.index.Set().Problems {
			if strings.HasPrefix(p.Message, "skip: ") {
				return p.Message
			}
		}
		return ""
	}
	b.readSkipped(t.Context())
	b.index.LookAtCalendars()
	if p := problem(); skipped() != "" || !strings.Contains(p, `calendar "Off days"`) || !strings.Contains(p, "/google-auth") {
		t.Errorf("without Google: %q, %q", skipped(), p)
	}
	connects(t, b)
	days, failed := b.google.DaysOff(t.Context(), b.index.Shelf().Due(b.now().Add(time.Hour)))
	testkit.Must(t, b.index.Shelf().Keep(b.now(), days, failed))
	b.index.LookAtCalendars()
	why := `except calendar "Off days": Leave; `
	if got := skipped(); got != "3 "+why+"4 "+why || problem() != "" {
		t.Errorf("%q, %q", got, problem())
	}
}
