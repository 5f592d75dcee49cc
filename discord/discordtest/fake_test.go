package discordtest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// fetched is what a GET of an address answers.
func fetched(t *testing.T, url string) (status int, data string, err error) {
	t.Helper()
	res, err := http.Get(url)
	testkit.Must(t, err)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	return res.StatusCode, string(all), err
}

func TestAnUploadIsServedAsItWasSent(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	ch := dm(t, s)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	payload, err := w.CreateFormField("payload_json")
	testkit.Must(t, err)
	_, err = io.WriteString(payload, `{"content":"see","allowed_mentions":{"parse":[]}}`)
	testkit.Must(t, err)
	file, err := w.CreateFormFile("files[0]", "a b.bin")
	testkit.Must(t, err)
	_, err = io.WriteString(file, "\x00\x01\x02\xff")
	testkit.Must(t, errors.Join(err, w.Close()))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/api/v9/channels/"+ch+"/messages", &body)
	testkit.Must(t, err)
	r.Header.Set("Content-Type", w.FormDataContentType())
	if got, err := send(t, r); err != nil || got.status != 200 {
		t.Fatalf("%d %s %v", got.status, got.raw, err)
	}
	a := s.State().Sent(s.Bot())[0].Attachments[0]
	if _, got, _ := fetched(t, a.URL); got != "\x00\x01\x02\xff" || a.Name != "a b.bin" {
		t.Errorf("%q named %q", got, a.Name)
	}
}

func TestAFileMayLieAboutItselfAndItsDownloadBeCut(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	a := s.User().Upload("", discordtest.File{Name: "cat.png", Type: "image/png", Data: []byte("MZ"), Size: 5}).Attachments[0]
	if _, got, _ := fetched(t, a.URL); a.Size != 5 || a.Type != "image/png" || got != "MZ" {
		t.Errorf("declared %d bytes of %s, served %q", a.Size, a.Type, got)
	}
	s.Fault(discordtest.Match{PathPrefix: "/attachments/*/*/cat"}, discordtest.Lost())
	if _, got, err := fetched(t, a.URL); err == nil || got != "M" {
		t.Errorf("a cut download ends with %q, %v", got, err)
	}
}

func TestTheAddressOfAFileEndsAfterADayAndItsMessageHasANewOne(t *testing.T) {
	testkit.Alone(t)
	s := discordtest.Start(t, discordtest.Options{})
	m := s.User().Upload("", discordtest.File{Name: "a", Data: []byte("x")})
	s.Advance(25 * time.Hour)
	if status, _, _ := fetched(t, m.Attachments[0].URL); status != 404 {
		t.Errorf("the old address: %d", status)
	}
	again := do(t, s, "GET", "/channels/"+m.ChannelID+"/messages/"+m.ID, nil)
	if status, _, _ := fetched(t, again.json["attachments"].([]any)[0].(obj)["url"].(string)); status != 200 {
		t.Errorf("the new address: %d", status)
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

func TestSnowflakesGrowAndContainTheTime(t *testing.T) {
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
