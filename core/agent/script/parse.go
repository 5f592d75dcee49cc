package script

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/lazyregexp"
)

const (
	// maxWait and maxRepeat limit a single step, maxSteps limits a script after its repetitions are
	// expanded.
	maxWait   = time.Hour
	maxRepeat = 10_000
	maxSteps  = 100_000
)

// verb is what a step does.
type verb string

const (
	vSay     verb = "say"
	vThink   verb = "think"
	vCall    verb = "call"
	vAsk     verb = "ask"
	vWait    verb = "wait"
	vFail    verb = "fail"
	vStop    verb = "stop"
	vRefused verb = "refused"
	vCompact verb = "compact"
	vRepeat  verb = "repeat" // only while parsing: repetitions are expanded
	vEnd     verb = "end"
)

// step is one line of a script. Which fields are used depends on the verb.
type step struct {
	verb  verb
	text  string // what to say or think, the tool's name, or the reason to fail
	input json.RawMessage
	wait  time.Duration
	round int // of its repetition, 0 outside of one
}

// words returns the text to play: in a repetition, %d is the round.
func (s step) words() string { return s.filled(s.text) }

// arguments returns those of a call, filled in the same way.
func (s step) arguments() json.RawMessage { return json.RawMessage(s.filled(string(s.input))) }

func (s step) filled(text string) string {
	if s.round == 0 {
		return text
	}
	return strings.ReplaceAll(text, "%d", strconv.Itoa(s.round))
}

// scriptError is a mistake in a script, with its line.
type scriptError struct {
	line    int
	message string
}

func (e scriptError) Error() string { return fmt.Sprintf("script line %d: %s", e.line, e.message) }

// fence opens a script, at the start of a line or after the timestamp or tag that the bot
// puts before a message.
var fence = lazyregexp.New("(?m)(?:^|\\] )```script[ \t]*$")

// findScript returns the lines of the prompt's last script block. Pending updates above
// the message are indented, so they cannot contain one.
func findScript(prompt string) (source string, unclosed, found bool) {
	prompt = strings.ReplaceAll(prompt, "\r\n", "\n")
	all := fence().FindAllStringIndex(prompt, -1)
	if all == nil {
		return "", false, false
	}
	rest := strings.TrimPrefix(prompt[all[len(all)-1][1]:], "\n")
	var lines []string
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, " \t\n")
		if line == "```" {
			return strings.Join(lines, "\n"), false, true
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), true, true
}

// parse reads the whole script before any of it is played.
func parse(source string, unclosed bool) ([]step, error) {
	p := parser{lines: strings.Split(source, "\n")}
	steps, err := p.block(0)
	if err != nil {
		return nil, err
	}
	if unclosed {
		return nil, scriptError{len(p.lines), textUnclosed}
	}
	return steps, nil
}

type parser struct {
	lines []string
	at    int // the next line, from 0
}

// block reads steps up to the end of the script, or of the repetition that started at
// the line opened (0: none).
func (p *parser) block(opened int) ([]step, error) {
	var steps []step
	for p.at < len(p.lines) {
		line := strings.TrimSpace(p.lines[p.at])
		p.at++
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch verb(word) {
		case vEnd:
			if opened == 0 {
				return nil, scriptError{p.at, textStrayEnd}
			}
			return steps, nil
		case vRepeat:
			more, err := p.repeat(rest, opened)
			if err != nil {
				return nil, err
			}
			steps = append(steps, more...)
		default:
			s, err := parseStep(verb(word), rest)
			if err != nil {
				return nil, scriptError{p.at, err.Error()}
			}
			steps = append(steps, s)
		}
		if len(steps) > maxSteps {
			return nil, scriptError{p.at, fmt.Sprintf(textTooLong, maxSteps)}
		}
	}
	if opened > 0 {
		return nil, scriptError{opened, textNoEnd}
	}
	return steps, nil
}

// repeat reads a repetition and expands it.
func (p *parser) repeat(rest string, opened int) ([]step, error) {
	line := p.at
	if opened > 0 {
		return nil, scriptError{line, textNested}
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < 1 || n > maxRepeat {
		return nil, scriptError{line, fmt.Sprintf(textRepeat, maxRepeat)}
	}
	body, err := p.block(line)
	if err != nil {
		return nil, err
	}
	if n*len(body) > maxSteps {
		return nil, scriptError{line, fmt.Sprintf(textTooLong, maxSteps)}
	}
	steps := make([]step, 0, n*len(body))
	for i := range n {
		for _, s := range body {
			s.round = i + 1
			steps = append(steps, s)
		}
	}
	return steps, nil
}

func parseStep(v verb, rest string) (step, error) {
	switch v {
	case vSay, vThink, vFail, vRefused:
		if rest == "" {
			return step{}, fmt.Errorf(textNoText, v, v)
		}
		return step{verb: v, text: rest}, nil
	case vCall, vAsk:
		return parseTool(v, rest)
	case vWait:
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || d > maxWait {
			return step{}, fmt.Errorf(textWait, rest)
		}
		return step{verb: v, wait: d}, nil
	case vStop, vCompact:
		if rest != "" {
			return step{}, fmt.Errorf(textNothingAfter, v)
		}
		return step{verb: v}, nil
	}
	return step{}, fmt.Errorf(textUnknown, v)
}

func parseTool(v verb, rest string) (step, error) {
	name, input, _ := strings.Cut(rest, " ")
	if name == "" {
		return step{}, fmt.Errorf(textToolForm, v, v)
	}
	input = strings.TrimSpace(input)
	if input == "" {
		input = "{}"
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(input), &object); err != nil {
		return step{}, fmt.Errorf(textToolInput, name, err)
	}
	return step{verb: v, text: name, input: json.RawMessage(input)}, nil
}
