package discord

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/discord/discordtest"
)

// inspect returns a report, and its findings in words.
func inspect(t *testing.T, s *discordtest.Server, o CheckOptions) (Report, string) {
	t.Helper()
	o.API = s.URL() + "/api/v10"
	if o.Token == "" {
		o.Token = secret
	}
	r, err := Check(t.Context(), o)
	testkit.Must(t, err)
	var all []string
	for _, f := range r.Findings {
		sign := map[bool]string{true: "+ ", false: "- "}[f.OK]
		if !f.OK && f.Next == "" {
			t.Errorf("%q comes without a next step", f.Text)
		}
		all = append(all, sign+strings.TrimRight(f.Text+" → "+f.Next, " →"))
	}
	text := strings.NewReplacer(s.Owner().ID, "OWNER", s.Bot().ID, "BOT").Replace(strings.Join(all, "\n"))
	if strings.Contains(text, secret) {
		t.Error("the token is in the report")
	}
	return r, text
}

func TestACheckOfAGoodTokenSaysNothingToAnyone(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	s := discordtest.Start(t, discordtest.Options{Token: secret})
	r, text := inspect(t, s, CheckOptions{})
	invite := "https://discord.com/oauth2/authorize?client_id=" + s.Bot().ID
	want := Report{BotName: s.Bot().Username, OwnerID: s.Owner().ID, InstallLink: invite + "&integration_type=0&permissions=0&scope=bot+applications.commands", UserLink: invite + "&integration_type=1&scope=applications.commands"}
	want.Findings, r.Findings = nil, nil
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
	if want := "+ the bot is \"ollim\", of the application \"ollim\"\n+ users can install its commands\n+ the gateway answers; 1000 session starts are left today\n+ it obeys the user OWNER, who owns the application\n+ the direct messages with its owner are open; to test whether it may write there, run ollim-bot init --hello"; text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	state := s.State()
	if len(state.Messages) != 0 || len(state.Identifies) != 0 {
		t.Errorf("%s", state)
	}
	for _, c := range []struct {
		o    CheckOptions
		want string
	}{
		{CheckOptions{OwnerID: s.Owner().ID}, "+ the bot is \"ollim\", of the application \"ollim\"\n+ users can install its commands\n+ the gateway answers; 1000 session starts are left today\n+ it obeys the user OWNER, as OLLIM_OWNER_ID says\n+ the direct messages with its owner are open; to test whether it may write there, run ollim-bot init --hello"},
		{CheckOptions{Quiet: true, Hello: func(Report) bool { t.Error("a quiet check asks"); return true }}, "+ the bot is \"ollim\", of the application \"ollim\"\n+ users can install its commands"},
	} {
		if _, text := inspect(t, s, c.o); text != c.want {
			t.Errorf("%s\nwant %s", text, c.want)
		}
	}
	for _, yes := range []bool{false, true} { // P14: the invitation is known before it writes
		hello := func(r Report) bool {
			if r.InstallLink == "" || r.UserLink == "" || s.State().Said(s.Bot(), "is here") {
				t.Errorf("asked at %+v", r)
			}
			return yes
		}
		want := strings.TrimSuffix(text, "\n+ "+textCheckOpened)
		if yes {
			want += "\n+ " + textCheckWrote
		}
		if _, got := inspect(t, s, CheckOptions{Hello: hello}); got != want || s.State().Said(s.Bot(), "is here") != yes {
			t.Errorf("%t: %s", yes, got)
		}
	}
}

func TestACheckNamesWhatIsWrongAndTheNextStep(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	const app = `fault * /applications/@me all page {"id":"1","name":"x",%s}`
	for _, tt := range []struct {
		name, fault string
		o           CheckOptions
		starts      int
		asks        bool   // whether it may write
		want        string // without what is in order
	}{
		{name: "a wrong token", o: CheckOptions{Token: "wrong"}, want: "- Discord does not know this token → Developer Portal (https://discord.com/developers/applications) > your application > Bot > Reset Token, then copy the new token"},
		{name: "no network", fault: "fault * /users/@me all broken 503", want: "- the token could not be checked: Discord cannot be reached (look up the bot's account: the connection to Discord failed: answered with status 503) → check the network and try again"},
		{name: "no application", fault: "fault * /applications/@me all broken 503", want: "- the bot's application could not be looked up: Discord cannot be reached (look up the bot's application: the connection to Discord failed: answered with status 503) → check the network and try again"},
		{name: "no gateway", fault: "fault * /gateway/bot all broken 503", asks: true, want: "- the gateway, which delivers messages, cannot be used: Discord cannot be reached (ask for the gateway: the connection to Discord failed: answered with status 503) → check the network and try again"},
		{name: "shut out", fault: "fault * /users/@me/channels all refused 403 50278", want: "- the bot may not write to its owner → add the bot to one of your private servers with the link below, allow direct messages from that server's members (server name > Privacy Settings), and write to it once"},
		{name: "no such owner", fault: "fault * /users/@me/channels all refused 400 50033", want: "- no user has the owner's ID → OLLIM_OWNER_ID is not a user ID: in Discord turn on Settings > Advanced > Developer Mode, then right-click your own name > Copy User ID"},
		{name: "no messages", fault: "fault * /users/@me/channels all broken 503", want: "- the direct messages with the owner could not be opened: Discord cannot be reached (open the direct messages: the connection to Discord failed: answered with status 503) → check the network and try again"},
		{name: "no user installation", fault: fmt.Sprintf(app, `"owner":{"id":"5"},"integration_types_config":{"0":{}}`), want: "- users cannot install its commands, so /model and the others stay hidden → Developer Portal > your application > Installation: tick User Install\n- the bot may not write to its owner → add the bot to one of your private servers with the link below, allow direct messages from that server's members (server name > Privacy Settings), and write to it once"},
		{name: "no server installation", fault: fmt.Sprintf(app, `"owner":{"id":"5"},"integration_types_config":{"1":{}}`), want: "- it cannot be added to a server, and it must share one with its owner to write to them → Developer Portal > your application > Installation: tick Guild Install\n- the bot may not write to its owner → add the bot to one of your private servers with the link below, allow direct messages from that server's members (server name > Privacy Settings), and write to it once"},
		{name: "a public bot", fault: fmt.Sprintf(app, `"bot_public":true,"owner":{"id":"5"},"integration_types_config":{"0":{},"1":{}}`), want: "+ anyone may add the bot to a server, but it obeys only its owner → to keep others from adding it: Developer Portal > your application > Installation > Install Link: None, Save Changes; then Bot > Public Bot: off, Save Changes\n- the bot may not write to its owner → add the bot to one of your private servers with the link below, allow direct messages from that server's members (server name > Privacy Settings), and write to it once"},
		{name: "a bot without an owner", fault: fmt.Sprintf(app, `"integration_types_config":{"0":{},"1":{}}`), want: "- the owner of the bot is unknown, and it obeys only its owner → Discord does not say who owns the bot's application: put your own user ID into .env as OLLIM_OWNER_ID, and restart the bot"},
		{name: "few starts", starts: 9, asks: true, want: "- only 9 of the day's session starts are left: after the last one Discord resets the token → wait 24h0m0s before starting the bot again"},
		{name: "enough starts", starts: 10, asks: true, want: "+ the gateway answers; 10 session starts are left today"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlayer(t)
			p.server.SessionStarts = tt.starts
			p.prepare()
			p.plays(tt.fault)
			asked := false
			tt.o.Hello = func(Report) bool { asked = true; return false }
			r, text := inspect(t, p.s, tt.o)
			for _, usual := range []string{"the bot is .*", "users can install its commands", "the gateway answers; 1000 .*", "it obeys the user .*, who owns the application"} {
				text = regexp.MustCompile(`(?m)^\+ `+usual+`\n?`).ReplaceAllString(text, "")
			}
			text = strings.TrimSpace(text)
			if text != tt.want || r.OK() != !strings.Contains("\n"+text, "\n- ") || asked != tt.asks || r.Refused != (tt.o.Token != "") || r.Unasked != strings.Contains(text, "cannot be reached") {
				t.Errorf("asked %t, refused %t, unasked %t: %s\nwant %s", asked, r.Refused, r.Unasked, text, tt.want)
			}
		})
	}
}

func TestNothingIsCheckedOrMadeWithoutATokenAnOwnersNumberOrOverAnOpenLine(t *testing.T) {
	for _, o := range []CheckOptions{
		{Token: "  "},
		{Token: secret, API: "http://example.org/api"},
		{Token: secret, OwnerID: "me"},
		{Token: secret, OwnerID: "12 34"},
		{Token: secret, OwnerID: strings.Repeat("9", 21)},
	} {
		_, checked := Check(t.Context(), o)
		if _, made := New(Options{Token: o.Token, API: o.API, OwnerID: o.OwnerID, Dir: storetest.Dir(t)}); checked == nil || made == nil {
			t.Errorf("%+v: %v, %v", o, checked, made)
		}
	}
}
