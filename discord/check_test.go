package discord

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/discord/discordtest"
)

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
		if !f.OK && f.Next == "" {
			t.Errorf("nobody is told what to do about %q", f.Text)
		}
		all = append(all, f.Text+" "+f.Next)
	}
	text := strings.Join(all, "\n")
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
	if r.BotName == "" || r.OwnerID != s.Owner().ID || !strings.Contains(r.InstallLink, "client_id="+s.Bot().ID) ||
		!strings.Contains(r.InstallLink, "scope=bot+applications.commands") || !strings.Contains(r.UserLink, "integration_type=1") {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(text, "1000 session starts") || !strings.Contains(text, "messages with its owner are open") {
		t.Error(text)
	}
	state := s.State()
	if len(state.Messages) != 0 || len(state.Identifies) != 0 {
		t.Errorf("%s", state)
	}
	for _, yes := range []bool{false, true} { // P14: the invitation is known before it writes
		hello := func(r Report) bool {
			if r.InstallLink == "" || r.UserLink == "" || s.State().Said(s.Bot(), "is here") {
				t.Errorf("asked at %+v", r)
			}
			return yes
		}
		if r, _ = inspect(t, s, CheckOptions{Hello: hello}); s.State().Said(s.Bot(), "is here") != yes {
			t.Errorf("%t: %+v", yes, r)
		}
	}
}

func TestACheckNamesWhatIsWrongAndTheNextStep(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	const app = `fault * /applications/@me all page {"id":"1","name":"x","owner":{"id":"5"},"integration_types_config":{"%d":{}}}`
	const cut = "the connection to Discord failed: answered with status 503)"
	for _, tt := range []struct {
		name, fault string
		token       config.Secret
		starts      int
		finding     string
		next        string // how it ends
	}{
		{name: "token", token: "wrong", finding: "Discord does not know this token", next: "Reset Token, then copy the new token"},
		{name: "network", fault: "fault * /users/@me all broken 503", finding: "the token could not be checked: Discord cannot be reached (look up the bot's account: " + cut, next: "try again"},
		{name: "shut out", fault: "fault * /users/@me/channels all refused 403 50278", finding: "the bot may not write to its owner", next: "(server name > Privacy Settings), and write to it once"},
		{name: "no such owner", fault: "fault * /users/@me/channels all refused 400 50033", finding: "no user has the owner's ID", next: "then right-click your own name > Copy User ID"},
		{name: "messages", fault: "fault * /users/@me/channels all broken 503", finding: "the direct messages with the owner could not be opened: Discord cannot be reached (open the direct messages: " + cut, next: "try again"},
		{name: "installation", fault: fmt.Sprintf(app, 0), finding: "users cannot install its commands, so /model and the others stay hidden", next: "tick User Install"},
		{name: "servers", fault: fmt.Sprintf(app, 1), finding: "it cannot be added to a server, and it must share one with its owner to write to them", next: "tick Guild Install"},
		{name: "starts", starts: 3, finding: "only 3 of the day's session starts are left: after the last one Discord resets the token", next: " before starting the bot again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlayer(t)
			p.server.SessionStarts = tt.starts
			p.prepare()
			p.plays(tt.fault)
			asked := false
			r, text := inspect(t, p.s, CheckOptions{Token: tt.token, Hello: func(Report) bool { asked = true; return false }})
			found := slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Text == tt.finding && strings.HasSuffix(f.Next, tt.next) })
			if r.OK() || !found || asked != (tt.starts > 0) { // the others have no open channel
				t.Errorf("%v, %v, %s", r.OK(), asked, text)
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
