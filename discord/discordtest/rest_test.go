package discordtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

func TestEveryAnswerOfTheFakeKeepsDiscordsContract(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{Team: true})
	u := s.User()
	ch := dm(t, s)
	full := obj{
		"content": "all of it", "allowed_mentions": silent(), "nonce": "n1", "enforce_nonce": true, "sticker_ids": nil,
		"embeds": []obj{{
			"title": "T", "description": "D", "color": 3447003, "timestamp": "2026-01-02T03:04:05Z",
			"fields": []obj{{"name": "n", "value": "v"}}, "footer": obj{"text": "bg"}, "author": obj{"name": "a"},
		}},
		"components": []obj{
			{"type": 1, "components": []obj{
				{"type": 2, "style": 1, "label": "Go", "custom_id": "act:go:_", "emoji": obj{"name": "👍"}},
				{"type": 2, "style": 5, "label": "Site", "url": "https://example.org"},
			}},
		},
	}
	id := do(t, s, "POST", "/channels/"+ch+"/messages", full).id()
	question := u.Reply(id, "why?")
	u.React(id, "🎉")
	heart := url.PathEscape("👀")
	commands := []obj{{
		"name": "model", "description": "shows the model", "contexts": []int{1, 2}, "integration_types": []int{1},
		"options": []obj{{"type": 3, "name": "name", "description": "which", "choices": []obj{{"name": "opus", "value": "opus"}}}},
	}, {"name": "cost", "description": "shows the cost"}}
	for _, c := range []struct {
		method, path string
		body         any
		want         int
	}{
		{"GET", "/gateway", nil, 200},
		{"GET", "/gateway/bot", nil, 200},
		{"GET", "/users/@me", nil, 200},
		{"GET", "/applications/@me", nil, 200},
		{"PUT", "/applications/" + s.Bot().ID + "/commands", commands, 200},
		{"GET", "/applications/" + s.Bot().ID + "/commands", nil, 200},
		{"POST", "/channels/" + ch + "/typing", nil, 204},
		{"PUT", "/channels/" + ch + "/messages/" + id + "/reactions/" + heart + "/@me", nil, 204},
		{"GET", "/channels/" + ch + "/messages?limit=100", nil, 200},
		{"GET", "/channels/" + ch + "/messages/" + id, nil, 200},
		{"DELETE", "/channels/" + ch + "/messages/" + id + "/reactions/" + heart + "/@me", nil, 204},
		{"PATCH", "/channels/" + ch + "/messages/" + id, text("changed"), 200},
		{"PATCH", "/channels/" + ch + "/messages/" + question.ID, text("not mine"), 403},
		{"DELETE", "/channels/" + ch + "/messages/" + id, nil, 204},
		{"DELETE", "/channels/" + ch + "/messages/" + id, nil, 404},
		{"GET", "/channels/1/messages", nil, 404},
	} {
		if r := do(t, s, c.method, c.path, c.body); r.status != c.want {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.path, r.status, r.raw, c.want)
		}
	}
}

func TestAnApplicationOfATeamIsOwnedByNobodyWhoCanBeWrittenTo(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{Team: true, Owner: discordtest.User{ID: "42"}})
	r := do(t, s, "GET", "/applications/@me", nil)
	owner, team := r.json["owner"].(obj), r.json["team"].(obj)
	if owner["id"] == "42" || team["owner_user_id"] != "42" {
		t.Errorf("owner %v, team %v", owner["id"], team["owner_user_id"])
	}
}

func TestTheSameNonceMakesOneMessage(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	path := "/channels/" + dm(t, s) + "/messages"
	once := func() reply {
		m := text("once")
		m["nonce"], m["enforce_nonce"] = "abc", true
		return do(t, s, "POST", path, m)
	}
	first, second := once(), once()
	if first.id() == "" || first.id() != second.id() {
		t.Fatalf("ids %q and %q", first.id(), second.id())
	}
	do(t, s, "DELETE", path+"/"+first.id(), nil)
	if r := once(); r.status != 404 || r.code() != 10008 {
		t.Errorf("after a deletion: %d %s", r.status, r.raw)
	}
	s.Advance(6 * time.Minute)
	if r := once(); r.status != 200 || r.id() == first.id() {
		t.Errorf("after six minutes: %d %s", r.status, r.raw)
	}
}

func TestHistoryComesNewestFirstInPages(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{NoContract: true})
	ch := dm(t, s)
	var ids []string
	for i := range 120 {
		ids = append(ids, s.User().Say(fmt.Sprint(i)).ID)
	}
	page := func(query string) []string {
		var all []struct{ ID string }
		testkit.Must(t, json.Unmarshal([]byte(do(t, s, "GET", "/channels/"+ch+"/messages?"+query, nil).raw), &all))
		var out []string
		for _, m := range all {
			out = append(out, m.ID)
		}
		return out
	}
	got := page("limit=100&after=" + ids[4])
	if len(got) != 100 || got[0] != ids[104] || got[99] != ids[5] {
		t.Errorf("%d messages, %s to %s", len(got), got[0], got[len(got)-1])
	}
	if got := page("limit=2"); len(got) != 2 || got[0] != ids[119] {
		t.Errorf("the newest are %v", got)
	}
}

func TestAnUploadIsServedAsItWasSent(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	ch := dm(t, s)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	field := func(name string, data []byte) {
		var p io.Writer
		var err error
		if name == "payload_json" {
			p, err = w.CreateFormField(name)
		} else {
			p, err = w.CreateFormFile(name, "a b.bin")
		}
		testkit.Must(t, err)
		if _, err := p.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	field("payload_json", []byte(`{"content":"see","allowed_mentions":{"parse":[]}}`))
	field("files[0]", []byte{0, 1, 2, 255})
	testkit.Must(t, w.Close())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/api/v9/channels/"+ch+"/messages", &body)
	testkit.Must(t, err)
	r.Header.Set("Content-Type", w.FormDataContentType())
	if got, err := send(t, r); err != nil || got.status != 200 {
		t.Fatalf("%d %s %v", got.status, got.raw, err)
	}
	m := s.State().Sent(s.Bot())[0]
	res, err := http.Get(m.Attachments[0].URL)
	testkit.Must(t, err)
	defer res.Body.Close()
	if got, _ := io.ReadAll(res.Body); string(got) != "\x00\x01\x02\xff" || m.Attachments[0].Name != "a b.bin" {
		t.Errorf("%q named %q", got, m.Attachments[0].Name)
	}
}

func TestAFileMayLieAboutItself(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	m := s.User().Upload("", discordtest.File{Name: "cat.png", Type: "image/png", Data: []byte("MZ"), Size: 5})
	a := m.Attachments[0]
	res, err := http.Get(a.URL)
	testkit.Must(t, err)
	defer res.Body.Close()
	if got, _ := io.ReadAll(res.Body); a.Size != 5 || a.Type != "image/png" || string(got) != "MZ" {
		t.Errorf("declared %d bytes of %s, served %q", a.Size, a.Type, got)
	}
	s.Fault(discordtest.Match{PathPrefix: "/attachments/*/*/cat"}, discordtest.Lost())
	res, err = http.Get(a.URL)
	testkit.Must(t, err)
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err == nil || string(got) != "M" {
		t.Errorf("a cut download ends with %q, %v", got, err)
	}
}

func TestAnAddressOfAFileEndsAfterADay(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	m := s.User().Upload("", discordtest.File{Name: "a", Data: []byte("x")})
	get := func(url string) int {
		res, err := http.Get(url)
		testkit.Must(t, err)
		_ = res.Body.Close()
		return res.StatusCode
	}
	s.Advance(25 * time.Hour)
	if got := get(m.Attachments[0].URL); got != 404 {
		t.Errorf("the old address: %d", got)
	}
	again := do(t, s, "GET", "/channels/"+m.ChannelID+"/messages/"+m.ID, nil)
	if got := get(again.json["attachments"].([]any)[0].(obj)["url"].(string)); got != 200 {
		t.Errorf("the new address: %d", got)
	}
}

func TestABreachIsReportedAndRefused(t *testing.T) {
	testkit.Alone(t)
	s := quiet(t, discordtest.Options{})
	path := "/channels/" + dm(t, s) + "/messages"
	with := func(o obj) obj { o["allowed_mentions"] = silent(); return o }
	button := func(id string) obj { return obj{"type": 2, "style": 1, "label": "x", "custom_id": id} }
	row := func(b ...obj) obj { return obj{"type": 1, "components": b} }
	six := make([]obj, 6)
	for i := range six {
		six[i] = row(button(fmt.Sprint(i)))
	}
	long := strings.Repeat("x", 3001)
	for name, c := range map[string]struct {
		body obj
		code int
		says string
	}{
		"2001 characters":      {text(strings.Repeat("x", 2001)), 50035, "2001 characters"},
		"1001 emoji":           {text(strings.Repeat("🦀", 1001)), 50035, "2002 characters"},
		"embeds over 6000":     {with(obj{"embeds": []obj{{"description": long}, {"description": long}}}), 50035, "6002 characters"},
		"six rows":             {with(obj{"content": "x", "components": six}), 50035, "6 rows"},
		"empty field":          {with(obj{"embeds": []obj{{"fields": []obj{{"name": "", "value": "v"}}}}}), 50035, "empty name"},
		"same id twice":        {with(obj{"content": "x", "components": []obj{row(button("a"), button("a"))}}), 50035, "occurs twice"},
		"empty":                {with(obj{"content": " "}), 50006, "empty"},
		"mentions":             {obj{"content": "@everyone"}, 0, "allowed_mentions"},
		"mentions of users":    {obj{"content": "x", "allowed_mentions": obj{"parse": []string{"users"}}}, 0, "allowed_mentions"},
		"title of 257":         {with(obj{"embeds": []obj{{"title": strings.Repeat("x", 257)}}}), 50035, "/embeds/0/title"},
		"description of 4097":  {with(obj{"embeds": []obj{{"description": strings.Repeat("x", 4097)}}}), 50035, "/embeds/0/description"},
		"26 fields":            {with(obj{"embeds": []obj{{"fields": fields(26, "v")}}}), 50035, "/embeds/0/fields"},
		"value of 1025":        {with(obj{"embeds": []obj{{"fields": fields(1, long[:1025])}}}), 50035, "/fields/0/value"},
		"six buttons in a row": {with(obj{"content": "x", "components": []obj{row(make6(button)...)}}), 50035, "/components/0"},
		"custom_id of 101":     {with(obj{"content": "x", "components": []obj{row(button(long[:101]))}}), 50035, "/components/0/components/0"},
		"button without a row": {with(obj{"content": "x", "components": []obj{button("a")}}), 50035, "/components/0"},
		"nonce of 26":          {with(obj{"content": "x", "nonce": long[:26]}), 50035, "/nonce"},
		"a number for a label": {with(obj{"content": 7}), 50035, "/content"},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(s.Violations())
			r := do(t, s, "POST", path, c.body)
			if r.code() != c.code {
				t.Errorf("code %d (%s), want %d", r.code(), r.raw, c.code)
			}
			said := s.Violations()[before:]
			if len(said) != 1 || !strings.Contains(said[0], c.says) {
				t.Errorf("violations %q, want one about %q", said, c.says)
			}
		})
	}
}

func fields(n int, value string) []obj {
	out := make([]obj, n)
	for i := range out {
		out[i] = obj{"name": "n", "value": value}
	}
	return out
}

func make6(button func(string) obj) []obj {
	out := make([]obj, 6)
	for i := range out {
		out[i] = button(fmt.Sprint(i))
	}
	return out
}

func TestExactlyTheLimitIsNoBreach(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	path := "/channels/" + dm(t, s) + "/messages"
	for _, content := range []string{strings.Repeat("x", 2000), strings.Repeat("🦀", 1000)} {
		if r := do(t, s, "POST", path, text(content)); r.status != 200 {
			t.Errorf("%d %s", r.status, r.raw)
		}
	}
}

func TestAnUnknownRouteAndAnUnknownAgentAreViolations(t *testing.T) {
	testkit.Alone(t)
	s := quiet(t, discordtest.Options{})
	if r := do(t, s, "GET", "/guilds/1", nil); r.status != 404 {
		t.Errorf("status %d", r.status)
	}
	res, err := http.Get(s.URL() + "/api/v10/gateway")
	testkit.Must(t, err)
	_ = res.Body.Close()
	v := s.Violations()
	if len(v) != 2 || !strings.Contains(v[0], "unknown route") || !strings.Contains(v[1], "User-Agent") {
		t.Errorf("violations %q", v)
	}
}

func TestAResetTokenIsRefused(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	s.ResetToken("another")
	if r := do(t, s, "GET", "/users/@me", nil); r.status != 401 {
		t.Errorf("status %d", r.status)
	}
}

func TestLimitsCountAndSayHowLongToWait(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{Limits: true, NoContract: true})
	path := "/channels/" + dm(t, s) + "/messages"
	for i := range 5 {
		if r := do(t, s, "POST", path, text("x")); r.status != 200 || r.header.Get("X-RateLimit-Remaining") != fmt.Sprint(4-i) {
			t.Fatalf("message %d: %d, remaining %s", i, r.status, r.header.Get("X-RateLimit-Remaining"))
		}
	}
	r := do(t, s, "POST", path, text("x"))
	wait, _ := r.json["retry_after"].(float64)
	if r.status != 429 || wait <= 0 || wait > 5 || r.header.Get("Retry-After") == "" {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if s.State().Limited != 1 {
		t.Errorf("%d counted", s.State().Limited)
	}
	s.Advance(5 * time.Second)
	if r := do(t, s, "POST", path, text("x")); r.status != 200 {
		t.Errorf("after five seconds: %d", r.status)
	}
}

func TestSnowflakesGrowAndCarryTheClock(t *testing.T) {
	testkit.Alone(t)
	at := time.UnixMilli(1_800_000_000_123)
	s := discordtest.Start(t, discordtest.Options{Now: func() time.Time { return at }})
	a, b := s.User().Say("a"), s.User().Say("b")
	s.Advance(time.Hour)
	c := s.User().Say("c")
	if a.ID >= b.ID || b.ID >= c.ID {
		t.Errorf("%s, %s, %s", a.ID, b.ID, c.ID)
	}
	if !discordtest.Time(a.ID).Equal(at) || !discordtest.Time(c.ID).Equal(at.Add(time.Hour)) {
		t.Errorf("%s and %s", discordtest.Time(a.ID), discordtest.Time(c.ID))
	}
}
