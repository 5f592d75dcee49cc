package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
)

// everything is a message with all that a message can have.
func everything() Message {
	return Message{
		Content: "look", Nonce: "n-1", Flags: discordgo.MessageFlagsSuppressNotifications,
		Embeds: []*discordgo.MessageEmbed{{
			Title: "Card", Description: "text", Color: 0x3498db, Footer: &discordgo.MessageEmbedFooter{Text: "bg"},
			Fields: []*discordgo.MessageEmbedField{{Name: "a", Value: "b", Inline: true}},
		}},
		Components: []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.Button{Label: "Yes", CustomID: "act:dismiss:_", Style: discordgo.SuccessButton},
			discordgo.Button{Label: "No", CustomID: "act:x:y", Style: discordgo.DangerButton, Disabled: true},
		}}},
	}
}

const wantQuiet = `"allowed_mentions":{"parse":[]}`

// testdata/requests.txt has what each call sends, and the headers that are missing or unusual. Below it stands the error if
// Discord refuses it.
func TestRequestsHaveDiscordsForm(t *testing.T) {
	ctx, full, now := t.Context(), everything(), discordgo.InteractionResponseChannelMessageWithSource
	choices := &discordgo.ApplicationCommandOption{
		Type: discordgo.ApplicationCommandOptionInteger, Name: "n", Description: "o",
		Choices: []*discordgo.ApplicationCommandOptionChoice{{Name: "one", Value: 1}},
	}
	bare := []discordgo.ApplicationCommand{{Name: "model", Description: "d", Options: []*discordgo.ApplicationCommandOption{
		{Type: discordgo.ApplicationCommandOptionString, Name: "name", Description: "d"},
	}}, {Name: "help", Description: "d"}}
	var out strings.Builder
	for _, tt := range []struct {
		name string
		call func(c *Client) error
	}{
		{"a message has all that it was given", func(c *Client) error { return second(c.Send(ctx, "7", full)) }},
		{"a reply does not fail if its message is gone, and pings no one", func(c *Client) error {
			return second(c.Send(ctx, "7", Message{Content: "x", Nonce: "1", ReplyTo: "8"}))
		}},
		{"a text is not more than that", func(c *Client) error { return second(c.Send(ctx, "7", Message{Content: "x", Nonce: "1"})) }},
		{"an edit has all that it was given", func(c *Client) error { return c.Edit(ctx, "7", "8", full) }},
		{"an edit takes away what it was not given", func(c *Client) error { return c.Edit(ctx, "7", "8", Message{}) }},
		{"a change of buttons leaves the rest", func(c *Client) error { return c.Buttons(ctx, "7", "8", full.Components) }},
		{"the account is looked up", func(c *Client) error { _, err := c.Me(ctx); return err }},
		{"the application is looked up", func(c *Client) error { _, err := c.Application(ctx); return err }},
		{"a message is read", func(c *Client) error { return second(c.Text(ctx, "7", "8")) }},
		{"a message is deleted", func(c *Client) error { return c.Delete(ctx, "7", "8") }},
		{"a reaction is added", func(c *Client) error { return c.React(ctx, "7", "8", "👀") }},
		{"a reaction is removed", func(c *Client) error { return c.Unreact(ctx, "7", "8", "👀") }},
		{"typing is shown", func(c *Client) error { return c.Typing(ctx, "7") }},
		{"direct messages are opened", func(c *Client) error { return second(c.OpenDM(ctx, "9")) }},
		{"an interaction is answered without the token", func(c *Client) error { return c.Answer(ctx, click, now, &full) }},
		{"an answer is promised to one person", func(c *Client) error {
			return c.Answer(ctx, click, thinking, &Message{Flags: discordgo.MessageFlagsEphemeral})
		}},
		{"an update is promised", func(c *Client) error {
			return c.Answer(ctx, click, discordgo.InteractionResponseDeferredMessageUpdate, nil)
		}},
		{"a window opens", func(c *Client) error { return c.Open(ctx, click, Modal{CustomID: "i", Title: "t"}) }},
		{"no suggestions are a list, too", func(c *Client) error { return c.Suggest(ctx, click, nil) }},
		{"an answer is edited", func(c *Client) error { return c.EditAnswer(ctx, click, Message{}) }},
		{"an answer is deleted", func(c *Client) error { return c.DeleteAnswer(ctx, click) }},
		{"a second answer has no nonce", func(c *Client) error {
			return c.FollowUp(ctx, click, Message{Content: "x", Nonce: "n", Flags: discordgo.MessageFlagsEphemeral})
		}},
		{"S39: commands are registered", func(c *Client) error {
			return c.PutCommands(ctx, "5", []discordgo.ApplicationCommand{theCommand("ping", choices)})
		}},
		// S39: Discord's description of its API has no null for options and channel types.
		{"S39: what a command does not have is left out", func(c *Client) error { return c.PutCommands(ctx, "5", bare) }},
		{"no commands are a list, too", func(c *Client) error { return c.PutCommands(ctx, "5", nil) }},
	} {
		c, f := discord(fine)
		testkit.Must(t, tt.call(c))
		got := f.requests()[0]
		fmt.Fprintf(&out, "%s\n\t%s", tt.name, strings.Replace(got.rule, "/api/v10", "", 1))
		usual := map[string]string{"User-Agent": "DiscordBot (ollim-bot, 1.2.3)", "Authorization": "Bot " + secret}
		if len(got.body) > 0 {
			usual["Content-Type"] = "application/json"
			out.WriteString(" " + string(got.body))
		}
		maps.DeleteFunc(got.header, func(name string, values []string) bool {
			is := len(values) == 1 && values[0] == usual[name]
			delete(usual, name)
			return is
		})
		for _, name := range slices.Sorted(maps.Keys(usual)) {
			out.WriteString(" (no " + name + ")")
		}
		for _, name := range slices.Sorted(maps.Keys(got.header)) {
			fmt.Fprintf(&out, " (%s: %s)", name, got.header[name])
		}
		no, _ := discord(says(403, `{"code":50001,"message":"no"}`))
		fmt.Fprintf(&out, "\n\t%v\n", tt.call(no))
	}
	goldentest.Compare(t, "requests.txt", out.String())
}

const thinking = discordgo.InteractionResponseDeferredChannelMessageWithSource

// click is an interaction of application 5.
var click = &discordgo.Interaction{ID: "1", AppID: "5", Token: "tok"}

func second(_ string, err error) error { return err }

func TestPropertyANonceFitsAndStaysTheSame(t *testing.T) {
	known := map[string]string{}
	testkit.Check(t, func(t *rapid.T) {
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
		testkit.Must(t, err)
		data, err := io.ReadAll(p)
		testkit.Must(t, err)
		out = append(out, [3]string{p.FormName(), p.FileName(), string(data)})
	}
}

// file is one that holds a text.
func file(name, text string) File {
	return File{Name: name, Read: func() ([]byte, error) { return []byte(text), nil }}
}

func TestFilesGoAlongWithEveryTry(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		c, f := discord(says(502, ""), io.EOF, fine)
		m := Message{Content: "here", Nonce: "n", Files: []File{file("a \"quoted\"\r\nX: y.txt", "first\n"), file("", "no name")}}
		testkit.Must(t, second(c.Send(ctx, "7", m)))
		want := [][3]string{
			{"payload_json", "", `{"content":"here","attachments":[{"id":"0","filename":"a \"quoted\" X: y.txt"},{"id":"1","filename":"file"}],"nonce":"n","enforce_nonce":true,` + wantQuiet + `}`},
			{"files[0]", `a "quoted" X: y.txt`, "first\n"},
			{"files[1]", "file", "no name"},
		}
		for i, s := range f.requests() {
			if diff := cmp.Diff(want, parts(t, s)); diff != "" {
				t.Errorf("try %d: %s", i, diff)
			}
		}
		if n := len(f.requests()); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestAFileThatCannotGoIsReportedBeforeAnythingIsSentOrPaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private", "gone.txt")
	big := file("big", strings.Repeat("x", 13<<20))
	for want, files := range map[string][]File{
		"send the message: read gone.txt: no such file or directory": {{Name: "gone.txt", Read: func() ([]byte, error) { return os.ReadFile(path) }}},
		"send the message: not accepted by Discord":                  {big, big},
	} {
		c, f := discord(fine)
		_, err := c.Send(t.Context(), "7", Message{Files: files, Before: func() error { t.Error("it was paid for"); return nil }})
		if !strings.HasPrefix(fmt.Sprint(err), want) || errors.Is(err, ErrTransient) || errors.Is(err, ErrInvalid) != (len(files) > 1) || len(f.requests()) > 0 {
			t.Errorf("%v, %d requests", err, len(f.requests()))
		}
	}
}

func TestTheOwnerOfATeamsApplicationIsAPerson(t *testing.T) {
	for _, tt := range []struct {
		json string
		want App
	}{
		{
			`{"id":"5","name":"ollim","owner":{"id":"1","username":"sam"},"team":null,"bot_public":false,"flags":262144,"integration_types_config":{"0":{},"1":{"oauth2_install_params":{}}}}`,
			App{ID: "5", Name: "ollim", OwnerID: "1", UserInstall: true, GuildInstall: true},
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

// theCommand is a command for direct messages with one option.
func theCommand(name string, o *discordgo.ApplicationCommandOption) discordgo.ApplicationCommand {
	return discordgo.ApplicationCommand{
		Name: name, Description: "d", Options: []*discordgo.ApplicationCommandOption{o},
		Contexts:         &[]discordgo.InteractionContextType{discordgo.InteractionContextPrivateChannel, discordgo.InteractionContextBotDM},
		IntegrationTypes: &[]discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationUserInstall},
	}
}

func TestCommandsAreComparedAsDiscordSeesThem(t *testing.T) {
	choices := func(v any) *discordgo.ApplicationCommandOption {
		return &discordgo.ApplicationCommandOption{
			Type: discordgo.ApplicationCommandOptionInteger, Name: "n", Description: "n",
			Choices: []*discordgo.ApplicationCommandOptionChoice{{Name: "a", Value: v}, {Name: "b", Value: "x"}},
		}
	}
	topic := discordgo.ApplicationCommandOption{Type: discordgo.ApplicationCommandOptionString, Name: "topic", Description: "t"}
	wanted := []discordgo.ApplicationCommand{theCommand("fork", &topic), theCommand("cost", choices(8000))}
	had := `[{"id":"1","application_id":"5","version":"9","type":1,"name":"cost","description":"d","dm_permission":true,"nsfw":false,"contexts":[1,2],"integration_types":[1],
		"default_member_permissions":null,"options":[{"type":4,"name":"n","description":"n","required":false,"choices":[{"name":"a","value":8000},{"name":"b","value":"x"}]}]},
		{"id":"2","name":"fork","description":"d","contexts":[1,2],"integration_types":[1],"options":[{"type":3,"name":"topic","description":"t"}]}]`
	c, _ := discord(says(200, had))
	list, err := c.Commands(t.Context(), "5")
	if err != nil || !Same(wanted, list) {
		t.Errorf("%+v, %v", list, err)
	}
	for name, change := range map[string]func(l []discordgo.ApplicationCommand){
		"description": func(l []discordgo.ApplicationCommand) { l[0].Description = "g" },
		"required": func(l []discordgo.ApplicationCommand) {
			must := topic
			must.Required = true
			l[0].Options = []*discordgo.ApplicationCommandOption{&must}
		},
		"choice":        func(l []discordgo.ApplicationCommand) { l[1] = theCommand("cost", choices(8001)) },
		"contexts":      func(l []discordgo.ApplicationCommand) { l[1].Contexts = nil },
		"not tellable":  func(l []discordgo.ApplicationCommand) { l[1] = theCommand("cost", choices(func() {})) },
		"another order": nil,
	} {
		other := slices.Clone(wanted)
		if change == nil {
			other[0], other[1] = other[1], other[0]
		} else {
			change(other)
		}
		if Same(other, list) != (change == nil) || Same(list, other) != (change == nil) {
			t.Errorf("%s: %v", name, Same(other, list))
		}
	}
	if Same(wanted, wanted[:1]) || !Same(nil, []discordgo.ApplicationCommand{}) {
		t.Error("a missing command is a change, and none is none")
	}
}

func TestHistoryComesOldestFirst(t *testing.T) {
	one := func(id string) string {
		return `{"id":"` + id + `","channel_id":"7","author":{"id":"1"},"content":"m"}`
	}
	for _, tt := range []struct {
		after, said, rule, want, last string
	}{
		{"10", strings.Join([]string{one("102"), one("101"), `{"id":12,"content":["odd"]}`, one("99"), one("99"), one("10"), one("9")}, ","), "after=10&limit=100", "99 101 102", "102"},
		{"10", `{"id":"104","content":["odd"]},` + one("103"), "after=10&limit=100", "103", "104"},
		{"", one("10") + "," + one("9"), "limit=100", "9 10", "10"},
		{"10", "", "after=10&limit=100", "", ""},
	} {
		c, f := discord(says(200, "["+tt.said+"]"))
		got, last, err := c.After(t.Context(), "7", tt.after, 100)
		var ids []string
		for _, m := range got {
			ids = append(ids, m.ID)
		}
		rule := f.requests()[0].rule
		if err != nil || strings.Join(ids, " ") != tt.want || last != tt.last || rule != "GET /api/v10/channels/7/messages?"+tt.rule {
			t.Errorf("%s: %v to %q, %v, %s", tt.said, ids, last, err, rule)
		}
	}
	c, _ := discord(says(403, ""))
	if _, _, err := c.After(t.Context(), "7", "", 1); !errors.Is(err, ErrForbidden) || !strings.HasPrefix(err.Error(), "read the messages: ") {
		t.Error(err)
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
		_, _, err := c.After(ctx, "7", "", 10)
		_, err2 := c.Application(ctx)
		if status >= 300 && (err == nil || err2 == nil) {
			t.Errorf("status %d is no error", status)
		}
	})
}
