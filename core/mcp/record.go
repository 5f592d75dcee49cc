package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"ollimbot/core/storage/store"
)

// Record is the stored data of a server.
type Record struct {
	// Source identifies the server as configured in .mcp.json: another command has other
	// tools.
	Source string `json:"source"`
	// Protocol is the last working version.
	Protocol string `json:"protocol,omitempty"`
	// Tools are the approved tools. Offered is a later list that awaits approval; nil if
	// there is none.
	Tools   []Tool `json:"tools"`
	Offered []Tool `json:"offered,omitempty"`
	// Refused is the version of the changes that the user has refused, which are not pending.
	Refused string `json:"refused,omitempty"`
	// Status and Text are the last state, for commands without the bot.
	Status Status `json:"status,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Change is a changed tool that awaits approval.
type Change struct {
	Name string
	// Before is nil for a new tool, After for a removed one.
	Before, After *Tool
}

// Changes returns the differences between the approved tools and the offered ones.
func (r Record) Changes() (list []Change) {
	if r.Offered == nil {
		return nil
	}
	before, now := byName(r.Tools), byName(r.Offered)
	for i, t := range r.Offered {
		if old := before[t.Name]; old == nil || old.digest() != t.digest() {
			list = append(list, Change{t.Name, old, &r.Offered[i]})
		}
	}
	for i, t := range r.Tools {
		if now[t.Name] == nil {
			list = append(list, Change{t.Name, &r.Tools[i], nil})
		}
	}
	return list
}

// Version identifies the changes; empty if there are none.
func (r Record) Version() string {
	changes := r.Changes()
	if len(changes) == 0 {
		return ""
	}
	sum := sha256.New()
	for _, c := range changes {
		for _, t := range []*Tool{c.Before, c.After} {
			digest := ""
			if t != nil {
				digest = t.digest()
			}
			_, _ = fmt.Fprintf(sum, "%s %s\n", c.Name, digest) // a hash takes everything
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Waiting are the changes that the user has to decide about.
func (r Record) Waiting() []Change {
	if r.Offered == nil || r.Refused != "" && r.Refused == r.Version() {
		return nil
	}
	return r.Changes()
}

// differs says that the server's tools are others than those in force; "" if they are not.
func (r Record) differs() string {
	changes := r.Changes()
	switch {
	case len(changes) == 0:
		return ""
	case len(r.Waiting()) == 0:
		return fmt.Sprintf(textRefusedTools, counted(changes))
	}
	return fmt.Sprintf(textWaits, counted(changes))
}

func byName(tools []Tool) map[string]*Tool {
	m := make(map[string]*Tool, len(tools))
	for i := range tools {
		m[tools[i].Name] = &tools[i]
	}
	return m
}

// holds reports whether the server still offers a tool as approved.
func (r Record) holds(t Tool) bool {
	list := r.Tools
	if r.Offered != nil {
		list = r.Offered
	}
	return slices.ContainsFunc(list, func(o Tool) bool { return o.Given == t.Given && o.digest() == t.digest() })
}

// recordFile is the content of the file.
type recordFile struct {
	Servers map[string]Record `json:"servers"`
}

// records manages state/mcp.json. Its methods are safe for concurrent use.
type records struct {
	dir *store.Dir
	log *slog.Logger

	mu sync.Mutex // guards now
	by map[string]Record
}

func newRecords(dir *store.Dir, log *slog.Logger) *records {
	r := &records{dir: dir, log: log, by: map[string]Record{}}
	r.reload()
	return r
}

// Records reads the records of all servers, by name.
func Records(dir *store.Dir) (map[string]Record, error) {
	var f recordFile
	if _, err := dir.PeekJSON(RecordFile, &f); err != nil {
		return nil, fmt.Errorf("read the tools of MCP servers: %w", err)
	}
	return f.Servers, nil
}

// reload reads the changes made by a command without the bot.
func (r *records) reload() {
	by, err := Records(r.dir)
	if err != nil {
		r.log.Warn("the tools of MCP servers could not be read; what was known stays in force", "error", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.by = map[string]Record{}
	for name, one := range by {
		r.by[name] = one
	}
}

// of returns the record of a server as currently configured.
func (r *records) of(s Server) (one Record, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one, ok = r.by[s.Name]; !one.Of(s) {
		return Record{}, false
	}
	return one, ok
}

func (r *records) protocol(s Server) string {
	one, ok := r.of(s)
	if !ok || one.Protocol != olderProtocol {
		return "" // try the newest first
	}
	return one.Protocol
}

func (r *records) holds(s Server, t Tool) bool {
	one, ok := r.of(s)
	return ok && one.holds(t)
}

// offer records the tools listed by a server. The first list of a server is approved at once,
// because the user has just added it. It reports whether the pending changes have changed.
func (r *records) offer(s Server, version string, tools []Tool) (changed bool, err error) {
	err = changeRecord(r.dir, s.Name, func(one *Record) error {
		if one.Source != s.source {
			*one = Record{Source: s.source, Tools: tools}
		}
		if version != "" {
			one.Protocol = version
		}
		before := one.Version()
		one.Offered = tools
		if one.Offered == nil {
			one.Offered = []Tool{}
		}
		now := one.Version()
		if now == "" {
			one.Offered = nil
		}
		changed = now != before
		return nil
	})
	r.reload()
	return changed, err
}

// note records the state of a server if it has changed.
func (r *records) note(s Server, st State) {
	one, ok := r.of(s)
	if !ok && st.Status == Idle || ok && one.Status == st.Status && one.Text == st.Text {
		return
	}
	err := changeRecord(r.dir, s.Name, func(one *Record) error {
		if one.Source != s.source { // it has never listed its tools
			*one = Record{}
		}
		one.Status, one.Text = st.Status, st.Text
		return nil
	})
	if err != nil {
		r.log.Warn("the state of an MCP server was not recorded", "server", s.Name, "error", err)
	}
	r.reload()
}

// allow puts the changes in force that have that version.
func (r *records) allow(s Server, version string) error {
	return r.decide(s, version, func(one *Record) {
		one.Tools, one.Offered, one.Refused = one.Offered, nil, ""
		one.Status, one.Text = Idle, ""
	})
}

// refuse lets the changes of that version wait no longer. The tools in force stay as they are.
func (r *records) refuse(s Server, version string) error {
	return r.decide(s, version, func(one *Record) {
		one.Refused = version
		one.Status, one.Text = Idle, ""
	})
}

func (r *records) decide(s Server, version string, do func(*Record)) error {
	err := changeRecord(r.dir, s.Name, func(one *Record) error {
		if version == "" || one.Source != s.source || one.Version() != version {
			return fmt.Errorf(textOtherTools, s.Name)
		}
		do(one)
		return nil
	})
	r.reload()
	return err
}

// changeRecord reads the file again, because another process may have written it.
func changeRecord(dir *store.Dir, name string, do func(*Record) error) error {
	refused := false
	err := dir.WithLock("mcp", func() error {
		var f recordFile
		if _, err := dir.PeekJSON(RecordFile, &f); err != nil {
			f = recordFile{} // servers are asked again, and what they say is in force: see reload
		}
		if f.Servers == nil {
			f.Servers = map[string]Record{}
		}
		one := f.Servers[name]
		if err := do(&one); err != nil {
			refused = true
			return err
		}
		f.Servers[name] = one
		return dir.WriteJSON(RecordFile, f)
	})
	if err != nil && !refused {
		return fmt.Errorf("record the tools of an MCP server: %w", err)
	}
	return err
}
