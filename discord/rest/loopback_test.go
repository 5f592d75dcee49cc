package rest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/testkit"
)

// overNetwork is a client of a server on loopback, with the transport that the
// program has.
func overNetwork(t *testing.T, h http.HandlerFunc) (*Client, *httptest.Server) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	base := s.URL + "/api/v10/"
	testkit.Must(t, CheckBase(base))
	return New(Options{Token: secret, Base: base}), s
}

func write(w io.Writer, s string) { _, _ = io.WriteString(w, s) } // whoever hung up has its own test

func TestAServerThatIsDownIsReportedWithoutItsAddress(t *testing.T) {
	testkit.Alone(t)
	c, s := overNetwork(t, func(http.ResponseWriter, *http.Request) {})
	s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	err := c.EditAnswer(ctx, &discordgo.Interaction{ID: "1", AppID: "5", Token: "interaction-token"}, Message{Content: "x"})
	if !errors.Is(err, ErrTransient) && !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "interaction-token") {
		t.Error(err)
	}
}

func TestOnlyDiscordsAttachmentsAreFetched(t *testing.T) {
	f := &far{answer: inTurn(says(200, "data"))}
	c, test := client(f), New(Options{Token: secret, Base: "http://127.0.0.1:4000/api/v10", Transport: f})
	for addresses, ok := range map[string][2]bool{ // for Discord, for the test's base
		"https://cdn.discordapp.com/attachments/1/2/a.png?ex=1&hm=2 https://media.discordapp.net/attachments/1/2/a.png": {true, true},
		"http://127.0.0.1:4000/attachments/a.png": {false, true},
		"http://127.0.0.1:4000@evil.example/a.png http://127.0.0.1:40001/a.png http://cdn.discordapp.com/a.png " +
			"https://cdn.discordapp.com.evil.example/a.png https://evil.example/cdn.discordapp.com/a.png https://cdn.discordapp.com:444/a.png " +
			"https://user@cdn.discordapp.com/a.png https://discord.com/api/v10/users/@me file:///etc/passwd //cdn.discordapp.com/a.png " +
			"https:cdn.discordapp.com/a.png https://cdn.discordapp.com/%zz ": {false, false}, // and nothing
	} {
		for address := range strings.SplitSeq(addresses, " ") {
			for i, c := range []*Client{c, test} {
				before := len(f.requests())
				data, err := c.Download(t.Context(), address, 100)
				if ok[i] != (err == nil) || !ok[i] && (!errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "download the attachment: ") || len(f.requests()) != before) {
					t.Errorf("%q: %q, %v", address, data, err)
				}
			}
		}
	}
	for _, s := range f.requests() {
		if strings.Contains(fmt.Sprint(s.header), secret) {
			t.Errorf("the token went to %s", s.rule)
		}
	}
}

func TestADownloadIsWholeAndAsLargeAsItIsAndNotAsItSays(t *testing.T) {
	testkit.Alone(t)
	tries := 0
	c, s := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		tries++
		switch r.URL.Path {
		case "/fits":
			write(w, strings.Repeat("x", 1000))
		case "/says more":
			w.Header().Set("Content-Length", "1001")
			write(w, strings.Repeat("x", 1001))
		case "/says nothing":
			for range 1001 {
				write(w, "x")
				w.(http.Flusher).Flush()
			}
		case "/is packed":
			w.Header().Set("Content-Encoding", "gzip")
			write(w, "packed as it came")
		case "/breaks off once":
			if tries == 1 {
				w.Header().Set("Content-Length", "10")
			}
			write(w, "the whole")
		case "/is slow":
			write(w, "the begin")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%v", r.Header)
		}
	})
	for path, want := range map[string]string{
		"fits": "1000 bytes", "says more": "too large", "says nothing": "too large", "is packed": "17 bytes", "breaks off once": "9 bytes", "is slow": "late",
	} {
		ctx, cancel := t.Context(), context.CancelFunc(func() {})
		if tries = 0; path == "is slow" {
			ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
		}
		data, err := c.Download(ctx, s.URL+"/"+strings.ReplaceAll(path, " ", "%20"), 1000)
		got := outcome(err)
		if err == nil {
			got = fmt.Sprint(len(data), " bytes")
		}
		if got != want {
			t.Errorf("it %s: %s, %v", path, got, err)
		}
		cancel()
	}
}

func TestWhatWaitsForAConnectionHasNotBeenSent(t *testing.T) {
	testkit.Alone(t)
	// It accepts and says nothing: no request can be written before the handshake.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	c := New(Options{Token: secret, Base: "https://" + l.Addr().String() + "/api/v10/"})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Send(ctx, "7", Message{Content: "x"}); err == nil || errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	frozen, _ := overNetwork(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is a client that leaves noticed
		<-r.Context().Done()
	})
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := frozen.Send(ctx, "7", Message{Content: "x"}); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
}
