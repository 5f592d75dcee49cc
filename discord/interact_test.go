package discord

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/discord/discordtest"
	"ollimbot/discord/rest"
)

func TestEachCommandBecomesALineOfTheBot(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options map[string]any
		want    string
	}{
		{"clear", nil, "/clear"},
		{"compact", map[string]any{"instructions": "keep\nthe  names"}, "/compact keep the  names"},
		{"model", map[string]any{"name": "opus"}, "/model opus"},
		{"model", nil, "/model"},
		{"thinking", map[string]any{"mode": "8000"}, "/thinking 8000"},
		{"ping-budget", map[string]any{"capacity": int64(6), "refill_rate": int64(60)}, "/ping-budget capacity=6 refill_rate=60"},
		{"ping-budget", map[string]any{"refill_rate": int64(60)}, "/ping-budget refill_rate=60"},
		{"config", map[string]any{"key": "model_main", "value": "haiku"}, "/config model_main haiku"},
		{"config", map[string]any{"key": "model_main"}, "/config model_main"},
		{"fork", map[string]any{"topic": "a b", "foreign": "x"}, "/fork a b"},
	} {
		if got, why := slashLine(tt.name, tt.options); got != tt.want || why != "" {
			t.Errorf("%s %v: %q %q, want %q", tt.name, tt.options, got, why, tt.want)
		}
	}
	if _, why := slashLine("config", map[string]any{"value": "x"}); why == "" {
		t.Error("a value without its key was passed on")
	}
	if line, why := slashLine("rm", nil); line != "" || why == "" {
		t.Errorf("%q", line)
	}
}

func TestTheCommandsAreRegisteredOnlyWhenTheyHaveChanged(t *testing.T) {
	testkit.Alone(t)
	st, _ := hears(t, nil)
	all := len(st.s.State().Commands)
	if want := len(command.List(command.InDiscord | command.InMessage)); all != want || want < 15 {
		t.Errorf("%d commands, want %d", all, want)
	}
	st.stop()
	st.alone(newStub(nil))
	st.s.Wait(t, "the second look", func(f discordtest.State) bool { return f.Count("GET", "/applications/*/commands") == 2 })
	st.stop()
	c := rest.New(rest.Options{Token: secret, Base: st.s.URL() + "/api/v10"})
	if err := c.PutCommands(t.Context(), st.s.Bot().ID, nil); err != nil { // another program with this token
		t.Fatal(err)
	}
	st.alone(newStub(nil))
	state := st.s.Wait(t, "the commands to be back", func(f discordtest.State) bool { return len(f.Commands) == all })
	if state.CommandPuts != 3 {
		t.Errorf("registered %d times, want 3", state.CommandPuts)
	}
}

func TestAReplyIsForTheUserAloneAndHasItsLimit(t *testing.T) {
	testkit.Alone(t)
	reply := make(chan command.Outcome, 1)
	st, b := hears(t, func(context.Context, command.Value) (command.Outcome, error) { return <-reply, nil })
	reply <- command.Outcome{Message: strings.Repeat("one setting = its value\n", 200)}
	st.s.User().Slash("config")
	m := st.says("cut here; the dashboard has the full text")
	if !m.Ephemeral() || len(m.Content) > 2000 {
		t.Errorf("%d characters, ephemeral %v", len(m.Content), m.Ephemeral())
	}
	reply <- command.Outcome{}
	st.s.User().Slash("interrupt")
	st.s.Wait(t, "the promise to go", func(f discordtest.State) bool { return f.Count("DELETE", "/webhooks/*/*/messages/@original") == 1 })
	reply <- command.Outcome{}
	st.s.User().Slash("restart")
	st.says("done.")
	st.s.User().Slash("config", discordtest.Option{Name: "value", Value: "x"})
	st.says("choose a key")
	if n := len(b.all()); n != 3 {
		t.Errorf("%d commands reached the bot", n)
	}
}

func TestAReplyAfterFifteenMinutesComesAsAMessage(t *testing.T) {
	testkit.Alone(t)
	go1, done := make(chan struct{}), make(chan struct{})
	st, _ := hears(t, func(context.Context, command.Value) (command.Outcome, error) {
		close(go1)
		<-done
		return command.Outcome{Message: "120k tokens compacted"}, nil
	})
	st.s.User().Slash("compact")
	<-go1
	st.s.Advance(16 * time.Minute)
	close(done)
	if m := st.says("/compact: 120k tokens compacted"); m.Ephemeral() || m.Type == 20 {
		t.Errorf("%+v", m)
	}
}

func TestACommandThatComesTooLateIsNotCarriedOut(t *testing.T) {
	testkit.Alone(t)
	st, b := hears(t, nil)
	st.s.Fault(discordtest.Match{PathPrefix: "/interactions", Times: 1}, discordtest.Refused(404, 10062))
	st.s.User().Slash("clear")
	st.says("/clear did not arrive in time and was not carried out")
	st.s.User().Slash("version")
	st.says("done.")
	st.s.Again("INTERACTION_CREATE")
	st.s.User().Slash("cost")
	all := b.wait(t, 2)
	if all[0].(command.Slash).Line != "/version" || all[1].(command.Slash).Line != "/cost" {
		t.Errorf("%+v", all)
	}
}

func TestAClickTellsWhatCameOfIt(t *testing.T) {
	testkit.Alone(t)
	st, b := hears(t, func(_ context.Context, c command.Value) (command.Outcome, error) {
		if k, ok := c.(command.Click); ok && k.ID == "act:fork_exit:_" {
			return command.Outcome{}, errors.New("no active fork")
		}
		return command.Outcome{Message: "as you like"}, nil
	})
	m := st.says("is here") // any message of the bot's may carry a button of an earlier version
	st.s.User().Forge(m.ID, "act:fork_exit:_")
	if reply := st.says("no active fork"); !reply.Ephemeral() {
		t.Errorf("%+v", reply)
	}
	st.s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/webhooks"}, discordtest.Refused(400, 40094))
	st.s.User().Forge(m.ID, "act:task_done:1")
	if reply := st.says("as you like"); reply.Ephemeral() {
		t.Error("the limit of follow-ups was not seen")
	}
	if k := b.all()[0].(command.Click); string(k.Message) != m.ID {
		t.Errorf("%+v", k)
	}
}

func TestACommandWhileTheBotStopsIsToldSo(t *testing.T) {
	testkit.Alone(t)
	asked := make(chan struct{})
	st, _ := hears(t, func(ctx context.Context, _ command.Value) (command.Outcome, error) {
		close(asked)
		<-ctx.Done()
		return command.Outcome{}, ctx.Err()
	})
	st.s.User().Slash("cost")
	<-asked
	st.stop()
	st.says("the bot is stopping")
}

func TestACommandThatBreaksIsAnsweredAndBreaksNothingElse(t *testing.T) {
	testkit.Alone(t)
	st, _ := hears(t, func(_ context.Context, c command.Value) (command.Outcome, error) {
		if s, ok := c.(command.Slash); ok && s.Line == "/cost" {
			panic("a fault")
		}
		return command.Outcome{Message: "fine"}, nil
	})
	st.s.User().Slash("cost")
	st.says("something went wrong")
	st.s.User().Slash("version")
	st.says("fine")
}
