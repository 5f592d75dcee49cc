package discord

import (
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
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
	for _, tt := range []struct {
		name   string
		token  config.Secret
		match  discordtest.Match
		plan   discordtest.Plan
		starts int
		want   []string
	}{
		{name: "token", token: "wrong", want: []string{"Discord does not know this token", "Reset Token"}},
		{name: "network", match: discordtest.Match{PathPrefix: "/users/@me", Times: -1}, plan: discordtest.Broken(503), want: []string{"could not be checked", "try again"}},
		{name: "owner", match: discordtest.Match{PathPrefix: "/users/@me/channels", Times: -1}, plan: discordtest.Refused(403, 50278), want: []string{"may not write", "private server"}},
		{
			name: "installation", match: discordtest.Match{PathPrefix: "/applications/@me", Times: -1},
			plan: discordtest.Plan{Status: 200, Body: `{"id":"1","name":"x","owner":{"id":"5"},"integration_types_config":{"0":{}}}`},
			want: []string{"users cannot install its commands", "tick User Install"},
		},
		{
			name: "servers", match: discordtest.Match{PathPrefix: "/applications/@me", Times: -1},
			plan: discordtest.Plan{Status: 200, Body: `{"id":"1","name":"x","owner":{"id":"5"},"integration_types_config":{"1":{}}}`},
			want: []string{"cannot be added to a server", "tick Guild Install"},
		},
		{name: "starts", starts: 3, want: []string{"only 3 of the day's", "wait"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := discordtest.Start(t, discordtest.Options{Token: secret, SessionStarts: tt.starts})
			if tt.plan.Status != 0 {
				s.Fault(tt.match, tt.plan)
			}
			r, text := inspect(t, s, CheckOptions{Token: tt.token})
			if r.OK() {
				t.Error("all is well, it says")
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
		})
	}
}

func TestNothingIsCheckedWithoutATokenOrOverAnOpenLine(t *testing.T) {
	for _, o := range []CheckOptions{
		{Token: "  "}, {Token: secret, API: "http://example.org/api"}, {Token: secret, OwnerID: "me"},
	} {
		if _, err := Check(t.Context(), o); err == nil {
			t.Errorf("%+v was checked", o)
		}
	}
}
