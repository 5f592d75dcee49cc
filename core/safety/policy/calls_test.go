package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
)

// cast are sessions that make the next calls, each in a session of its own. A story sets it in turn:
//
//	as KIND, KIND in MODE, MODE with LIST without LIST
//	turn attended, turn trusted, turn limited LIST: the turn they are in
//	after LABEL, after trusted LABEL: what they have read; after CALL: the call they have made before
//
// A call is "TOOL/TOOL ARGUMENT or ARGUMENT": several, of which all come to the same in all sessions. That is "allowed", "asked" (and
// denied) or "refused: part of the reason", for a written task also "held" or "limited"; then the label that the session has from then
// on, and the text that waits for the user. A file that is sent is asked about twice.
type cast struct {
	kinds         []Kind
	modes         []Mode
	with, without []string
	turn          Turn
	label         label.Label
	trusted       bool
	before        *agent.ToolUse
}

var (
	kindNames = map[string]Kind{"main": Main, "fork": Interactive, "run": Background}
	modeNames = map[string]Mode{"": DontAsk, "dontAsk": DontAsk, "ask": Ask, "acceptEdits": AcceptEdits, "bypass": BypassPermissions, "unknown": "x"}
)

// casts reads who makes the next calls.
func (r *room) casts(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "as":
		rest, without, _ := strings.Cut(rest, " without ")
		rest, with, _ := strings.Cut(rest, " with ")
		kinds, modes, _ := strings.Cut(rest, " in ")
		r.cast = cast{with: patternsOf(with), without: patternsOf(without)}
		for one := range strings.SplitSeq(kinds, ", ") {
			kind, known := kindNames[one]
			r.must(known, line)
			r.kinds = append(r.kinds, kind)
		}
		for one := range strings.SplitSeq(modes, ", ") {
			mode, known := modeNames[one]
			r.must(known, line)
			r.modes = append(r.modes, mode)
		}
	case "turn":
		how, list, _ := strings.Cut(rest, " ")
		r.turn = Turn{Attended: how != "trusted", Trusted: how == "trusted"}
		if how == "limited" {
			r.turn.Limit = r.newLimit(Rules{Allowed: patterns(patternsOf(list), Background)})
		}
	case "after":
		if u, is := r.use(rest); is {
			r.before = &u
			return
		}
		rest, r.trusted = strings.CutPrefix(rest, "trusted ")
		r.label = label.Label(rest)
	default:
		r.must(false, line)
	}
}

func (r *room) must(understood bool, line string) {
	if !understood {
		r.t.Fatalf("no line of a story: %q", line)
	}
}

func patternsOf(text string) (all []string) {
	for one := range strings.SplitSeq(text, ", ") {
		if one != "" {
			all = append(all, one)
		}
	}
	return all
}

// patterns are those of a list, in which a session of that kind may have its tools.
func patterns(list []string, kind Kind) (all []string) {
	for _, one := range list {
		switch {
		case one == "every tool":
			all = append(all, everything.Allowed...)
		case one == "a run's tools" || one == "its tools" && kind == Background:
			all = append(all, BackgroundTools()...)
		case one == "its tools" || one == "a conversation's tools":
			all = append(all, MainTools()...)
		default:
			all = append(all, one)
		}
	}
	return all
}

// caller returns a new session of the cast.
func (r *room) caller(kind Kind, mode Mode) *Session {
	taint := &Taint{Trusted: r.trusted}
	taint.Read(r.label)
	turn := r.turn
	return r.Session(Scope{Kind: kind, Rules: Rules{patterns(r.with, kind), r.without}, Mode: func() Mode { return mode }, Turn: func() Turn { return turn }, Taint: taint})
}

// use reads a call: an argument is the one that patterns match, or all as JSON. It is none if there is no such tool.
func (r *room) use(line string) (u agent.ToolUse, is bool) {
	tool, arg, _ := strings.Cut(r.read(strings.NewReplacer("OWN__", toolset.Prefix, "FIND", toolset.Find, "CALL", toolset.Call).Replace(line)), " ")
	key := cmp.Or(argumentOf[tool], map[string]string{"Monitor": "command", "Agent": "subagent_type", "Other": "path"}[tool])
	if key == "" && !strings.HasPrefix(tool, "mcp__") {
		return u, false
	}
	input := fields{}
	if json.Unmarshal([]byte(arg), &input) != nil && key != "" {
		before, text, filled := strings.Cut(arg, " := ")
		from, to, edits := strings.Cut(text, " => ")
		switch {
		case edits:
			input["old_string"], input["new_string"] = from, to
		case filled:
			input["content"] = text
		case tool == "Write":
			input["content"] = "x"
		case tool == "Grep" || tool == "Glob":
			var folder string
			if before, folder, _ = strings.Cut(arg, " in "); folder != "" {
				input["path"] = folder
			}
		}
		input[key] = before
	}
	if tool == "Grep" {
		input["pattern"] = "x"
	}
	return toolUse(tool, input), true
}

// comes makes the calls of a line in all sessions. It returns the line, or a line for each that came to something else.
func (r *room) comes(line, want string) string {
	tools, arguments, _ := strings.Cut(line, " ")
	var differs []string
	for tool := range strings.SplitSeq(tools, "/") {
		for arg := range strings.SplitSeq(" "+arguments, " or ") {
			one := tool
			if arg = strings.TrimPrefix(arg, " "); arg != "" {
				one += " " + arg
			}
			for _, kind := range r.kinds {
				for _, mode := range r.modes {
					if got := r.comesTo(one, kind, mode); !fulfills(got, want) {
						differs = append(differs, fmt.Sprintf("%s → %s [kind %d, %s]", one, got, kind, mode))
					}
				}
			}
		}
	}
	if differs != nil {
		return strings.Join(differs, "\n")
	}
	return line + " → " + want
}

// fulfills compares an outcome with the expected one: its reason ends with a period if it is whole, begins with "…" if it is the
// end, and otherwise is a part.
func fulfills(got, want string) bool {
	is, reason, _ := strings.Cut(got, ": ")
	wish, part, _ := strings.Cut(want, ": ")
	if is != wish || (reason != "") != strings.HasPrefix(is, "refused") {
		return false
	}
	switch end, ends := strings.CutPrefix(part, "… "); {
	case ends:
		return strings.HasSuffix(reason, end)
	case strings.HasSuffix(part, "."):
		return reason == part
	}
	return strings.Contains(reason, part)
}

// comesTo returns what becomes of a call in a session of its own.
func (r *room) comesTo(line string, kind Kind, mode Mode) string {
	r.Reset()
	for _, tool := range r.always {
		r.Allow(tool)
	}
	defer r.Reset()
	s := r.caller(kind, mode)
	if r.before != nil {
		s.PreTool(r.t.Context(), *r.before)
	}
	if path, sends := strings.CutPrefix(line, "Send "); sends {
		return r.sends(s, path) + ", then " + r.sends(s, path)
	}
	u, is := r.use(line)
	r.must(is, line)
	before := s.Label()
	r.servers = ""
	got, reason := r.become(r.t.Context(), s, u)
	if l := s.Label(); l != before {
		got += ", reads " + string(l)
	}
	if r.servers != "" {
		got += ", proposes " + strings.TrimSpace(r.servers)
	}
	if reason != "" {
		got += ": " + reason
	}
	return got
}

// sends returns what becomes of a file that a session sends, if the user says "always".
func (r *room) sends(s *Session, path string) string {
	r.asked, r.answer = nil, Always
	switch refusal := s.Send(r.t.Context(), filepath.Join(r.base, path)); {
	case refusal != "":
		return "refused: " + refusal
	case r.asked != nil:
		return "asked"
	}
	return "sent"
}

func TestAClosedPlaceHasNoOtherName(t *testing.T)                     { stories(t, "closed") }
func TestPatternsAllowWhatTheySayAndNothingElse(t *testing.T)         { stories(t, "patterns") }
func TestModesDecideWhatNoRuleDecides(t *testing.T)                   { stories(t, "modes") }
func TestABackgroundRunAsksNobodyWhateverTheUserAllowed(t *testing.T) { stories(t, "background") }
func TestOnlyTheUserAllows(t *testing.T)                              { stories(t, "allow") }
func TestAFileGoesOutOnlyWhereItMayBeRead(t *testing.T)               { stories(t, "sent") }
func TestABrokenTaskFileIsRefusedBeforeItIsWritten(t *testing.T)      { stories(t, "written") }
func TestACallIsLabeledByWhatItCanReach(t *testing.T)                 { stories(t, "reach") }

func TestALabeledConversationAsksBeforeItActsAndDoesNothingWhenTheUserIsAway(t *testing.T) {
	stories(t, "labeled")
}
func TestARunThatHasReadStrangersWordsKeepsNoToolThatActs(t *testing.T) { stories(t, "strangers") }
func TestAServersToolActsAndItsAnswerIsAStrangersWord(t *testing.T)     { stories(t, "servers") }
func TestAToolThatWasFoundNeedsThePermissionOfThatTool(t *testing.T)    { stories(t, "found") }
func TestAnEditOfTheServersFileWaitsForTheUser(t *testing.T)            { stories(t, "proposed") }
