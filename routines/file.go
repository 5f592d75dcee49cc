package routines

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines/recur"
)

// File is a file with front matter while it is being read: routines, reminders, webhooks
// and skills. It collects the file's problems. A method that reads a key returns the
// default if the value is unusable.
type File struct {
	Doc frontmatter.Document

	kind     Kind
	rel      string
	data     []byte
	problems []Problem
}

// Open splits a file into front matter and body; rel is its path relative to the data
// directory. It returns false for a file without front matter, of which nothing else can
// be read.
func Open(kind Kind, rel string, data []byte) (*File, bool) {
	data = frontmatter.UTF8(data)
	doc, err := frontmatter.Parse(data)
	if wrong, ok := errors.AsType[*frontmatter.SyntaxError](err); ok && kind != KindRoutine && kind != KindReminder && kind != KindWebhook {
		wrong.Message = strings.ReplaceAll(wrong.Message, `id: "a1b2c3d4"`, `description: "…"`) // only tasks have an id
	}
	return &File{Doc: doc, kind: kind, rel: rel, data: data, problems: syntax(rel, doc.Dropped, err)}, err == nil
}

// Keys reads a file that is only YAML keys. ok is false if it cannot be read. The problems are those
// of its syntax.
func Keys(rel string, data []byte) (fields []frontmatter.Field, problems []Problem, ok bool) {
	fields, dropped, err := frontmatter.ParseYAML(data)
	return fields, syntax(rel, dropped, err), err == nil
}

// syntax returns the mistake that keeps a file from being read, or else what YAML drops from it.
func syntax(rel string, dropped []frontmatter.Dropped, err error) []Problem {
	p := File{rel: rel}
	if wrong, ok := errors.AsType[*frontmatter.SyntaxError](err); ok {
		p.Add(Error, wrong.Line, wrong.Column, "%s", wrong.Message)
		return p.problems
	}
	for _, d := range dropped {
		p.Add(Warning, d.Line, d.Column, "%s", d.Problem())
	}
	return p.problems
}

// Problems returns the problems found so far, in the file's order.
func (p *File) Problems() []Problem {
	slices.SortStableFunc(p.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p.problems
}

// HasErrors reports whether any of the problems keeps the file from being scheduled.
func HasErrors(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == Error })
}

// Add records a problem. A line or column of 0 counts as 1.
func (p *File) Add(s Severity, line, column int, format string, args ...any) {
	p.problems = append(p.problems, Problem{
		File: clean.Line(p.rel), Line: max(1, line), Column: max(1, column), Severity: s,
		Message: clean.Line(fmt.Sprintf(format, args...)),
	})
}

// AddAt records a problem at a field's value, or at its key if it has none.
func (p *File) AddAt(s Severity, f frontmatter.Field, format string, args ...any) {
	line, column := f.Value.Line, f.Value.Column
	if line == 0 || f.Value.Kind == frontmatter.Null {
		line, column = f.Line, f.Column
	}
	p.Add(s, line, column, format, args...)
}

// addText records a problem at a field's text, just after the opening quote.
func (p *File) addText(s Severity, v frontmatter.Value, format string, args ...any) {
	p.Add(s, v.Line, textColumn(v), format, args...)
}

func textColumn(v frontmatter.Value) int {
	if v.Quoted {
		return v.Column + 1
	}
	return v.Column
}

// Field returns the field with this key, or the zero Field if it is missing.
func (p *File) Field(key string) frontmatter.Field {
	f, _ := p.Doc.Get(key)
	return f
}

// Task reads the keys that all kinds of tasks share, except the id.
func (p *File) Task() Task {
	t := Task{
		Kind:        p.kind,
		Path:        p.rel,
		Description: p.Line("description"),
		Body:        p.body(),
		Background:  p.kind == KindWebhook || p.flag("background", p.kind == KindReminder),
		Model:       p.model(),
		Thinking:    p.flag("thinking", true),
		Isolated:    p.flag("isolated", false),
		Mode:        Mode(p.Choice("update-main-session", string(OnPing), string(Always), string(OnPing), string(Freely), string(Blocked))),
		AllowPing:   p.flag("allow-ping", true),
		Allowed:     p.list("allowed-tools"),
		Disallowed:  p.list("disallowed-tools"),
		Skills:      p.list("skills"),
		Subagent:    p.Line("subagent"),
		TrustInput:  p.flag("trust-input", false),
		Critical:    p.flag("critical", false),
	}
	t.Essential = p.essential(t.Background && t.AllowPing)
	t.Check = p.check(t.Background)
	t.Says = p.says(t)
	if t.Allowed != nil && t.Disallowed != nil {
		later := p.Field("allowed-tools")
		if f := p.Field("disallowed-tools"); f.Line > later.Line {
			later = f
		}
		p.Add(Error, later.Line, later.Column, msgBothToolLists)
		t.Disallowed = nil
	}
	for _, item := range p.Field("allowed-tools").Value.Items {
		if severity, message := CheckTool(item.Text); severity != "" && item.Kind == frontmatter.Scalar {
			p.addText(severity, item, "%s", message)
		}
	}
	return t
}

// essential reads whether the task's ping bypasses the budget; pings is whether the task
// may ping.
func (p *File) essential(pings bool) bool {
	if p.kind == KindWebhook || !p.flag("essential", false) {
		return false
	}
	if !pings {
		p.AddAt(Warning, p.Field("essential"), msgEssential)
	}
	return pings
}

// Text returns the text of a key. ok is false if the key is absent or null, or if its
// value is not text, which is recorded as an error. If the text is missing, the given
// message is recorded unless it is empty.
func (p *File) Text(key, missing string) (f frontmatter.Field, text string, ok bool) {
	f = p.Field(key)
	switch f.Value.Kind {
	case frontmatter.Scalar:
		return f, f.Value.Text, true
	case frontmatter.Null:
		if missing != "" {
			p.Add(Error, f.Line, f.Column, "%s", missing)
		}
	default:
		p.AddAt(Error, f, msgNotText, key, key)
	}
	return f, "", false
}

// oneLine makes the harmless changes of cleaning, which deserve no warning.
var oneLine = strings.NewReplacer("\n", " ", "\t", "    ")

// Line reads a one-line text and cleans it, with a warning if that changed it.
func (p *File) Line(key string) string {
	f, text, ok := p.Text(key, "")
	if !ok {
		return ""
	}
	cleaned := clean.Line(text)
	if cleaned != strings.TrimSpace(oneLine.Replace(text)) {
		p.AddAt(Warning, f, msgCleanedField, key)
	}
	return cleaned
}

// MaxID is the longest id, in characters. Generated ids have 8. The original has no
// limit, but no one types longer ones.
const MaxID = 256

func (p *File) id(key string, required bool) string {
	f, text, ok := p.Text(key, "")
	if !ok {
		if required && f.Value.Kind == frontmatter.Null {
			p.Add(Error, f.Line, f.Column, msgMissingID, p.freshID())
		}
		return ""
	}
	if !ValidID(text) {
		if key == "id" {
			p.AddAt(Error, f, msgBadID, show(text), MaxID, p.freshID())
		} else {
			p.AddAt(Error, f, msgBadOtherID, key, show(text))
		}
		return ""
	}
	return text
}

// ValidID reports whether a text can be an id: anything the original accepts that can be
// shown and typed on one line. Ids appear in prompts, commands and messages, but never in
// file names.
func ValidID(text string) bool {
	return text != "" && utf8.RuneCountInString(text) <= MaxID && clean.Line(text) == text
}

// flag reads a boolean as YAML 1.1 writes it.
func (p *File) flag(key string, standard bool) bool {
	f, text, ok := p.Text(key, "")
	if !ok {
		return standard
	}
	switch strings.ToLower(text) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off":
		if f.Value.Quoted {
			p.AddAt(Warning, f, msgQuotedFalse, key, strings.ToLower(text), key)
		}
		return false
	}
	p.AddAt(Error, f, msgNotABool, key, show(text))
	return standard
}

// Choice reads a value from a short list, which the error message gives in the same
// order.
func (p *File) Choice(key, standard string, accepted ...string) string {
	f, text, ok := p.Text(key, "")
	if !ok {
		return standard
	}
	if slices.Contains(accepted, text) {
		return text
	}
	p.AddAt(Error, f, msgNotAChoice, key, show(text), orList(accepted))
	return standard
}

// models are the names that need no provider.
var models = []string{"opus", "sonnet", "haiku"}

// ValidModel reports whether a text can name a model: one of the three names, or a model
// with its provider, such as "local/qwen3:8b".
func ValidModel(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@+-"
	provider, name, found := strings.Cut(text, "/")
	return slices.Contains(models, text) ||
		found && provider != "" && name != "" && len(text) <= 150 && strings.Trim(text, letters) == ""
}

// model reads the task's model.
func (p *File) model() string {
	f, text, ok := p.Text("model", "")
	if !ok || ValidModel(text) {
		return text
	}
	p.AddAt(Error, f, msgNotAModel, show(text))
	return ""
}

// maxCount keeps a typo from creating an endless chain.
const maxCount = 10000

// count reads a whole number of 0 or more.
func (p *File) count(key string) int {
	f, text, ok := p.Text(key, "")
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxCount {
		p.AddAt(Error, f, msgNotACount, key, show(text), maxCount)
		return 0
	}
	return n
}

// list reads a list of texts. It returns nil if the key is absent, and an empty non-nil
// list if the list is empty.
func (p *File) list(key string) []string {
	f := p.Field(key)
	switch f.Value.Kind {
	case frontmatter.Null:
		return nil
	case frontmatter.List:
	default:
		p.AddAt(Error, f, msgNotAList, key, clean.Cut(clean.Line(cmp.Or(f.Value.Text, "…")), 40))
		return nil
	}
	items := make([]string, 0, len(f.Value.Items))
	for _, item := range f.Value.Items {
		text := clean.Line(item.Text)
		if item.Kind != frontmatter.Scalar || text == "" {
			p.Add(Error, item.Line, item.Column, msgNotAnItem, key)
			continue
		}
		items = append(items, text)
	}
	return items
}

// longFile is the number of lines above which a file gets a warning: a prompt of that
// size costs tokens at every fire.
const longFile = 200

// body returns the cleaned prompt, with warnings for what cleaning removed.
func (p *File) body() string {
	if n := lineCount(p.data); n > longFile && p.kind != KindWebhook { // no agent reads a webhook's fields
		p.Add(Warning, longFile+1, 1, msgTooLong, n, longFile)
	}
	cleaned := clean.Text(p.Doc.Body)
	if cleaned != p.Doc.Body {
		p.warnOfBytes()
	}
	cleaned = strings.TrimSpace(cleaned)
	if cleaned == "" {
		message := msgEmptyBody
		if p.kind == KindWebhook {
			message += msgEmptyWebhook
		}
		p.Add(Error, p.Doc.BodyLine, 1, "%s", message)
	}
	return cleaned
}

func lineCount(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// warnOfBytes warns of the first byte that is not UTF-8 and of the first removed
// character. One warning each is enough: a binary file has thousands.
func (p *File) warnOfBytes() {
	data := p.data
	for range p.Doc.BodyLine - 1 {
		_, data, _ = bytes.Cut(data, []byte{'\n'})
	}
	line, column := p.Doc.BodyLine, 1
	var bytesNoted, charsNoted bool
	for len(data) > 0 && (!bytesNoted || !charsNoted) {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == '\n':
			line, column = line+1, 0
		case r == utf8.RuneError && n == 1:
			if !bytesNoted {
				p.Add(Warning, line, column, msgNotUTF8, data[0])
			}
			bytesNoted = true
		case removed(r) && !bytes.HasPrefix(data, []byte("\r\n")):
			if !charsNoted {
				p.Add(Warning, line, column, msgControl, r)
			}
			charsNoted = true
		}
		data = data[n:]
		column++
	}
}

// removed reports whether cleaning removes the character. A tab becomes spaces, which
// needs no warning.
func removed(r rune) bool {
	if r == '\t' || r >= 0x20 && r < 0x7f {
		return false
	}
	s := string(r)
	return clean.Text(s) != s
}

// Keys a file may have, by kind.
var (
	commonKeys = []string{
		"id", "background", "model", "thinking", "isolated", "description", "update-main-session",
		"allow-ping", "allowed-tools", "disallowed-tools", "skills", "subagent", "trust-input", "critical",
	}
	ownKeys = map[Kind][]string{
		KindRoutine:  append([]string{"cron", "window", "jitter", "missed", "late", "check", "say", "essential"}, recur.Names()...),
		KindReminder: {"run-at", "window", "jitter", "chain-depth", "max-chain", "chain-parent", "until", "again", "first-at", "last-word", "ahead", "essential"},
		KindWebhook:  {"fields", "verify", "secret-env", "signature-header", "delivery-header"},
	}
	// otherKind is the kind whose keys the user may have used by mistake.
	otherKind = map[Kind]Kind{KindRoutine: KindReminder, KindReminder: KindRoutine}
)

// UnknownKeys warns of keys that look like typos and of keys that belong to another kind
// of file. Other unknown keys may belong to a newer version or to the user. Webhooks are
// called by strangers, so every unknown key in one gets a warning.
func (p *File) UnknownKeys() {
	for _, f := range p.Doc.Fields {
		switch {
		case p.kind == KindWebhook && f.Key == "background":
			p.Add(Warning, f.Line, f.Column, msgBackground)
		case slices.Contains(commonKeys, f.Key), slices.Contains(ownKeys[p.kind], f.Key):
		case msgRemovedKeys[f.Key] != "":
			p.Add(Warning, f.Line, f.Column, "%s", msgRemovedKeys[f.Key])
		case p.kind == KindWebhook && holdsSecret().MatchString(f.Key):
			p.Add(Error, f.Line, f.Column, msgSecretKey, show(f.Key))
		case p.kind == KindWebhook:
			p.Add(Warning, f.Line, f.Column, msgUnknownKey, show(f.Key))
		case slices.Contains(ownKeys[otherKind[p.kind]], f.Key):
			p.Add(Warning, f.Line, f.Column, msgForeignKey, f.Key, otherKind[p.kind], p.kind, p.kind, firesBy[p.kind])
		default:
			for _, k := range slices.Concat(commonKeys, ownKeys[p.kind]) {
				if oneSlip(strings.ToLower(f.Key), k) {
					p.Add(Warning, f.Line, f.Column, msgDidYouMean, show(f.Key), k)
					break
				}
			}
		}
	}
}

// holdsSecret matches keys that look as if their value were a secret, which must not be in a file that git keeps.
var holdsSecret = lazyregexp.New(`(?i)secret|token|passw|(^|[-_])key$`)

// oneSlip reports whether a and b differ by at most one inserted, deleted or replaced
// letter, or by two swapped neighbours.
func oneSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	if i == len(a) || a[i+1:] == b[i+1:] {
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
