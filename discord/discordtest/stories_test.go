package discordtest_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// Each story of testdata/stories.txt has a fake of its own. A line is a request of the bot, or what the user, the bot's socket
// or a test does; behind "=>" is what comes of it, with breaches of the contract behind "!". $dm, $bot and $me are IDs; $1, $2 …
// are messages and interactions in the order in which they were seen, and ~ mentions none of the users. 3×(a#) is a1a2a3, 3×«a#» is a1,a2,a3, and ">" names a
// part of the answer that is shown. "3 times" repeats a line.
func TestTheFakeIsDiscordAsItsStoriesSay(t *testing.T) {
	testkit.Alone(t)
	goldentest.Stories(t, "stories.txt", func(t *testing.T, story string) string {
		p := &player{t: t, now: time.UnixMilli(1_800_000_000_123), tokens: map[string]string{}}
		var out strings.Builder
		for line := range strings.Lines(story) {
			step, _, _ := strings.Cut(strings.TrimSpace(line), " =>")
			out.WriteString(strings.TrimRight(step+" => "+p.step(step), "=> ") + "\n")
		}
		return out.String()
	})
}

// player plays a story.
type player struct {
	t       *testing.T
	now     time.Time
	options discordtest.Options
	s       *discordtest.Server // once it is needed
	names   []string            // IDs and their names, for a Replacer
	known   int                 // messages and interactions among them
	tokens  map[string]string   // by interaction
	broken  int                 // breaches so far
	lift    func()
	socket  *client
}

// fake starts it when the options are known.
func (p *player) fake() *discordtest.Server {
	if p.s == nil {
		p.options.Now = func() time.Time { return p.now }
		p.s = quiet(p.t, p.options)
		p.names = []string{p.s.Bot().ID, "$bot", p.s.Owner().ID, "$me", dm(p.t, p.s), "$dm"}
	}
	return p.s
}

var (
	list   = regexp.MustCompile(`(\d+)×«([^»]*)»`)
	amount = regexp.MustCompile(`^(\d+) times (.*)$`)
)

// step does what a line says and returns what comes of it.
func (p *player) step(line string) string {
	if options, ok := strings.CutPrefix(line, "with "); ok {
		for word := range strings.SplitSeq(options, ", ") {
			switch word {
			case "a team":
				p.options.Team = true
			case "limits":
				p.options.Limits, p.options.NoContract = true, true
			default:
				p.t.Fatalf("no option %q", word)
			}
		}
		return ""
	}
	s := p.fake()
	line = list.ReplaceAllStringFunc(goldentest.Repeated(line), func(all string) string {
		parts := list.FindStringSubmatch(all)
		return strings.TrimSuffix(goldentest.Repeated(parts[1]+"×("+parts[2]+",)"), ",")
	})
	var said []string
	times := 1
	if m := amount.FindStringSubmatch(line); m != nil {
		times, _ = strconv.Atoi(m[1])
		line = m[2]
	}
	for i := range times {
		verb, rest, _ := strings.Cut(p.spelled(strings.ReplaceAll(line, "#", strconv.Itoa(i+1))), " ")
		said = append(said, strings.NewReplacer(p.names...).Replace(p.do(verb, rest)))
	}
	if all := slices.Compact(slices.Clone(said)); len(all) == 1 || len(said) > 9 {
		said = said[len(said)-1:]
	}
	for _, v := range s.Violations()[p.broken:] {
		said = append(said, "! "+strings.NewReplacer(p.names...).Replace(breach(v)))
		p.broken++
	}
	return strings.Join(said, " | ")
}

var (
	asked = regexp.MustCompile(`^[A-Z]+ \S+: `)
	place = regexp.MustCompile(`at '(/[^']*)'`)
)

// breach is what is wrong, without the request. Of what is not as Discord describes it, the place.
func breach(v string) string {
	v, more, _ := strings.Cut(asked.ReplaceAllString(v, ""), "\n")
	if v, found := strings.CutPrefix(v, "not as described: "); found {
		places := place.FindAllStringSubmatch(v+more, -1)
		deepest := slices.MaxFunc(places, func(a, b []string) int { return cmp.Or(len(a[1])-len(b[1]), strings.Compare(a[1], b[1])) })
		return "not as described: " + deepest[1]
	}
	return v
}

// spelled has IDs in place of names.
func (p *player) spelled(text string) string {
	var pairs []string
	for i := len(p.names) - 2; i >= 0; i -= 2 { // $12 before $1
		pairs = append(pairs, p.names[i+1], p.names[i])
	}
	return strings.NewReplacer(append(pairs, "~", `"allowed_mentions":{"parse":[]}`)...).Replace(text)
}

// named is the name of an ID, a new one at first sight.
func (p *player) named(id string) string {
	if at := slices.Index(p.names, id); at >= 0 {
		return p.names[at+1]
	}
	p.known++
	p.names = append(p.names, id, fmt.Sprintf("$%d", p.known))
	return fmt.Sprintf("$%d", p.known)
}

func (p *player) do(verb, rest string) string {
	switch s := p.s; verb {
	case "GET", "POST", "PUT", "PATCH", "DELETE":
		return p.request(verb, rest)
	case "answers": // an interaction
		id, body, _ := strings.Cut(rest, " ")
		return p.request("POST", "/interactions/"+id+"/"+p.tokens[id]+"/callback "+body)
	case "follows": // an interaction, with a method and what is behind its webhook
		id, what, _ := strings.Cut(rest, " ")
		method, path, _ := strings.Cut(what, " ")
		return p.request(method, "/webhooks/"+s.Bot().ID+"/"+p.tokens[id]+path)
	case "me":
		return p.person(s.User(), rest)
	case "stranger":
		return p.person(s.Stranger(), rest)
	case "sees":
		return p.sees(rest)
	case "later":
		d, err := time.ParseDuration(rest)
		testkit.Must(p.t, err)
		s.Advance(d)
	case "registers":
		r := do(p.t, s, "PUT", "/applications/"+s.Bot().ID+"/commands", []obj{{"name": rest, "description": "d"}})
		return strconv.Itoa(r.status)
	case "token":
		s.ResetToken(rest)
	case "browser":
		res, err := http.Get(s.URL() + "/api/v10" + rest)
		testkit.Must(p.t, err)
		_ = res.Body.Close()
		return strconv.Itoa(res.StatusCode)
	case "fault":
		p.fault(rest)
	case "lift":
		p.lift()
	default:
		return p.gateway(verb, rest)
	}
	return ""
}

// request sends "PATH JSON >PART …" and returns the status, the error's code, the ID and the parts.
func (p *player) request(method, rest string) string {
	path, body, _ := strings.Cut(rest, " ")
	body, parts, _ := strings.Cut(" "+body, " >")
	var in any
	if body = strings.TrimSpace(body); body != "" {
		in = json.RawMessage(body)
	}
	r, err := try(p.t, p.s, method, path, in)
	if err != nil {
		return "cut"
	}
	said := []string{strconv.Itoa(r.status)}
	if r.code() != 0 {
		said = append(said, strconv.Itoa(r.code()))
	}
	if r.id() != "" {
		said = append(said, p.named(r.id()))
	}
	var all []struct{ ID string }
	if json.Unmarshal([]byte(r.raw), &all) == nil && len(all) > 0 {
		said = append(said, fmt.Sprintf("%d: %s … %s", len(all), p.named(all[0].ID), p.named(all[len(all)-1].ID)))
	}
	for _, part := range strings.Fields(strings.ReplaceAll(parts, ">", "")) {
		said = append(said, cmp.Or(r.header.Get(part), shown(r.json, part)))
	}
	if r.json == nil && len(all) == 0 && r.raw != "" {
		said = append(said, fmt.Sprintf("%.20q", r.raw))
	}
	return strings.Join(said, " ")
}

// shown is a part of JSON: a.b.c, in which numbers are places in a list.
func shown(value any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		switch at := value.(type) {
		case obj:
			value = at[key]
		case []any:
			i, _ := strconv.Atoi(key)
			value = at[i]
		}
	}
	text, _ := json.Marshal(value)
	return key(path) + "=" + string(text)
}

func key(path string) string { return path[strings.LastIndex(path, ".")+1:] }

func (p *player) person(who *discordtest.Person, rest string) string {
	verb, rest, _ := strings.Cut(rest, " ")
	if verb == "in" { // a guild
		var guild string
		guild, rest, _ = strings.Cut(rest, " ")
		who = who.In(guild)
		verb, rest, _ = strings.Cut(rest, " ")
	}
	first, more, _ := strings.Cut(rest, " ")
	var i discordtest.Interaction
	switch verb {
	case "says":
		return p.named(who.Say(rest).ID)
	case "answers":
		return p.named(who.Reply(first, more).ID)
	case "edits":
		who.Edit(first, more)
		return ""
	case "deletes":
		who.Delete(first)
		return ""
	case "reacts":
		who.React(first, more)
		return ""
	case "runs":
		i = who.Slash(rest)
	case "clicks":
		i = who.Click(first, more)
	case "chooses":
		id, value, _ := strings.Cut(more, " ")
		i = who.Choose(first, id, value)
	case "types":
		field, text, _ := strings.Cut(more, " ")
		i = who.Type(first, field, text)
	default:
		p.t.Fatalf("nobody %s", verb)
	}
	p.tokens[i.ID] = i.Token
	return p.named(i.ID)
}

// sees is a message, or the first answer to an interaction.
func (p *player) sees(id string) string {
	st, said := p.s.State(), ""
	for _, i := range st.Interactions {
		if i.ID == id {
			id, said = i.Original, fmt.Sprintf("answer %d in %s, ", i.Callback, p.named(i.Original))
		}
	}
	m := st.Message(id)
	if m == nil {
		return said + "no message"
	}
	said += map[bool]string{true: "loading, "}[m.Loading()] + map[bool]string{true: "for one person, "}[m.Ephemeral()]
	said += map[bool]string{true: "deleted, "}[!m.Deleted.IsZero()]
	return said + strconv.Quote(m.Content)
}

// plans are the answers in place of Discord's.
var plans = map[string]discordtest.Plan{
	"limited": discordtest.RateLimited(1500*time.Millisecond, false), "limited everywhere": discordtest.RateLimited(time.Second, true),
	"old edits": discordtest.OldEdits(time.Minute), "bare limit": discordtest.BareRateLimit(), "banned": discordtest.Banned(time.Hour),
	"broken": discordtest.Broken(502), "refused": discordtest.Refused(403, 50278), "bad form": discordtest.InvalidForm("content", "no"),
	"bad token": discordtest.Unauthorized(), "garbled": discordtest.Garbled(), "lost": discordtest.Lost(),
}

// fault plans "METHOD PATH [TIMES] PLAN"; the method may be "any", and the plan be "stored, but …".
func (p *player) fault(rest string) {
	words := strings.Fields(rest)
	m := discordtest.Match{Method: strings.TrimSuffix(words[0], "any"), PathPrefix: words[1]}
	words = words[2:]
	if n, err := strconv.Atoi(words[0]); err == nil {
		m.Times, words = n, words[1:]
	}
	name, stored := strings.CutPrefix(strings.Join(words, " "), "stored, but ")
	m.AfterStored = stored
	plan, ok := plans[name]
	if !ok {
		p.t.Fatalf("no plan %q of %q", name, slices.Sorted(maps.Keys(plans)))
	}
	p.lift = p.s.Fault(m, plan)
}

// gateway does what concerns the socket.
func (p *player) gateway(verb, rest string) string {
	switch s := p.s; verb {
	case "dials":
		p.socket = dial(p.t, s, rest)
	case "logs": // in
		p.socket = dial(p.t, s, "")
		p.names = append(p.names, p.socket.login(), "$session")
	case "sends":
		op, data, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(op)
		testkit.Must(p.t, err)
		p.socket.send(n, json.RawMessage(data))
	case "hears":
		return p.hears(strings.Fields(strings.ReplaceAll(rest, ">", "")))
	case "leaves":
		testkit.Must(p.t, p.socket.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Minute)))
		s.Wait(p.t, "the farewell", func(st discordtest.State) bool { return !st.Connections[len(st.Connections)-1].Closed.IsZero() })
	case "drop":
		s.DropSocket()
	case "op7":
		map[bool]func(){true: s.Op7First, false: s.SendOp7}[rest == "first"]()
	case "op9":
		s.Op9(rest == "true")
	case "close":
		code, err := strconv.Atoi(rest)
		testkit.Must(p.t, err)
		s.CloseWith(code)
	case "dispatch":
		name, data, _ := strings.Cut(rest, " ")
		s.Dispatch(name, json.RawMessage(data))
	case "again":
		return strconv.FormatBool(s.Again(rest))
	case "repeat":
		s.Repeat(1)
	case "down":
		s.Down()
	case "up":
		s.Up()
	default:
		p.t.Fatalf("no step %s %s", verb, rest)
	}
	return ""
}

// hears is the next packet, with the parts of its data, or how the connection ended.
func (p *player) hears(parts []string) string {
	f, err := p.socket.read(time.Minute)
	if end := new(websocket.CloseError); errors.As(err, &end) {
		return fmt.Sprintf("closed with %d", end.Code)
	}
	if err != nil {
		return "the connection is gone"
	}
	said := []string{f.T, fmt.Sprintf("no. %d", f.S)}
	if f.Op != 0 {
		said = []string{fmt.Sprintf("op %d", f.Op)}
	}
	var data any
	testkit.Must(p.t, json.Unmarshal(f.D, &data))
	if _, isBool := data.(bool); isBool {
		said = append(said, string(f.D))
	}
	for _, part := range parts {
		said = append(said, shown(data, part))
	}
	return strings.Join(said, " ")
}
