package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/discord/message"
)

// everything is a message with all that a message can have.
func everything() Message {
	return Message{
		Content: "look", ReplyTo: "55", Nonce: "n-1", Flags: SuppressEmbeds | Silent,
		Embeds: []Embed{{
			Title: "Card", Description: "text", Color: 0x3498db, Footer: "bg",
			Fields: []Field{{Name: "a", Value: "b", Inline: true}},
		}},
		Components: []Row{{{Label: "Yes", CustomID: "act:dismiss:_", Style: Success}, {Label: "No", CustomID: "act:x:y", Style: Danger, Disabled: true}}},
	}
}

const (
	wantEmbeds = `"embeds":[{"title":"Card","description":"text","color":3447003,"fields":[{"name":"a","value":"b","inline":true}],"footer":{"text":"bg"}}]`
	wantRows   = `"components":[{"type":1,"components":[{"type":2,"style":3,"label":"Yes","custom_id":"act:dismiss:_"},` +
		`{"type":2,"style":4,"label":"No","custom_id":"act:x:y","disabled":true}]}]`
	wantQuiet = `"allowed_mentions":{"parse":[]}`
)

func TestRequestsHaveDiscordsForm(t *testing.T) {
	empty := `"content":"","embeds":[],"components":[],` + wantQuiet
	full := `"content":"look",` + wantEmbeds + `,` + wantRows
	ctx := t.Context()
	for _, tt := range []struct {
		name string
		call func(c *Client) error
		rule string
		want string // empty: no body
	}{
		{
			"send", func(c *Client) error { return second(c.Send(ctx, "7", everything())) }, "POST /channels/7/messages",
			`{` + full + `,"flags":4100,"message_reference":{"message_id":"55","fail_if_not_exists":false},"nonce":"n-1","enforce_nonce":true,` + wantQuiet + `}`,
		},
		{
			"send a text", func(c *Client) error { return second(c.Send(ctx, "7", Message{Content: "x", Nonce: "1"})) }, "POST /channels/7/messages",
			`{"content":"x","nonce":"1","enforce_nonce":true,` + wantQuiet + `}`,
		},
		{
			"edit", func(c *Client) error { return c.Edit(ctx, "7", "8", everything()) }, "PATCH /channels/7/messages/8",
			`{` + full + `,"flags":4,` + wantQuiet + `}`,
		},
		{"edit takes away", func(c *Client) error { return c.Edit(ctx, "7", "8", Message{}) }, "PATCH /channels/7/messages/8", `{` + empty + `}`},
		{"delete", func(c *Client) error { return c.Delete(ctx, "7", "8") }, "DELETE /channels/7/messages/8", ""},
		{"react", func(c *Client) error { return c.React(ctx, "7", "8", "👀") }, "PUT /channels/7/messages/8/reactions/👀/@me", ""},
		{"unreact", func(c *Client) error { return c.Unreact(ctx, "7", "8", "👀") }, "DELETE /channels/7/messages/8/reactions/👀/@me", ""},
		{"typing", func(c *Client) error { return c.Typing(ctx, "7") }, "POST /channels/7/typing", ""},
		{"open", func(c *Client) error { return second(c.OpenDM(ctx, "9")) }, "POST /users/@me/channels", `{"recipient_id":"9"}`},
		{
			"answer", func(c *Client) error { m := everything(); return c.Answer(ctx, "1", "tok", WithMessage, &m) }, "POST /interactions/1/tok/callback",
			`{"type":4,"data":{` + full + `,"flags":4100,` + wantQuiet + `}}`,
		},
		{
			"promise to one person", func(c *Client) error { return c.Answer(ctx, "1", "tok", Thinking, &Message{Flags: Ephemeral}) },
			"POST /interactions/1/tok/callback", `{"type":5,"data":{"flags":64,` + wantQuiet + `}}`,
		},
		{"promise", func(c *Client) error { return c.Answer(ctx, "1", "tok", Quietly, &Message{Content: "x"}) }, "POST /interactions/1/tok/callback", `{"type":6}`},
		{
			"update", func(c *Client) error { return c.Answer(ctx, "1", "tok", WithUpdate, &Message{Content: "x"}) }, "POST /interactions/1/tok/callback",
			`{"type":7,"data":{"content":"x","embeds":[],"components":[],` + wantQuiet + `}}`,
		},
		{
			"edit the answer", func(c *Client) error { return c.EditAnswer(ctx, "5", "tok", Message{}) }, "PATCH /webhooks/5/tok/messages/@original",
			`{` + empty + `}`,
		},
		{"delete the answer", func(c *Client) error { return c.DeleteAnswer(ctx, "5", "tok") }, "DELETE /webhooks/5/tok/messages/@original", ""},
		{
			"follow up", func(c *Client) error {
				return second(c.FollowUp(ctx, "5", "tok", Message{Content: "x", Nonce: "n", Flags: Ephemeral}))
			},
			"POST /webhooks/5/tok?wait=true", `{"content":"x","flags":64,` + wantQuiet + `}`,
		},
		{
			"commands", func(c *Client) error {
				return c.PutCommands(ctx, "5", []Command{{
					Name: "ping", Description: "d", Contexts: []int{1, 2}, IntegrationTypes: []int{1},
					Options: []Option{{Type: IntegerOption, Name: "n", Description: "o", Choices: []Choice{{Name: "one", Value: 1}}}},
				}})
			}, "PUT /applications/5/commands",
			`[{"name":"ping","description":"d","options":[{"type":4,"name":"n","description":"o","choices":[{"name":"one","value":1}]}],` +
				`"contexts":[1,2],"integration_types":[1]}]`,
		},
		{"no commands", func(c *Client) error { return c.PutCommands(ctx, "5", nil) }, "PUT /applications/5/commands", `[]`},
	} {
		c, f := discord(fine)
		if err := tt.call(c); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got := f.requests()[0]
		if rule := strings.Replace(got.rule, "/api/v10", "", 1); rule != tt.rule {
			t.Errorf("%s: %s, want %s", tt.name, rule, tt.rule)
		}
		if diff := cmp.Diff(tt.want, string(got.body)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func second(_ string, err error) error { return err }

func TestPropertyANonceFitsAndStaysTheSame(t *testing.T) {
	known := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.StringN(1, 60, -1), rapid.StringMatching(`[a-z0-9]{20,30}(/[0-9])?`)).Draw(t, "nonce")
		n := nonce(s)
		if n != nonce(s) {
			t.Fatalf("%q gives %q and %q", s, n, nonce(s))
		}
		if n == "" || len(n) > 25 || strings.ContainsFunc(n, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("%q gives %q", s, n)
		}
		if other, ok := known[n]; ok && other != s {
			t.Fatalf("%q and %q both give %q", s, other, n)
		}
		known[n] = s
	})
	if a, b := nonce(""), nonce(""); a == b || len(a) != 25 {
		t.Errorf("%q, %q", a, b)
	}
}

// parts reads a multipart body: names and contents, in order.
func parts(t *testing.T, s seen) [][3]string {
	t.Helper()
	kind, params, err := mime.ParseMediaType(s.header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		t.Fatal(kind, err)
	}
	r := multipart.NewReader(strings.NewReader(string(s.body)), params["boundary"])
	var out [][3]string
	for {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, [3]string{p.FormName(), p.FileName(), string(data)})
	}
}

func TestFilesAreReadAgainForEveryTry(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		path := filepath.Join(t.TempDir(), "report.txt")
		content := "first\n"
		open := func() (io.ReadCloser, error) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				return nil, err
			}
			content += "more\n"
			return os.Open(path)
		}
		c, f := discord(says(502, ""), io.EOF, fine)
		m := Message{Content: "here", Nonce: "n", Files: []File{
			{Name: "a \"quoted\"\r\nX: y.txt", Open: open},
			{Name: "", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("no length")), nil }},
		}}
		if _, err := c.Send(ctx, "7", m); err != nil {
			t.Fatal(err)
		}
		payload := `{"content":"here","attachments":[{"id":"0","filename":"a \"quoted\" X: y.txt"},{"id":"1","filename":"file"}],"nonce":"n","enforce_nonce":true,` + wantQuiet + `}`
		for i, s := range f.requests() {
			want := [][3]string{
				{"payload_json", "", payload},
				{"files[0]", `a "quoted" X: y.txt`, "first\n" + strings.Repeat("more\n", i)},
				{"files[1]", "file", "no length"},
			}
			if diff := cmp.Diff(want, parts(t, s)); diff != "" {
				t.Errorf("try %d: %s", i, diff)
			}
		}
		if n := len(f.requests()); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
}

type brokenFile struct{ closed *int }

func (brokenFile) Read([]byte) (int, error) { return 0, errors.New("input/output error") }
func (b brokenFile) Close() error           { *b.closed++; return nil }

func TestAFileThatCannotBeReadIsToldAndNotRepeated(t *testing.T) {
	dir := t.TempDir()
	missing := func() (io.ReadCloser, error) { return os.Open(filepath.Join(dir, "private", "gone.txt")) }
	closed := 0
	broken := func() (io.ReadCloser, error) { return brokenFile{&closed}, nil }
	for want, open := range map[string]func() (io.ReadCloser, error){
		"send the message: read gone.txt: no such file or directory": missing,
		"send the message: read gone.txt: input/output error":        broken,
	} {
		c, f := discord(fine)
		_, err := c.Send(t.Context(), "7", Message{Files: []File{{Name: "ok", Open: broken}, {Name: "gone.txt", Open: open}}[1:]})
		if fmt.Sprint(err) != want || errors.Is(err, ErrTransient) {
			t.Errorf("%v, want %s", err, want)
		}
		if strings.Contains(want, "no such") && len(f.requests()) > 0 {
			t.Error("it was asked all the same")
		}
	}
	if closed == 0 {
		t.Error("the broken file was left open")
	}
	closed = 0
	c, _ := discord(fine)
	if _, err := c.Send(t.Context(), "7", Message{Files: []File{{Name: "ok", Open: broken}, {Name: "gone.txt", Open: missing}}}); err == nil || closed != 1 {
		t.Errorf("%v, the first of two files closed %d times", err, closed)
	}
}

// hangsUp is a connection that breaks while a file is read.
type hangsUp struct{ far *far }

func (h *hangsUp) RoundTrip(r *http.Request) (*http.Response, error) {
	if len(h.far.requests()) > 0 {
		return h.far.RoundTrip(r)
	}
	h.far.seen = append(h.far.seen, seen{})
	_ = r.Body.Close()
	_, err := io.Copy(io.Discard, r.Body)
	return nil, fmt.Errorf("write: %w", err)
}

func TestAFileOfATryThatWasGivenUpIsNoFault(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, []byte("data"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := New(Options{Token: secret, Transport: &hangsUp{&far{answer: inTurn(fine)}}})
		id, err := c.Send(ctx, "7", Message{Files: []File{{Name: "a", Open: func() (io.ReadCloser, error) { return os.Open(path) }}}})
		if id != "100" || err != nil {
			t.Errorf("%q, %v", id, err)
		}
	})
}

func TestFilesThatCannotFitAreNotUploaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Truncate(13<<20), file.Close()); err != nil {
		t.Fatal(err)
	}
	big := File{Name: "big", Open: func() (io.ReadCloser, error) { return os.Open(path) }}
	c, f := discord(fine)
	if _, err := c.Send(t.Context(), "7", Message{Files: []File{big, big}}); !errors.Is(err, ErrInvalid) || len(f.requests()) != 0 {
		t.Error(err)
	}
}

func TestTheOwnerOfATeamsApplicationIsAPerson(t *testing.T) {
	for _, tt := range []struct {
		json string
		want App
	}{
		{
			`{"id":"5","name":"ollim","owner":{"id":"1","username":"sam"},"team":null,"bot_public":false,"flags":262144,"integration_types_config":{"0":{},"1":{"oauth2_install_params":{}}}}`,
			App{ID: "5", Name: "ollim", OwnerID: "1", Flags: 262144, UserInstall: true, GuildInstall: true},
		},
		{
			`{"id":"5","name":"ollim","owner":{"id":"900","username":"team900"},"bot_public":true,"team":{"id":"900","owner_user_id":"2","members":[]}}`,
			App{ID: "5", Name: "ollim", OwnerID: "2", Team: true, BotPublic: true},
		},
		{`{"id":"5"}`, App{ID: "5"}},
	} {
		c, _ := discord(says(200, tt.json))
		got, err := c.Application(t.Context())
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}

func TestTheGatewaySaysHowOftenItMayBeUsed(t *testing.T) {
	c, _ := discord(says(200, `{"url":"wss://gateway.discord.gg","shards":1,"session_start_limit":{"total":1000,"remaining":999,"reset_after":14400000,"max_concurrency":1}}`))
	got, err := c.GatewayBot(t.Context())
	want := Gateway{URL: "wss://gateway.discord.gg", Remaining: 999, ResetAfter: 4 * time.Hour, MaxConcurrency: 1}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCommandsAreComparedAsDiscordSeesThem(t *testing.T) {
	wanted := []Command{
		{Name: "fork", Description: "f", Contexts: []int{2, 1}, IntegrationTypes: []int{1}, Options: []Option{{Type: StringOption, Name: "topic", Description: "t"}}},
		{Name: "cost", Description: "c", Contexts: []int{1, 2}, IntegrationTypes: []int{1}, Options: []Option{{
			Type: IntegerOption, Name: "n", Description: "n", Choices: []Choice{{"a", 8000}, {"b", "x"}},
		}}},
	}
	had := `[{"id":"1","application_id":"5","version":"9","type":1,"name":"cost","description":"c","dm_permission":true,"nsfw":false,"contexts":[1,2],"integration_types":[1],
		"default_member_permissions":null,"options":[{"type":4,"name":"n","description":"n","required":false,"choices":[{"name":"a","value":8000},{"name":"b","value":"x"}]}]},
		{"id":"2","name":"fork","description":"f","contexts":[1,2],"integration_types":[1],"options":[{"type":3,"name":"topic","description":"t"}]}]`
	c, _ := discord(says(200, had))
	list, err := c.Commands(t.Context(), "5")
	if err != nil || !Same(wanted, list) {
		t.Errorf("%+v, %v", list, err)
	}
	for name, change := range map[string]func(l []Command){
		"description": func(l []Command) { l[0].Description = "g" },
		"required": func(l []Command) {
			l[0].Options = []Option{{Type: StringOption, Name: "topic", Description: "t", Required: true}}
		},
		"choice": func(l []Command) {
			l[1].Options = []Option{{Type: IntegerOption, Name: "n", Description: "n", Choices: []Choice{{"a", 8001}, {"b", "x"}}}}
		},
		"contexts":      func(l []Command) { l[1].Contexts = []int{1} },
		"not tellable":  func(l []Command) { l[1].Options = []Option{{Choices: []Choice{{"a", func() {}}}}} },
		"another order": nil,
	} {
		other := append([]Command(nil), wanted...)
		if change == nil {
			other[0], other[1] = other[1], other[0]
		} else {
			change(other)
		}
		if Same(other, list) != (change == nil) {
			t.Errorf("%s: %v", name, Same(other, list))
		}
	}
	if Same(wanted, wanted[:1]) || !Same(nil, []Command{}) {
		t.Error("a missing command is a change, and none is none")
	}
}

func TestHistoryComesOldestFirstInPages(t *testing.T) {
	// Discord's history: ids 1 to 250, 9 of them unreadable or odd.
	f := &far{}
	history := func(after, limit int) string {
		var page []string
		for id := min(after+limit, 250); id > after; id-- { // the newest first
			one := fmt.Sprintf(`{"id":"%d","channel_id":"7","author":{"id":"1","username":"sam","global_name":"Sam"},"content":"m%d","timestamp":"2026-03-01T10:00:00.5+00:00"}`, id, id)
			if id%50 == 0 {
				one = `{"id":12,"content":["odd"]}`
			}
			page = append(page, one)
		}
		return "[" + strings.Join(page, ",") + "]"
	}
	f.answer = func(_ int, s seen) (said, error) {
		var after, limit int
		if _, err := fmt.Sscanf(s.rule, "GET /api/v10/channels/7/messages?after=%d&limit=%d", &after, &limit); err != nil {
			t.Error(s.rule, err)
		}
		return says(200, history(after, limit)), nil
	}
	got, err := client(f).After(t.Context(), "7", "9", 1000)
	if err != nil || len(f.requests()) != 3 {
		t.Fatalf("%v after %d requests", err, len(f.requests()))
	}
	want := 10
	for _, m := range got {
		if want%50 == 0 {
			want++
		}
		if m.ID != fmt.Sprint(want) || m.Text != fmt.Sprintf("m%d", want) || m.Author != "1" {
			t.Fatalf("%+v, want %d", m, want)
		}
		want++
	}
	if want != 250 {
		t.Errorf("the last is %d", want-1)
	}
	if got, err := client(f).After(t.Context(), "7", "100", 3); err != nil || len(got) != 3 || got[2].ID != "103" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAHistoryThatRunsInCirclesEnds(t *testing.T) {
	one := `{"id":"5","channel_id":"7","author":{"id":"1"}}`
	c, f := discord(says(200, "["+strings.Repeat(one+",", 99)+one+"]"))
	got, err := c.After(t.Context(), "7", "1", 1000)
	if err != nil || len(got) != 1 || len(f.requests()) > 3 {
		t.Errorf("%d messages, %v, %d requests", len(got), err, len(f.requests()))
	}
}

func TestTheNewestMessagesNeedNoID(t *testing.T) {
	c, f := discord(says(200, `[{"id":"10","channel_id":"7","author":{"id":"1"}},{"id":"9","channel_id":"7","author":{"id":"1"}}]`))
	got, err := c.After(t.Context(), "7", "", 2)
	if err != nil || len(got) != 2 || got[0].ID != "9" || f.requests()[0].rule != "GET /api/v10/channels/7/messages?limit=2" {
		t.Errorf("%+v, %v, %s", got, err, f.requests()[0].rule)
	}
}

func TestAReplyIsToldFromAForward(t *testing.T) {
	page := `[{"id":"3","channel_id":"7","author":{"id":"1"},"content":"yes","message_reference":{"message_id":"2"},"referenced_message":{"id":"2","content":"really?","author":{"id":"9","bot":true}},
		"attachments":[{"id":"8","filename":"a.png","url":"https://cdn.discordapp.com/a","content_type":"image/png","size":12}]},
		{"id":"2","channel_id":"7","author":{"id":"1"},"message_reference":{"type":1,"message_id":"1"}},
		{"id":"1","channel_id":"7","author":{"id":"1"},"message_reference":{"message_id":"0"},"referenced_message":null}]`
	c, _ := discord(says(200, page))
	got, err := c.After(t.Context(), "7", "", 10)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	want := []message.Message{
		{ID: "1", Channel: "7", Author: "1", ReplyTo: "0"},
		{ID: "2", Channel: "7", Author: "1"},
		{
			ID: "3", Channel: "7", Author: "1", Text: "yes", ReplyTo: "2", Quoted: "really?",
			Attachments: []message.Attachment{{Name: "a.png", URL: "https://cdn.discordapp.com/a", Type: "image/png", Size: 12}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"id":"5","errors":{"a":{"_errors":[{"message":"m"}]}},"code":50035}`), 400)
	f.Add([]byte(`[{"id":"5","referenced_message":{"referenced_message":{}}}]`), 200)
	f.Add([]byte(`{"retry_after":-1,"global":true}`), 429)
	f.Fuzz(func(t *testing.T, data []byte, status int) {
		if status < 200 || status > 599 {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		c, _ := discord(says(status, string(data)))
		_, err := c.After(ctx, "7", "", 10)
		_, err2 := c.Application(ctx)
		if status >= 300 && (err == nil || err2 == nil) {
			t.Errorf("status %d is no error", status)
		}
	})
}
