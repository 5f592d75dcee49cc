package gateway

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// serverFrame is a frame as a server sends it: not masked.
func serverFrame(first byte, body []byte) []byte {
	out := []byte{first}
	switch {
	case len(body) < 126:
		out = append(out, byte(len(body)))
	case len(body) < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 126), uint16(len(body)))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 127), uint64(len(body)))
	}
	return append(out, body...)
}

func TestFramesAreSeenTheSameInWhateverPiecesTheyCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
		var want []string
		for i := range rapid.IntRange(0, 12).Draw(t, "frames") {
			first := rapid.SampledFrom([]byte{frameText, frameClose, 0x82, 0x01, 0x80, 0x89, 0xc1}).Draw(t, "first")
			size := rapid.SampledFrom([]int{0, 1, 125, 126, frameLook, frameLook + 1, 70_000}).Draw(t, "size")
			body := bytes.Repeat([]byte{byte('a' + i)}, size)
			stream = append(stream, serverFrame(first, body)...)
			if (first == frameText || first == frameClose) && size <= frameLook {
				want = append(want, fmt.Sprintf("%x %d %.1s", first, size, body))
			}
		}
		var f frames
		var got []string
		for len(stream) > 0 {
			n := min(len(stream), rapid.SampledFrom([]int{1, 2, 3, 7, 50, 4096}).Draw(t, "piece"))
			if passed := f.feed(stream[:n], func(kind byte, body []byte) bool {
				got = append(got, fmt.Sprintf("%x %d %.1s", kind, len(body), body))
				return true
			}); passed != n {
				t.Fatalf("passed %d of %d", passed, n)
			}
			stream = stream[n:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhatComesBeforeAStoppedFramePassesAndNothingOfIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := append([]byte("HTTP/1.1 101\r\n\r\n"), serverFrame(0x82, make([]byte, rapid.IntRange(0, 300).Draw(t, "before")))...)
		stop := serverFrame(frameText, bytes.Repeat([]byte("!"), rapid.IntRange(0, frameLook).Draw(t, "stop")))
		stream := append(append(bytes.Clone(before), stop...), serverFrame(frameText, []byte("after"))...)
		piece := rapid.IntRange(1, len(stream)).Draw(t, "piece")
		var f frames
		at := 0
		for at < len(stream) {
			n := min(piece, len(stream)-at)
			passed := f.feed(stream[at:at+n], func(byte, []byte) bool { return false })
			if passed < n {
				begin := max(at, len(before)) // pieces of the frame may have gone before
				if at+passed != begin {
					t.Fatalf("stopped at %d, want %d", at+passed, begin)
				}
				return
			}
			at += n
		}
		t.Fatal("never stopped")
	})
}

func FuzzFramesNeverFail(f *testing.F) {
	f.Add([]byte("HTTP/1.1 101\r\n\r\n\x81\x02{}\x88\x02\x0f\xa4"), 3)
	f.Add([]byte("\r\n\r\n\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), 1)
	f.Add([]byte("\r\n\r\n\x81\x85mask....."), 2)
	f.Fuzz(func(t *testing.T, stream []byte, piece int) {
		var fr frames
		for len(stream) > 0 {
			n := min(len(stream), max(1, piece))
			passed := fr.feed(stream[:n], func(_ byte, body []byte) bool { return len(body)%2 == 0 })
			if passed < 0 || passed > n || len(fr.body) > frameLook || len(fr.head) > 16 {
				t.Fatalf("passed %d of %d, holds %d and %d", passed, n, len(fr.body), len(fr.head))
			}
			if passed < n {
				return
			}
			stream = stream[n:]
		}
	})
}

func FuzzDecodedEventsAreWholeAndClean(f *testing.F) {
	kinds := []string{"READY", "MESSAGE_CREATE", "MESSAGE_DELETE", "INTERACTION_CREATE", "MESSAGE_REACTION_ADD"}
	seed, _ := json.Marshal(message("1", "a\x1b[31mred\u202e"))
	for i := range kinds {
		f.Add(i, seed)
	}
	f.Add(3, []byte(`{"id":"5","application_id":"6","channel_id":"7","token":"t","type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":4,"value":3}]}}`))
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		e, v := decode(kinds[uint(kind)%uint(len(kinds))], data)
		if v != wanted || e.Kind == Ready {
			return
		}
		if e.ChannelID == "" || e.MessageID == "" && e.InteractionID == "" {
			t.Fatalf("half an event: %#v", e)
		}
		for _, s := range []string{e.Content, e.CustomID, e.CommandName, e.Emoji, e.Author.Name, e.Token} {
			if strings.ContainsAny(s, "\x1b\x00\u202e") {
				t.Fatalf("unclean: %q", s)
			}
		}
	})
}

func TestAMessageIsReadWithItsFilesAndWhatItAnswers(t *testing.T) {
	const data = `{"id":"11","channel_id":"77","type":19,"content":"yes\u202e","author":{"id":"42","username":"u","global_name":"Uma\u001b[1m"},
		"attachments":[{"id":"5","url":"https://cdn.discordapp.com/a","filename":"a\n.png","content_type":"image/png","size":12}],
		"message_reference":{"message_id":"10","channel_id":"77"},
		"referenced_message":{"id":"10","channel_id":"77","author":{"id":"1000","bot":true,"username":"ollim"},"content":"",
			"embeds":[{"title":"T","description":"D","fields":[{"name":"F","value":"V"}]}]}}`
	got, v := decode("MESSAGE_CREATE", []byte(data))
	want := Event{
		Kind: Message, UserID: "42", ChannelID: "77", MessageID: "11", Content: "yes",
		Author:      Author{ID: "42", Name: "Uma"},
		Attachments: []Attachment{{ID: "5", URL: "https://cdn.discordapp.com/a", Name: "a .png", Type: "image/png", Size: 12}},
		ReplyTo:     "10",
		Referenced: &Quoted{
			ID: "10", Author: Author{ID: "1000", Name: "ollim", Bot: true},
			Embeds: []Embed{{Title: "T", Description: "D", Fields: []Field{{"F", "V"}}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || v != wanted {
		t.Error(v, diff)
	}
}

func TestAnAnswerToADeletedOrUnreadableMessageIsStillAMessage(t *testing.T) {
	for _, referenced := range []string{``, `,"referenced_message":null`, `,"referenced_message":"gone"`, `,"referenced_message":{"id":7}`} {
		data := `{"id":"11","channel_id":"77","guild_id":"3","type":19,"content":"yes","author":{"id":"42"},"message_reference":{"message_id":"10"}` + referenced + `}`
		e, v := decode("MESSAGE_CREATE", []byte(data))
		if v != wanted || e.ReplyTo != "10" || e.Referenced != nil || !e.Guild {
			t.Errorf("%s: %v %+v", referenced, v, e)
		}
	}
}

func TestInteractionsAreReadWithTheirOptionsAndWhoTouchedThem(t *testing.T) {
	const head = `{"id":"5","application_id":"2000","channel_id":"77","token":"aW50.ZXJ_a-","version":1,`
	for name, tc := range map[string]struct {
		data string
		want Event
	}{
		"a command": {
			`"type":2,"user":{"id":"42","username":"u"},"data":{"id":"8","name":"ping-budget","type":1,"options":[
				{"name":"capacity","type":4,"value":6},{"name":"share","type":10,"value":0.5},{"name":"on","type":5,"value":true},{"name":"topic","type":3,"value":"a\tb"}]}}`,
			Event{CommandName: "ping-budget", Options: map[string]any{"capacity": int64(6), "share": 0.5, "on": true, "topic": "a    b"}},
		},
		"a click on a server": {
			`"type":3,"guild_id":"3","member":{"user":{"id":"42","username":"u"}},"message":{"id":"9"},"data":{"custom_id":"act:dismiss:_","component_type":2}}`,
			Event{Guild: true, MessageID: "9", CustomID: "act:dismiss:_"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, v := decode("INTERACTION_CREATE", []byte(head+tc.data))
			want := tc.want
			want.Kind, want.UserID, want.Author = Interaction, "42", Author{ID: "42", Name: "u"}
			want.InteractionID, want.AppID, want.ChannelID, want.Token = "5", "2000", "77", "aW50.ZXJ_a-"
			if diff := cmp.Diff(want, got); diff != "" || v != wanted {
				t.Error(v, diff)
			}
		})
	}
	for _, bad := range []string{
		`"type":4,"user":{"id":"42"},"data":{"name":"fork"}}`, // completion: not offered
		`"type":3,"user":{"id":"42"},"data":{"custom_id":"act:dismiss:_"}}`,
		`"type":3,"user":{"id":"42"},"message":{"id":"9"},"data":{}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":4,"value":1.5}]}}`,
		`"type":2,"user":{"id":"42"},"data":{"name":"fork","options":[{"name":"n","type":1,"options":[]}]}}`,
		`"type":2,"user":{"id":"42"},"token":"../../x","data":{"name":"fork"}}`,
		`"type":2,"data":{"name":"fork"}}`,
	} {
		if e, v := decode("INTERACTION_CREATE", []byte(head+bad)); v != broke {
			t.Errorf("%s: %v %+v", bad, v, e)
		}
	}
}

func TestAnEventShowsNeitherItsTokenNorItsWords(t *testing.T) {
	e := Event{Kind: Interaction, UserID: "42", Token: "secret-token", Content: "private words"}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("event", "event", e)
	fmt.Fprintf(&b, "%v %+v %#v %s", e, e, e, e)
	if strings.Contains(b.String(), "secret-token") || strings.Contains(b.String(), "private words") {
		t.Error(b.String())
	}
}

func TestWhatWeSendIsRecognisedByItsOpcode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.IntRange(0, 11).Draw(t, "op")
		body := fmt.Sprintf(`{"op":%d,"d":%q}`, op, strings.Repeat("x", rapid.SampledFrom([]int{0, 10, 110, 200, 5000}).Draw(t, "size")))
		if got := sentOp(frame(frameText, []byte(body))); got != op {
			t.Fatalf("op %d, want %d", got, op)
		}
	})
	for _, other := range []string{"", "\x81", "\x88\x82mask..", "GET / HTTP/1.1\r\n", "\x81\x86mask......"} {
		if got := sentOp([]byte(other)); got != -1 {
			t.Errorf("%q: op %d", other, got)
		}
	}
}

func TestEncryptedConnectionsAndProxies(t *testing.T) {
	target := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "gateway") }))
	defer target.Close()
	pool := x509.NewCertPool()
	pool.AddCert(target.Certificate())
	addr := target.Listener.Addr().String()

	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pass, _ := strings.Cut(r.Header.Get("Proxy-Authorization"), "Basic "); r.Method != http.MethodConnect || pass != "dTpw" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		far, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		near, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		var up sync.WaitGroup
		up.Go(func() { _, _ = io.Copy(far, near); _ = far.Close() })
		_, _ = io.Copy(near, far)
		_ = near.Close()
		up.Wait()
	}))
	defer proxy.Close()
	at := strings.TrimPrefix(proxy.URL, "http://")

	for name, tc := range map[string]struct {
		proxy string
		roots *x509.CertPool
		want  string // of the error
	}{
		"direct":             {"", pool, ""},
		"through a proxy":    {"http://u:p@" + at, pool, ""},
		"proxy says no":      {"http://u:wrong@" + at, pool, "407 Proxy Authentication Required"},
		"proxy of other art": {"socks5://u:p@" + at, pool, "only http://"},
		"a stranger's name":  {"", x509.NewCertPool(), "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialer(nil)
			d.tls = &tls.Config{RootCAs: tc.roots}
			d.proxy = func(*http.Request) (*url.URL, error) {
				if tc.proxy == "" {
					return nil, nil
				}
				return url.Parse(tc.proxy)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			conn, err := d.secure(ctx, "tcp", addr)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "u:") {
					t.Fatalf("err = %v, want %q in it", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n")
			if answer, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(answer), "gateway") {
				t.Errorf("answer %q, %v", answer, err)
			}
		})
	}
}
