package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core/agent/messages/dialect/dialecttest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

const initToken = "MTIzNDU2Nzg5.Gabcde.secret-of_the-test"

// machine is where init sets a bot up.
type machine struct {
	t       *testing.T
	root    string   // the data directory
	env     []string // variables that are set
	discord *discordtest.Server
}

// newMachine keeps init from offering the models of a server that runs beside the test.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, root: filepath.Join(t.TempDir(), "data")}
	m.env = []string{"OLLIM_DATA_DIR=" + m.root, "TZ=UTC", "PATH=/nowhere"}
	m.file(provider.File, "# none\n")
	return m
}

// withDiscord starts a Discord that knows a token.
func (m *machine) withDiscord(token string) {
	m.t.Helper()
	m.discord = discordtest.Start(m.t, discordtest.Options{Token: token})
	m.env = append(m.env, "OLLIM_DISCORD_API="+m.discord.URL()+"/api/v10")
}

func (m *machine) file(name, text string) {
	m.t.Helper()
	testkit.Must(m.t, errors.Join(os.MkdirAll(m.root, 0o700), os.WriteFile(filepath.Join(m.root, name), []byte(text), 0o600)))
}

func (m *machine) process(in io.Reader, out io.Writer) *console.Process {
	return &console.Process{
		In: in, Out: out, Err: out, Environ: func() []string { return m.env }, Now: time.Now,
		Getenv: func(name string) string {
			for _, v := range m.env {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		},
	}
}

// The stories have lines of these kinds; the others are what init prints and writes. TOKEN is a token that may be one.
//
//	# a comment
//	> file NAME TEXT             in the data directory, with \n
//	> env NAME=VALUE
//	> discord TOKEN, > broken    a Discord that knows this token; one that answers with errors
//	> ollama [X…]                a server with three models and one more for each letter; nothing of models is set up
//	$ init [--offline|--wait|--data-dir|--whole] | ANSWER | …     from a pipe; the questions are left out but for --whole
func TestInitAsksAndWritesWhatItsStoriesShow(t *testing.T) {
	testkit.Alone(t)
	goldentest.Stories(t, "init.txt", func(t *testing.T, story string) string {
		m := newMachine(t)
		var said bytes.Buffer
		hide := []string{m.root, "/data", initToken, "TOKEN"}
		for line := range strings.Lines(story) {
			kind, _, _ := strings.Cut(line, " ")
			if !slices.Contains([]string{"#", ">", "$"}, kind) {
				continue // what was printed
			}
			line = strings.TrimSpace(line)
			_, _ = said.WriteString(line + "\n")
			words := append(strings.SplitN(line, " ", 4), "", "", "")
			switch kind + words[1] {
			case ">file":
				m.file(words[2], strings.ReplaceAll(words[3], `\n`, "\n"))
			case ">env":
				m.env = append(m.env, words[2])
			case ">discord":
				m.withDiscord(strings.Replace(words[2], "TOKEN", initToken, 1))
				hide = append(hide, m.discord.Bot().ID, "{bot}", m.discord.User().User.ID, "{user}", m.discord.URL(), "{discord}")
			case ">broken":
				m.discord.Fault(discordtest.Match{Times: -1}, discordtest.Broken(503))
			case ">ollama":
				testkit.Must(t, os.RemoveAll(filepath.Join(m.root, provider.File)))
				models := []dialecttest.Model{
					{Name: "nomic-embed-text:latest", Can: []string{"embedding"}},
					{Name: "gemma3:4b", Can: []string{"completion", "vision"}, Window: 131_072, Size: 3 << 30},
					{Name: "qwen3:8b", Can: []string{"completion", "tools"}, Window: 40_960, Size: 5 << 30},
				}
				for i := range len(words[2]) {
					models = append(models, dialecttest.Model{Name: fmt.Sprintf("small%d:1b", i), Can: []string{"completion"}, Window: 4096, Size: 1 << 30})
				}
				url := dialecttest.Start(t, dialecttest.Options{Models: models}).URL
				m.env = append(m.env, "OLLAMA_HOST="+url)
				hide = append(hide, url, "{ollama}")
			case "$init":
				m.init(&said, line)
			default:
				if kind != "#" {
					t.Fatalf("nothing is known of %s", line)
				}
			}
		}
		return strings.NewReplacer(hide...).Replace(said.String())
	})
}

// theQuestions are the lines that init prints each time.
var theQuestions = regexp.MustCompile(`^(This asks|Press Enter to|What is|Your time|For Discord|  \d\. (Open|Inst|Bot:)|Discord token\?|` +
	`Ollama at|  \d+\. |Left out|Which one may|The bot has no model|\n)`)

// init answers the questions of init from a pipe, and shows what it has written.
func (m *machine) init(said *bytes.Buffer, line string) {
	m.t.Helper()
	answers := strings.Split(strings.ReplaceAll(line, "DISCORD_TOKEN", "NAME"), "|")[1:]
	for i, answer := range answers {
		answers[i] = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(answer), "TOKEN", initToken), "NAME", "DISCORD_TOKEN")
	}
	var out bytes.Buffer
	p := m.process(strings.NewReader(strings.Join(answers, "\n")), &out)
	if strings.Contains(line, "--data-dir") {
		p.Flags.DataDir = m.root
	}
	c := &Cmd{Offline: strings.Contains(line, "--offline")}
	c.Wait = strings.Contains(line, "--wait")
	err := c.Run(p)
	for line := range strings.Lines(strings.TrimSpace(out.String()) + "\n") {
		if strings.Contains(said.String(), "--whole") || !theQuestions.MatchString(line) {
			_, _ = said.WriteString(line)
		}
	}
	if err != nil {
		_, _ = fmt.Fprintf(said, "error: %v\n", err)
	}
	if strings.Contains(out.String(), initToken) {
		m.t.Error("the token is on the screen")
	}
	for _, name := range []string{".env", provider.File} {
		path := filepath.Join(m.root, name)
		data, err := os.ReadFile(path)
		if err != nil || string(data) == "# none\n" {
			continue
		}
		info, err := os.Stat(path)
		testkit.Must(m.t, err)
		_, _ = fmt.Fprintf(said, "%s (%o):\n", name, info.Mode().Perm())
		for line := range strings.Lines(string(data)) {
			if name == ".env" || strings.Contains(said.String(), "--whole") || strings.Contains(line, "name: ") {
				_, _ = said.WriteString("    " + line)
			}
		}
	}
	if m.discord != nil && len(m.discord.State().Messages) > 0 {
		m.t.Error("it has written to somebody")
	}
}
