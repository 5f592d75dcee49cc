package rest

import (
	"bytes"
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

func TestACutConnectionIsRepeatedUnderTheSameNonce(t *testing.T) {
	testkit.Alone(t)
	var nonces []any
	c, _ := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		nonces = append(nonces, object(t, data)["nonce"])
		if len(nonces) == 1 { // it was stored; the answer gets lost
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
			return
		}
		write(w, `{"id":"3"}`)
	})
	id, err := c.Send(t.Context(), "7", Message{Content: "x"})
	if id != "3" || err != nil || len(nonces) != 2 || nonces[0] != nonces[1] {
		t.Errorf("%q, %v, nonces %v", id, err, nonces)
	}
}

func TestAServerThatIsDownIsToldWithoutItsAddress(t *testing.T) {
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

func TestAFileTravelsInOnePieceWithItsLength(t *testing.T) {
	testkit.Alone(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	c, _ := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(8 << 20); err != nil {
			t.Error(err)
			return
		}
		file, h, err := r.FormFile("files[0]")
		if err != nil {
			t.Error(err)
			return
		}
		got, err := io.ReadAll(file)
		if err != nil || !bytes.Equal(got, want) || h.Filename != "data.bin" {
			t.Errorf("%d bytes of %q, %v", len(got), h.Filename, err)
		}
		write(w, `{"id":"3"}`)
	})
	_, err := c.Send(t.Context(), "7", Message{Files: []File{file("data.bin", string(want))}})
	if err != nil {
		t.Error(err)
	}
}

func TestOnlyDiscordsAttachmentsAreFetched(t *testing.T) {
	f := &far{answer: inTurn(says(200, "data"))}
	c, test := client(f), New(Options{Token: secret, Base: "http://127.0.0.1:4000/api/v10", Transport: f})
	for address, ok := range map[string][2]bool{ // for Discord, for the test's base
		"https://cdn.discordapp.com/attachments/1/2/a.png?ex=1&hm=2": {true, true},
		"https://media.discordapp.net/attachments/1/2/a.png":         {true, true},
		"http://127.0.0.1:4000/attachments/a.png":                    {false, true},
		"http://127.0.0.1:4000@evil.example/a.png":                   {false, false},
		"http://127.0.0.1:40001/a.png":                               {false, false},
		"http://cdn.discordapp.com/a.png":                            {false, false},
		"https://cdn.discordapp.com.evil.example/a.png":              {false, false},
		"https://evil.example/cdn.discordapp.com/a.png":              {false, false},
		"https://cdn.discordapp.com:444/a.png":                       {false, false},
		"https://user@cdn.discordapp.com/a.png":                      {false, false},
		"https://discord.com/api/v10/users/@me":                      {false, false},
		"file:///etc/passwd":                                         {false, false},
		"//cdn.discordapp.com/a.png":                                 {false, false},
		"https:cdn.discordapp.com/a.png":                             {false, false},
		"https://cdn.discordapp.com/%zz":                             {false, false},
		"":                                                           {false, false},
	} {
		for i, c := range []*Client{c, test} {
			before := len(f.requests())
			data, err := c.Download(t.Context(), address, 100)
			if ok[i] != (err == nil) || !ok[i] && (!errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "download the attachment: ") || len(f.requests()) != before) {
				t.Errorf("%q: %q, %v", address, data, err)
			}
		}
	}
	for _, s := range f.requests() {
		if strings.Contains(fmt.Sprint(s.header), secret) {
			t.Errorf("the token went to %s", s.rule)
		}
	}
}

func TestADownloadIsAsLargeAsItIsAndNotAsItSays(t *testing.T) {
	testkit.Alone(t)
	c, s := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/fits":
			write(w, strings.Repeat("x", 1000))
		case "/says-more":
			w.Header().Set("Content-Length", "1001")
			write(w, strings.Repeat("x", 1001))
		case "/says-nothing":
			for range 1001 {
				write(w, "x")
				w.(http.Flusher).Flush()
			}
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			write(w, "packed as it came")
		}
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("%v", r.Header)
		}
	})
	for path, want := range map[string]error{"fits": nil, "says-more": ErrTooLarge, "says-nothing": ErrTooLarge, "packed": nil} {
		data, err := c.Download(t.Context(), s.URL+"/"+path, 1000)
		if !errors.Is(err, want) || (want == nil) != (len(data) > 0) {
			t.Errorf("%s: %d bytes, %v", path, len(data), err)
		}
	}
}

func TestADownloadThatBreaksOffIsBegunAgain(t *testing.T) {
	testkit.Alone(t)
	tries := 0
	c, s := overNetwork(t, func(w http.ResponseWriter, _ *http.Request) {
		if tries++; tries == 1 {
			w.Header().Set("Content-Length", "10")
			write(w, "half")
			return
		}
		write(w, "the whole")
	})
	if data, err := c.Download(t.Context(), s.URL+"/a", 100); string(data) != "the whole" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

func TestASlowDownloadEndsWithItsContext(t *testing.T) {
	testkit.Alone(t)
	c, s := overNetwork(t, func(w http.ResponseWriter, r *http.Request) {
		write(w, "the begin")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Download(ctx, s.URL+"/a", 100); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
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
