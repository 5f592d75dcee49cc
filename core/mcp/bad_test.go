package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
)

func TestNamesOfToolsFitEveryAPI(t *testing.T) {
	testkit.Alone(t)
	h := running(t, stdio(t, nil, "names"))
	seen := map[string]bool{}
	dotted := ""
	for _, tool := range h.Tools() {
		name := "mcp__" + tool.Server + "__" + tool.Name
		if len(name) > maxToolName || notInNames().MatchString(strings.ReplaceAll(name, "_", "")) || seen[name] {
			t.Errorf("name %s", name)
		}
		seen[name] = true
		if strings.HasPrefix(tool.Name, "with_dot_") {
			dotted = tool.Name
		}
	}
	// E6: of with.dot and with_dot one was dropped.
	for name, want := range map[string]string{"with_dot": "underscore", dotted: "dot"} {
		if got := h.call("names/"+name, `{}`).Text; got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
}

// E6: over HTTP too, in an event or in the whole body.
func TestAnUnknownContentOverHTTPIsNamed(t *testing.T) {
	strange := `{"id":1,"jsonrpc":"2.0","result":{"content":[{"type":"hologram"}]}}`
	named := strings.Replace(strange, `{"type":"hologram"}`, `{"text":"`+textUnknownContent+`","type":"text"}`, 1)
	for kind, form := range map[string]string{"application/json": "%s", "text/event-stream; charset=utf-8": "event: message\r\ndata: %s\n\r\n"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("content-type", kind)
			_, _ = fmt.Fprintf(w, form, strange)
		}))
		resp, err := (&http.Client{Transport: &limited{next: http.DefaultTransport}}).Get(server.URL)
		testkit.Must(t, err)
		got, err := io.ReadAll(resp.Body)
		if want := fmt.Sprintf(form, named); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", kind, got, err, want)
		}
		_ = resp.Body.Close()
		server.Close()
	}
}

// A server closes a connection that has been idle, and the call that arrived just then was lost: "connection reset".
func TestAConnectionThatItsServerMayBeClosingGetsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, dialed := httpClient(Server{URL: "http://server.test/mcp"}), 0
		transport := client.Transport.(*limited).next.(*http.Transport)
		defer transport.CloseIdleConnections()
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			dialed++
			ours, theirs := net.Pipe()
			go func() {
				for in := bufio.NewReader(theirs); ; {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
				}
			}()
			return ours, nil
		}
		for _, c := range []struct {
			after  time.Duration
			dialed int
		}{{0, 1}, {2 * time.Second, 1}, {4 * time.Second, 2}} {
			time.Sleep(c.after)
			resp, err := client.Post("http://server.test/mcp", "application/json", strings.NewReader("{}"))
			testkit.Must(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			testkit.Must(t, errors.Join(err, resp.Body.Close()))
			if dialed != c.dialed {
				t.Errorf("%s after the last call %d connections were made, want %d", c.after, dialed, c.dialed)
			}
		}
	})
}

// E6: servers that were there before the first start had no tools until /clear.
func TestTheFirstConversationWaitsForTheToolsOfNewServers(t *testing.T) {
	testkit.Alone(t)
	h := newHome(t, stdio(t, nil, "plain"))
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		h.Renew(context.Background())
	}()
	for h.missing("plain") {
		runtime.Gosched()
	}
	h.run()
	<-renewed
	if len(h.Tools()) != 3 || strings.Contains(h.said(), "/clear") {
		t.Errorf("%d tools, %q", len(h.Tools()), h.said())
	}
}

// pause advances time until retry; the server must wait at least a second.
func (h *home) pause() bool {
	h.o.Changed()
	return false
}

// Below the text of a file and "reads" are its problems, and the servers that are in force.
func TestAMistakeNamesLineAndKeyAndLeavesTheLastGoodVersion(t *testing.T) {
	goldentest.Stories(t, "stories/file.txt", func(t *testing.T, story string) string {
		h := newHome(t, "")
		h.env["KEY"], h.env["EMPTY"] = "k3y", ""
		var out, file []string
		for line := range strings.SplitSeq(story, "\n") {
			switch {
			case line == "reads":
				h.save(goldentest.Repeated(strings.NewReplacer("BOM", "\ufeff", "TAB", "\t").Replace(strings.Join(file, "\n"))))
				h.Reload()
				servers, problems, err := Read(h.dir, h.o.Lookup)
				testkit.Must(t, err)
				if !routines.HasErrors(problems) { // as the bot does
					data, err := h.dir.Read(File)
					testkit.Must(t, errors.Join(err, h.dir.KeepValid(File, data)))
				}
				out, file = append(append(out, file...), line), nil
				if len(h.States()) != len(servers) {
					t.Errorf("the bot uses %+v", h.States())
				}
				for _, p := range problems {
					out = append(out, fmt.Sprintf("> line %d, %s: %s", p.Line, p.Severity, lastValid.ReplaceAllString(p.Message, "version of today stays")))
				}
				if len(servers) > 9 {
					out = append(out, fmt.Sprintf("> %d servers", len(servers)))
					continue
				}
				for _, s := range servers {
					out = append(out, fmt.Sprintf("> %s (%s): %s%q %v %v %s trusted %t, off %t", s.Name, s.Where(), s.Command, s.Args, s.Env, s.Headers, s.URL, s.Trusted, s.Disabled))
				}
			case !strings.HasPrefix(line, "> "):
				file = append(file, line)
			}
		}
		return strings.Join(out, "\n")
	})
}

var lastValid = regexp.MustCompile(`version of .* stays`)

func TestAServerOverHTTPGetsItsHeadersAndNoOtherAddressDoes(t *testing.T) {
	testkit.Alone(t)
	stolen := ""
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen = r.Header.Get("Authorization") }))
	defer thief.Close()
	var seen string
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return fakeServer("plain") }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
			return
		}
		seen = r.Header.Get("Authorization")
		handler.ServeHTTP(w, r)
	}))
	defer web.Close()
	file := `{"mcpServers": {"web": {"type": "http", "url": "` + web.URL + `/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
		"away": {"url": "` + web.URL + `/away", "headers": {"Authorization": "Bearer ${TOKEN}"}}}}`
	h := newHome(t, "")
	h.env["TOKEN"] = "t0ken"
	h.save(file)
	h.remake()
	h.run()
	h.until("both", func() bool { return h.state("web").Tools > 0 && h.state("away").Status == Failed })
	h.Renew(t.Context())
	if got := h.call("web/echo", `{"text":"far"}`); got.Text != "you said far" {
		t.Errorf("called: %+v", got)
	}
	h.end()
	if seen != "Bearer t0ken" || stolen != "" || !strings.Contains(h.state("away").Where, "/away") {
		t.Errorf("sent %q, elsewhere %q", seen, stolen)
	}
}

func pidsIn(t testing.TB, file string) (list []int) {
	t.Helper()
	data, _ := os.ReadFile(file) // it may not exist yet
	for _, word := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(word)
		testkit.Must(t, err)
		list = append(list, pid)
	}
	return list
}

// gone reports whether a process has ended, including one that was not reaped.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // "1 (name) Z …"; missing on a Mac
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && strings.HasPrefix(state, "Z")
}
