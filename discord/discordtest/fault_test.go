package discordtest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

func TestPlansAnswerInPlaceOfDiscord(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	path := "/channels/" + dm(t, s) + "/messages"
	for name, c := range map[string]struct {
		plan   discordtest.Plan
		status int
		body   string
	}{
		"limit":        {discordtest.RateLimited(1500*time.Millisecond, false), 429, `"retry_after":1.5`},
		"global limit": {discordtest.RateLimited(time.Second, true), 429, `"global":true`},
		"old edits":    {discordtest.OldEdits(time.Minute), 429, `"code":30046`},
		"bare limit":   {discordtest.BareRateLimit(), 429, ""},
		"ban":          {discordtest.Banned(time.Hour), 429, "1015"},
		"bad gateway":  {discordtest.Broken(502), 502, "<html>"},
		"refusal":      {discordtest.Refused(403, 50278), 403, `"code":50278`},
		"bad form":     {discordtest.InvalidForm("content", "no"), 400, `"code":50035`},
		"bad token":    {discordtest.Unauthorized(), 401, "401: Unauthorized"},
		"bad JSON":     {discordtest.Garbled(), 200, `"content":`},
	} {
		t.Run(name, func(t *testing.T) {
			s.Fault(discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages"}, c.plan)
			if r := do(t, s, "POST", path, text("x")); r.status != c.status || !strings.Contains(r.raw, c.body) {
				t.Errorf("%d %s", r.status, r.raw)
			}
			if n := len(s.State().Messages); n != 0 {
				t.Errorf("%d messages were stored", n)
			}
		})
	}
	if r := do(t, s, "POST", path, text("x")); r.status != 200 {
		t.Errorf("after all of them: %d %s", r.status, r.raw)
	}
}

func TestAnAnswerCanGetLostAfterItsMessageWasStored(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	path := "/channels/" + dm(t, s) + "/messages"
	once := text("once")
	once["nonce"], once["enforce_nonce"] = "n", true
	match := discordtest.Match{Method: "POST", PathPrefix: "/channels/*/messages", AfterStored: true}
	s.Fault(match, discordtest.Lost())
	s.Fault(match, discordtest.Broken(503))
	if r, err := try(t, s, "POST", path, once); err == nil {
		t.Errorf("the cut connection answers %d", r.status)
	}
	if r := do(t, s, "POST", path, once); r.status != 503 {
		t.Errorf("status %d", r.status)
	}
	if r := do(t, s, "POST", path, once); r.status != 200 || len(s.State().Messages) != 1 {
		t.Errorf("status %d, %d messages", r.status, len(s.State().Messages))
	}
}

func TestAFaultStrikesAsOftenAsPlanned(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	lift := s.Fault(discordtest.Match{Method: "GET", PathPrefix: "/gate", Times: -1}, discordtest.Broken(500))
	s.Fault(discordtest.Match{PathPrefix: "/users/@me", Times: 2}, discordtest.Broken(502))
	var got []int
	for range 3 {
		got = append(got, do(t, s, "GET", "/gateway", nil).status, do(t, s, "GET", "/users/@me", nil).status)
	}
	lift()
	got = append(got, do(t, s, "GET", "/gateway", nil).status)
	want := []int{500, 502, 500, 502, 500, 200, 200}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestAHeldRequestCanBeSeenBeforeItIsReleased(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	s.Fault(discordtest.Match{PathPrefix: "/users/@me"}, discordtest.Plan{Hold: "gate"})
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() {
		if r, err := try(t, s, "GET", "/users/@me", nil); err != nil || r.status != 200 {
			t.Errorf("%d, %v", r.status, err)
		}
	})
	s.Wait(t, "the request", func(st discordtest.State) bool { return st.Count("GET", "/users/@me") == 1 })
	if got := s.State().Requests[0].Status; got != 0 {
		t.Errorf("answered with %d while it was held", got)
	}
	s.Release("gate")
}

func TestAWaitThatEndsInVainSaysWhatThereWas(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	s.User().Say("only this")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := s.WaitContext(ctx, "something else", func(discordtest.State) bool { return false })
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "only this") {
		t.Errorf("got %v", err)
	}
}
