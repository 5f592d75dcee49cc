package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/skill"
	"ollimbot/core/safety/closed"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

// Writer is a session as the author of files. Its rights limit those of the files it
// writes.
type Writer struct {
	Kind    string `json:"kind"`              // "main session", "fork", "background run"
	Session string `json:"session,omitempty"` // a run's ID
	// Alone marks a session without a user: a foreground task that it wrote keeps the
	// writer's rights in the conversation.
	Alone      bool     `json:"alone,omitempty"`
	Allowed    []string `json:"allowed,omitempty"`
	Disallowed []string `json:"disallowed,omitempty"`
	// Kept are the commands that the writer left unchanged in the user's version of a skill, or
	// the check of a routine, also with keptSay.
	Kept []string `json:"kept,omitempty"`
	// Label is the label of what the writer had read.
	Label label.Label `json:"label,omitempty"`
}

// Talks reports whether the writer is a session that the user talks with.
func (w Writer) Talks() bool { return w.Kind == kindWords[Main] || w.Kind == kindWords[Interactive] }

// rules returns the writer's rights, including those of every run.
func (w Writer) rules(base []string) Rules {
	return Rules{Allowed: Merge(base, w.Allowed), Disallowed: w.Disallowed}
}

// grants are the rights that a file gives to the runs it starts, beyond those of every run of its
// kind.
type grants struct {
	What     string   // "routine", "reminder", "webhook", "skill"
	Tools    []string // patterns, including those of its skills
	Commands []string // in its skills' texts, which run without asking
	Check    string   // run or called before each fire
	Says     bool     // what the check prints is sent to the user
	Trusts   bool     // it keeps its tools after reading untrusted text
	Spends   bool     // it may exceed the user's spending caps
	Reaches  bool     // its pings do not count against the user's ping budget
	Outside  bool     // a webhook: anyone with the secret can start it
	Alone    bool     // it runs without a user
}

// Skills finds a skill by its name in tasks.
type Skills func(name string) (skill.Skill, bool)

// grantsOf returns what a task file, a skill or a webhook grants, parsed in the same way as by the
// code that runs it. ok is false for any other path, and for a file without effect.
func grantsOf(rel string, data []byte, find Skills) (grants, bool) {
	kind, ok := kindOf(rel)
	switch {
	case kind == routines.KindWebhook:
		return grants{What: string(kind), Outside: true, Alone: true}, true
	case ok:
		t, problems := routines.Parse(kind, rel, data, time.UTC)
		return taskGrants(t, find), !routines.HasErrors(problems)
	case isSkill(rel):
		s, _, ok := skill.Parse(path.Base(path.Dir(rel)), data)
		return skillGrants(s), ok
	}
	return grants{}, false
}

// webhookFolder contains the webhooks.
const webhookFolder = "webhooks"

// kindOf returns the kind of task at a path. Tasks are directly in the folder of their kind.
func kindOf(rel string) (kind routines.Kind, ok bool) {
	folder, name, _ := strings.Cut(rel, "/")
	kind, ok = map[string]routines.Kind{
		routines.RoutineFolder: routines.KindRoutine, routines.ReminderFolder: routines.KindReminder, webhookFolder: routines.KindWebhook,
	}[closed.Fold(folder)]
	if !ok || strings.Contains(name, "/") || !routines.IsTaskFile(name) {
		return "", false
	}
	return kind, true
}

// isSkill reports whether a path is the main file of a skill.
func isSkill(rel string) bool {
	parts := strings.Split(rel, "/")
	return len(parts) == 3 && closed.Fold(parts[0]) == skill.Folder && strings.EqualFold(parts[2], skill.File)
}

// taskGrants returns what a task grants. A foreground task has the tools of the
// conversation, regardless of its list.
func taskGrants(t routines.Task, find Skills) grants {
	g := grants{
		What: string(t.Kind), Check: t.Check, Says: t.Says, Trusts: t.TrustInput, Spends: t.Critical, Reaches: t.Essential,
		Outside: t.Kind == routines.KindWebhook, Alone: t.Background,
	}
	if t.Background {
		g.Tools = slices.Clone(t.Allowed)
	}
	for _, name := range t.Skills {
		s, ok := find(name)
		if !ok {
			continue
		}
		of := skillGrants(s)
		g.Commands = append(g.Commands, of.Commands...)
		if t.Background {
			g.Tools = append(g.Tools, of.Tools...)
		}
	}
	g.Tools, g.Commands = Strip(Merge(g.Tools)), Merge(g.Commands)
	return g
}

func skillGrants(s skill.Skill) grants {
	return grants{What: "skill", Tools: skill.Tools([]skill.Skill{s}), Commands: skill.Commands(s.Body), Alone: true}
}

// excessOf describes the rights that a file grants and its writer does not have. base are the
// patterns of every background run, which need no granting.
func excessOf(w Writer, base []string, g grants) []string {
	var out []string
	have := w.rules(base).Allowed
	for _, p := range g.Tools {
		if !covers(have, p) {
			out = append(out, fmt.Sprintf(excessTool, clean.Cut(clean.Line(p), 80)))
		}
	}
	for _, c := range g.Commands {
		if slices.Contains(w.Kept, c) {
			continue
		}
		if c = strings.TrimSpace(c); !simple(c) || strings.Contains(c, "*") || !covers(have, "Bash("+c+")") {
			out = append(out, fmt.Sprintf(excessCommand, clean.Cut(clean.Line(c), 80)))
		}
	}
	if g.Check != "" && !slices.Contains(w.Kept, g.Check) {
		out = append(out, fmt.Sprintf(excessCheck, clean.Cut(clean.Line(g.Check), 80)))
	}
	if g.Says && !slices.Contains(w.Kept, keptSay+g.Check) {
		out = append(out, excessSays)
	}
	if g.Trusts {
		out = append(out, excessTrust)
	}
	if g.Spends {
		out = append(out, excessSpends)
	}
	if g.Reaches {
		out = append(out, excessReaches)
	}
	if g.Outside {
		out = append(out, excessOutside)
	}
	return out
}

// keptSay precedes, in Writer.Kept, the check whose output the user's file already sends.
const keptSay = "say: "

// Ask returns the excess as a sentence: "This routine may use Bash(rm *) alone, in the background;
// its writer may not."
func (g grants) Ask(excess []string) string {
	where := ""
	if g.Alone {
		where = excessAlone
	}
	return fmt.Sprintf(excessAsk, g.What, words.And(excess), where)
}

// Provenance returns the record of who wrote which task.
func (g *Guard) Provenance() *Provenance { return g.provenance }

// TaskWaits returns why a task must wait for the user's approval. It is "" for tasks that
// the user wrote or approved, and for those within their writer's rights.
func (g *Guard) TaskWaits(t *routines.Task) string {
	o, byAgent := g.origin(t.Path, t.Digest)
	if byAgent || g.unknown(t.Path, t.Digest) {
		if why := waitsWords(o, excessOf(o.Writer, g.o.Base(), taskGrants(*t, g.skill))); why != "" {
			g.provenance.Scripts.freeze(t.Check)
			return why
		}
	}
	return g.provenance.Scripts.waits(t)
}

// SkillWaits is TaskWaits for a skill. A skill that waits is not loaded for any task.
func (g *Guard) SkillWaits(s skill.Skill) string {
	o, byAgent := g.origin(s.Path, s.Digest)
	if !byAgent && !g.unknown(s.Path, s.Digest) {
		return ""
	}
	return waitsWords(o, excessOf(o.Writer, g.o.Base(), skillGrants(s)))
}

// waiting reports whether a version in a file grants more than its writer may and has not been approved
// there by the user.
func waiting(o Origin, rel string, base []string, of grants) bool {
	return !o.approvedIn(rel) && len(excessOf(o.Writer, base, of)) > 0
}

func waitsWords(o Origin, excess []string) string {
	switch {
	case len(excess) == 0:
		return ""
	case o.At.IsZero():
		return fmt.Sprintf(waitsUnknown, words.And(excess))
	}
	return fmt.Sprintf(waitsFor, words.And(excess))
}

// origin returns the agent that wrote a version without the user's approval; ok is false for all
// other versions. An unknown version that appeared while a session's command ran counts as that
// session's.
func (g *Guard) origin(rel, digest string) (Origin, bool) {
	if digest == "" {
		return Origin{}, false
	}
	o, known := g.provenance.Find(rel, digest)
	if (!known || o.approvedIn(rel)) && len(g.commands.now()) > 0 {
		at, _ := g.reach.changedAt(rel)
		data, err := g.o.Dir.Read(rel)
		if err == nil && (!known || o.rewritten(at)) {
			if s := g.wrote(rel, data); s != nil {
				s.claim(rel, data)
				o, known = g.provenance.Find(rel, digest)
			}
		}
	}
	return o, known && !o.approvedIn(rel)
}

// rewritten reports whether a file that changed at a time was written again after its approval. The
// program writes a file soon after it has recorded an approval.
func (o Origin) rewritten(at time.Time) bool { return at.After(o.Approved.Add(2 * time.Second)) }

// unknown reports whether a version predates the loss of the record of writers.
func (g *Guard) unknown(rel, digest string) bool {
	lost := g.provenance.Lost()
	if _, known := g.provenance.Find(rel, digest); known || lost.IsZero() || digest == "" {
		return false
	}
	info, err := os.Stat(g.o.Dir.Path(rel))
	return err == nil && info.ModTime().Before(lost)
}

// Trusted reports whether the user lets a task keep its tools after it has read untrusted text.
func (g *Guard) Trusted(t routines.Task) bool {
	_, byAgent := g.origin(t.Path, t.Digest)
	return t.TrustInput && !byAgent && !g.unknown(t.Path, t.Digest)
}

// Usable filters the skills that a task names. It leaves out those that wait for the user's
// approval, and those written by an agent with fewer rights than the task.
func (g *Guard) Usable(t routines.Task, skills []skill.Skill) []skill.Skill {
	var out []skill.Skill
	for _, s := range skills {
		if g.SkillLeft(t, s) == "" {
			out = append(out, s)
		}
	}
	return out
}

// SkillLeft returns why a task may not use a skill, or "".
func (g *Guard) SkillLeft(t routines.Task, s skill.Skill) string {
	if why := g.SkillWaits(s); why != "" {
		return why
	}
	o, byAgent := g.origin(s.Path, s.Digest)
	if !byAgent {
		return ""
	}
	more := excessOf(o.Writer, g.o.Base(), taskGrants(t, g.skill))
	if len(more) == 0 && !t.Background && o.Writer.Alone && g.LimitOf(t) == nil {
		more = []string{excessTalk}
	}
	if len(more) == 0 {
		return ""
	}
	return fmt.Sprintf(waitsSkill, words.And(more))
}

// Bound returns the rules of a task's run: those of every run, and those that the task and its
// skills name. A version that an agent wrote and the user has not approved gets no more rights than
// its writer had.
func (g *Guard) Bound(t routines.Task, skills []skill.Skill) Rules {
	base := g.o.Base()
	named, not := Merge(t.Allowed, skill.Tools(skills)), t.Disallowed
	if DelegatesTo(Rules{Allowed: Merge(base, named), Disallowed: not}, UserProxy) {
		named = Merge(named, []string{historyTool})
	}
	if o, byAgent := g.origin(t.Path, t.Digest); byAgent || g.unknown(t.Path, t.Digest) {
		have, within := o.Writer.rules(base).Allowed, []string(nil)
		for _, p := range named {
			if covers(have, p) {
				within = append(within, p)
			}
		}
		named = within
		not = Merge(not, o.Writer.Disallowed)
	}
	return Rules{Allowed: Strip(Merge(base, named)), Disallowed: not}
}

// UserProxy is the subagent that knows the user's preferences. It reads past conversations
// with the run's rights, so a run that may ask it may read them.
const (
	UserProxy   = "user-proxy"
	historyTool = "Bash(ollim-bot history *)"
)

// DelegatesTo reports whether rules let a session start a subagent.
func DelegatesTo(r Rules, subagent string) bool {
	call := agent.ToolUse{Name: "Agent", Input: json.RawMessage(`{"subagent_type":"` + subagent + `"}`)}
	return Compile("/", r).Allows(call)
}

// LimitOf returns the limit on the conversation during a foreground task that a background run
// wrote; nil means no limit.
func (g *Guard) LimitOf(t routines.Task) *Limit {
	o, byAgent := g.origin(t.Path, t.Digest)
	if t.Background || !byAgent || !o.Writer.Alone {
		return nil
	}
	return g.newLimit(o.Writer.rules(g.o.Base()))
}

// Inherit gives the next check of a chain the origin of the previous one, including the user's
// approval. A version that waits while another text is in force is not passed on, because that text
// would be lost.
func (g *Guard) Inherit(from, rel string, data []byte) error {
	o, known := g.provenance.now.Load().by[from]
	if !known {
		return nil
	}
	if of, _ := grantsOf(rel, data, g.skill); o.Before != "" && waiting(o, cmp.Or(o.For, rel), g.o.Base(), of) {
		return fmt.Errorf(textDecideFirst, rel)
	}
	o.Path, o.At, o.Before = rel, time.Now(), ""
	if !o.Approved.IsZero() {
		o.Approved, o.For = o.At, rel
	}
	return g.provenance.inherit(routines.Digest(data), o)
}

// Written records that a session's tool is about to write a file with that session's
// rights.
func (g *Guard) Written(w Writer, rel string, data []byte) error {
	grants, ok := grantsOf(rel, data, g.skill)
	if !ok {
		return nil
	}
	excess := excessOf(w, g.o.Base(), grants)
	err := g.record(Origin{Path: rel, Writer: w, Excess: excess}, data)
	if err == nil && len(excess) > 0 {
		g.o.Waits(w, rel, grants.Ask(excess))
	}
	return err
}

// Descriptions of rights that a file grants beyond its writer's.
const (
	excessTool    = "use %s"
	excessCommand = "run `%s`"
	excessCheck   = "run `%s` before each fire"
	excessSays    = "send you what that prints, without a model"
	excessTrust   = "write files and run commands after reading untrusted text"
	excessSpends  = "exceed your spending caps"
	excessReaches = "ping you outside the ping budget"
	excessOutside = "be started from outside"
	excessAlone   = " alone, in the background"
	excessAsk     = "This %s may %s%s; its writer may not."
	excessTalk    = "speak in the conversation, with its rights"

	labelWeb       = "web page"
	labelMail      = "mail"
	labelNetwork   = "network"
	labelDownload  = "download %s"
	labelDownloads = "downloads"
	labelCommand   = "command"
	labelServer    = "MCP server %s"
	labelUnknown   = "file that cannot be followed"
	labelMany      = "one of very many files"

	waitsUnknown = "its author is unknown, and it may %s"
	waitsSkill   = "it was written by an agent with fewer rights than this task: %s"
	waitsFor     = "it may %s; the agent that wrote it may not"
)

// serversFile is the file of the MCP servers, in the data directory.
const serversFile = ".mcp.json"

// proposesServers judges a call that would write the file of the MCP servers. The call itself is
// always refused; its text waits for the user's approval if the session may write files. A session
// that has read untrusted text cannot even propose one, because asking the user is an action, too.
func proposesServers(s *Session, x call) (d agent.Decision, is bool) {
	if s.g.o.Propose == nil || !writes(x.tool) || !isServers(s.g, x.path) {
		return d, false
	}
	if v := s.listed(x); v.is == refused {
		return agent.Decision{Reason: v.reason}, true
	}
	if l := s.limits(x); l != "" {
		return agent.Decision{Reason: fmt.Sprintf(answerLabeled, clean.Line(x.Name), l)}, true
	}
	_, data, ok := s.g.proposed(x)
	if !ok {
		return agent.Decision{Reason: fmt.Sprintf(answerUnsure, serversFile)}, true
	}
	return agent.Decision{Reason: s.g.o.Propose(s.Writer(), data)}, true
}

// isServers reports whether a path is that file, and not a link, in any of its spellings.
func isServers(g *Guard, file string) bool {
	rels := g.rels(file)
	if len(rels) != 1 || rels[0] != serversFile {
		return false
	}
	info, err := os.Lstat(g.o.Dir.Path(serversFile))
	return os.IsNotExist(err) || err == nil && info.Mode().IsRegular()
}
