package discordtest_test

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// stage is a bot with one command and one message with a button.
func stage(t *testing.T, o discordtest.Options) (s *discordtest.Server, message string) {
	t.Helper()
	s = discordtest.Start(t, o)
	put := []obj{{"name": "cost", "description": "d"}}
	if r := do(t, s, "PUT", "/applications/"+s.Bot().ID+"/commands", put); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	m := text("choose")
	m["components"] = []obj{{"type": 1, "components": []obj{{"type": 2, "style": 1, "label": "Go", "custom_id": "act:go:_"}}}}
	return s, do(t, s, "POST", "/channels/"+dm(t, s)+"/messages", m).id()
}

func answerTo(t *testing.T, s *discordtest.Server, i discordtest.Interaction, body obj) reply {
	t.Helper()
	return do(t, s, "POST", "/interactions/"+i.ID+"/"+i.Token+"/callback", body)
}

func hook(s *discordtest.Server, i discordtest.Interaction, rest string) string {
	return "/webhooks/" + s.Bot().ID + "/" + i.Token + rest
}

func TestADeferredCommandIsFilledLater(t *testing.T) {
	testkit.Alone(t)
	s, _ := stage(t, discordtest.Options{})
	i := s.User().Slash("cost")
	if r := answerTo(t, s, i, obj{"type": 5, "data": obj{"flags": 64}}); r.status != 204 {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	got := s.State().Interactions[0]
	m := s.State().Message(got.Original)
	if !m.Loading() || !m.Ephemeral() || got.Callback != 5 {
		t.Fatalf("%+v of %+v", m, got)
	}
	if r := do(t, s, "PATCH", hook(s, i, "/messages/@original"), text("three dollars")); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if m := s.State().Message(got.Original); m.Loading() || !m.Ephemeral() || m.Content != "three dollars" {
		t.Errorf("filled: %+v", m)
	}
	if r := do(t, s, "DELETE", hook(s, i, "/messages/@original"), nil); r.status != 204 {
		t.Errorf("%d %s", r.status, r.raw)
	}
}

func TestTheFirstAnswerHasThreeSecondsAndComesOnce(t *testing.T) {
	testkit.Alone(t)
	s, _ := stage(t, discordtest.Options{})
	late := s.User().Slash("cost")
	s.Advance(3100 * time.Millisecond)
	if r := answerTo(t, s, late, obj{"type": 5}); r.status != 404 || r.code() != 10062 {
		t.Errorf("too late: %d %s", r.status, r.raw)
	}
	i := s.User().Slash("cost")
	answerTo(t, s, i, obj{"type": 5})
	if r := answerTo(t, s, i, obj{"type": 5}); r.status != 400 || r.code() != 40060 {
		t.Errorf("twice: %d %s", r.status, r.raw)
	}
}

func TestATokenLivesFifteenMinutes(t *testing.T) {
	testkit.Alone(t)
	s, _ := stage(t, discordtest.Options{})
	i := s.User().Slash("cost")
	if r := do(t, s, "PATCH", hook(s, i, "/messages/@original"), text("x")); r.code() != 10015 {
		t.Errorf("before an answer: %d %s", r.status, r.raw)
	}
	answerTo(t, s, i, obj{"type": 5})
	s.Advance(15*time.Minute + time.Second)
	if r := do(t, s, "PATCH", hook(s, i, "/messages/@original"), text("x")); r.status != 401 || r.code() != 50027 {
		t.Errorf("after 15 minutes: %d %s", r.status, r.raw)
	}
}

func TestFiveFollowupsAndNoMore(t *testing.T) {
	testkit.Alone(t)
	s, _ := stage(t, discordtest.Options{})
	i := s.User().Slash("cost")
	answerTo(t, s, i, obj{"type": 4, "data": text("first")})
	for n := range 5 {
		if r := do(t, s, "POST", hook(s, i, "?wait=true"), text("more")); r.status != 200 {
			t.Fatalf("follow-up %d: %d %s", n, r.status, r.raw)
		}
	}
	if r := do(t, s, "POST", hook(s, i, "?wait=true"), text("more")); r.status != 400 || r.code() != 40094 {
		t.Errorf("the sixth: %d %s", r.status, r.raw)
	}
}

func TestAClickIsAnsweredOnItsOwnMessage(t *testing.T) {
	testkit.Alone(t)
	s, message := stage(t, discordtest.Options{})
	i := s.User().Click(message, "act:go:_")
	if r := answerTo(t, s, i, obj{"type": 6}); r.status != 204 {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if r := do(t, s, "DELETE", hook(s, i, "/messages/@original"), nil); r.status != 204 {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if m := s.State().Message(message); m.Deleted.IsZero() {
		t.Error("the message still stands")
	}
}

func TestAStrangersClickCarriesTheStranger(t *testing.T) {
	testkit.Alone(t)
	s, message := stage(t, discordtest.Options{})
	c := dial(t, s)
	c.login()
	who := s.Stranger()
	who.Click(message, "act:go:_")
	if f := c.expect("INTERACTION_CREATE"); !strings.Contains(string(f.D), `"user":{`) || !strings.Contains(string(f.D), who.User.ID) {
		t.Errorf("got %s", f.D)
	}
	who.In("7").Slash("cost")
	if f := c.expect("INTERACTION_CREATE"); !strings.Contains(string(f.D), `"member":{`) || strings.Contains(string(f.D), `"context":1`) {
		t.Errorf("in a guild: %s", f.D)
	}
}

func TestAStoryCannotClickWhatIsNotThere(t *testing.T) {
	testkit.Alone(t)
	s := quiet(t, discordtest.Options{})
	m := s.User().Say("no buttons here")
	s.User().Click(m.ID, "act:go:_")
	s.User().Slash("cost")
	if v := s.Violations(); len(v) != 2 {
		t.Errorf("violations %q", v)
	}
}

func TestMenusWindowsAndSuggestionsHaveTheirLimits(t *testing.T) {
	testkit.Alone(t)
	window := func(title, label string, rows int) obj {
		var list []obj
		for i := range rows {
			list = append(list, obj{"type": 1, "components": []obj{{"type": 4, "style": 1, "custom_id": strings.Repeat("f", i+1), "label": label}}})
		}
		return obj{"type": 9, "data": obj{"custom_id": "act:x:_", "title": title, "components": list}}
	}
	choices := func(n, length int) obj {
		list := []obj{}
		for range n {
			list = append(list, obj{"name": strings.Repeat("n", length), "value": "v"})
		}
		return obj{"type": 8, "data": obj{"choices": list}}
	}
	menu := func(n int, value func(i int) string, more ...obj) obj {
		var options []obj
		for i := range n {
			options = append(options, obj{"label": "l", "value": value(i)})
		}
		m := text("menu")
		row := append([]obj{{"type": 3, "custom_id": "act:m:_", "options": options}}, more...)
		m["components"] = []obj{{"type": 1, "components": row}}
		return obj{"type": 4, "data": m}
	}
	each := func(i int) string { return strings.Repeat("v", i+1) }
	for _, c := range []struct {
		name   string
		typed  bool // into a field, instead of a command
		body   obj
		status int
	}{
		{"a window", false, window("t", "l", 5), 204},
		{"a long title", false, window(strings.Repeat("t", 46), "l", 1), 400},
		{"a long label", false, window("t", strings.Repeat("l", 46), 1), 400},
		{"too many rows", false, window("t", "l", 6), 400},
		{"a window for what is typed", true, window("t", "l", 1), 400},
		{"a message for what is typed", true, obj{"type": 4, "data": text("x")}, 400},
		{"no suggestion", true, choices(0, 1), 204},
		{"25 suggestions", true, choices(25, 100), 204},
		{"26 suggestions", true, choices(26, 1), 400},
		{"a long suggestion", true, choices(1, 101), 400},
		{"suggestions for a command", false, choices(1, 1), 400},
		{"a menu", false, menu(25, each), 204},
		{"a menu of 26", false, menu(26, each), 400},
		{"an empty menu", false, menu(0, each), 400},
		{"a value twice", false, menu(2, func(int) string { return "v" }), 400},
		{"a button beside a menu", false, menu(1, each, obj{"type": 2, "style": 1, "label": "b", "custom_id": "act:b:_"}), 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := quiet(t, discordtest.Options{}) // what it refuses is a violation, too
			do(t, s, "PUT", "/applications/"+s.Bot().ID+"/commands", []obj{{"name": "cost", "description": "d"}})
			i := s.User().Slash("cost")
			if c.typed {
				i = s.User().Type("cost", "what", "t")
			}
			if r := answerTo(t, s, i, c.body); r.status != c.status {
				t.Errorf("%d %s", r.status, r.raw)
			}
		})
	}
}
