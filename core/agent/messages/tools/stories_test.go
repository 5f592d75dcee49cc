package tools

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"ollimbot/core/base/binarytest"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/safety/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	binarytest.Answer(binarytest.Hidden{sandbox.HelperArg: sandbox.Helper})
	os.Exit(m.Run())
}

func TestToolsAnswerAsTheirStoriesSay(t *testing.T) { stories(t, "files", "search", "work") }

func TestCommandsAnswerAsTheirStoriesSay(t *testing.T) {
	testkit.Alone(t)
	stories(t, "commands")
}

func TestPagesAreFetchedAsTheirStoriesSay(t *testing.T) {
	testkit.Alone(t)
	stories(t, "fetch")
}

// A story is played in a data directory, @DIR@, beside which is @OUT@; @TMP@ has the temporary files of commands. A line is a call with
// its result, in quotes if it is the whole text, where … is anything, and behind "!" if it is an error:
//
//	Read {"file_path":"a.md"} => "     1\tplum\n"
//	$ cat b.md                => ! No such file
//
// or a change of the directory and of what the tools may do (see story.change). 3×(a#) is a1a2a3. What says marigold is secret.
func stories(t *testing.T, files ...string) {
	for _, name := range files {
		goldentest.Stories(t, "stories/"+name+".txt", func(t *testing.T, text string) string {
			s := &story{ground: newGround(t, nil), pages: map[string]site{}}
			var out []string
			for line := range strings.SplitSeq(text, "\n") {
				do, want, is := strings.Cut(line, " => ")
				switch verb, rest, _ := strings.Cut(s.filled(do), " "); {
				case is:
					line = s.step(line, want, verb, rest)
				case verb != "" && verb != "#":
					s.change(verb, rest)
				}
				out = append(out, line)
			}
			return strings.Join(out, "\n")
		})
	}
}

type story struct {
	*ground
	tmp    string
	last   int // bytes of the last result
	fenced int // commands that ran in the fence
	asked  int // requests of pages
	pages  map[string]site
}

// site is what the web answers, or where it leads.
type site struct{ kind, text, to string }

func (s *story) filled(text string) string {
	return strings.NewReplacer("@DIR@", s.dir, "@OUT@", s.outside, "@TMP@", s.tmp).Replace(goldentest.Repeated(text))
}

// step returns the line, with the true result if it has another.
func (s *story) step(line, want, verb, rest string) string {
	s.t.Helper()
	var got Result
	switch path := filepath.Join(s.dir, rest); verb {
	case "$":
		got = s.call("Bash", with{"command": rest})
	case "file":
		got.Text = s.has(rest)
	case "rights":
		info, err := os.Stat(path)
		testkit.Must(s.t, err)
		got.Text = fmt.Sprintf("%04o", info.Mode().Perm())
	case "judged":
		got.Text = s.judged()
	case "length", "fenced", "asked":
		got.Text = strconv.Itoa(map[string]int{"length": s.last, "fenced": s.fenced, "asked": s.asked}[verb])
		s.asked = 0
	case "html":
		base, err := url.Parse("https://example.com/a/")
		testkit.Must(s.t, err)
		got.Text, _ = markdown(rest, base)
	case "braces":
		got.Text = strings.Join(alternatives(rest, maxAlternatives), " ")
	default:
		got = s.run(s.t.Context(), verb, []byte(rest))
	}
	s.last = len(got.Text)
	for _, i := range got.Images {
		got.Text += " [" + looks(i.MediaType, i.Data) + "]"
	}
	for _, d := range got.Documents {
		got.Text += fmt.Sprintf(" [%s %s, %d bytes]", d.MediaType, d.Title, len(d.Data))
	}
	if tmp := s.box.shell.tmp(); tmp != "" {
		s.tmp = tmp
	}
	said, fails := strings.CutPrefix(s.filled(want), "! ")
	if whole, err := strconv.Unquote(said); err == nil {
		said = whole
	} else {
		said = "…" + strings.ReplaceAll(said, `\n`, "\n") + "…"
	}
	secret := strings.Contains(got.Text, "marigold") && !strings.Contains(want, "marigold")
	if fits(got.Text, said) && got.IsError == fails && utf8.ValidString(got.Text) && !secret {
		return line
	}
	do, _, _ := strings.Cut(line, " => ")
	text := got.Text
	if s.tmp != "" {
		text = strings.ReplaceAll(text, s.tmp, "@TMP@")
	}
	text = strconv.Quote(strings.NewReplacer(s.dir, "@DIR@", s.outside, "@OUT@").Replace(text))
	return do + " => " + map[bool]string{true: "! "}[got.IsError] + text
}

// fits reports whether a text is what a pattern says.
func fits(text, pattern string) bool {
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), "…", ".*") + "$").MatchString(text)
}

// drawn returns a picture, black on its left and white on its right; looks says so.
func drawn(t testing.TB, w, h int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := w / 2; x < w; x++ {
			img.Set(x, y, color.White)
		}
	}
	var b bytes.Buffer
	testkit.Must(t, png.Encode(&b, img))
	return b.Bytes()
}

func looks(kind string, data []byte) string {
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return kind
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	left, _, _, _ := img.At(1, h/2).RGBA()
	right, _, _, _ := img.At(w-2, h/2).RGBA()
	return fmt.Sprintf("%s %d×%d, from %x to %x", kind, w, h, left>>12, right>>12)
}

func (s *story) change(verb, all string) {
	s.t.Helper()
	name, what, _ := strings.Cut(all, " ")
	path := filepath.Join(s.dir, name)
	switch verb {
	case "+": // files with a text
		names, text, _ := strings.Cut(all, ` "`)
		text, err := strconv.Unquote(`"` + text)
		testkit.Must(s.t, err)
		for name := range strings.FieldsSeq(names) {
			s.put(name, text)
		}
	case "picture":
		var w, h int
		_, err := fmt.Sscanf(what, "%dx%d", &w, &h)
		testkit.Must(s.t, err)
		s.put(name, string(drawn(s.t, w, h)))
	case "link":
		s.link(what, name)
	case "pipe":
		testkit.Must(s.t, syscall.Mkfifo(path, 0o600))
	case "rights":
		mode, err := strconv.ParseUint(what, 8, 32)
		testkit.Must(s.t, err)
		testkit.Must(s.t, os.Chmod(path, fs.FileMode(mode)))
	case "size":
		n, err := strconv.ParseInt(what, 10, 64)
		testkit.Must(s.t, err)
		testkit.Must(s.t, os.Truncate(path, n))
	case "age":
		d, err := time.ParseDuration(what)
		testkit.Must(s.t, err)
		testkit.Must(s.t, os.Chtimes(path, time.Time{}, time.Now().Add(-d)))
	case "hide": // from the tools; write: from writing
		s.hiddenFromSee = func(path string, write bool) bool {
			for one := range strings.FieldsSeq(all) {
				name, writing := strings.CutPrefix(one, "write:")
				if (name == "/" || strings.HasPrefix(path, filepath.Join(s.dir, name))) && (write || !writing) {
					return true
				}
			}
			return false
		}
	case "refuse": // what is judged again, for this reason
		s.refuse = all
	case "page": // NAME KIND "TEXT", or @FILE
		kind, text, _ := strings.Cut(what, " ")
		if file, is := strings.CutPrefix(text, "@"); is {
			text = s.has(file)
		} else {
			var err error
			text, err = strconv.Unquote(text)
			testkit.Must(s.t, err)
		}
		s.web("/"+name, site{kind: strings.ReplaceAll(kind, ";", "; charset="), text: text})
	case "moved":
		to, err := strconv.Unquote(what)
		testkit.Must(s.t, err)
		s.web("/"+name, site{to: to})
	case "close":
		testkit.Must(s.t, s.box.Close())
	default:
		s.reopen(verb, all)
	}
}

// reopen makes another box.
func (s *story) reopen(verb, rest string) {
	s.t.Helper()
	o := Options{Dir: s.dir, Env: []string{"PATH=/usr/bin:/bin"}}
	switch home := filepath.Dir(s.dir); verb {
	case "open": // the directory by another name
		o.Dir = rest
	case "env":
		o.Env = strings.Split(rest, " | ")
	case "bare": // without any program
		o.Env = []string{"PATH=" + s.t.TempDir()}
	case "fence": // which lets everything pass
		o.Sandbox = func(string, *exec.Cmd) func() { s.fenced++; return func() {} }
	case "sandbox": // a real one
		o.Env = append(o.Env, "HOME="+home, "OLLIM_SESSION=token")
		o.Sandbox = sandboxtest.Box(s.t, sandbox.Options{Dir: s.dir, Home: home}).CommandIn
	case "subagents":
		o.Agent = func(_ context.Context, a Subagent) Result { return Result{Text: fmt.Sprintf("%q", a)} }
	case "searches":
		o.Search = func(_ context.Context, q Query) Result {
			return Result{Text: string(q.Definition("web_search_20250305"))}
		}
	default:
		s.t.Fatalf("no step %q", verb)
	}
	s.open(o)
}

// web sets up a page of example.com.
func (s *story) web(path string, p site) {
	s.pages[path] = p
	if len(s.pages) > 1 {
		return
	}
	s.serve(func(w http.ResponseWriter, r *http.Request) {
		s.asked++
		p := s.pages[r.URL.Path]
		if r.Host != "example.com" {
			s.t.Errorf("%s was asked", r.Host)
		}
		if p.to != "" {
			w.Header()["Location"] = []string{p.to}
			w.WriteHeader(http.StatusFound)
			return
		}
		if p.kind == "404" {
			w.WriteHeader(http.StatusNotFound)
		} else if p.kind != "-" {
			w.Header().Set("Content-Type", p.kind)
		}
		for again := true; again && r.Context().Err() == nil; again = r.URL.Path == "/endless" {
			if _, err := io.WriteString(w, p.text); err != nil {
				return
			}
		}
	})
}

// serve sets up one server on loopback that answers for every host.
func (g *ground) serve(handler http.HandlerFunc) {
	g.t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	g.t.Cleanup(server.Close)
	g.box.web = client(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	})
	config := server.Client().Transport.(*http.Transport).TLSClientConfig
	g.box.web.Transport.(*http.Transport).TLSClientConfig = config
}
