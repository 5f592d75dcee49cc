package core

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/google"
	"ollimbot/core/work/google/googletest"
)

// connected is a bot with a fake Google.
type connected struct {
	*world
	g    *googletest.Server
	stop func()
}

// connectable returns a bot with a fake Google, a client file and no login.
func connectable(t *testing.T) *connected {
	t.Helper()
	g := googletest.New()
	t.Cleanup(g.Close)
	h := newHome(t)
	h.write(google.ClientFile, `{"installed":{"client_id":"`+googletest.ClientID+`","client_secret":"`+googletest.ClientSecret+`"}}`)
	c := &connected{world: h.world(nil), g: g}
	c.start()
	t.Cleanup(func() { c.stop() })
	return c
}

// start starts a bot on the directory.
func (c *connected) start() {
	c.Bot = c.bot(offline(), func(o *Options) {
		o.Still, o.Env = true, config.Env{Zone: c.home.zone, GoogleAPI: c.g.URL}
	})
	c.stop = begin(c, c.Bot)
	for c.Snapshot().Started.IsZero() {
		time.Sleep(time.Millisecond)
	}
}

// said waits until the chat contains a text, and counts it.
func (c *connected) said(want string) (n int) {
	c.Helper()
	c.until("said: "+want, func(s Snapshot) bool {
		n = strings.Count(fmt.Sprint(s.Chat), want)
		return n > 0
	})
	return n
}

// begins types /google-auth and returns the address in the answer.
func (c *connected) begins(line string) string {
	c.Helper()
	out := c.do(command.Slash{Line: line})
	address := regexp.MustCompile(`http://\S+`).FindString(out.Message)
	c.needs(address != "", "it answers", out)
	return address
}

// visit follows an address like a browser, and returns where it leads and the page.
func (c *connected) visit(browser *http.Client, address string) (to, page string) {
	c.Helper()
	res, err := browser.Get(address)
	testkit.Must(c, err)
	defer res.Body.Close()
	return res.Header.Get("Location"), fmt.Sprint(res.StatusCode, " ", string(must(io.ReadAll(res.Body))(c)))
}

func (c *connected) connects() {
	c.Helper()
	c.visit(http.DefaultClient, c.begins("/google-auth"))
	c.said("google connected")
}

// click presses a control, and returns its answer and error.
func (c *connected) click(id, words string) string {
	out, err := c.Do(c.Context(), command.Click{Message: "t0", ID: id, Words: words})
	return fmt.Sprint(out.Message, "|", err)
}

// fair is an event that lasts from one moment, or day, to another.
func (c *connected) fair(id, title, key string, from, to string) {
	c.g.AddEvent("primary", map[string]any{"id": id, "summary": title, "start": map[string]any{key: from}, "end": map[string]any{key: to}})
}

func TestGoogleIsConnectedInTheConversationByABrowserAndByAPastedAddress(t *testing.T) {
	testkit.Alone(t)
	c := connectable(t)
	const tasks, mail = "`ollim-bot tasks", "gmail-reader"
	c.lacks("the system prompt without a login", c.SystemPrompt(), tasks)
	_, page := c.visit(http.DefaultClient, c.begins("/google-auth"))
	c.holds(strings.HasPrefix(page, "200 Authentication complete"), "the page", page)
	c.said("google connected as sam@example.com (tasks, calendar).")
	c.shows("the system prompt", c.SystemPrompt(), tasks+" list")
	c.lacks("the system prompt", c.SystemPrompt(), mail)
	c.shows("/google-auth again", c.do(command.Slash{Line: "/google-auth"}).Message, "connected as")

	still := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	to, _ := c.visit(still, c.begins("/google-auth mail"))
	c.do(command.Say{Text: " http://127.0.0.1:1/?state=forged&code=x "})
	c.said("google auth failed: this is not the address")
	c.do(command.Say{Text: to})
	c.said("google connected as sam@example.com (tasks, calendar, mail).")
	c.lacks("the chat", fmt.Sprint(c.Snapshot().Chat), "code=")
	c.shows("the system prompt", c.SystemPrompt(), mail)

	today := time.Now().In(c.home.zone)
	milk := c.g.AddTask("@default", map[string]any{"title": "Milk", "due": google.DueOn(today.Format(time.DateOnly))})
	c.fair("fair", "Fair", "date", today.Format(time.DateOnly), today.AddDate(0, 0, 2).Format(time.DateOnly))
	c.google.Look(t.Context())
	c.is("parts of the day", len(c.Snapshot().Day), 2)
	c.is("the event is deleted", c.click("act:event_del:fair", ""), "deleted|<nil>")
	c.is("the task is done", c.click("act:task_done:"+milk, ""), "done|<nil>")
	c.is("parts left", len(c.Snapshot().Day), 0)
	c.is("updates", c.pending(), `Button: the user deleted the event "Fair". / Button: the user completed the task "Milk".`)

	c.g.Revoke()
	c.shows("a control", c.click("act:task_done:x", ""), "log in again")
	c.google.Refresh() // as the file watcher would
	c.google.Refresh()
	c.said("google: Google no longer accepts the login")
	c.is("said so", c.said("no longer accepts the login"), 1)
	c.holds(c.Snapshot().Google != "", "a login that has ended is not shown")
	c.lacks("the system prompt", c.SystemPrompt(), tasks)
}

// P10
func TestAMessageMakesOneTaskAndAnothersWordsAreMarked(t *testing.T) {
	testkit.Alone(t)
	c := connectable(t)
	const own, foreign = "act:task_about:own.1", "act:task_about:foreign.2"
	c.shows("without a login", c.click(own, "milk"), "/google-auth")
	c.connects()
	c.shows("the first time", c.click(own, "buy milk\nand bread"), "buy milk")
	c.shows("again", c.click(own, "buy milk\nand bread"), "that task exists already: buy milk")
	c.click(foreign, "sell everything")
	var marked []string
	for _, task := range c.g.Tasks["@default"] {
		marked = append(marked, fmt.Sprint(task["title"], " ", strings.HasPrefix(fmt.Sprint(task["notes"]), "[untrusted: ")))
	}
	slices.Sort(marked)
	c.is("tasks, and whether they are marked", strings.Join(marked, ", "), "buy milk false, sell everything true")
}

// Z2: a calendar of the user's account, by its name. Without Google the task fires, and the problem says why.
func TestARoutineSkipsTheDaysOfAGoogleCalendar(t *testing.T) {
	testkit.Alone(t)
	c := connectable(t)
	c.g.Names = map[string]string{"primary": "Off days"}
	year := c.now().Year() + 1
	c.fair("leave", "Leave", "date", fmt.Sprintf("%d-03-03", year), fmt.Sprintf("%d-03-05", year))
	c.put(task("routines/meds.md", "id: meds\ncron: \"0 9 * * *\"\nskip: calendar \"Off days\"\n", "Take them."))
	c.index.Scan()
	skipped := func() (days, problem string) {
		set := c.index.Set()
		r, ok := set.RoutineByID("meds")
		c.needs(ok, "the routine is not in force", set.Problems)
		from := time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC)
		for _, k := range r.Schedule.Skipped(from, from.AddDate(0, 0, 9), 9) {
			days += fmt.Sprintf("%d %s; ", k.At.Day(), k.Why)
		}
		for _, p := range set.Problems {
			if strings.HasPrefix(p.Message, "skip: ") {
				problem = p.Message
			}
		}
		return days, problem
	}
	c.readSkipped(t.Context())
	c.index.LookAtCalendars()
	days, problem := skipped()
	c.is("skipped without Google", days, "")
	c.shows("the problem", problem, `calendar "Off days"`, "/google-auth")
	c.connects()
	off, failed := c.google.DaysOff(t.Context(), c.index.Shelf().Due(c.now().Add(time.Hour)))
	testkit.Must(t, c.index.Shelf().Keep(c.now(), off, failed))
	c.index.LookAtCalendars()
	days, problem = skipped()
	const why = `except calendar "Off days": Leave; `
	c.is("skipped", days, "3 "+why+"4 "+why)
	c.is("the problem", problem, "")
}
