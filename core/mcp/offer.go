package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/visible"
	"ollimbot/core/base/words"
	"ollimbot/routines"
)

const (
	// mostDiff is the longest diff of changes that waits with them, in characters.
	mostDiff = 200_000
	// mostOwnName is the longest name of a server's own that is shown, in characters.
	mostOwnName = 200
)

// Offered are the changes of tools that wait for the user, by the name of the server.
func (h *Host) Offered() map[string]routines.Proposal {
	list := map[string]routines.Proposal{}
	for _, s := range h.list() {
		config := s.configured()
		one, ok := h.record.of(config)
		if !ok || config.Disabled {
			continue
		}
		if changes := one.Waiting(); len(changes) > 0 {
			list[config.Name] = proposal(config.Name, one.Version(), changes)
		}
	}
	return list
}

// AllowTools puts the changes of a server's tools in force, if they are still of that version:
// for new conversations, because the prompt of one that is open has the old ones.
func (h *Host) AllowTools(server, version string) error {
	return h.decide(server, version, h.record.allow)
}

// RefuseTools lets the changes wait no longer, until the server offers others.
func (h *Host) RefuseTools(server, version string) error {
	return h.decide(server, version, h.record.refuse)
}

func (h *Host) decide(server, version string, do func(Server, string) error) error {
	s, err := h.named(server)
	if err != nil {
		return err
	}
	if err := do(s.configured(), version); err != nil {
		return err
	}
	h.o.Changed() // not changed: a command beside the bot knows no states
	return nil
}

// proposal is what the user reads of changes.
func proposal(server, version string, changes []Change) routines.Proposal {
	why := counted(changes)
	p := routines.Proposal{
		Version: version, Why: why, Diff: Diff(server, changes),
		What: fmt.Sprintf(textChange, server), Text: fmt.Sprintf(textChanged, server, why),
	}
	if short, cut := visible.Excerpt(p.Diff, mostDiff); cut {
		p.Diff = short + textDiffCut
	}
	return p
}

// counted says how many tools have changed, and how.
func counted(changes []Change) string {
	var fresh, changed, gone int
	for _, c := range changes {
		switch {
		case c.Before == nil:
			fresh++
		case c.After == nil:
			gone++
		default:
			changed++
		}
	}
	var list []string
	for _, one := range []struct {
		n    int
		text string
	}{{fresh, textNew}, {changed, textDiffers}, {gone, textGone}} {
		if one.n > 0 {
			list = append(list, words.Count(one.n, "tool")+" "+one.text)
		}
	}
	return strings.Join(list, ", ")
}

// Diff is what the changes are, tool by tool, with all that a model would read: what changed before what
// is new, so that a server cannot push it out of sight with new tools. A line of a server's
// begins with a sign or a space, so that none can pass for a line of ours.
func Diff(server string, changes []Change) string {
	var out []string
	for _, c := range slices.SortedStableFunc(slices.Values(changes), func(a, b Change) int { return a.rank() - b.rank() }) {
		name := "mcp__" + server + "__" + c.Name
		switch {
		case c.Before == nil:
			out = append(out, textNew+": "+name, signed("+", c.After.shown()))
		case c.After == nil:
			out = append(out, textGone+": "+name, signed("-", c.Before.shown()))
		default:
			out = append(out, textDiffers+": "+name, routines.Diff([]byte(c.Before.shown()), []byte(c.After.shown())))
		}
	}
	return strings.Join(out, "\n")
}

// rank orders changes: of what is in use, then what is new, then what is gone.
func (c Change) rank() int {
	switch {
	case c.Before == nil:
		return 1
	case c.After == nil:
		return 2
	}
	return 0
}

// signed is a text with a sign before each line.
func signed(sign, text string) string {
	text = strings.TrimRight(text, "\n")
	return sign + strings.ReplaceAll(text, "\n", "\n"+sign)
}

// shown is a tool as it is compared: all that a model reads of it, and what the server claims.
func (t Tool) shown() string {
	var b strings.Builder
	if t.Given != t.Name {
		fmt.Fprintf(&b, textOwnName+"\n", clean.Cut(visible.Line(t.Given), mostOwnName))
	}
	if hint := t.Hint(); hint != "" {
		fmt.Fprintf(&b, "(%s)\n", hint)
	}
	if text := visible.Text(strings.TrimSpace(t.Description)); text != "" {
		b.WriteString(text + "\n")
	}
	var schema bytes.Buffer
	if err := json.Indent(&schema, t.Schema, "", "  "); err == nil && string(t.Schema) != emptySchema {
		b.WriteString(textArguments + "\n" + visible.Text(schema.String()) + "\n")
	}
	return b.String()
}

// emptySchema is that of a tool without arguments.
const emptySchema = `{"type":"object"}`

const (
	textChange    = "change of %s's tools"
	textChanged   = "The MCP server %s has changed its tools: %s. What is new or changed is not used until you allow it."
	textNew       = "new"
	textDiffers   = "changed"
	textGone      = "gone"
	textOwnName   = "(the server calls it %s)"
	textArguments = "arguments:"
	textDiffCut   = "\n(the rest of the changes is not shown)"
)
