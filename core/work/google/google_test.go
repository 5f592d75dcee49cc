package google_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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
	g.Fail("token", googletest.Fault{Status: 400, Reason: "invalid_client"})
	g.Expire()
	for _, err := range c.Tasks.List(context.Background(), "@default", false) {
		if err == nil || !strings.Contains(err.Error(), "no longer knows the client") {
			t.Error(err)
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
		`<a href="` + long + `">far</a>`:                                               "far (https://example.com/…)",
	} {
		if got := google.Plain(page); got != want {
			t.Errorf("%.80q gives %q, want %q", page, got, want)
		}
	}
}
