package google_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/work/google"
	"ollimbot/core/work/google/googletest"
)

// account returns a directory that is logged in at its own fake Google.
func account(t testing.TB, scopes ...google.Scope) (*google.Client, *googletest.Server, *store.Dir) {
	t.Helper()
	g := googletest.New()
	t.Cleanup(g.Close)
	d := storetest.Dir(t)
	var list []string
	for _, s := range scopes {
		list = append(list, string(s))
	}
	login(t, d, map[string]any{
		"token": "ya29.old", "refresh_token": g.Grant(list...), "token_uri": "https://oauth2.googleapis.com/token",
		"client_id": googletest.ClientID, "client_secret": googletest.ClientSecret, "scopes": list, "universe_domain": "googleapis.com",
		"account": "sam@example.com", "expiry": "2025-01-02T03:04:05.678901Z", "quota_project_id": "theirs",
	})
	return client(t, d, g.URL), g, d
}

func client(t testing.TB, d *store.Dir, api string) *google.Client {
	t.Helper()
	c, err := google.New(google.Options{Dir: d, API: api})
	testkit.Must(t, err)
	return c
}

func login(t testing.TB, d *store.Dir, token map[string]any) {
	t.Helper()
	testkit.Must(t, d.WriteJSON(google.TokenFile, token))
}

func read(t *testing.T, d *store.Dir) map[string]any {
	t.Helper()
	var m map[string]any
	if _, err := d.PeekJSON(google.TokenFile, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func count(t *testing.T, c *google.Client) (n int) {
	t.Helper()
	for _, err := range c.Tasks.List(context.Background(), "@default", true) {
		testkit.Must(t, err)
		n++
	}
	return n
}

func TestOnlyAnAddressOfThisMachineReplacesGoogle(t *testing.T) {
	d, _ := store.At(t.TempDir())
	for api, ok := range map[string]bool{
		"": true, "http://127.0.0.1:1": true, "https://localhost:2/": true, "http://[::1]:3": true,
		"http://example.com": false, "http://127.0.0.1.example.com": false, "http://a@127.0.0.1:1": false, "file:///x": false, "127.0.0.1:1": false,
	} {
		if _, err := google.New(google.Options{Dir: d, API: api}); (err == nil) != ok {
			t.Errorf("%q: %v", api, err)
		}
	}
}

func TestManyAtOnceRenewTheTokenOnceAndKeepWhatTheOriginalWrote(t *testing.T) {
	testkit.Alone(t)
	c, g, d := account(t, google.Tasks)
	g.Rotates = true
	before := read(t, d)
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			mine := c
			if i%2 == 0 { // like another process
				other, err := store.At(d.Root())
				if err != nil {
					t.Error(err)
				}
				mine = client(t, other, g.URL)
			}
			for _, err := range mine.Tasks.List(context.Background(), "@default", false) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	after := read(t, d)
	if g.Refreshes != 1 || after["refresh_token"] == before["refresh_token"] || after["token"] == "ya29.old" {
		t.Errorf("renewed %d times: %v", g.Refreshes, after)
	}
	for _, same := range []string{"client_id", "client_secret", "account", "quota_project_id", "token_uri"} {
		if before[same] != after[same] {
			t.Errorf("%s is %v", same, after[same])
		}
	}
	if _, err := time.Parse("2006-01-02T15:04:05.000000Z", after["expiry"].(string)); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(d.Path(google.TokenFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestAnAnswerThatIsLostMakesNothingTwice(t *testing.T) {
	testkit.Alone(t)
	for name, f := range map[string]googletest.Fault{"lost": {Lost: true}, "cut": {Cut: true}, "500": {Status: 500}, "503": {Status: 503}} {
		t.Run(name, func(t *testing.T) {
			c, g, _ := account(t, google.Tasks, google.Calendar)
			ctx := context.Background()
			for i := range 3 {
				g.Fail("tasks.tasks.insert", f)
				made, err := c.Tasks.Add(ctx, "@default", google.Task{Title: "Milk", Due: google.DueOn("2026-11-24")})
				if err != nil || made.ID == "" {
					t.Fatal(made, err)
				}
				// An earlier thing with the same text is a different one, some seconds older.
				g.Lock()
				for _, task := range g.Tasks["@default"] {
					task["updated"] = "2026-01-01T00:00:00.000Z"
				}
				g.Unlock()
				if n := count(t, c); n != i+1 {
					t.Fatalf("%d tasks after %d calls", n, i+1)
				}
			}
			for _, like := range []map[string]any{{"title": "Milk"}, {"title": "Soap", "due": google.DueOn("2026-11-24")}, {"title": "Milk", "due": google.DueOn("2026-11-24"), "notes": "n"}} {
				g.AddTask("@default", like) // just now, too, but another
			}
			g.Fail("tasks.tasks.insert", f)
			made, err := c.Tasks.Add(ctx, "@default", google.Task{Title: "Milk", Due: google.DueOn("2026-11-24")})
			if n := count(t, c); err != nil || made.Title != "Milk" || made.Day() != "2026-11-24" || made.Notes != "" || n != 7 {
				t.Errorf("%+v, %v, %d tasks", made, err, n)
			}
			g.Fail("calendar.events.insert", f, f)
			at := time.Date(2031, 1, 2, 3, 0, 0, 0, time.UTC)
			e, err := c.Calendar.Add(ctx, "primary", google.Event{Summary: "Dentist", Start: google.At(at), End: google.At(at.Add(time.Hour))})
			if err != nil || len(g.Events["primary"]) != 1 || g.Events["primary"][0]["id"] != e.ID {
				t.Errorf("%v, %v, %v", e, err, g.Events)
			}
			g.Fail("calendar.events.delete", f)
			if err := c.Calendar.Delete(ctx, []string{"primary"}, e.ID); err != nil {
				t.Error(err)
			}
			if err := c.Calendar.Delete(ctx, []string{"primary"}, e.ID); !errors.Is(err, google.ErrUnknown) {
				t.Error("deleted twice:", err)
			}
		})
	}
}

func TestARevokedLoginIsAskedForOnce(t *testing.T) {
	testkit.Alone(t)
	c, g, d := account(t, google.Tasks)
	g.Revoke()
	for range 5 {
		for _, err := range c.Tasks.List(context.Background(), "@default", false) {
			if !errors.Is(err, google.ErrOff) || !strings.Contains(err.Error(), "log in again with /google-auth") {
				t.Error(err)
			}
		}
	}
	if s := c.State(); g.Refreshes != 1 || s.Kind != google.Lapsed || s.Account != "sam@example.com" || s.On() {
		t.Errorf("%d %+v", g.Refreshes, s)
	}
	if why, ended := c.Revoked(); !ended || why == "" {
		t.Error("the end is not reported")
	}
	if _, again := c.Revoked(); again {
		t.Error("reported twice")
	}
	if _, err := d.Read(google.TokenFile); err == nil {
		t.Error("the token is still there")
	}
}

func TestARefreshThatFailsForAWhileKeepsTheLogin(t *testing.T) {
	testkit.Alone(t)
	c, g, _ := account(t, google.Tasks)
	g.Fail("token", googletest.Fault{Status: 503, Reason: "x"}, googletest.Fault{Status: 500, Reason: "x"})
	if n := count(t, c); n != 0 || c.State().Kind != google.Connected {
		t.Error(n, c.State())
	}
	const unknown = "google: Google no longer knows the client: create a new one, as its guide to Google explains, and log in again with /google-auth"
	for reason, says := range map[string]string{
		"invalid_client": unknown, "unauthorized_client": unknown, "deleted_client": unknown, "invalid_scope": "Google refused the request (0): invalid_scope",
		"invalid_grant": "google: Google no longer accepts the login (it was revoked or has expired): log in again with /google-auth",
	} {
		c, g, d := account(t, google.Tasks)
		g.Fail("token", googletest.Fault{Status: 400, Reason: reason})
		for _, err := range c.Tasks.List(context.Background(), "@default", false) {
			if _, kept := d.Read(google.TokenFile); err == nil || strings.TrimSpace(err.Error()) != says || errors.Is(err, google.ErrOff) != (kept != nil) || c.State().On() != (reason == "invalid_scope") {
				t.Errorf("%s: %v, the file: %v, %v", reason, err, kept, c.State())
			}
		}
	}
}

func TestATokenWithoutScopesOrWithAText(t *testing.T) {
	testkit.Alone(t)
	c, g, d := account(t, google.Tasks)
	m := read(t, d)
	delete(m, "scopes")
	delete(m, "expiry")
	login(t, d, m)
	if !c.State().May(google.Mail) || count(t, c) != 0 {
		t.Error(c.State())
	}
	m = read(t, d)
	m["scopes"] = string(google.Tasks) + " https://mail.google.com/"
	login(t, d, m)
	if s := c.State(); !s.May(google.Mail) || s.May(google.Calendar) || count(t, c) != 0 {
		t.Error(s)
	}
	for _, err := range c.Calendar.Events(context.Background(), []string{"primary"}, time.Now(), time.Now().Add(time.Hour)) {
		if err == nil || !strings.Contains(err.Error(), "you have not allowed access to calendar") {
			t.Error(err)
		}
	}
	if g.Count("calendar.events.list") != 0 {
		t.Error("Google was asked for what was not allowed")
	}
}

func TestEventsOfSeveralCalendarsComeInOrder(t *testing.T) {
	testkit.Alone(t)
	c, g, _ := account(t, google.Calendar)
	from := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 600 {
		at := from.Add(time.Duration(i) * time.Minute)
		g.AddEvent(fmt.Sprintf("c%d", i%3), map[string]any{
			"id": fmt.Sprint("e", i), "start": map[string]any{"dateTime": at.Format(time.RFC3339)},
			"end": map[string]any{"dateTime": at.Add(time.Minute).Format(time.RFC3339)},
		})
	}
	n := 0
	for e, err := range c.Calendar.Events(context.Background(), []string{"c0", "c1", "c2"}, from, from.AddDate(0, 0, 1)) {
		if err != nil || e.ID != fmt.Sprint("e", n) || e.Calendar != fmt.Sprintf("c%d", n%3) {
			t.Fatal(n, e, err)
		}
		n++
	}
	if n != 600 {
		t.Error(n)
	}
	for _, err := range c.Calendar.Events(context.Background(), []string{"c0", "c1"}, from, from.AddDate(0, 0, 1)) {
		if err != nil {
			t.Error(err)
		}
		break // leaves nothing running
	}
}

func TestHTMLIsReadAsSomebodySeesIt(t *testing.T) {
	for page, want := range map[string]string{
		"":                                     "",
		"a<b":                                  "a",
		"<p>One   two</p><p>three<br>four</p>": "One two\n\nthree\nfour",
		"<style>x</style><script>y</script>z":  "z",
		"<div style='DISPLAY : none'>a<div>b</div>c</div>d":                        "d",
		"<p style='Visibility: hidden'>a</p>b":                                     "b",
		"<p hidden>a</p>b<template>c</template>":                                   "b",
		"x<img hidden src=a>y<input hidden>z":                                      "x y z",
		"&lt;b&gt; &amp; &#x41;":                                                   "<b> & A",
		"<title>t</title><table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr>x": "1 2\n\n3\nx",
		strings.Repeat("<div>", 10000) + "deep":                                    "deep",
	} {
		if got := google.Plain(page); got != want {
			t.Errorf("%.60q gives %q, want %q", page, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("<p style=\"display:none\">a</p>b<!-- c -->")
	f.Fuzz(func(t *testing.T, page string) {
		if text := google.Plain(page); len(text) > 8*len(page)+8 || text != strings.TrimSpace(text) {
			t.Errorf("%q", text)
		}
	})
}

// BenchmarkLists reads 10,000 tasks: the memory in use must not grow with them.
func BenchmarkLists(b *testing.B) {
	c, g, _ := account(b, google.Tasks)
	for i := range 10000 {
		g.Tasks["@default"] = append(g.Tasks["@default"], map[string]any{"id": fmt.Sprint(i), "title": "A task", "updated": "2026-01-01T00:00:00.000Z"})
	}
	for b.Loop() {
		n := 0
		for _, err := range c.Tasks.List(context.Background(), "@default", true) {
			testkit.Must(b, err)
			n++
		}
		if n != 10000 {
			b.Fatal(n)
		}
	}
}

// BenchmarkState measures reading the files. Without a login that is all the bot's start
// does for Google.
func BenchmarkState(b *testing.B) {
	c, _, _ := account(b, google.Tasks)
	b.Run("on", func(b *testing.B) {
		for b.Loop() {
			if !c.State().On() {
				b.Fatal("off")
			}
		}
	})
	d := storetest.Dir(b)
	c = client(b, d, "")
	b.Run("off", func(b *testing.B) {
		for b.Loop() {
			if c.State().On() {
				b.Fatal("on")
			}
		}
	})
}

func TestTheTokenIsInNoError(t *testing.T) {
	testkit.Alone(t)
	c, g, d := account(t, google.Tasks)
	secrets := []string{read(t, d)["refresh_token"].(string), googletest.ClientSecret}
	g.Close()
	for _, err := range c.Tasks.List(context.Background(), "@default", false) {
		text := err.Error()
		state, _ := json.Marshal(c.State())
		for _, s := range secrets {
			if strings.Contains(text+string(state), s) {
				t.Errorf("%s holds %s", text, s)
			}
		}
		if c.State().Kind != google.Unreachable || !strings.Contains(text, "cannot be reached") {
			t.Errorf("%v, %v", text, c.State())
		}
	}
}

// G5
func TestALoginPageOfTheNetworkIsNamed(t *testing.T) {
	testkit.Alone(t)
	for portal, want := range map[string]string{"page": "(a web page)", "http://portal.example/login": "(a redirect to portal.example)"} {
		c, g, _ := account(t, google.Tasks)
		f := googletest.Fault{Portal: portal}
		g.Fail("tasks.tasks.insert", f, f, f, f)
		_, err := c.Tasks.Add(context.Background(), "@default", google.Task{Title: "Milk"})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "log in to it first") {
			t.Errorf("%s: %v", portal, err)
		}
		if s := c.State(); s.Kind != google.Unreachable || s.Why != err.Error() {
			t.Error(s)
		}
		g.Fail("tasks.tasks.insert", f) // logged in to the network in the meantime
		if made, err := c.Tasks.Add(context.Background(), "@default", google.Task{Title: "Milk"}); err != nil || made.ID == "" || count(t, c) != 1 {
			t.Error(made, err)
		}
	}
}

func TestMailIsReadInTheCharsetThatItNames(t *testing.T) {
	testkit.Alone(t)
	c, g, _ := account(t, google.Mail)
	for set, mail := range map[string]struct{ bytes, want string }{
		"utf-8":            {"Gr\xc3\xbc\xc3\x9fe", "Grüße"},
		"us-ascii":         {"Gr\xc3\xbc\xc3\x9fe", "Grüße"}, // Google converted it to UTF-8
		"ISO-8859-1":       {"Gr\xfc\xdfe", "Grüße"},
		"iso-8859-10":      {"\xe1\xbe", "áū"},
		"iso-8859-15":      {"5 \xa4", "5 €"},
		"\"Windows-1252\"": {"\x93Hi\x94 5 \x80", "“Hi” 5 €"},
		"latin1":           {"\xe9", "é"},
		"koi8-r":           {"\xf0\xd2\xc9\xd7\xc5\xd4", "Привет"},
		"cp1251":           {"\xcf\xf0\xe8", "При"},
		// G2
		"Shift_JIS":      {"\x93\xfa\x96\x7b", "日本"},
		"ISO-2022-JP":    {"\x1b$BF|K\\\x1b(B", "日本"}, // pure ASCII bytes
		"GB2312":         {"\xd6\xd0\xce\xc4", "中文"},
		"euc-kr":         {"\xc7\xd1\xb1\xdb", "한글"},
		"Big5":           {"\xa4\xa4\xa4\xe5", "中文"},
		"utf-16":         {"\xfe\xff\x00H\x4e\x2d", "H中"},
		"utf-16le":       {"H\x00i\x00", "Hi"},
		"hz-gb-2312":     {"\xff a", "[The charset of this text is not known (hz-gb-2312), so some characters may be wrong.]\n\ufffd a"},   // no decoder exists any more
		"x-nobody-knows": {"a\xff", "[The charset of this text is not known (x-nobody-knows), so some characters may be wrong.]\na\ufffd"}, // S24
	} {
		body := base64.StdEncoding.EncodeToString([]byte(mail.bytes)) // Google's is URL-safe and without =
		g.Mails = []map[string]any{{"id": "m", "payload": map[string]any{
			"mimeType": "text/plain", "headers": []any{map[string]any{"name": "Content-Type", "value": "text/plain; charset=" + set}},
			"body": map[string]any{"data": body},
		}}}
		if m, err := c.Mail.Get(context.Background(), "m"); err != nil || m.Body != mail.want {
			t.Errorf("%s: %q, %v", set, m.Body, err)
		}
	}
	for header, want := range map[string]string{
		"=?koi8-r?B?8NLJ18XU?=": "Привет", "=?ISO-8859-1?Q?Gr=FC=DFe?= you": "Grüße you", "=?x-none?Q?a?=": "=?x-none?Q?a?=", "Grüße": "Grüße",
		"=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=": "日本", // G2
	} {
		g.Mails = []map[string]any{{"id": "m", "payload": map[string]any{"headers": []any{map[string]any{"name": "Subject", "value": header}}}}}
		if m, err := c.Mail.Get(context.Background(), "m"); err != nil || m.Subject != want {
			t.Errorf("%s: %q, %v", header, m.Subject, err)
		}
	}
}

// G1
func TestASearchSaysHowManyThereAre(t *testing.T) {
	testkit.Alone(t)
	c, g, _ := account(t, google.Mail)
	for _, x := range []struct {
		in, most, listed, found int
		more                    bool
	}{{0, 20, 0, 0, false}, {20, 20, 20, 20, false}, {51, 20, 20, 51, false}, {3, 20, 3, 3, false}, {500, 20, 20, 500, false}, {501, 500, 500, 500, true}} {
		g.Mails = nil
		for i := range x.in {
			g.Mails = append(g.Mails, map[string]any{"id": fmt.Sprint("m", i), "payload": map[string]any{}})
		}
		found, err := c.Mail.Search(context.Background(), "", x.most)
		testkit.Must(t, err)
		n := 0
		for m, err := range found.Mails {
			if err != nil || m.ID != fmt.Sprint("m", n) {
				t.Fatal(m, err)
			}
			n++
		}
		if n != x.listed || found.Total != x.found || found.More != x.more {
			t.Errorf("of %d mails %d are listed, %d are found, more: %v", x.in, n, found.Total, found.More)
		}
	}
}

// G4
func TestALinkKeepsItsAddress(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("x", 400)
	for page, want := range map[string]string{
		`<a href="https://a.example/x?id=1&utm_source=mail&fbclid=2#top">here</a> now`: "here (https://a.example/x?id=1#top) now",
		`<a href="https://a.example/?utm_campaign=x">here</a>`:                         "here (https://a.example/)",
		`<a href="https://a.example/">https://a.example</a>`:                           "https://a.example",
		`<a href="http://a.example/x">a.example/x</a>`:                                 "a.example/x",
		`<a href="https://evil.example/">https://bank.example</a>`:                     "https://bank.example (https://evil.example/)",
		`<a href="https://a.example/b"><img src=x></a>`:                                "(https://a.example/b)",
		`<a href="https://a.example/b"><div>Buy</div></a>`:                             "Buy\n(https://a.example/b)",
		`<div hidden><a href="https://a.example/b">x</a></div>y`:                       "y",
		`<a href="javascript:alert(1)">a</a><a href="#x">b</a><a name=c>c</a>`:         "a b c",
		`<a href="mailto:ann@example.com">Ann</a>`:                                     "Ann (mailto:ann@example.com)",
		`<a href="https://a.example/1">one<a href="https://a.example/2">two</a>`:       "one (https://a.example/1) two (https://a.example/2)",
		`<a href="https://a.example/x?">here</a>`:                                      "here (https://a.example/x)",
		`<a href="mailto:` + long + `">far</a>`:                                        "far",
		`<a href="` + long + `">far</a>`:                                               "far (https://example.com/…)",
	} {
		if got := google.Plain(page); got != want {
			t.Errorf("%.80q gives %q, want %q", page, got, want)
		}
	}
}

func TestARefusalIsRepeatedOrSaysItsCure(t *testing.T) {
	testkit.Alone(t)
	c, g, _ := account(t, google.Tasks, google.Mail)
	g.AddTask("@default", map[string]any{"title": "Milk"})
	fault := func(n, status int, reason string) []googletest.Fault {
		return slices.Repeat([]googletest.Fault{{Status: status, Reason: reason}}, n)
	}
	for _, x := range []struct {
		faults []googletest.Fault
		says   string
		kind   google.Kind
	}{
		{fault(1, 403, "forbidden"), "Google refused the request (403): planned: forbidden", google.Connected},
		{fault(1, 403, strings.Repeat("x", 300)), "Google refused the request (403): planned: " + strings.Repeat("x", 290) + "…", google.Connected},
		{fault(1, 403, "insufficientPermissions"), "you have not allowed access to tasks: allow it with /google-auth", google.Connected},
		{fault(1, 403, "insufficientScopes"), "you have not allowed access to tasks: allow it with /google-auth", google.Connected},
		{fault(1, 403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT"), "you have not allowed access to tasks: allow it with /google-auth", google.Connected},
		{fault(1, 403, "accessNotConfigured"), "this API is not enabled in your Google project: enable it at console.cloud.google.com", google.Connected},
		{fault(1, 403, "SERVICE_DISABLED"), "this API is not enabled in your Google project: enable it at console.cloud.google.com", google.Connected},
		{fault(1, 403, "quotaExceeded"), "the quota of your Google project is used up: try again tomorrow", google.Connected},
		{fault(1, 403, "dailyLimitExceeded"), "the quota of your Google project is used up: try again tomorrow", google.Connected},
		{fault(1, 400, "rateLimitExceeded"), "Google refused the request (400): planned: rateLimitExceeded", google.Connected},
		{fault(1, 404, "x"), "this id does not exist", google.Connected},
		{fault(1, 410, "x"), "this id does not exist", google.Connected},
		{fault(1, 400, "Invalid task ID"), "this id does not exist", google.Connected},
		{fault(1, 403, "Invalid task ID"), "Google refused the request (403): planned: Invalid task ID", google.Connected},
		{fault(1, 401, "authError"), "", google.Connected},
		{fault(2, 401, "authError"), "Google no longer accepts the login (it was revoked or has expired): log in again with /google-auth", google.Connected},
		{fault(1, 403, "rateLimitExceeded"), "", google.Connected},
		{fault(1, 403, "userRateLimitExceeded"), "", google.Connected},
		{fault(3, 429, "x"), "", google.Connected},
		{fault(4, 429, "x"), "Google asks you to wait a while; try again then", google.Connected},
		{[]googletest.Fault{{Status: 429, After: 1}}, "", google.Connected},
		{[]googletest.Fault{{Status: 429, After: 21}}, "Google asks you to wait 21s; try again then", google.Connected},
		{fault(4, 500, "x"), "Google cannot be reached (it answered 500): check this machine's internet connection; the next command tries again", google.Unreachable},
		{fault(1, 503, "x"), "", google.Connected},
	} {
		g.Fail("tasks.tasks.list", x.faults...)
		says, began := "", time.Now()
		for task, err := range c.Tasks.List(t.Context(), "@default", false) {
			if err != nil {
				says = err.Error()
			} else if task.Title != "Milk" {
				t.Error(task)
			}
		}
		s := c.State()
		if says != x.says || s.Kind != x.kind || x.kind == google.Unreachable && s.Why != says {
			t.Errorf("%+v: says %q, state %v", x.faults, says, s)
		}
		if x.faults[0].After == 1 && time.Since(began) < time.Second {
			t.Errorf("waited %v", time.Since(began))
		}
	}
	g.Fail("gmail.users.labels.list", fault(1, 403, "insufficientPermissions")...)
	if _, err := c.Mail.Labels(t.Context()); err == nil || err.Error() != "you have not allowed access to mail: allow it with /google-auth mail" {
		t.Error(err)
	}
	if list, err := c.Mail.Labels(t.Context()); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	g.Labels = []map[string]any{{"id": "L1", "name": "Work"}}
	if list, err := c.Mail.Labels(t.Context()); err != nil || !slices.Equal(list, []google.Label{{ID: "L1", Name: "Work"}}) {
		t.Error(list, err)
	}
	// An id is no path: none of these reaches Google as something else.
	calls := len(g.Calls)
	for _, id := range []string{"", ".", ".."} {
		if _, err := c.Tasks.Get(t.Context(), "@default", id); err == nil || err.Error() != "this id does not exist" || len(g.Calls) != calls {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := c.Tasks.Get(t.Context(), "@default", "../@default/tasks"); !errors.Is(err, google.ErrUnknown) || len(g.Refused) != 0 {
		t.Error(err, g.Refused)
	}
}

func TestTheStateSaysWhoIsLoggedInAndWhatIsMissing(t *testing.T) {
	_, _, d := account(t)
	c := client(t, d, "")
	app := func(text string) func() error { return func() error { return c.SetApp([]byte(text)) } }
	write := func(name, text string) func() error {
		return func() error { return d.Write("state/"+name, []byte(text)) }
	}
	const logIn, noApp = "log in with /google-auth", "there is no client: create your own client at console.cloud.google.com and connect it on the bot's machine, as its guide to Google explains"
	const damaged = "log in again: the login is damaged: log in again with /google-auth"
	const missing = "this is not a Google client file (client_id or client_secret is missing): download it again"
	for _, x := range []struct {
		do        func() error
		says      string // the error
		is, lacks string // the state, and why tasks are missing
	}{
		{write("token.json", `{"refresh_token":"r","client_id":"c","account":"sam@example.com"}`), "", "connected as sam@example.com (tasks, calendar, mail)", ""},
		{write("token.json", `{"refresh_token":"r","client_id":"c","scopes":["https://www.googleapis.com/auth/calendar"]}`), "", "connected (calendar)", "you have not allowed access to tasks: allow it with /google-auth"},
		{write("token.json", `{"refresh_token":"r","client_id":"c","scopes":"https://www.googleapis.com/auth/gmail.modify openid"}`), "", "connected (mail)", "you have not allowed access to tasks: allow it with /google-auth"},
		{write("token.json", `{"refresh_token":"r","client_id":"c","expiry":"x"}`), "", damaged, damaged[14:]},
		{write("token.json", `{"refresh_token":"r","client_id":"c","expiry":"","scopes":["x"]}`), "", "connected", "you have not allowed access to tasks: allow it with /google-auth"},
		{write("token.json", `{"refresh_token":"r","client_id":"c","expiry":"2026-01-02T03:04:05+02:00","scopes":["https://mail.google.com/"]}`), "", "connected (mail)", "you have not allowed access to tasks: allow it with /google-auth"},
		{write("google.json", `{"failure":"no way"}`), "", "unreachable (mail): no way", "you have not allowed access to tasks: allow it with /google-auth"},
		{write("token.json", `{"refresh_token":"r"}`), "", damaged, damaged[14:]},
		{write("token.json", `{"client_id":"c"}`), "", damaged, damaged[14:]},
		{write("token.json", `{"client_id":"c"`), "", damaged, damaged[14:]},
		{write("google.json", `{"lapsed":"it ended","account":"sam@example.com"}`), "", "log in again as sam@example.com: it ended", "it ended"},
		{write("google.json", `{}`), "", damaged, damaged[14:]},
		{func() error { return d.Remove(google.TokenFile) }, "", "not set up: " + noApp, noApp},
		{app(`{`), "this is not a Google client file (not JSON): download it again", "not set up: " + noApp, noApp},
		{app(`{}`), `this is not a Google client file (it has no "installed" entry): download it again`, "not set up: " + noApp, noApp},
		{app(`{"web":{}}`), `this is a client of type "web": create one of type "Desktop app"`, "not set up: " + noApp, noApp},
		{app(`{"type":"service_account"}`), `this is a client of type "type": create one of type "Desktop app"`, "not set up: " + noApp, noApp},
		{app(`{"installed":{"client_id":"a"}}`), missing, "not set up: " + noApp, noApp},
		{app(`{"installed":{"client_secret":"a"}}`), missing, "not set up: " + noApp, noApp},
		{app(`{"installed":[]}`), missing, "not set up: " + noApp, noApp},
		{app(`{"installed":{"client_id":"a","client_secret":"b"}}`), "", "not set up: " + logIn, logIn},
		{write("credentials.json", `{"installed":[]}`), "", "not set up: " + missing, missing},
	} {
		says := ""
		if err := x.do(); err != nil {
			says = err.Error()
		}
		s := c.State()
		if says != x.says || s.String() != x.is || s.Lacks(google.Tasks) != x.lacks {
			t.Errorf("says %q, is %q, lacks %q; want %+v", says, s, s.Lacks(google.Tasks), x)
		}
	}
	testkit.Must(t, d.Write(google.TokenFile, []byte(`{"refresh_token":"r","client_id":"c","scopes":"a b","account":"sam@example.com"}`)))
	data, err := json.Marshal(c.State())
	if want := `{"state":"connected","account":"sam@example.com","scopes":["a","b"],"why":""}`; err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
	if calendar, other := google.Scope("https://www.googleapis.com/auth/drive").Name(), google.Scope("x").Name(); calendar != "drive" || other != "x" {
		t.Error(calendar, other)
	}
}

func TestAScriptReadsTasksAndEventsAsCleanJSON(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	moment := func(text string) *google.When { return &google.When{DateTime: text} }
	for _, x := range []struct {
		v    any
		want string
	}{
		{
			google.Task{ID: "i", Title: "Milk\n\x1b[31m", Notes: "a\nb\u202e", Due: google.DueOn("2026-11-24"), Status: "completed", Completed: "2026-11-23T00:00:00.000Z", Link: "https://a"},
			`{"id":"i","title":"Milk","due":"2026-11-24","done":true,"notes":"a\nb","completed":"2026-11-23T00:00:00.000Z","link":"https://a"}`,
		},
		{google.Task{Due: "2026", Status: "needsAction"}, `{"id":"","title":"","due":"2026","done":false,"notes":"","completed":"","link":""}`},
		{google.Event{
			ID: "e", Calendar: "c", Summary: "Den\ntist", Start: moment("2026-11-23T10:00:00Z"), End: moment("2026-11-23T11:30:00Z"), Location: "Main\nSt", Description: "<b>a</b>",
			Link: "https://a", Attendees: []google.Attendee{{Email: "eve@example.com"}, {Email: "sam@example.com"}}, Status: "confirmed", Organizer: &google.Attendee{Email: "eve@example.com"},
		}.In(zone), `{"id":"e","calendar":"c","title":"Den tist","all_day":false,"start":"2026-11-23T12:00:00+02:00","end":"2026-11-23T13:30:00+02:00","location":"Main St",` +
			`"description":"a","link":"https://a","attendees":["eve@example.com","sam@example.com"],"status":"confirmed","foreign":true}`},
		{
			google.Event{Calendar: "c", Start: &google.When{Date: "2026-11-23"}, End: &google.When{Date: "2026-11-24"}, Organizer: &google.Attendee{Email: "c"}}.In(zone),
			`{"id":"","calendar":"c","title":"","all_day":true,"start":"2026-11-23","end":"2026-11-24","location":"","description":"","link":"","attendees":[],"status":"","foreign":false}`,
		},
		{
			google.Event{End: moment("x"), Organizer: &google.Attendee{Email: "c", Self: true}}.In(zone),
			`{"id":"","calendar":"","title":"","all_day":false,"start":"","end":"","location":"","description":"","link":"","attendees":[],"status":"","foreign":false}`,
		},
	} {
		if data, err := json.Marshal(x.v); err != nil || string(data) != x.want {
			t.Errorf("%s, %v\nwant %s", data, err, x.want)
		}
	}
	for _, x := range []struct {
		start, end *google.When
		length     time.Duration
	}{
		{moment("2026-11-23T10:00:00Z"), moment("2026-11-23T13:30:00+02:00"), 90 * time.Minute},
		{&google.When{Date: "2026-11-23"}, &google.When{Date: "2026-11-25"}, 48 * time.Hour},
		{nil, moment("2026-11-23T10:00:00Z"), 0},
		{moment("2026-11-23T10:00:00Z"), nil, 0},
	} {
		if got := (google.Event{Start: x.start, End: x.end}).Length(); got != x.length {
			t.Errorf("%v to %v: %v", x.start, x.end, got)
		}
	}
}

func TestATaskAndAnEventAreFoundChangedAndDeleted(t *testing.T) {
	testkit.Alone(t)
	c, g, _ := account(t, google.Tasks, google.Calendar)
	id := g.AddTask("@default", map[string]any{"title": "Milk", "notes": "n"})
	done := g.AddTask("@default", map[string]any{"title": "Old", "status": "completed"})
	g.AddTask("@default", map[string]any{"title": "Older", "status": "completed", "hidden": true})
	titles := func(all bool) (list []string) {
		for task, err := range c.Tasks.List(t.Context(), "@default", all) {
			testkit.Must(t, err)
			list = append(list, task.Title)
		}
		return list
	}
	if open, all := titles(false), titles(true); !slices.Equal(open, []string{"Milk"}) || !slices.Equal(all, []string{"Older", "Old", "Milk"}) {
		t.Errorf("open %q, all %q", open, all)
	}
	if task, err := c.Tasks.Update(t.Context(), "@default", id, map[string]any{"title": "Soap"}); err != nil || task.Title != "Soap" || task.Notes != "n" {
		t.Error(task, err)
	}
	if err := c.Tasks.Delete(t.Context(), "@default", done); err != nil || len(titles(true)) != 2 {
		t.Error(err, titles(true))
	}
	_, err := c.Tasks.Update(t.Context(), "@default", done, map[string]any{"title": "x"})
	if gone := c.Tasks.Delete(t.Context(), "@default", done); !errors.Is(gone, google.ErrUnknown) || !errors.Is(err, google.ErrUnknown) {
		t.Error(gone, err)
	}

	g.Events["team"] = nil
	at := time.Date(2031, 1, 2, 3, 0, 0, 0, time.UTC)
	both := []string{"primary", "team"}
	day := func(text string) *google.When { return &google.When{Date: text} }
	e, err := c.Calendar.Add(t.Context(), "team", google.Event{Summary: "Fair", Start: day("2031-01-02"), End: day("2031-01-03")})
	if err != nil || e.Link == "" {
		t.Fatal(e, err)
	}
	if now, err := c.Calendar.Update(t.Context(), "team", e.ID, map[string]any{"start": google.Change(at), "end": google.Change(at.Add(time.Hour))}); err != nil || now.AllDay() || now.Length() != time.Hour || now.Start.Zone != "UTC" {
		t.Error(now, err)
	}
	if now, err := c.Calendar.Get(t.Context(), both, e.ID); err != nil || now.Summary != "Fair" || now.Calendar != "team" {
		t.Error(now, err)
	}
	if err := c.Calendar.Delete(t.Context(), both, e.ID); err != nil {
		t.Error(err)
	}
	_, gone := c.Calendar.Get(t.Context(), both, e.ID)
	_, err = c.Calendar.Update(t.Context(), "team", "none", map[string]any{"summary": "x"})
	if !errors.Is(gone, google.ErrUnknown) || !errors.Is(err, google.ErrUnknown) {
		t.Error(gone, err)
	}
	g.Fail("calendar.events.get", googletest.Fault{Status: 403, Reason: "forbidden"})
	if _, err := c.Calendar.Get(t.Context(), both, e.ID); err == nil || errors.Is(err, google.ErrUnknown) {
		t.Error(err) // another calendar is no answer to that
	}
	g.AddEvent("primary", map[string]any{"id": "same1"})
	if _, err := c.Calendar.Add(t.Context(), "primary", google.Event{Start: google.At(at), End: google.At(at)}); err == nil || err.Error() != "Google refused the request (400): The specified time range is empty." {
		t.Error(err)
	}
}

func TestAMailIsReadWithItsTextAndAttachments(t *testing.T) {
	testkit.Alone(t)
	c, g, _ := account(t, google.Mail)
	code := base64.URLEncoding.EncodeToString
	part := func(kind, data string, more map[string]any) map[string]any {
		p := map[string]any{"mimeType": kind, "body": map[string]any{"data": code([]byte(data))}}
		maps.Copy(p, more)
		return p
	}
	deep := part("text/plain", "deep", nil)
	for range 50 {
		deep = map[string]any{"mimeType": "multipart/mixed", "parts": []any{deep}}
	}
	far := part("text/plain", "", map[string]any{"body": map[string]any{"attachmentId": "f1", "size": 3}})
	g.Files["f1"] = code([]byte(" far?>~ \n"))
	file := part("application/pdf", "", map[string]any{"filename": "a.pdf", "body": map[string]any{"attachmentId": "f2", "size": 7}})
	head := []any{map[string]any{"name": "from", "value": "Eve <eve@example.com>"}, map[string]any{"name": "To", "value": "sam"}, map[string]any{"name": "Subject", "value": "Hi"}}
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	for name, x := range map[string]struct {
		payload map[string]any
		want    google.Message
	}{
		"plain before html": {
			map[string]any{"mimeType": "multipart/alternative", "headers": head, "parts": []any{part("text/html", "<b>html</b>", nil), part("TEXT/plain", " plain\n", nil), file}},
			google.Message{From: "Eve <eve@example.com>", To: "sam", Subject: "Hi", Body: "plain", Attachments: []google.Attachment{{Name: "a.pdf", Type: "application/pdf", Size: 7}}},
		},
		"html if the plain text is empty": {
			map[string]any{"parts": []any{part("text/plain", " ", nil), part("text/html", "<b>html</b>", nil)}},
			google.Message{From: "(unknown)", Subject: "(no subject)", Body: "html"},
		},
		"stored apart":     {far, google.Message{From: "(unknown)", Subject: "(no subject)", Body: "far?>~"}},
		"no text":          {map[string]any{"mimeType": "image/png"}, google.Message{From: "(unknown)", Subject: "(no subject)"}},
		"an attached text": {part("text/plain", "x", map[string]any{"filename": "b.txt"}), google.Message{From: "(unknown)", Subject: "(no subject)", Attachments: []google.Attachment{{Name: "b.txt", Type: "text/plain"}}}},
		"deep":             {deep, google.Message{From: "(unknown)", Subject: "(no subject)", Body: "deep"}},
		"too deep":         {map[string]any{"parts": []any{deep}}, google.Message{From: "(unknown)", Subject: "(no subject)"}},
	} {
		g.Mails = []map[string]any{{"id": "m", "internalDate": fmt.Sprint(at.UnixMilli()), "payload": x.payload}}
		x.want.ID, x.want.At = "m", at.Local()
		if m, err := c.Mail.Get(t.Context(), "m"); err != nil || !reflect.DeepEqual(m, x.want) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	g.Mails = []map[string]any{{"id": "m", "internalDate": fmt.Sprint(at.UnixMilli()), "payload": map[string]any{"headers": head, "parts": []any{file}}}}
	found, err := c.Mail.Search(t.Context(), "", 1)
	testkit.Must(t, err)
	for m, err := range found.Mails {
		if want := (google.Message{ID: "m", At: at.Local(), From: "Eve <eve@example.com>", To: "sam", Subject: "Hi"}); err != nil || !reflect.DeepEqual(m, want) {
			t.Errorf("%+v, %v", m, err)
		}
	}
	g.Mails[0]["payload"] = part("text/plain", "", map[string]any{"body": map[string]any{"data": "!"}})
	if _, err := c.Mail.Get(t.Context(), "m"); err == nil || err.Error() != "read the text of mail m: illegal base64 data at input byte 0" {
		t.Error(err)
	}
	if _, err := c.Mail.Get(t.Context(), "none"); !errors.Is(err, google.ErrUnknown) {
		t.Error(err)
	}
	refused := googletest.Fault{Status: 403, Reason: "forbidden"}
	g.Fail("gmail.users.messages.list", refused)
	if _, err := c.Mail.Search(t.Context(), "", 1); err == nil {
		t.Error("a search that fails is an empty one")
	}
	g.Fail("gmail.users.messages.attachments.get", refused)
	g.Mails[0]["payload"] = far
	if _, err := c.Mail.Get(t.Context(), "m"); err == nil {
		t.Error("a text that cannot be read is empty")
	}
}

func TestAProbeAsksForTheLeastThatIsAllowed(t *testing.T) {
	testkit.Alone(t)
	for scope, asks := range map[google.Scope]string{google.Tasks: "tasks.tasks.list", google.Mail: "gmail.users.getProfile", google.Calendar: "calendar.events.list"} {
		c, g, d := account(t, scope)
		if s := c.Probe(t.Context()); s.Kind != google.Connected || !slices.Equal(g.Calls, []string{asks}) {
			t.Errorf("%s: %v, asked %q", scope.Name(), s, g.Calls)
		}
		g.Fail(asks, googletest.Fault{Status: 403, Reason: "accessNotConfigured"})
		if s := c.Probe(t.Context()); s.String() != "unreachable as sam@example.com ("+scope.Name()+"): this API is not enabled in your Google project: enable it at console.cloud.google.com" {
			t.Errorf("%s: %v", scope.Name(), s)
		}
		g.Revoke()
		g.Expire()
		if s := c.Probe(t.Context()); s.Kind != google.Lapsed {
			t.Errorf("%s: %v", scope.Name(), s)
		}
		calls := len(g.Calls)
		testkit.Must(t, d.Remove("state/google.json"))
		if s := c.Probe(t.Context()); s.Kind != google.NotSetUp || len(g.Calls) != calls {
			t.Errorf("%s: %v", scope.Name(), s)
		}
	}
}
